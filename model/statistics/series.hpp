// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// What the samples of one process show in the order in which they were taken.
namespace mprof {

/// Where a series changes its level.
struct LevelStep {
  std::size_t at = 0;  ///< the first sample behind it
  double before = 0;   ///< median of the samples before
  double after = 0;    ///< median of those behind
  double p = 1;        ///< of a step so clear in a series without a step
};

/// The most likely step of a series, by ranks: A. N. Pettitt, A non-parametric approach to the change-point
/// problem, Applied Statistics 28 (1979), 126-135. nullopt below 8 samples, where not even the clearest step
/// is significant.
[[nodiscard]] std::optional<LevelStep> most_likely_step(std::span<const double> series);

/// How many samples a step needs on either side of it, so that its p can be at most `p` in a series of
/// `count` samples. nullopt where not even the clearest step reaches that. By Pettitt's formula, which is
/// cautious in short series, this is so below 11 samples for 5 %.
[[nodiscard]] std::optional<std::size_t> fewest_beside_a_step(std::size_t count, double p);

/// Whether a straight line through a series leaves a smaller sum of squares than a step before `at` does. To
/// a test of ranks, a drift looks like a step in its middle. Line and step are each drawn with two numbers.
[[nodiscard]] bool is_rather_a_drift(std::span<const double> series, std::size_t at);

/// All steps whose p is at most `p`, ascending. First the most likely step is found, then the steps of what
/// lies before and after it (binary segmentation). Each is then looked for again between its neighbours.
[[nodiscard]] std::vector<LevelStep> steps(std::span<const double> series, double p);

/// Correlation of neighbours, -1 to 1; 0 below 3 samples or where nothing varies.
[[nodiscard]] double autocorrelation(std::span<const double> series);

/// Whether each sample lies outside Tukey's outer fences: more than three interquartile ranges beyond a
/// quartile (J. W. Tukey, Exploratory Data Analysis, 1977). All false below 4 samples.
[[nodiscard]] std::vector<bool> far_out(std::span<const double> series);

}  // namespace mprof
