// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/trace/trace.hpp"

namespace mprof::trace {

/// What became of the calls that launch kernels or graphs, as far as they did not fail.
struct Launches {
  std::uint64_t with_work = 0;     ///< a kernel, a graph or a copy has their correlation id
  std::uint64_t captured = 0;      ///< without, while their process captured a graph: nothing runs then
  std::uint64_t without_work = 0;  ///< without, at any other time: the trace lacks what they launched
  Launches& operator+=(const Launches& other);
  bool operator==(const Launches&) const = default;
};

/// Of a case, by op; what is of none of them under "".
[[nodiscard]] std::map<std::string, Launches> launches_by_op(const Trace& trace, CaseIndex index);

/// Of all ops together.
[[nodiscard]] Launches launches_of(const Trace& trace, CaseIndex index);

/// How many launches a case without any kernel or graph has, as where a profiler cannot see the GPU; 0 for
/// any other case.
[[nodiscard]] std::uint64_t unseen_launches(const Trace& trace, CaseIndex index);

}  // namespace mprof::trace
