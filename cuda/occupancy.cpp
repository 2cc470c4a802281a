// SPDX-License-Identifier: MIT
#include "cuda/occupancy.hpp"

#include <climits>
#include <cstddef>

#include <cuda_occupancy.h>

namespace mprof::cuda {
namespace {

std::optional<double> occupancy_metric(std::string_view id, const Occupancy& o) {
  if (id == "sm__maximum_warps_per_active_cycle_pct") return o.percent;
  if (id == "launch__occupancy_limit_registers") return o.limit_registers;
  if (id == "launch__occupancy_limit_shared_mem") return o.limit_shared_memory;
  if (id == "launch__occupancy_limit_warps") return o.limit_warps;
  if (id == "launch__occupancy_limit_blocks") return o.limit_blocks;
  if (id == "launch__waves_per_multiprocessor" && o.blocks > 0) return o.waves;
  return std::nullopt;
}

}  // namespace

std::optional<Occupancy> occupancy(const cudaDeviceProp& gpu, const KernelAttributes& kernel,
                                   const KernelLaunch& launch) {
  const cudaOccDeviceProp properties(gpu);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = kernel.max_threads_per_block;
  attributes.numRegs = kernel.registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(kernel.static_shared_memory);
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(kernel.max_dynamic_shared_memory);
  attributes.numBlockBarriers = 1;
  cudaOccDeviceState state;
  state.carveoutConfig = kernel.shared_memory_carveout;

  const int threads = static_cast<int>(launch.block.count());
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &attributes, &state, threads, launch.dynamic_shared_memory);
  if (error != CUDA_OCC_SUCCESS) return std::nullopt;

  // Of what a kernel uses nothing the calculator says INT_MAX: then the multiprocessor itself is the limit.
  const auto limit = [&](int blocks) { return blocks == INT_MAX ? result.blockLimitBlocks : blocks; };
  Occupancy o{.limit_registers = limit(result.blockLimitRegs),
              .limit_shared_memory = limit(result.blockLimitSharedMem),
              .limit_warps = result.blockLimitWarps,
              .limit_blocks = result.blockLimitBlocks,
              .blocks = result.activeBlocksPerMultiprocessor};
  const int warps_per_block = (threads + gpu.warpSize - 1) / gpu.warpSize;
  const int warps = gpu.maxThreadsPerMultiProcessor / gpu.warpSize;
  o.percent = 100.0 * o.blocks * warps_per_block / warps;
  if (o.blocks > 0) {
    o.waves =
        static_cast<double>(launch.grid.count()) / (static_cast<double>(o.blocks) * gpu.multiProcessorCount);
  }
  return o;
}

std::optional<double> launch_metric(std::string_view id, const std::optional<Occupancy>& occupancy,
                                    const KernelAttributes& kernel, const KernelLaunch& launch) {
  if (id == "launch__grid_size") return static_cast<double>(launch.grid.count());
  if (id == "launch__block_size") return static_cast<double>(launch.block.count());
  if (id == "launch__registers_per_thread") return kernel.registers;
  if (id == "launch__shared_mem_per_block_static") return kernel.static_shared_memory;
  if (id == "launch__shared_mem_per_block_dynamic") return launch.dynamic_shared_memory;
  return occupancy ? occupancy_metric(id, *occupancy) : std::nullopt;
}

}  // namespace mprof::cuda
