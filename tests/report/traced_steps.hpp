// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>

#include "model/derive/derive.hpp"
#include "model/derive/subjects.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "tests/report/fabricated_program.hpp"

namespace mprof::test {

/// A program that was timed in three rounds, and traced.
inline Run traced_run(const FabricatedProgram& program, const std::string& started) {
  Run run;
  run.started = started;
  run.state = RunState::complete;
  run.variants = {{.id = "program/p", .family = "program", .device = "cuda", .subject = Subject::program}};
  run.families = {{.id = "program", .title = "Programs, as they are"}};
  Case& c = run.cases.emplace_back();
  c.id = c.key.variant = "program/p";
  PassResult timing{.pass = Pass::timing, .status = Status::ok};
  Measurement total{.metric = "total_time", .rounds = {1, 1, 1}};
  total.samples = {0.999, 1, 1.001};
  for (int round = 0; round < 3; ++round) timing.rounds.push_back({.samples = 1});
  timing.sampling = Sampling{.samples = 3};
  timing.measurements = {total};
  PassResult traced{.pass = Pass::trace, .status = Status::ok};
  traced.measurements = step_times(program.made.trace, 0);
  c.passes = {timing, traced};
  derive_variation(run);
  return run;
}

inline const TimeComparison& step_time(const Comparison& comparison) {
  const auto& times = comparison.cases.at(0).times;
  return *std::ranges::find(times, "step_time", &TimeComparison::metric);
}

}  // namespace mprof::test
