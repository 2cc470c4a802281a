// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "model/trace/journal_reader.hpp"
#include "model/trace/trace.hpp"

namespace mprof {

/// What went wrong on a GPU in a process, in sentences. They name launches that CUDA refused, and the error;
/// the error of a kernel, and the kernels that were in flight then; and kernels that had not ended when the
/// process was killed. `trace`: what was recorded of this process alone. Empty: nothing went wrong.
[[nodiscard]] std::vector<std::string> kernel_faults(const journal::Journal& journal,
                                                     const trace::Trace& trace);

}  // namespace mprof
