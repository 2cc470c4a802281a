// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mprof {

/// Bilinear resize of single-channel images, equal to PyTorch's interpolate(mode="bilinear",
/// align_corners=False): pixel centres lie at half-integer coordinates, and the border's pixels extend
/// outwards.
class BilinearResize {
 public:
  struct Size {
    std::size_t height = 0;
    std::size_t width = 0;
  };

  BilinearResize(Size from, Size to);

  /// `in` has from.height x from.width pixels in row-major order, `out` to.height x to.width. Safe to call
  /// from many threads.
  void operator()(std::span<const float> in, std::span<float> out) const;

 private:
  /// An output coordinate as a mix of two input coordinates.
  struct Tap {
    std::size_t near = 0;
    std::size_t far = 0;
    float near_weight = 1;
    float far_weight = 0;
  };
  static std::vector<Tap> make_taps(std::size_t from, std::size_t to);

  std::size_t from_width_;
  std::size_t from_height_;
  std::vector<Tap> rows_;
  std::vector<Tap> columns_;
};

}  // namespace mprof
