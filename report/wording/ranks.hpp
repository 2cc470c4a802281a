// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/analysis/ranks/world.hpp"

/// What is said of the ranks of a distributed program.
namespace mprof {

/// The answer in a few sentences: how long a step is, how much communication nothing hides, who is late and
/// why, what the links carry.
[[nodiscard]] std::vector<std::string> rank_sentences(const World& world);

/// So many late ranks have a sentence.
inline constexpr std::size_t told_late_ranks = 3;

/// What makes the answer uncertain: traces that are missing, clocks that cannot be compared. Empty: nothing.
[[nodiscard]] std::vector<std::string> rank_doubts(const World& world);

/// "its kernels take 1.12× as long as on the other ranks, all of them alike", without a full stop.
[[nodiscard]] std::string late_cause(const LateCause& cause);

/// "AllReduce of 25.00 MB"
[[nodiscard]] std::string rate_name(const LinkRate& rate);

}  // namespace mprof
