// SPDX-License-Identifier: MIT
#include "cuda/check.hpp"
#include "cuda/stream_hold.hpp"

namespace mprof::cuda {
namespace {

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Lasts until the host says so, or too long.
__global__ void hold_stream(const volatile std::uint32_t* released, volatile std::uint32_t* expired,
                            std::uint64_t limit) {
  const std::uint64_t start = nanoseconds();
  while (*released == 0) {
    if (nanoseconds() - start < limit) continue;
    *expired = 1;
    return;
  }
}

}  // namespace

StreamHold::StreamHold() {
  check(cudaHostAlloc(reinterpret_cast<void**>(&signals_), sizeof(Signals), cudaHostAllocMapped));
  const cudaError_t mapped =
      cudaHostGetDevicePointer(reinterpret_cast<void**>(&signals_on_gpu_), signals_, 0);
  if (mapped != cudaSuccess) cudaFreeHost(signals_);
  check(mapped);
}

StreamHold::~StreamHold() {
  release();  // a kernel that waits reads this memory
  cudaDeviceSynchronize();
  cudaFreeHost(signals_);
}

void StreamHold::begin() {
  signals_->released = 0;
  signals_->expired = 0;
  hold_stream<<<1, 1>>>(&signals_on_gpu_->released, &signals_on_gpu_->expired,
                        static_cast<std::uint64_t>(limit * 1e9));
  check_launch();
}

void StreamHold::release() {
  signals_->released = 1;
}

bool StreamHold::has_lasted() const {
  return signals_->expired == 0;
}

}  // namespace mprof::cuda
