// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include <driver_types.h>

#include "cuda/kernel_launch.hpp"

namespace mprof::cuda {

/// How many blocks of a launch fit on a multiprocessor, and what they are limited by.
struct Occupancy {
  int limit_registers = 0;  ///< blocks that the registers suffice for
  int limit_shared_memory = 0;
  int limit_warps = 0;
  int limit_blocks = 0;  ///< blocks that a multiprocessor holds at all
  int blocks = 0;        ///< the least of these: blocks at once; 0: the launch cannot run
  double percent = 0;    ///< warps of these blocks, of all that a multiprocessor holds
  double waves = 0;      ///< how often the grid fills the whole GPU with as many blocks; 0 with no blocks
};

/// By the occupancy calculator of the CUDA toolkit; nullopt for a GPU that it does not know. Needs no GPU.
[[nodiscard]] std::optional<Occupancy> occupancy(const cudaDeviceProp& gpu, const KernelAttributes& kernel,
                                                 const KernelLaunch& launch);

/// The value of one of Nsight Compute's metrics that are computed from the launch (is_launch_metric()). It is
/// nullopt for any other name, and for metrics of the occupancy when the occupancy is unknown.
[[nodiscard]] std::optional<double> launch_metric(std::string_view id,
                                                  const std::optional<Occupancy>& occupancy,
                                                  const KernelAttributes& kernel, const KernelLaunch& launch);

}  // namespace mprof::cuda
