// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/trace/interval_set.hpp"
#include "report/analysis/ranks/rank_summary.hpp"

namespace mprof {

/// Where in its code the host of a rank was while the GPU was idle, by cause, the longest first. A place is
/// the innermost function of the program's own that PyTorch's profiler saw (`with_stack=True`). It is also
/// the innermost NVTX range or annotation that is not the step itself. Each is looked for on the thread where
/// they last longest. `own` has one case.
[[nodiscard]] std::vector<RankPlace> host_places(const trace::Trace& own,
                                                 const std::array<trace::IntervalSet, budget_parts>& idle,
                                                 const std::vector<std::string>& steps);

}  // namespace mprof
