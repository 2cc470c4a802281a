// SPDX-License-Identifier: MIT
#include "cuda/persisting_cache.hpp"

#include <cuda_runtime_api.h>

#include "cuda/check.hpp"

namespace mprof::cuda {

std::size_t persisting_cache() {
  std::size_t bytes = 0;
  return cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize) == cudaSuccess ? bytes : 0;
}

void release_persisting_cache() {
  if (persisting_cache() == 0) return;
  check(cudaCtxResetPersistingL2Cache());
  check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
}

}  // namespace mprof::cuda
