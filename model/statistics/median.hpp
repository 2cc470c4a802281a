// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>

namespace mprof {

/// An interval [low, high] that holds the median of the distribution with at least 95 % confidence.
struct Interval {
  double low = 0;
  double high = 0;
};

/// The middle value, or the mean of the two middle ones. `samples` must not be empty.
[[nodiscard]] double median(std::span<const double> samples);

/// The distribution-free interval of the median from order statistics (binomial, p = 1/2): no assumption on
/// the shape. It is nullopt below 6 samples: even [min, max] holds the median with less than 95 % confidence
/// then.
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> samples);

/// Half the width of median_interval() over the median; nullopt where there is no interval or the median is
/// 0.
[[nodiscard]] std::optional<double> relative_half_width(std::span<const double> samples);

/// The variance of the samples' median on the logarithmic scale, by median_interval(). It is 0 without such
/// an interval, or where its lower end is not positive.
[[nodiscard]] double variance_of_median(std::span<const double> samples);

/// The standard deviation over the median, of a normal distribution with the samples' mean distance to the
/// median, which an outlier moves little. It is nullopt below two samples, and where the median is not
/// positive.
[[nodiscard]] std::optional<double> relative_deviation(std::span<const double> samples);

/// How far the median of so many samples typically lies from the median of many more, over the median. It is
/// the standard error of a normal distribution's median, with relative_deviation(); nullopt where
/// relative_deviation() is nullopt.
[[nodiscard]] std::optional<double> relative_standard_error(std::span<const double> samples);

}  // namespace mprof
