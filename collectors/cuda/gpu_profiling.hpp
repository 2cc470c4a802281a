// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace mprof {

/// Why no GPU of this machine can be counted or sampled by CUPTI, without a full stop; nullopt: one can.
[[nodiscard]] std::optional<std::string> gpu_profiling_unavailable();

}  // namespace mprof
