// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "kernels/elementwise/map/variant.hpp"

namespace mprof::elementwise {

/// The function of a column, in single precision.
[[nodiscard]] inline float function_of(std::size_t column, float v) {
  switch (column % functions) {
    case 0:
      return std::log(v);
    case 1:
      return std::cos(v);
    case 2:
      return std::sin(v);
    default:
      return std::tan(v);
  }
}

/// What becomes of one element.
[[nodiscard]] inline float transform(std::size_t column, float v, unsigned iterations) {
  for (unsigned i = 0; i < iterations; ++i) v += std::sqrt(function_of(column, v) + 1.0F);
  return v;
}

/// A map that reads and writes the caller's memory in place: nothing to copy in or out.
class HostMap : public Map {
 public:
  void prepare(const Matrix& matrix, const float* input, float* output) override {
    matrix_ = matrix;
    input_ = input;
    output_ = output;
  }
  void finish() override {}

 protected:
  [[nodiscard]] const Matrix& matrix() const { return matrix_; }
  [[nodiscard]] const float* input(std::size_t row) const { return input_ + row * matrix_.size; }
  [[nodiscard]] float* output(std::size_t row) const { return output_ + row * matrix_.size; }

 private:
  Matrix matrix_;
  const float* input_ = nullptr;
  float* output_ = nullptr;
};

}  // namespace mprof::elementwise
