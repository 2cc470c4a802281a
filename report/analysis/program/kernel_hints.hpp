// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "report/analysis/kernels/speed_of_light.hpp"

/// What to do first about a kernel, by what was counted of it.
namespace mprof {

enum class KernelHint : std::uint8_t {
  more_blocks,         ///< the grid fills less than half of the GPU
  less_tensor_work,    ///< the tensor cores are near their limit
  fewer_instructions,  ///< the multiprocessors are busy, and not with tensor cores
  fewer_dram_bytes,    ///< DRAM is busy
  fewer_cache_bytes,   ///< a cache, or the pipes to it, are busy, and DRAM is not
  more_loads,          ///< warps wait for global memory
  shared_memory,       ///< warps wait for shared memory
  fewer_barriers,      ///< warps wait for each other
  more_warps,          ///< few warps are resident, whatever they wait for
  longer_chains        ///< warps wait for their own last instruction
};

/// By its bottleneck, and where warps wait by the longest of their waits that does harm. nullopt where too
/// little was counted.
[[nodiscard]] std::optional<KernelHint> hint_for(const KernelResult& kernel);

}  // namespace mprof
