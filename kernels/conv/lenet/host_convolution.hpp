// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/conv/lenet/variant.hpp"

namespace mprof::conv {

/// A convolution that reads and writes the caller's memory in place: nothing to copy in or out.
class HostConvolution : public Convolution {
 public:
  void prepare(const Shape& shape, const float* input, const float* mask, float* output) override {
    shape_ = shape;
    input_ = input;
    mask_ = mask;
    output_ = output;
  }
  void finish() override {}

 protected:
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const float* mask() const { return mask_; }
  /// One image: [C][H][W] and [M][H_out][W_out].
  [[nodiscard]] const float* input(std::size_t image) const { return input_ + image * shape_.image_size(); }
  [[nodiscard]] float* output(std::size_t image) const { return output_ + image * shape_.out_image_size(); }

 private:
  Shape shape_;
  const float* input_ = nullptr;
  const float* mask_ = nullptr;
  float* output_ = nullptr;
};

}  // namespace mprof::conv
