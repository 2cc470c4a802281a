// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace mprof::elementwise {

/// Columns 0, 1, 2 and 3 take the logarithm, the cosine, the sine and the tangent; then it begins again.
inline constexpr std::size_t functions = 4;

/// What the map is of: a square matrix in row-major order, and how often it is applied.
struct Matrix {
  std::size_t size = 0;     ///< rows, and columns
  unsigned iterations = 0;  ///< times that v becomes v + sqrt(f(v) + 1)

  [[nodiscard]] constexpr std::size_t elements() const { return size * size; }

  /// FLOP that the definition needs beside its functions: two additions an element and iteration.
  [[nodiscard]] constexpr double flops() const { return 2.0 * applications(); }
  /// Evaluations of functions: f and the square root.
  [[nodiscard]] constexpr double special_operations() const { return 2.0 * applications(); }
  /// Bytes that must at least move: each element read once, its result written once.
  [[nodiscard]] constexpr double bytes() const {
    return 2.0 * static_cast<double>(sizeof(float)) * static_cast<double>(elements());
  }

  bool operator==(const Matrix&) const = default;

 private:
  [[nodiscard]] constexpr double applications() const {
    return static_cast<double>(elements()) * static_cast<double>(iterations);
  }
};

}  // namespace mprof::elementwise
