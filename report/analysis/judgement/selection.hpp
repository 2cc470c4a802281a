// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "model/run.hpp"

namespace mprof {

/// A part of a run, or a run with another baseline.
struct Selection {
  std::vector<std::string> only{};  ///< ids of variants; empty: all of them
  std::string baseline{};           ///< what everything is compared with; empty: each variant's own
};

/// The run with the chosen variants and, so that they can be compared, their baselines. With another
/// baseline, what variants expect of their own one is left out, since it says nothing of this one. Throws
/// Error(usage) with the nearest names when the run has no such variant.
[[nodiscard]] Run selected(const Run& run, const Selection& selection);

}  // namespace mprof
