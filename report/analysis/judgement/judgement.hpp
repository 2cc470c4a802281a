// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/statistics/paired.hpp"
#include "report/analysis/judgement/estimate.hpp"

/// The one place that decides whether a time became shorter: reports, comparisons, sweeps, combinations and
/// explanations all ask it, so that no two of them disagree on a pair.
namespace mprof {

/// A smaller change is hardly worth a word, however sure it is.
inline constexpr double noticeable_change = 0.05;

/// How often "faster" or "slower" may be called by chance where nothing changed: once in twenty times.
inline constexpr double significance = 0.05;

/// A smaller change of a time than its clock's threshold does not count, however surely it was measured.
struct Thresholds {
  double device = 0.01;
  double host = 0.03;

  /// The threshold of the clocks that took two times: the host's where it took one of them.
  [[nodiscard]] double of(const Estimate& before, const Estimate& after) const;
};

/// How a time changed. Nothing but times uses these words.
enum class Verdict { faster, slower, same, inconclusive };

[[nodiscard]] std::string_view to_string(Verdict verdict);

/// Faster or slower: the time did change.
[[nodiscard]] bool is_change(Verdict verdict);

/// Whether one says faster and the other slower.
[[nodiscard]] bool contradict(Verdict a, Verdict b);

/// How many times as fast, and the verdict on that; or why it cannot be said.
struct SpeedUp {
  std::optional<double> factor{};
  std::optional<Interval> interval{};  ///< 95 %, of the factor
  std::optional<double> least{};       ///< its end next to 1, where the other end is not known
  std::optional<double> p{};           ///< of a factor so far from 1 where there is no difference
  /// Of what is no change: the smallest one that the data exclude, as a share of the time; 0.015: none above
  /// 1.5 %.
  std::optional<double> no_change_above{};
  Why absent{};  ///< why there is no factor
  Verdict verdict = Verdict::inconclusive;
  Why reason{};                          ///< why the verdict is inconclusive
  std::optional<double> more_rounds{};   ///< about so many more a side would tell, where that is all
  std::vector<std::string> disturbed{};  ///< what disturbed the times, each cause once

  explicit operator bool() const { return factor.has_value(); }
  /// Whether it is open, and what disturbed the times is why.
  [[nodiscard]] bool is_open_by_disturbance() const {
    return verdict == Verdict::inconclusive && !disturbed.empty();
  }
  /// How many times as fast, or as slow, at least, whatever disturbed the times; nothing of what is no
  /// change.
  [[nodiscard]] std::optional<double> at_least() const;
  /// 95 %, of the time after over the one before.
  [[nodiscard]] std::optional<Interval> ratio_interval() const;
};

/// The smallest change, as a share of the time, that the interval of a ratio excludes. With 95 % intervals
/// these are two one-sided tests at 2.5 % each (D. J. Schuirmann, A comparison of the two one-sided tests
/// procedure and the power approach, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987), 657-680).
[[nodiscard]] double excluded_change(const Interval& ratio);

/// Whether the interval of a ratio lies within a threshold around 1.
[[nodiscard]] bool is_within(const Interval& ratio, double threshold);

[[nodiscard]] SpeedUp no_speed_up(Why reason);

/// A time before and after, of one run, by test_ratio() on the logarithms of their rounds. Faster or
/// slower: p is at most `significance`, and the change exceeds the threshold: a test and an effect. Same: the
/// 95 % interval of the change lies within the threshold. Otherwise inconclusive, with about how many more
/// rounds would tell. Of times that were disturbed a change counts by what exceeds the most that this can
/// have made of the longer one; where nothing bounds that, they are not tested. Of times that other GPUs took
/// a change counts only where it is more than healthy ones of a model differ by. Never call it with a time
/// whose output failed its verification.
[[nodiscard]] SpeedUp judge(const Value& before, const Value& after, const Thresholds& thresholds = {});

/// Two times that are judged together with others.
struct TimePair {
  Value before{};
  Value after{};
  /// Of times whose samples were taken in turns: how they differ. It alone is judged then, and what disturbed
  /// the times is no reason against it, since it disturbed both.
  std::optional<Difference> in_turns{};
};

/// The same for many pairs, by default of two runs, in the order given. A call of "faster" or "slower"
/// anywhere among them is wrong at most once in twenty times: their p are adjusted by Holm's method.
/// Disturbed times and the others are adjusted separately, so that disturbed ones make the others no less
/// sure.
[[nodiscard]] std::vector<SpeedUp> judge_together(std::span<const TimePair> pairs,
                                                  const Thresholds& thresholds = {},
                                                  Apart apart = Apart::in_two_runs);

/// What disturbed a pair, as a reason; nothing when nothing did.
[[nodiscard]] Why why_disturbed(const TimePair& pair);

/// Whether a time is tied with the best one, which is no longer. Both have an interval, nothing disturbed
/// them, and the verdict is not that the best one is faster.
[[nodiscard]] bool is_level(const Value& time, const Value& best);

/// Whether a quality became worse by more than its family tolerates.
[[nodiscard]] bool is_loss(const QualityInfo& quality, double change);

}  // namespace mprof
