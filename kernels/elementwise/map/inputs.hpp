// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/common/buffer.hpp"
#include "kernels/common/turning.hpp"
#include "kernels/elementwise/map/matrix.hpp"

namespace mprof::elementwise {

/// What the map reads: the same for every variant.
struct Inputs {
  explicit Inputs(const Matrix& of);

  Matrix matrix;
  Turning turning;                    ///< of the rows
  Buffer values;                      ///< [turning.held()][size]
  std::uint64_t fingerprint_at_load;  ///< of `values`

  /// [size][size], beginning with a row.
  [[nodiscard]] std::span<const float> from(std::size_t row) const {
    return values.span().subspan(row * matrix.size, matrix.elements());
  }
};

}  // namespace mprof::elementwise
