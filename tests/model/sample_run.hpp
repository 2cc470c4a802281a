// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "model/run.hpp"

namespace mprof::test {

inline VariantInfo full_variant() {
  VariantInfo variant;
  variant.id = "conv/b";
  variant.family = "conv";
  variant.title = "B";
  variant.idea = "idea";
  variant.device = "cpu";
  variant.baseline = "conv/a";
  variant.parameters = {{"tile", "tile width", "16", {"8", "16"}}};
  variant.expectations = {{"op_time", "layer1", Direction::decreases, 1.5, "because"}};
  variant.references = {"a book"};
  variant.combines = {"conv/c", "conv/d"};
  variant.source_file = "conv/b.cpp";
  return variant;
}

inline FamilyInfo full_family() {
  FamilyInfo family;
  family.id = "conv";
  family.title = "Convolution";
  family.axes = {{"size", "sizes", "Size", "elements a side", 64, 2, 8192},
                 {"iterations", "iterations", "Iterations", {}, 5, 1, 0}};
  family.nouns = {"pixel",  "pixels",  "pass",       "stage",
                  "stages", "Op Time", "Stage Time", "Total Execution Time"};
  family.qualities = {{"error", "Error", "Largest error.", Unit::count, Better::lower, 0.25}};
  family.problems = {{{{{"size", 100}, {"iterations", 2}}}, {{"layer1", "layer 1", 1e9, 2e6, 3e3}}},
                     {{{{"size", 200}, {"iterations", 2}}}, {{"layer1", {}, 1e10, 2e7, 0}}}};
  return family;
}

/// A row of the counters pass: one sample of one kernel.
inline Measurement counter(const Name& metric, const Name& op, const Name& kernel, double value) {
  return {metric, op, kernel, Source::measured, {value}, {}};
}

inline Case full_case() {
  Case c;
  c.key = {"conv/b", {{"tile", "8"}}, {{{"size", 100}, {"iterations", 2}}}};
  c.id = "conv/b[tile=8]@size=100,iterations=2";
  c.ops = full_family().problems[0].ops;
  PassResult timing;
  timing.pass = Pass::timing;
  timing.status = Status::wrong;
  timing.reason = "layer1: 3 elements are NaN";
  timing.seconds = 0.1;
  timing.sampling = Sampling{2, 3, Ending::confidence, 0.012, 4, "the clock fell"};
  timing.verification = {{"layer1", false, 0.25, 3.5, 1e-5, 100, 3, 1, "3 elements are NaN"}};
  timing.measurements = {
      {"op_time", "layer1", "kernel<float>", Source::measured, {0.1, 1e-300, 3.0000000000000004}, {}},
      {"compute_throughput", "layer1", {}, Source::modelled, {}, "no ceiling"}};
  PassResult counters;
  counters.pass = Pass::counters;
  counters.status = Status::interrupted;
  counters.reason = "interrupted";
  counters.measurements = {
      counter("dram__bytes.sum", "layer1", "pack", 0.1),
      {"sm__cycles_active.sum", "layer1", "pack", Source::measured, {}, "no such counter"},
      counter("dram__bytes.sum", "layer1", "conv", -0.0),
      counter("sm__cycles_active.sum", "layer1", "conv", 1e300)};
  counters.source_lines = {{"layer1", "conv", "kernels/conv/b.cu", 7, 90, {{"wait", 60}, {"selected", 30}}},
                           {"layer1", "conv", {}, 0, 3, {{"wait", 3}}}};
  c.passes = {timing, counters};
  return c;
}

/// A run with every field of every struct set, so that a field which is not written or not read shows.
inline Run full_run() {
  Run run;
  run.tool = {"1.2.3", "0123456789ab"};
  run.command_line = {"mprof", "run", "--all", "--set", "tile=*"};
  run.state = RunState::interrupted;
  run.started = "2026-11-21T02:51:07Z";
  run.finished = "2026-11-21T02:52:07Z";
  run.plan.variants = {"conv/a", "conv/b"};
  run.plan.problems = {{"conv", {full_family().problems[0].problem, full_family().problems[1].problem}}};
  run.plan.settings = {{"tile", {"*"}}};
  run.plan.passes = {Pass::timing, Pass::counters};
  run.plan.metrics = {"dram__bytes.sum"};
  run.plan.quick = true;
  run.plan.hot = true;
  run.plan.seed = 9007199254740992;
  run.plan.timeout = 12.5;
  run.plan.stopping = {3, 9, 1.5, 0.05};
  run.plan.inputs = {{"pictures", "/pictures"}};
  run.plan.sources = {{.path = "/own/b.cpp",
                       .variant = "conv/b",
                       .checksum = "sha256:" + std::string(64, '0'),
                       .compiler = "/usr/bin/c++ (c++ 12.2.0)",
                       .flags = {"-lcublas"},
                       .library = "/cache/b.so"}};
  run.environment["cpu"]["model"] = "AMD \"EPYC\" \n ünïcode";
  run.environment["cpu"]["cores"] = 2.0;
  run.environment["cpu"]["governor"] = Absent{"no cpufreq here"};
  run.ceilings = {{"fp32_flop_rate", "cpu", 1.5e11, {}, "FMA chains"},
                  {"memory_bandwidth", "cpu", {}, "too busy", {}}};
  run.inputs = {{"conv", "pictures", "/pictures/a", 47, "sha256:0123"}};
  run.families = {full_family()};
  run.variants = {full_variant()};
  run.cases = {full_case()};
  run.shard = Shard{2, 3};
  run.spent = {{Pass::timing, 3, 9.5, 1, 2, 6}, {Pass::trace, 1, 2, 0.5, 0.25, 1, 0.125}};
  run.parts = {{.shard = Shard{1, 3},
                .command_line = {"mprof", "run", "--all", "--shard", "1/3"},
                .seed = 7,
                .started = "2026-11-21T02:51:07Z",
                .finished = "2026-11-21T02:59:07Z",
                .environment = {{"gpu", {{"UUID", "GPU-1"}, {"MIG", Absent{"no GPU"}}}}},
                .ceilings = run.ceilings,
                .spent = run.spent,
                .cases = {run.cases[0].id}}};
  return run;
}

}  // namespace mprof::test
