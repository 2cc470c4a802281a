// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/trace.hpp"

namespace mprof::trace {

/// Work of the GPU with the call that launched it: a kernel, a graph, a copy or a memset.
struct LaunchedWork {
  enum class What : std::uint8_t { kernel, graph, transfer };
  Interval time{};
  Interval call{};          ///< where it is not known, the moment at which the work began
  std::int64_t thread = 0;  ///< of the call; 0: not known
  What what = What::kernel;
  std::uint32_t row = 0;  ///< its place in Trace::kernels, graphs or transfers
};

/// All of a case, in the order in which it was launched. Of a runtime call and a driver call with the same
/// id, the one that began first counts.
[[nodiscard]] std::vector<LaunchedWork> launched_work(const Trace& of, CaseIndex index);

}  // namespace mprof::trace
