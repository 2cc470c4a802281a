// SPDX-License-Identifier: MIT
#include "report/analysis/machines/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

#include "model/statistics/next_run.hpp"
#include "model/statistics/series.hpp"

namespace mprof {
namespace {

std::vector<double> logarithms(std::span<const Estimate> runs) {
  std::vector<double> logs;
  for (const Estimate& run : runs) logs.push_back(std::log(run.median));
  return logs;
}

/// The steps that ranks find, without those that are drifts, between the ends of the series: 0, ..., count.
std::vector<std::size_t> borders_of(std::span<const double> logs) {
  const std::vector<LevelStep> found = steps(logs, significance);
  std::vector<std::size_t> borders{0};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t from = borders.back();
    const std::size_t to = i + 1 < found.size() ? found[i + 1].at : logs.size();
    if (!is_rather_a_drift(logs.subspan(from, to - from), found[i].at - from)) borders.push_back(found[i].at);
  }
  borders.push_back(logs.size());
  return borders;
}

PossibleChange between_two(std::span<const Estimate> runs, std::size_t before, std::size_t after,
                           ToldBy told_by) {
  PossibleChange change{before, after, told_by, {{runs[before], {}}, {runs[after], {}}}};
  borrow_variations(*change.times.before.estimate, *change.times.after.estimate);
  return change;
}

/// Those between two borders where ranks cannot tell. Right beside a step that they found, it would be told
/// twice: ranks may be mistaken by a run.
void add_neighbours(std::vector<PossibleChange>& all, std::span<const Estimate> runs, std::size_t from,
                    std::size_t to) {
  const std::size_t reach = fewest_beside_a_step(to - from, significance).value_or(runs.size());
  for (std::size_t at = from + 1; at < to; ++at) {
    const bool beside_a_step = (at == from + 1 && from > 0) || (at + 1 == to && to < runs.size());
    const bool for_ranks = at - from >= reach && to - at >= reach;
    if (!for_ranks && !beside_a_step) all.push_back(between_two(runs, at - 1, at, ToldBy::neighbours));
  }
}

}  // namespace

std::string_view to_string(ToldBy told_by) {
  switch (told_by) {
    case ToldBy::neighbours:
      return "neighbours";
    case ToldBy::ranks:
      return "ranks";
    case ToldBy::ends:
      break;
  }
  return "ends";
}

/// That of one is its own; 0 where one is not known.
std::size_t number_of_all(const std::set<std::size_t>& gpus) {
  constexpr std::size_t mixing = 0x9E37'79B9'7F4A'7C15;  // 2^64 over the golden ratio
  if (gpus.contains(0)) return 0;
  std::size_t number = 0;
  for (const std::size_t gpu : gpus) number = number * mixing + gpu;
  return number;
}

Estimate pooled_runs(std::span<const Estimate> runs) {
  std::vector<double> centers;
  Estimate pooled{.rounds = runs.size(), .clock = ClockSource::device};
  std::set<std::size_t> gpus;
  for (const Estimate& run : runs) {
    centers.push_back(run.median);
    gpus.insert(run.gpu);
    pooled.samples += run.samples;
    if (run.clock != ClockSource::device) pooled.clock = run.clock;
  }
  pooled.median = geometric_mean(centers);
  pooled.between = variance_of_logs(centers);
  pooled.gpu = number_of_all(gpus);
  pooled.interval = next_run_interval(rounds_of(pooled));
  return pooled;
}

std::vector<PossibleChange> possible_changes(std::span<const Estimate> runs) {
  std::vector<PossibleChange> all;
  if (runs.size() < 2) return all;
  const std::vector<std::size_t> borders = borders_of(logarithms(runs));
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const std::size_t from = borders[i], at = borders[i + 1];
    add_neighbours(all, runs, from, at);
    if (at == runs.size()) break;
    const std::size_t to = borders[i + 2];
    all.push_back(
        {at - 1,
         at,
         ToldBy::ranks,
         {{pooled_runs(runs.subspan(from, at - from)), {}}, {pooled_runs(runs.subspan(at, to - at)), {}}}});
  }
  if (runs.size() > 2) all.push_back(between_two(runs, 0, runs.size() - 1, ToldBy::ends));
  return all;
}

}  // namespace mprof
