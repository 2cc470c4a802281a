// SPDX-License-Identifier: MIT
#include "model/statistics/median.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <unordered_map>
#include <vector>

#include <boost/math/distributions/binomial.hpp>

namespace mprof {
namespace {

constexpr double tail = 0.025;  // on each side: 95 % in all
constexpr std::size_t fewest_samples_with_an_interval = 6;
/// Of a normal distribution: its mean distance to the median and the median's variance have it.
constexpr double half_pi = std::numbers::pi / 2;

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

/// The largest rank k (from 1) for which [x(k), x(n + 1 - k)] covers the median with 95 %: the interval
/// misses on one side when fewer than k samples lie below the median, so P(Binomial(n, 1/2) <= k - 1) may
/// be 2.5 % at the most.
std::size_t compute_rank_of_lower_end(std::size_t count) {
  const boost::math::binomial_distribution<double> below(static_cast<double>(count), 0.5);
  std::size_t rank = 0;
  while (2 * rank < count && boost::math::cdf(below, static_cast<double>(rank)) <= tail) ++rank;
  return rank;
}

/// A report asks for the same few numbers of samples thousands of times.
std::size_t rank_of_lower_end(std::size_t count) {
  thread_local std::unordered_map<std::size_t, std::size_t> known;
  const auto [entry, is_new] = known.try_emplace(count, 0);
  if (is_new) entry->second = compute_rank_of_lower_end(count);
  return entry->second;
}

}  // namespace

double median(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  const double below = *std::max_element(copy.begin(), middle);
  return below + (*middle - below) / 2;
}

std::optional<Interval> median_interval(std::span<const double> samples) {
  if (samples.size() < fewest_samples_with_an_interval) return std::nullopt;
  const std::vector<double> ordered = sorted(samples);
  const std::size_t first = rank_of_lower_end(samples.size()) - 1;
  return Interval{ordered[first], ordered[ordered.size() - 1 - first]};
}

std::optional<double> relative_half_width(std::span<const double> samples) {
  const std::optional<Interval> interval = median_interval(samples);
  if (!interval) return std::nullopt;
  const double middle = median(samples);
  if (middle == 0) return std::nullopt;
  return (interval->high - interval->low) / 2 / std::abs(middle);
}

double variance_of_median(std::span<const double> samples) {
  constexpr double of_normal = 1.96;  // deviations in half of a 95 % interval
  const std::optional<Interval> interval = median_interval(samples);
  if (!interval || !(interval->low > 0)) return 0;
  const double deviation = std::log(interval->high / interval->low) / 2 / of_normal;
  return deviation * deviation;
}

std::optional<double> relative_deviation(std::span<const double> samples) {
  if (samples.size() < 2) return std::nullopt;
  const double middle = median(samples);
  if (!(middle > 0)) return std::nullopt;
  double distances = 0;
  for (const double sample : samples) distances += std::abs(sample - middle);
  return std::sqrt(half_pi) * distances / static_cast<double>(samples.size() - 1) / middle;
}

std::optional<double> relative_standard_error(std::span<const double> samples) {
  const std::optional<double> deviation = relative_deviation(samples);
  if (!deviation) return std::nullopt;
  return std::sqrt(half_pi / static_cast<double>(samples.size())) * *deviation;
}

}  // namespace mprof
