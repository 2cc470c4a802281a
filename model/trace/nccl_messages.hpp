// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <unordered_map>

#include "model/trace/trace.hpp"

namespace mprof::trace {

/// What NCCL's own ranges tell of the collectives of one process: their communicators and their sizes. By the
/// correlation ids of the kernels that carry them out. A kernel belongs to the call of NCCL in which it was
/// launched. In a group of calls (ncclGroupStart to ncclGroupEnd) it belongs to all of them where they share
/// one kernel. Several kernels of a group have sizes where all calls are alike.
///
/// `own` has the calls, the ranges and the names of the process, and is given the names of communicators. The
/// kernels are in a case of `from`, which may have other processes too.
[[nodiscard]] std::unordered_map<std::int64_t, Message> nccl_messages(Trace& own, const Trace& from,
                                                                      CaseIndex index, std::int64_t process);

}  // namespace mprof::trace
