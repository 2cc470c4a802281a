// SPDX-License-Identifier: MIT
#include "model/statistics/robust.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// Of the median absolute deviation of a normal distribution: 1 / Φ⁻¹(3/4).
constexpr double normal_consistency = 1.4826;
/// Of a normal distribution's values, the share that the standard deviation needs to be as certain.
constexpr double efficiency = 0.37;
constexpr double one_sided_95 = 1.645;  ///< Φ⁻¹(0.95)

RobustSpread spread_of_all(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return {centre, normal_consistency * median(distances)};
}

}  // namespace

RobustSpread robust_spread(std::span<const double> values) {
  const RobustSpread all = spread_of_all(values);
  std::vector<double> kept;
  kept.reserve(values.size());
  for (const double value : values) {
    if (std::abs(value - all.centre) <= outlying_deviations * all.deviation) kept.push_back(value);
  }
  return kept.empty() ? all : spread_of_all(kept);
}

double least_deviation(const RobustSpread& spread, std::size_t values) {
  const double relative_error = 1 / std::sqrt(2 * efficiency * static_cast<double>(values));
  return spread.deviation * std::max(0.0, 1 - one_sided_95 * relative_error);
}

double deviations_from(const RobustSpread& spread, double value) {
  const double distance = value - spread.centre;
  if (distance == 0) return 0;
  if (spread.deviation == 0) return std::copysign(std::numeric_limits<double>::infinity(), distance);
  return distance / spread.deviation;
}

}  // namespace mprof
