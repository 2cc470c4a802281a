// SPDX-License-Identifier: MIT
#include "model/statistics/series.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "model/derive/subjects.hpp"
#include "model/rounds.hpp"
#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// What is smaller than this part of a time is not worth a word, however regular it is: by whose clock it was
/// taken.
double noticeable(ClockSource clock) {
  return clock == ClockSource::host ? 0.03 : 0.01;
}

/// A step is one where there is none once in a thousand series. For short ones Pettitt's formula gives too
/// large a p (simulated: what it takes for 0.005 comes 3 times in 10,000 series of 20 samples, 7 times in
/// series of 25), so that the 20 samples of a round could never show one.
double largest_p(std::size_t samples) {
  constexpr std::size_t few = 30;
  return samples < few ? 0.005 : 0.001;
}

void add_steps_of(std::span<const double> samples, std::size_t round, double size,
                  std::vector<SeriesStep>& found) {
  for (const LevelStep& step : steps(samples, largest_p(samples.size()))) {
    if (!(step.before > 0) || std::abs(step.after / step.before - 1) <= size) continue;
    found.push_back({round, step.at, step.before, step.after});
  }
}

/// How far a sample lies from the median, as a part of it: the middle one of that.
double typical_deviation(std::span<const double> samples, double middle) {
  std::vector<double> deviations;
  for (const double sample : samples) deviations.push_back(std::abs(sample / middle - 1));
  return median(deviations);
}

/// 0 unless it is strong, and about more than noise that nobody would notice.
double strong_autocorrelation(std::span<const double> samples, double middle, double size) {
  constexpr double strong = 0.5;
  const double found = autocorrelation(samples);
  const double by_chance = 2 / std::sqrt(static_cast<double>(samples.size()));
  if (found <= std::max(strong, by_chance) || 2 * typical_deviation(samples, middle) <= size) return 0;
  return found;
}

void add_far_out(std::span<const double> samples, std::size_t first, double middle, double size,
                 std::vector<std::size_t>& found) {
  const std::vector<bool> marks = far_out(samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (marks[i] && std::abs(samples[i] / middle - 1) > size) found.push_back(first + i);
  }
}

}  // namespace

SeriesNotes series_notes(const Measurement& time) {
  SeriesNotes notes;
  const double size = noticeable(time.derived->clock);
  const auto rounds = samples_by_round(time);
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::span<const double> samples = rounds[round];
    if (samples.empty()) continue;
    const double middle = median(samples);
    if (!(middle > 0)) continue;
    const std::size_t before = notes.steps.size();
    add_steps_of(samples, round, size, notes.steps);
    add_far_out(samples, static_cast<std::size_t>(samples.data() - time.samples.data()), middle, size,
                notes.far_out);
    // Where there is a step, that is what makes neighbours alike.
    if (notes.steps.size() == before)
      notes.autocorrelation = std::max(notes.autocorrelation, strong_autocorrelation(samples, middle, size));
  }
  return notes;
}

}  // namespace mprof
