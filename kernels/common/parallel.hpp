// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

#include "kernels/common/standing_threads.hpp"

namespace mprof {

/// Threads that can run at the same time here: the CPUs that this process may use, of which a scheduler or
/// `taskset` may have left it fewer than the machine has; at least 1.
[[nodiscard]] std::size_t hardware_threads();

/// Splits [0, count) into ranges and calls body(begin, end) for each, on `threads` threads of which the
/// caller is one. Ranges are handed out as threads ask for them, several a thread: on a machine that others
/// use too, one slow thread then does not hold up the rest. Up to hardware_threads() of them stand ready from
/// the first call on, for one caller at a time. The first exception of a body is thrown again here.
void parallel_for(std::size_t count, std::size_t threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body);

/// The same on all of `threads`, which are there already.
void parallel_for(std::size_t count, StandingThreads& threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body);

}  // namespace mprof
