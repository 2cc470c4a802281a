// SPDX-License-Identifier: MIT
#include "runner/stopping.hpp"

#include <algorithm>
#include <cmath>

#include "model/rounds.hpp"
#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// From so many on rounds say how much processes differ.
constexpr std::uint32_t telling_rounds = 2;
/// Samples that take longer than this, s, are worth waiting for two of, not more, where rounds follow.
constexpr double long_sampling = 0.3;
constexpr std::size_t fewest_long_samples = 2;
/// What a process and its inputs take at the least before a case can begin, s.
constexpr double process_seconds = 0.25;

/// How much processes are taken to differ in a time, over it. What moves samples of the host's clock in one
/// process moves those of the next one too, and so it is as much as these do, within what is assumed of
/// hosts: on an H100's whose hypervisor took 4 to 11 % of its time the standard deviation of processes was 3
/// to 17 %, and that of the samples of one process 1 to 19 % (quartiles of total times and of ops with their
/// copies, by problem).
double deviation_between_processes(const DecisiveSeries& one) {
  const double least = assumed_deviation(one.clock, false), most = assumed_deviation(one.clock, true);
  return std::clamp(relative_deviation(one.samples).value_or(0), least, most);
}

}  // namespace

std::optional<double> widest_half_width(const std::vector<DecisiveSeries>& series) {
  std::optional<double> widest;
  for (const DecisiveSeries& one : series) {
    const std::optional<double> half_width = relative_half_width(one.samples);
    if (!half_width) return std::nullopt;
    widest = std::max(widest.value_or(0), *half_width);
  }
  return widest;
}

std::optional<Ending> StoppingRule::ending(const std::vector<DecisiveSeries>& series, std::size_t samples,
                                           double elapsed) const {
  if (elapsed >= limits_.max_seconds) return Ending::seconds;
  if (is_below_floor(samples, elapsed)) return std::nullopt;
  if (samples >= limits_.max_samples) return Ending::samples;
  const std::optional<double> half_width = widest_half_width(series);
  if (half_width && *half_width <= limits_.relative_half_width) return Ending::confidence;
  if (are_rounds_worth_more(series, elapsed)) return Ending::confidence;
  return std::nullopt;
}

bool StoppingRule::is_below_floor(std::size_t samples, double elapsed) const {
  if (samples >= limits_.min_samples) return false;
  const bool are_long = samples >= fewest_long_samples && elapsed >= long_sampling;
  return others_.rounds < telling_rounds || !are_long;
}

/// A round counts by its median, whose variance is that between processes and that of the median. Of a given
/// time most is learnt with n = sqrt(c / C) s / S samples a round, where one costs C and deviates by s, and a
/// round costs c before the first one and deviates by S (Kalibera and Jones, ISMM 2013). With the standard
/// error s / sqrt(n) and the time n C that sampling has taken this says when n is reached.
bool StoppingRule::are_rounds_worth_more(const std::vector<DecisiveSeries>& series, double elapsed) const {
  if (others_.rounds < telling_rounds || series.empty()) return false;
  const double share = std::sqrt(elapsed / (process_seconds + others_.seconds_before));
  return std::ranges::all_of(series, [&](const DecisiveSeries& one) {
    const std::optional<double> error = relative_standard_error(one.samples);
    return error && *error <= share * deviation_between_processes(one);
  });
}

}  // namespace mprof
