// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/conv/device/device_shape.cuh"

/// The input as a matrix with a row for each tap (c, p, q) and a column for each output pixel ("im2col"): a
/// convolution is the product of the masks [M][C K K] and this.
namespace mprof::conv {

/// Where im2col_section writes: tap t of pixel i of image n goes to t * tap_stride + n * image_stride + i.
struct UnrolledLayout {
  std::size_t tap_stride;
  std::size_t image_stride;
};

inline constexpr unsigned im2col_block = 256;

/// Unrolls the images that `input` begins with: blockIdx.y counts them, blockIdx.z the channels. A thread
/// writes the K x K taps of one channel of one output pixel, so that neighbouring threads write neighbouring
/// elements, and read them too where the stride is 1.
template <unsigned block>
__global__ void __launch_bounds__(block)
    im2col_section(const float* __restrict__ input, float* __restrict__ unrolled, UnrolledLayout layout,
                   DeviceShape s) {
  const unsigned pixel = blockIdx.x * block + threadIdx.x;
  if (pixel >= s.out_height * s.out_width) return;
  const unsigned y = pixel / s.out_width * s.stride;
  const unsigned x = pixel % s.out_width * s.stride;
  const unsigned c = blockIdx.z;
  const std::size_t from = s.input(blockIdx.y, c, y, x);
  std::size_t to = static_cast<std::size_t>(c) * s.mask * s.mask * layout.tap_stride +
                   blockIdx.y * layout.image_stride + pixel;
  for (unsigned p = 0; p < s.mask; ++p) {
    for (unsigned q = 0; q < s.mask; ++q, to += layout.tap_stride)
      unrolled[to] = input[from + p * s.width + q];
  }
}

/// Launches im2col_section for `images` images (at most 65535) from `input` on.
inline void unroll_section(const Shape& shape, std::size_t images, const float* input, float* unrolled,
                           UnrolledLayout layout) {
  const dim3 grid(static_cast<unsigned>(blocks_for(shape.plane_size(), im2col_block)),
                  static_cast<unsigned>(images), static_cast<unsigned>(shape.channels));
  im2col_section<im2col_block><<<grid, im2col_block>>>(input, unrolled, layout, DeviceShape(shape));
}

}  // namespace mprof::conv
