// SPDX-License-Identifier: MIT
#include "model/statistics/series.hpp"

#include <algorithm>
#include <cmath>

#include "model/statistics/median.hpp"

namespace mprof {
namespace {

constexpr std::size_t fewest_for_a_step = 8;
constexpr std::size_t fewest_for_quartiles = 4;
constexpr double outer_fence = 3;

/// How many of the series are below the value, less how many are above it.
double standing(double value, std::span<const double> sorted) {
  const auto below = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
  const auto above = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), value);
  return static_cast<double>(below - above);
}

/// Pettitt's approximation, of the largest |U| among `count` samples.
double p_of(double u, std::size_t count) {
  const auto n = static_cast<double>(count);
  return std::min(1.0, 2 * std::exp(-6 * u * u / (n * n * n + n * n)));
}

/// Sum of squares around the mean.
double left_by_mean(std::span<const double> series) {
  double mean = 0, left = 0;
  for (const double value : series) mean += value / static_cast<double>(series.size());
  for (const double value : series) left += (value - mean) * (value - mean);
  return left;
}

/// Sum of squares around the line of least squares over the places of a series.
double left_by_line(std::span<const double> series) {
  const double middle = (static_cast<double>(series.size()) - 1) / 2;
  double along = 0, places = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double place = static_cast<double>(i) - middle;
    along += place * series[i];
    places += place * place;
  }
  return left_by_mean(series) - (places > 0 ? along * along / places : 0);
}

void add_steps(std::span<const double> series, std::size_t offset, double p, std::vector<LevelStep>& found) {
  std::optional<LevelStep> step = most_likely_step(series);
  if (!step || step->p > p) return;
  const std::size_t at = step->at;
  add_steps(series.first(at), offset, p, found);
  step->at += offset;
  found.push_back(*step);
  add_steps(series.subspan(at), offset + at, p, found);
}

/// Each step anew, between its neighbours: the first ones were looked for where others were still in sight,
/// and a series that rises twice looks as if it rose anywhere in between. One that is none there goes. False
/// when nothing changed.
bool refine(std::span<const double> series, double p, std::vector<LevelStep>& found) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t from = i == 0 ? 0 : found[i - 1].at;
    const std::size_t to = i + 1 == found.size() ? series.size() : found[i + 1].at;
    std::optional<LevelStep> step = most_likely_step(series.subspan(from, to - from));
    if (!step || step->p > p) {
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    step->at += from;
    const bool moved = step->at != found[i].at;
    found[i] = *step;
    if (moved) return true;
  }
  return false;
}

/// Between order statistics as Hyndman and Fan's definition 7 has it, which R and NumPy use.
double quantile(std::span<const double> sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::optional<LevelStep> most_likely_step(std::span<const double> series) {
  const std::size_t count = series.size();
  if (count < fewest_for_a_step) return std::nullopt;
  // U(t) = sum over i <= t < j of sign(x(i) - x(j)), from U(t - 1).
  std::vector<double> sorted(series.begin(), series.end());
  std::ranges::sort(sorted);
  double u = 0, largest = -1;
  std::size_t at = 1;
  for (std::size_t t = 0; t + 1 < count; ++t) {
    u += standing(series[t], sorted);
    if (std::abs(u) > largest) {
      largest = std::abs(u);
      at = t + 1;
    }
  }
  return LevelStep{at, median(series.first(at)), median(series.subspan(at)), p_of(largest, count)};
}

std::optional<std::size_t> fewest_beside_a_step(std::size_t count, double p) {
  if (count < fewest_for_a_step) return std::nullopt;
  // Of a clear step, all pairs across it have one sign.
  for (std::size_t beside = 1; beside <= count / 2; ++beside) {
    if (p_of(static_cast<double>(beside * (count - beside)), count) <= p) return beside;
  }
  return std::nullopt;
}

bool is_rather_a_drift(std::span<const double> series, std::size_t at) {
  return left_by_line(series) < left_by_mean(series.first(at)) + left_by_mean(series.subspan(at));
}

std::vector<LevelStep> steps(std::span<const double> series, double p) {
  std::vector<LevelStep> found;
  add_steps(series, 0, p, found);
  for (std::size_t i = 0; i < series.size() && refine(series, p, found); ++i) {
  }
  return found;
}

double autocorrelation(std::span<const double> series) {
  if (series.size() < 3) return 0;
  double mean = 0;
  for (const double value : series) mean += value / static_cast<double>(series.size());
  double together = 0, alone = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    alone += (series[i] - mean) * (series[i] - mean);
    if (i > 0) together += (series[i] - mean) * (series[i - 1] - mean);
  }
  return alone > 1e-20 * mean * mean ? together / alone : 0;  // less is rounding
}

std::vector<bool> far_out(std::span<const double> series) {
  std::vector<bool> marks(series.size(), false);
  if (series.size() < fewest_for_quartiles) return marks;
  std::vector<double> sorted(series.begin(), series.end());
  std::ranges::sort(sorted);
  const double lower = quantile(sorted, 0.25), upper = quantile(sorted, 0.75);
  const double reach = outer_fence * (upper - lower);
  for (std::size_t i = 0; i < series.size(); ++i)
    marks[i] = series[i] < lower - reach || series[i] > upper + reach;
  return marks;
}

}  // namespace mprof
