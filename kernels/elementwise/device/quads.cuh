// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "kernels/elementwise/device/functions.cuh"

/// The matrix by fours of neighbouring columns, of which each takes another function: what one thread
/// computes without a branch on the column.
namespace mprof::elementwise {

inline constexpr unsigned quad = 4;
static_assert(quad == functions);

/// All four elements of a quad.
[[nodiscard]] __device__ inline float4 transform(float4 v, unsigned iterations) {
  for (unsigned i = 0; i < iterations; ++i) {
    v.x = next(v.x, logf(v.x));
    v.y = next(v.y, cosf(v.y));
    v.z = next(v.z, sinf(v.z));
    v.w = next(v.w, tanf(v.w));
  }
  return v;
}

/// Where the quads of a matrix are, counted row by row. In rows of a multiple of four columns each quad is 16
/// aligned bytes. In others it is not, and the last quad of a row lacks columns: these matrices are for
/// tests, and take element after element.
template <bool Aligned>
class Quads {
 public:
  explicit Quads(unsigned size) : size_(size) {}

  [[nodiscard]] __host__ __device__ std::size_t count() const {
    return static_cast<std::size_t>(size_) * in_row();
  }

  /// What a row lacks is 1, where all four functions are defined.
  [[nodiscard]] __device__ float4 load(const float* matrix, std::size_t index) const {
    if constexpr (Aligned) return reinterpret_cast<const float4*>(matrix)[index];
    const float* at = matrix + first(index);
    const unsigned columns = columns_of(index);
    return {at[0], columns > 1 ? at[1] : 1.0F, columns > 2 ? at[2] : 1.0F, columns > 3 ? at[3] : 1.0F};
  }

  /// The same, but what is loaded is not read again.
  [[nodiscard]] __device__ float4 load_once(const float* matrix, std::size_t index) const {
    if constexpr (Aligned) return __ldcs(reinterpret_cast<const float4*>(matrix) + index);
    return load(matrix, index);
  }

  /// What is stored is not read soon.
  __device__ void store_once(float* matrix, std::size_t index, float4 values) const {
    if constexpr (Aligned) {
      __stcs(reinterpret_cast<float4*>(matrix) + index, values);
    } else {
      store(matrix, index, values);
    }
  }

  __device__ void store(float* matrix, std::size_t index, float4 values) const {
    if constexpr (Aligned) {
      reinterpret_cast<float4*>(matrix)[index] = values;
    } else {
      float* at = matrix + first(index);
      const unsigned columns = columns_of(index);
      at[0] = values.x;
      if (columns > 1) at[1] = values.y;
      if (columns > 2) at[2] = values.z;
      if (columns > 3) at[3] = values.w;
    }
  }

 private:
  [[nodiscard]] __host__ __device__ unsigned in_row() const { return (size_ + quad - 1) / quad; }
  [[nodiscard]] __device__ std::size_t first(std::size_t index) const {
    return index / in_row() * size_ + index % in_row() * quad;
  }
  [[nodiscard]] __device__ unsigned columns_of(std::size_t index) const {
    return min(quad, size_ - static_cast<unsigned>(index % in_row()) * quad);
  }

  unsigned size_;
};

/// Calls `use` with the Quads of a matrix of `size` columns.
template <class Use>
void with_quads(unsigned size, const Use& use) {
  if (size % quad == 0) {
    use(Quads<true>(size));
  } else {
    use(Quads<false>(size));
  }
}

}  // namespace mprof::elementwise
