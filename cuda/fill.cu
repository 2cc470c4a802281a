// SPDX-License-Identifier: MIT
#include "cuda/check.hpp"
#include "cuda/fill.hpp"

namespace mprof::cuda {
namespace {

constexpr unsigned block = 256;
constexpr unsigned grid = 1024;

__global__ void fill_words(std::uint32_t* words, std::size_t count, std::uint32_t pattern) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    words[i] = pattern;
  }
}

}  // namespace

void begin_fill(void* device_memory, std::size_t count, std::uint32_t pattern) {
  if (count == 0) return;
  fill_words<<<grid, block>>>(static_cast<std::uint32_t*>(device_memory), count, pattern);
  check_launch();
}

void fill(void* device_memory, std::size_t count, std::uint32_t pattern) {
  begin_fill(device_memory, count, pattern);
  check(cudaDeviceSynchronize());
}

}  // namespace mprof::cuda
