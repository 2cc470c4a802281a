// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "collectors/collector.hpp"

/// How long the threads of a case waited for a CPU while they could have run.
namespace mprof {

/// What the kernel's scheduler has counted of a thread, s.
struct ThreadTime {
  double ran = 0;
  double waited = 0;  ///< able to run, with no CPU to run on
};

/// Of the process: its threads by their ids, and the CPU time of all of them, ended ones included.
struct ThreadTimes {
  std::map<int, ThreadTime> threads{};
  double cpu = 0;  ///< s
};

/// "RAN WAITED SLICES" in nanoseconds, as /proc/PID/schedstat has it (the kernel's documentation,
/// scheduler/sched-stats); nullopt of anything else.
[[nodiscard]] std::optional<ThreadTime> parse_schedstat(std::string_view text);

/// The metric cpu_wait of each sample, and of each op what its forward stage waited. A stage includes what
/// else lies between two pauses. The metric is absent where threads that ended within the samples did much of
/// the work: how long these waited is lost with them. `read` gives nullopt where the kernel does not count
/// it.
[[nodiscard]] std::unique_ptr<Collector> make_cpu_wait(std::function<std::optional<ThreadTimes>()> read);

}  // namespace mprof
