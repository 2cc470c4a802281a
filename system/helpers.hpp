// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <vector>

namespace mprof {

/// Starts threads that do the same work as the calling one, which begins it then. There is one thread for
/// each `share` of the tasks, at most one for each CPU that this process may use, and at most eight, the
/// calling one included. The system may have fewer. A future's destructor waits for its thread.
[[nodiscard]] std::vector<std::future<void>> start_helpers(std::size_t tasks, std::size_t share,
                                                           const std::function<void()>& work);

}  // namespace mprof
