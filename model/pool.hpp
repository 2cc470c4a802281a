// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "model/run.hpp"

namespace mprof {

/// Several runs of the same as one. The timing passes of a case have the rounds of all runs, one run after
/// another. Whatever else was seen of a case comes from the first run that saw it. Machine, build, inputs and
/// moment are the first run's, and `parts` say who measured what. The result is complete when all runs are.
/// `runs` must not be empty. What was derived from a run's rounds must be derived again (derive_variation()).
[[nodiscard]] Run pooled(std::vector<Run> runs);

/// A run, without what was merged to it, as a part of another one: with the cases that it has results of.
[[nodiscard]] RunPart as_part(const Run& run);

}  // namespace mprof
