// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/elementwise/map/matrix.hpp"

/// What becomes of one element, in single precision with the functions of CUDA's mathematical library.
namespace mprof::elementwise {

/// The function of a column. Threads of a warp whose columns differ modulo 4 evaluate theirs one after the
/// other.
[[nodiscard]] __device__ inline float function_of(unsigned column, float v) {
  switch (column % functions) {
    case 0:
      return logf(v);
    case 1:
      return cosf(v);
    case 2:
      return sinf(v);
    default:
      return tanf(v);
  }
}

/// v after one more iteration, where f is f(v).
[[nodiscard]] __device__ inline float next(float v, float f) {
  return v + sqrtf(f + 1.0F);
}

[[nodiscard]] __device__ inline float transform(unsigned column, float v, unsigned iterations) {
  for (unsigned i = 0; i < iterations; ++i) v = next(v, function_of(column, v));
  return v;
}

}  // namespace mprof::elementwise
