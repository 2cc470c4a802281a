// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "model/statistics/median.hpp"
#include "model/statistics/next_run.hpp"

/// Two things measured at the same time, in blocks. Within a block their order is mirrored (A B B A), so that
/// a drift of the machine hits both alike. Each block gives one difference.
///
/// W. S. Gosset ('Student'), The probable error of a mean, Biometrika 6 (1908), 1-25 (paired differences); G.
/// E. P. Box, J. S. Hunter and W. G. Hunter, Statistics for Experimenters, 2nd edition, Wiley 2005, chapter 3
/// (blocking).
namespace mprof {

/// Student's t-test on the differences of the logarithms, block by block. `before` and `after`: what each
/// block saw, positive. nullopt below two blocks. The interval holds the ratio with 1 - `alpha`.
[[nodiscard]] std::optional<RatioTest> test_paired(std::span<const double> before,
                                                   std::span<const double> after, double alpha = 0.05);

/// How two things differ whose samples were taken in turns: on the logarithmic scale, by rounds of fresh
/// processes on both sides.
struct Difference {
  double mean = 0;     ///< over the rounds, of after over before
  double rounds = 0;   ///< that have samples of both
  Variance between{};  ///< of the rounds' differences; 0 degrees of freedom below two rounds

  /// Two times of this difference, for test_ratio() and rounds_for() of what was measured in one run.
  [[nodiscard]] Rounds before() const { return {1, rounds, {0, between.dof}}; }
  [[nodiscard]] Rounds after() const;
};

/// Of the ratios of after over before, one a round; positive.
[[nodiscard]] Difference difference_of(std::span<const double> ratios);

/// Of one round: the median of after over before, each sample with the one of the other side that was taken
/// next to it. What slows the machine down for longer than a sample is in both, and cancels out. Samples
/// without a partner do not count. Positive, and neither is empty.
[[nodiscard]] double ratio_of_pairs(std::span<const double> before, std::span<const double> after);

/// The interval that holds the mean of such differences with 1 - `alpha`, by Student's t distribution;
/// nullopt below two.
[[nodiscard]] std::optional<Interval> interval_of_mean(std::span<const double> differences, double alpha);

/// A test that is looked at again and again finds something sooner or later. Looks are therefore taken only
/// after some numbers of blocks. Each may be wrong so rarely that all of them together are wrong at most 5
/// times in 100 (Bonferroni over the looks). What would happen otherwise: P. Armitage, C. K. McPherson and B.
/// C. Rowe, Repeated significance tests on accumulating data, Journal of the Royal Statistical Society A 132
/// (1969), 235-244.
[[nodiscard]] bool is_look(std::size_t blocks);

/// The alpha of each look.
[[nodiscard]] double alpha_of_a_look();

/// Blocks after which there is no further look.
[[nodiscard]] std::size_t most_blocks();

}  // namespace mprof
