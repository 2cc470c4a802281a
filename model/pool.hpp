// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "model/run.hpp"

namespace mprof {

/// Several runs of the same as one: the timing passes of a case have the rounds of all of them, one run
/// behind the other, and whatever else was seen of it is that of the first run that saw it. Machine, build,
/// inputs and moment are the first run's, and `parts` say who measured what; it is complete when all of them
/// are. `runs` must not be empty. What
/// was derived from a run's rounds is to be derived anew (derive_variation()).
[[nodiscard]] Run pooled(std::vector<Run> runs);

/// A run, without what was merged to it, as a part of another one: with the cases that it has results of.
[[nodiscard]] RunPart as_part(const Run& run);

}  // namespace mprof
