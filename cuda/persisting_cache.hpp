// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace mprof::cuda {

/// Bytes of the L2 cache that are set aside for data that stays there: where it does, no op starts cold.
[[nodiscard]] std::size_t persisting_cache();

/// Sets none aside, and lets what has stayed go.
void release_persisting_cache();

}  // namespace mprof::cuda
