// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

#include <cuda_fp16.h>

#include "kernels/conv/device/device_shape.cuh"

/// Between arrays of float and of half, for variants that compute in half and keep the layout.
namespace mprof::conv {

inline constexpr unsigned half_conversion_block = 256;

/// Two elements a step; an odd last one is left to the first thread.
template <unsigned block>
__global__ void __launch_bounds__(block)
    half_from_float(const float* __restrict__ from, __half* __restrict__ to, std::size_t count) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * block + threadIdx.x;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * block;
  for (std::size_t i = first; i < count / 2; i += step) {
    reinterpret_cast<__half2*>(to)[i] = __float22half2_rn(reinterpret_cast<const float2*>(from)[i]);
  }
  if (first == 0 && count % 2 != 0) to[count - 1] = __float2half_rn(from[count - 1]);
}

/// The way back.
template <unsigned block>
__global__ void __launch_bounds__(block)
    float_from_half(const __half* __restrict__ from, float* __restrict__ to, std::size_t count) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * block + threadIdx.x;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * block;
  for (std::size_t i = first; i < count / 2; i += step) {
    reinterpret_cast<float2*>(to)[i] = __half22float2(reinterpret_cast<const __half2*>(from)[i]);
  }
  if (first == 0 && count % 2 != 0) to[count - 1] = __half2float(from[count - 1]);
}

/// Blocks that convert `count` elements, at least one. Each of their threads takes some more steps when there
/// are very many.
inline unsigned half_conversion_blocks(std::size_t count) {
  return static_cast<unsigned>(
      std::clamp<std::size_t>(blocks_for(count / 2, half_conversion_block), 1, 1U << 16U));
}

/// Launches half_from_float for `count` elements.
inline void to_half(const float* from, __half* to, std::size_t count, cudaStream_t stream = nullptr) {
  half_from_float<half_conversion_block>
      <<<half_conversion_blocks(count), half_conversion_block, 0, stream>>>(from, to, count);
}

/// Launches float_from_half for `count` elements.
inline void to_float(const __half* from, float* to, std::size_t count, cudaStream_t stream = nullptr) {
  float_from_half<half_conversion_block>
      <<<half_conversion_blocks(count), half_conversion_block, 0, stream>>>(from, to, count);
}

}  // namespace mprof::conv
