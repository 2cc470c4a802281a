// SPDX-License-Identifier: MIT
#include "tests/report/history_runs.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "tests/report/sample_runs.hpp"

namespace mprof::samples {
namespace {

/// Steele, Lea and Flood's SplitMix64: a number that looks random for each n.
double uniform(std::uint64_t n) {
  std::uint64_t x = (n + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return (static_cast<double>((x ^ (x >> 31U)) >> 11U) + 0.5) * 0x1p-53;
}

}  // namespace

double noisy(double deviation, std::uint64_t n) {
  const double radius = std::sqrt(-2 * std::log(uniform(2 * n)));
  return std::exp(deviation * radius * std::cos(2 * std::numbers::pi * uniform(2 * n + 1)));
}

Run on_day(std::size_t day, double first, double second, double between) {
  Run run = empty_run();
  run.started = fmt::format("2025-{:02}-{:02}T10:00:00Z", 1 + day / 28, 1 + day % 28);
  run.tool.revision = fmt::format("{:07x}99999", 0xabc000 + day);
  run.families = {conv_family()};
  run.variants = {variant("conv/tiled")};
  run.cases = {timed_case(run.variants[0], 100, first, second)};
  for (Measurement& row : timing(run.cases[0]).measurements) {
    if (row.metric != "op_time") continue;
    row.samples.assign(10, row.op == "layer1" ? first : second);
    row.rounds.assign(5, 2);
    row.derived.own().between = {between * between, 20};
    row.derived.own().clock = ClockSource::device;
  }
  return run;
}

std::vector<RecordedRun> daily(std::size_t count, const TimeInRun& first, const TimeInRun& second,
                               double between) {
  std::vector<RecordedRun> runs;
  for (std::size_t i = 0; i < count; ++i)
    runs.push_back(recorded_run(on_day(i, first(i), second(i), between), fmt::format("results/{}", i + 1)));
  return runs;
}

}  // namespace mprof::samples
