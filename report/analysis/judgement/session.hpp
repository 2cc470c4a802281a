// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "model/statistics/paired.hpp"
#include "report/analysis/judgement/judgement.hpp"
#include "report/analysis/judgement/unlike_formats.hpp"

/// Two cases measured side by side in one session, with a control: A again, as if it were another one.
namespace mprof {

/// A smaller change of a time does not count. A session measures both sides at the same time. So it can
/// distinguish smaller changes from noise than a comparison of two runs can.
inline constexpr Thresholds session_thresholds{.device = 0.005, .host = 0.01};

/// Rounds of a block for each of the three: it is A B C C B A, where C is the control.
inline constexpr std::size_t rounds_of_a_block = 2;

/// One time in a session.
struct SessionTime {
  std::string metric{};  ///< op_time or group_time of an op, or total_time
  std::string op{};      ///< empty: the whole case
  Value a{};
  Value b{};
  std::optional<RatioTest> test{};     ///< of b over a
  std::optional<RatioTest> control{};  ///< of A over itself
  SpeedUp speed_up{};                  ///< a / b: above 1, B is faster; with the verdict
  /// Where the two sides are right in different number formats.
  std::optional<UnlikeFormats> formats{};
};

struct Session {
  std::vector<SessionTime> times{};
  std::size_t blocks = 0;

  /// Whether every time has a verdict that more blocks would not make surer.
  [[nodiscard]] bool told() const;
  [[nodiscard]] bool is_slower() const;
};

/// What the rounds so far say, of the same problem on all sides. Only what all three have whole blocks of
/// counts. Each verdict is of one look (paired.hpp), adjusted for all times by Holm's method. A control that
/// differs from A makes its time inconclusive.
[[nodiscard]] Session judge_session(const Case& a, const Case& b, const Case& control,
                                    const Thresholds& thresholds = session_thresholds);

}  // namespace mprof
