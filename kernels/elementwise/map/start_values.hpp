// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/buffer.hpp"
#include "kernels/elementwise/map/matrix.hpp"

/// The input of the map: values whose trajectories are well conditioned, the same on every machine.
namespace mprof::elementwise {

inline constexpr float least_start = 0.5F;
inline constexpr float start_limit = 8.0F;
inline constexpr std::size_t starts_in_table = 4096;

/// `starts_in_table` values in [least_start, start_limit) for the function of `column`, drawn at random and
/// kept where error_bound() stays within tolerance(). So every trajectory stays where its function is
/// defined, and no error of a valid float computation grows beyond the tolerance. Of the tangent's starts one
/// in six passes at 5 iterations, and one in eighteen at 8.
[[nodiscard]] std::vector<float> start_values(std::size_t column, unsigned iterations);

/// A value of the column's table for each element, [rows][size]: behind the matrix it begins again. Another
/// `seed` gives another matrix.
[[nodiscard]] Buffer make_input(const Matrix& matrix, std::size_t rows, std::uint64_t seed = 0);

}  // namespace mprof::elementwise
