#pragma once

#include <cstdint>
#include <span>

namespace mprof {

/// A number that another one would be if any of `values` were another one, or at another place: to notice
/// what was overwritten, not to withstand who computes collisions. As fast as memory, on all threads.
[[nodiscard]] std::uint64_t fingerprint(std::span<const float> values);

}  // namespace mprof
