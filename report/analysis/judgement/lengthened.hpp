// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "model/run.hpp"

/// How much of a time what disturbed it can have made: docs/how-it-works/disturbances.md has the model and
/// where its figures come from.
namespace mprof {

/// By what factor a neighbour on other CPUs slows work at most, by caches, memory and sibling threads, and
/// without taking a CPU from it. T. Moscibroda and O. Mutlu, Memory performance attacks: denial of memory
/// service in multi-core systems, USENIX Security 2007, saw 2.9; scripts/maintenance/neighbours.cpp, at most
/// 1.7.
inline constexpr double most_by_neighbours = 3;

/// At most how many times as long a disturbed time of a timing pass became. Its rounds show it, and how long
/// its threads waited for CPUs. It is the geometric mean over its rounds, like the middle of the time.
/// nullopt where nothing that was recorded bounds it.
[[nodiscard]] std::optional<double> most_lengthened(const PassResult& pass, const Measurement& row);

}  // namespace mprof
