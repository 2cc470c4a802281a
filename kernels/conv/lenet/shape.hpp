// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace mprof::conv {

/// A forward convolution without padding, NCHW in and out. All sizes and products of sizes are std::size_t:
/// at batch 10000 an int holds neither the number of elements nor their bytes.
struct Shape {
  std::size_t batch = 0;     ///< B: images
  std::size_t channels = 0;  ///< C: input channels
  std::size_t height = 0;    ///< H: of the input, in pixels
  std::size_t width = 0;     ///< W
  std::size_t maps = 0;      ///< M: output channels
  std::size_t mask = 0;      ///< K: pixels a side of each square mask
  std::size_t stride = 1;    ///< S

  [[nodiscard]] constexpr std::size_t out_height() const { return (height - mask) / stride + 1; }
  [[nodiscard]] constexpr std::size_t out_width() const { return (width - mask) / stride + 1; }

  /// Elements of one image of the input [C][H][W] and of the output [M][H_out][W_out].
  [[nodiscard]] constexpr std::size_t image_size() const { return channels * height * width; }
  [[nodiscard]] constexpr std::size_t plane_size() const { return out_height() * out_width(); }
  [[nodiscard]] constexpr std::size_t out_image_size() const { return maps * plane_size(); }

  /// Elements of the input [B][C][H][W], of all masks [M][C][K][K] and of the output [B][M][H_out][W_out].
  [[nodiscard]] constexpr std::size_t input_size() const { return batch * image_size(); }
  [[nodiscard]] constexpr std::size_t mask_size() const { return maps * taps(); }
  [[nodiscard]] constexpr std::size_t output_size() const { return batch * out_image_size(); }
  /// Products that are summed for one output element: C x K x K.
  [[nodiscard]] constexpr std::size_t taps() const { return channels * mask * mask; }

  /// FLOP that the definition needs, a multiply-add counted as two.
  [[nodiscard]] constexpr double flops() const {
    return 2.0 * static_cast<double>(output_size()) * static_cast<double>(taps());
  }
  /// Bytes that must at least move: the input read once, the output written once. The masks are some
  /// kilobytes.
  [[nodiscard]] constexpr double bytes() const {
    return static_cast<double>(sizeof(float)) * static_cast<double>(input_size() + output_size());
  }

  bool operator==(const Shape&) const = default;
};

/// "100 x 1 x 86 x 86, 4 masks of 7 x 7"; strides other than 1 are named.
[[nodiscard]] inline std::string name_of(const Shape& s) {
  std::string name;
  for (const std::size_t extent : {s.batch, s.channels, s.height}) name += std::to_string(extent) + " x ";
  const std::string side = std::to_string(s.mask);
  name += std::to_string(s.width) + ", " + std::to_string(s.maps) + " masks of " + side + " x " + side;
  return s.stride == 1 ? name : name + ", stride " + std::to_string(s.stride);
}

}  // namespace mprof::conv
