// SPDX-License-Identifier: MIT
#include "collectors/cuda/gpu_profiling.hpp"

#include "cuda/cupti.hpp"
#include "device/device.hpp"

namespace mprof {

std::optional<std::string> gpu_profiling_unavailable() {
  const Device* const gpu = Devices::instance().find("cuda");
  if (gpu == nullptr) return "this build of mprof is without CUDA";
  if (auto reason = gpu->unavailable()) return reason;
  return cuda::cupti_unavailable();
}

}  // namespace mprof
