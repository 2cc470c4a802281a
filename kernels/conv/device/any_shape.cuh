// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/conv/device/device_shape.cuh"

/// A plain convolution, for variants whose own kernels serve the network's shapes only.
namespace mprof::conv {

inline constexpr unsigned any_shape_maps = 4;  ///< that a thread computes

/// A thread computes one pixel of `Maps` maps, so that an input element that it loads serves as many.
template <unsigned Maps>
__global__ void conv_any_shape(const float* __restrict__ input, const float* __restrict__ mask,
                               float* __restrict__ output, DeviceShape s) {
  const unsigned tiles_x = (s.out_width + blockDim.x - 1) / blockDim.x;
  const unsigned x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const unsigned first_map = blockIdx.x * Maps;
  const unsigned b = blockIdx.z;
  if (x >= s.out_width || y >= s.out_height) return;
  const float* weights[Maps];
#pragma unroll
  for (unsigned i = 0; i < Maps; ++i) {
    weights[i] = mask + s.weight(min(first_map + i, s.maps - 1), 0, 0, 0);  // beyond the last: computed twice
  }
  float sums[Maps] = {};
  unsigned tap = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned p = 0; p < s.mask; ++p) {
      const float* row = input + s.input(b, c, y * s.stride + p, x * s.stride);
      for (unsigned q = 0; q < s.mask; ++q, ++tap) {
        const float value = row[q];
#pragma unroll
        for (unsigned i = 0; i < Maps; ++i) sums[i] += value * weights[i][tap];
      }
    }
  }
#pragma unroll
  for (unsigned i = 0; i < Maps; ++i) {
    if (first_map + i < s.maps) output[s.output(b, first_map + i, y, x)] = sums[i];
  }
}

/// Launches conv_any_shape. All pointers are to device memory: `input` [B][C][H][W],
/// `mask` [M][C][K][K], `output` [B][M][H_out][W_out].
inline void launch_any_shape(const Shape& s, const float* input, const float* mask, float* output,
                             cudaStream_t stream = nullptr) {
  const dim3 block(32, 8);
  const std::size_t tiles = blocks_for(s.out_width(), block.x) * blocks_for(s.out_height(), block.y);
  const dim3 grid(static_cast<unsigned>(blocks_for(s.maps, any_shape_maps)), static_cast<unsigned>(tiles),
                  static_cast<unsigned>(s.batch));
  conv_any_shape<any_shape_maps><<<grid, block, 0, stream>>>(input, mask, output, DeviceShape(s));
}

}  // namespace mprof::conv
