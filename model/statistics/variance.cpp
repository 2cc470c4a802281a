// SPDX-License-Identifier: MIT
#include "model/statistics/variance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

namespace mprof {
namespace {

using boost::math::digamma;
using boost::math::trigamma;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t fewest_cases = 3;
/// Clocks have steps, so that some cases seem not to vary at all: less than this part of the median variance
/// is taken for it.
constexpr double least_part_of_median = 1e-5;
/// What rounding leaves of a variance of logarithms where all values are one: no variation was seen.
constexpr double rounding = 1e-24;

/// The y with trigamma(y) = x, by Newton's method on 1 / trigamma, which is convex and nearly linear (Smyth,
/// appendix).
double inverse_trigamma(double x) {
  if (x > 1e7) return 1 / std::sqrt(x);
  if (x < 1e-6) return 1 / x;
  double y = 0.5 + 1 / x;
  for (int i = 0; i < 50; ++i) {
    const double at = trigamma(y);
    const double step = at * (1 - at / x) / boost::math::polygamma(2, y);
    y += step;
    if (-step / y < 1e-10) break;
  }
  return y;
}

/// All cases as one.
Variance pooled(std::span<const Variance> cases) {
  double sum = 0, dof = 0;
  for (const Variance& one : cases) {
    sum += one.dof * one.value;
    dof += one.dof;
  }
  return {sum / dof, dof};
}

/// Those that are known at all, none of them below a floor.
std::vector<Variance> usable(std::span<const Variance> cases) {
  std::vector<Variance> known;
  std::ranges::copy_if(cases, std::back_inserter(known), [](const Variance& one) { return one.dof >= 1; });
  if (known.empty()) return known;
  std::vector<double> values;
  for (const Variance& one : known) values.push_back(one.value);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  for (Variance& one : known) one.value = std::max(one.value, least_part_of_median * *middle);
  return known;
}

}  // namespace

Variance variance_of_logs(std::span<const double> values) {
  if (values.size() < 2) return {};
  const double middle = std::log(geometric_mean(values));
  double sum = 0;
  for (const double value : values) sum += (std::log(value) - middle) * (std::log(value) - middle);
  const auto dof = static_cast<double>(values.size() - 1);
  return {sum / dof, dof};
}

double geometric_mean(std::span<const double> values) {
  if (values.size() == 1) return values.front();  // to the last digit
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

VariancePrior variance_prior(std::span<const Variance> cases, const VariancePrior& fallback) {
  const std::vector<Variance> known = usable(cases);
  if (known.size() < fewest_cases) return fallback;
  const Variance all = pooled(known);
  const auto varies = [](const Variance& one) { return one.value > rounding; };
  if (!std::ranges::all_of(known, varies)) return fallback;  // of more than half nothing is known
  const auto count = static_cast<double>(known.size());
  std::vector<double> logs;
  double mean = 0, expected = 0;
  for (const Variance& one : known) {
    logs.push_back(std::log(one.value) - digamma(one.dof / 2) + std::log(one.dof / 2));
    mean += logs.back() / count;
    expected += trigamma(one.dof / 2) / count;
  }
  double spread = 0;
  for (const double log : logs) spread += (log - mean) * (log - mean) / (count - 1);
  if (spread <= expected) return {all.value, infinite, all.dof};
  const double dof = 2 * inverse_trigamma(spread - expected);
  return {std::exp(mean + digamma(dof / 2) - std::log(dof / 2)), dof, all.dof};
}

Variance moderated(const Variance& own, const VariancePrior& prior) {
  if (std::isinf(prior.dof)) return {prior.value, prior.known_with};
  const double dof = own.dof + prior.dof;
  if (dof == 0) return {};
  return {(own.dof * own.value + prior.dof * prior.value) / dof, std::min(dof, prior.known_with)};
}

}  // namespace mprof
