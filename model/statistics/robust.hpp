// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace mprof {

/// Where most values lie, and how far apart, whatever a few of them are.
struct RobustSpread {
  double centre = 0;
  double deviation = 0;  ///< of a normal distribution with the same median absolute deviation
};

/// How many deviations a value lies from the centre before it is an outlier (B. Iglewicz and D. C. Hoaglin,
/// How to Detect and Handle Outliers, ASQC 1993).
inline constexpr double outlying_deviations = 3.5;

/// The trimmed median: the median of the values that are no outliers. The deviation comes from the same
/// values. Outliers are found by the median of all values and 1.4826 times their median absolute deviation.
/// `values` must not be empty.
///
/// P. J. Rousseeuw and C. Croux, Alternatives to the Median Absolute Deviation, Journal of the American
/// Statistical Association 88, 1993.
[[nodiscard]] RobustSpread robust_spread(std::span<const double> values);

/// A lower bound of the deviation, at 95 % confidence, where so many normal values were measured. The median
/// absolute deviation has 37 % of the standard deviation's efficiency (Rousseeuw and Croux).
[[nodiscard]] double least_deviation(const RobustSpread& spread, std::size_t values);

/// How many deviations from the centre; infinite where all others are alike and this one is not.
[[nodiscard]] double deviations_from(const RobustSpread& spread, double value);

}  // namespace mprof
