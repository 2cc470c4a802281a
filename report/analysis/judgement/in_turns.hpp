// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/run.hpp"
#include "model/statistics/paired.hpp"

/// Two runs of the same cases whose samples were taken in turns.
namespace mprof {

/// Processes of one case can fall into modes, such as two speeds of a copy. In fewer rounds all may fall into
/// one mode by chance, and seem to agree.
inline constexpr double fewest_rounds_in_turns = 5;

/// How a time of a case differs; nothing where it was taken in fewer rounds. A round counts by its pairs of
/// samples where each execution has one value of the time, and else by its medians.
[[nodiscard]] std::optional<Difference> difference_in_turns(const Case& before, const Case& after,
                                                            std::string_view metric, std::string_view op);

/// A difference, and which time of its case it is of.
struct TimeDifference {
  std::string metric{};
  std::string op{};
  bool is_of_device = false;  ///< by a device's own clock
  Difference difference{};
};

/// Draws the variance of each towards the variances of the same time of other cases, as far as they agree.
/// Times of one case are never put together: they vary unlike, and are taken in the same executions.
void moderate(std::span<TimeDifference> differences);

}  // namespace mprof
