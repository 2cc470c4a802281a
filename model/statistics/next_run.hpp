// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/statistics/median.hpp"
#include "model/statistics/variance.hpp"

/// What rounds, each in a process of its own, say of the next run and of a difference between two runs. A
/// round counts by the median of its samples, and on a logarithmic scale, where a percent is a percent of
/// short and long times alike.
///
/// T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013; W. Q. Meeker, G. J. Hahn
/// and L. A. Escobar, Statistical Intervals, 2nd edition, Wiley 2017, section 4.8 (prediction of a future
/// mean); B. L. Welch, The generalization of 'Student's' problem when several different population variances
/// are involved, Biometrika 34 (1947), 28-35; S. Holm, A simple sequentially rejective multiple test
/// procedure, Scandinavian Journal of Statistics 6 (1979), 65-70.
namespace mprof {

/// An interval that reaches further than this factor to either side says nothing, and is left out.
inline constexpr double interval_of_no_use = 1e6;

/// A time as its rounds know it.
struct Rounds {
  double center = 0;   ///< geometric mean of the rounds' medians
  double count = 0;    ///< rounds
  Variance between{};  ///< of the logarithms from one process to the next, moderated
  Variance common{};   ///< of what all times of the run share in a round: the state that the machine is in
  /// Share of the time by which a state that lasts a whole run may shift it, which no round of one run shows:
  /// a step of a clock.
  double step = 0;
  /// At most how many times as long as undisturbed: 1 where nothing disturbed it, infinite where nothing
  /// bounds it.
  double lengthened = 1;
};

/// Where the center of a next run of as many rounds lies, 95 times in 100: center * exp(+-(t * sqrt(2 *
/// (between / rounds + common)) + step)). More rounds do not average out what is common to them, since a
/// machine's state outlasts a round. The step is added undivided, since it is there in full or not at all.
/// nullopt where nothing of use is known of the variance.
[[nodiscard]] std::optional<Interval> next_run_interval(const Rounds& rounds);

/// Whether two times were measured in turns, so that the machine was in the same state for both.
enum class Apart { in_one_run, in_two_runs };

/// On the logarithmic scale: how much of a difference may be something else's.
struct Excuse {
  double longer = 0;   ///< where `after` is longer
  double shorter = 0;  ///< where it is shorter

  [[nodiscard]] double of(double difference) const { return difference > 0 ? longer : shorter; }
  /// The larger one that is finite; infinite where neither is.
  [[nodiscard]] double known() const {
    if (std::isinf(longer)) return shorter;
    return std::isinf(shorter) ? longer : std::max(longer, shorter);
  }
};

/// Two times against each other: `after` over `before`.
struct RatioTest {
  double ratio = 1;
  double p = 1;         ///< two-sided, of a ratio so far from 1 where there is no difference but the excuse
  Interval interval{};  ///< 95 %, of the ratio without what disturbed them
  double step = 0;      ///< on the logarithmic scale: of the difference, so much may be the machine's
  Excuse excuse{};      ///< the step, and what disturbed the side that is longer
};

/// A t-test on the logarithms in Welch's form, with the moderated variances in place of each sample's own.
/// The machine's state may have shifted one side by `step`, a share of the time. What disturbed a side may
/// have lengthened it by the factor Rounds::lengthened. The test is of what exceeds both. nullopt where
/// nothing of use is known of a variance.
[[nodiscard]] std::optional<RatioTest> test_ratio(const Rounds& before, const Rounds& after,
                                                  Apart apart = Apart::in_two_runs, double step = 0);

/// Rounds on each side, more than there are, that find a difference of `relative` significant four times in
/// five, as far as the variances known now show; at most 1000. Of several differences that are judged
/// together by Holm's method, `together` is the factor by which the p of this one is multiplied.
[[nodiscard]] std::size_t rounds_for(const Rounds& before, const Rounds& after, double relative,
                                     Apart apart = Apart::in_two_runs, double together = 1);

/// p-values adjusted by Holm's step-down method for being tested together, in the order given.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace mprof
