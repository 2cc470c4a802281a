// SPDX-License-Identifier: MIT
#include "inputs/resize.hpp"

#include <algorithm>
#include <cmath>

namespace mprof {

BilinearResize::BilinearResize(Size from, Size to)
    : from_width_(from.width),
      from_height_(from.height),
      rows_(make_taps(from.height, to.height)),
      columns_(make_taps(from.width, to.width)) {}

std::vector<BilinearResize::Tap> BilinearResize::make_taps(std::size_t from, std::size_t to) {
  // In float, step by step as PyTorch does it, fused where that is: near coordinate 28 one float's rounding
  // is already 1e-6.
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  std::vector<Tap> taps;
  for (std::size_t i = 0; i < to; ++i) {
    const float source = std::max(std::fma(scale, static_cast<float>(i) + 0.5F, -0.5F), 0.0F);
    const std::size_t near = std::min(static_cast<std::size_t>(source), from - 1);
    const std::size_t far = std::min(near + 1, from - 1);
    const float far_weight = std::clamp(source - static_cast<float>(near), 0.0F, 1.0F);
    taps.push_back({near, far, 1.0F - far_weight, far_weight});
  }
  return taps;
}

void BilinearResize::operator()(std::span<const float> in, std::span<float> out) const {
  // Along the rows first: each input row is stretched once, not once for every output row that uses it.
  const std::size_t width = columns_.size();
  std::vector<float> stretched(from_height_ * width);
  for (std::size_t y = 0; y < from_height_; ++y) {
    const float* source = in.data() + y * from_width_;
    for (std::size_t x = 0; x < width; ++x) {
      const Tap& tap = columns_[x];
      stretched[y * width + x] = tap.near_weight * source[tap.near] + tap.far_weight * source[tap.far];
    }
  }
  for (std::size_t y = 0; y < rows_.size(); ++y) {
    const Tap& tap = rows_[y];
    const float* near = stretched.data() + tap.near * width;
    const float* far = stretched.data() + tap.far * width;
    for (std::size_t x = 0; x < width; ++x) {
      out[y * width + x] = tap.near_weight * near[x] + tap.far_weight * far[x];
    }
  }
}

}  // namespace mprof
