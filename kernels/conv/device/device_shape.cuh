// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "kernels/common/device/blocks.hpp"
#include "kernels/conv/lenet/shape.hpp"

namespace mprof::conv {

/// A Shape as kernels take it, by value: sizes of one image fit 32 bits, and 32-bit arithmetic is what a GPU
/// is fast at. Whatever counts elements of the whole batch is std::size_t.
struct DeviceShape {
  unsigned batch, channels, height, width, maps, mask, stride, out_height, out_width;

  explicit DeviceShape(const Shape& s)
      : batch(static_cast<unsigned>(s.batch)),
        channels(static_cast<unsigned>(s.channels)),
        height(static_cast<unsigned>(s.height)),
        width(static_cast<unsigned>(s.width)),
        maps(static_cast<unsigned>(s.maps)),
        mask(static_cast<unsigned>(s.mask)),
        stride(static_cast<unsigned>(s.stride)),
        out_height(static_cast<unsigned>(s.out_height())),
        out_width(static_cast<unsigned>(s.out_width())) {}

  /// The index of an element of the input [B][C][H][W].
  [[nodiscard]] __host__ __device__ std::size_t input(unsigned b, unsigned c, unsigned y, unsigned x) const {
    return ((static_cast<std::size_t>(b) * channels + c) * height + y) * width + x;
  }
  /// The index of an element of the output [B][M][H_out][W_out].
  [[nodiscard]] __host__ __device__ std::size_t output(unsigned b, unsigned m, unsigned y, unsigned x) const {
    return ((static_cast<std::size_t>(b) * maps + m) * out_height + y) * out_width + x;
  }
  /// The index of an element of the masks [M][C][K][K].
  [[nodiscard]] __host__ __device__ unsigned weight(unsigned m, unsigned c, unsigned p, unsigned q) const {
    return ((m * channels + c) * mask + p) * mask + q;
  }
};

}  // namespace mprof::conv
