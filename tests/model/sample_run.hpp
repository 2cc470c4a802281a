#pragma once

#include "model/run.hpp"

namespace mprof::test {

/// A run with every field of every struct set, so that a field which is not written or not read shows.
inline Run full_run() {
  Run run;
  run.tool = {"1.2.3", "0123456789ab"};
  run.command_line = {"mprof", "run", "--all", "--set", "tile=*"};
  run.state = RunState::interrupted;
  run.started = "2026-11-21T02:51:07Z";
  run.finished = "2026-11-21T02:52:07Z";
  run.plan.variants = {"conv/a", "conv/b"};
  run.plan.batches = {100, 10000};
  run.plan.settings = {{"tile", {"*"}}};
  run.plan.passes = {Pass::timing, Pass::counters};
  run.plan.quick = true;
  run.plan.seed = 9007199254740992;
  run.plan.timeout = 12.5;
  run.plan.stopping = {3, 9, 1.5, 0.05};
  run.plan.images = "/images";
  run.plan.weights = "/weights";
  run.environment["cpu"]["model"] = "AMD \"EPYC\" \n ünïcode";
  run.environment["cpu"]["cores"] = 2.0;
  run.environment["cpu"]["governor"] = Absent{"no cpufreq here"};
  run.ceilings = {{"fp32_flop_rate", "cpu", 1.5e11, {}, "FMA chains"},
                  {"memory_bandwidth", "cpu", {}, "too busy", {}}};
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
  variant.source_file = "conv/b.cpp";
  run.variants = {variant};
  Case c;
  c.key = {"conv/b", {{"tile", "8"}}, 100};
  c.id = "conv/b[tile=8]@100";
  c.ops = {{"layer1", "layer 1", 1e9, 2e6}};
  PassResult timing;
  timing.pass = Pass::timing;
  timing.status = Status::wrong;
  timing.reason = "layer1: 3 elements are NaN";
  timing.seconds = 0.1;
  timing.sampling = Sampling{2, 3, Ending::confidence, 0.012};
  timing.verification = {{"layer1", false, 0.25, 3.5, 1e-5, 100, 3, 1, "3 elements are NaN"}};
  timing.measurements = {
      {"op_time", "layer1", "kernel<float>", Source::measured, {0.1, 1e-300, 3.0000000000000004}, {}},
      {"compute_throughput", "layer1", {}, Source::modelled, {}, "no ceiling"}};
  PassResult counters;
  counters.pass = Pass::counters;
  counters.status = Status::pending;
  counters.reason = "not run yet";
  c.passes = {timing, counters};
  run.cases = {c};
  return run;
}

}  // namespace mprof::test
