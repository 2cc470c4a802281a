#pragma once

#include <optional>
#include <string>

namespace mprof {

/// Why the GPU's counters cannot be read here, tried once in a process; nullopt when they can.
[[nodiscard]] std::optional<std::string> counters_unavailable();

}  // namespace mprof
