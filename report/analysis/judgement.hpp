#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/analysis/estimate.hpp"

/// The one place that decides whether a time became shorter: reports, comparisons, sweeps, combinations and
/// explanations all ask it, so that no two of them disagree on a pair.
namespace mprof {

/// A smaller change of a time is none, however surely it was measured.
inline constexpr double noticeable_change = 0.05;

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
  std::optional<Interval> interval{};  ///< from the ends of both medians' intervals, so a cautious one
  std::string absent{};                ///< why there is no factor
  Verdict verdict = Verdict::inconclusive;
  std::string reason{};  ///< why the verdict is inconclusive; otherwise empty

  explicit operator bool() const { return factor.has_value(); }
};

[[nodiscard]] SpeedUp no_speed_up(std::string reason);

/// A time before and after. Faster or slower: the 95 % intervals of the medians do not overlap, and the
/// change exceeds the threshold. Same: both intervals lie within the threshold around the median before.
/// Otherwise inconclusive. Never call it with a time whose output failed its verification.
[[nodiscard]] SpeedUp judge(const Value& before, const Value& after, double threshold = noticeable_change);

/// Whether nothing tells a time from the best one, which is no longer: both have an interval, and the verdict
/// is not that the best one is faster.
[[nodiscard]] bool is_level(const Value& time, const Value& best);

/// Whether a quality became worse by more than its family tolerates.
[[nodiscard]] bool is_loss(const QualityInfo& quality, double change);

/// "5 %"
[[nodiscard]] std::string threshold_text(double threshold = noticeable_change);

}  // namespace mprof
