// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map/start_values.hpp"

#include <array>
#include <cstdint>

#include "kernels/common/parallel.hpp"
#include "kernels/common/random.hpp"
#include "kernels/elementwise/map/reference.hpp"

namespace mprof::elementwise {
namespace {

/// In [least_start, start_limit), in 2^24 steps.
float random_start(std::uint64_t counter) {
  constexpr float step = (start_limit - least_start) / static_cast<float>(1 << 24);
  return least_start + step * static_cast<float>(random_bits(counter) >> 40);
}

}  // namespace

std::vector<float> start_values(std::size_t column, unsigned iterations) {
  const double limit = tolerance(iterations);
  std::vector<float> starts;
  // Each function draws from numbers of its own.
  for (std::uint64_t counter = std::uint64_t{column % functions} << 32; starts.size() < starts_in_table;
       ++counter) {
    const float start = random_start(counter);
    if (error_bound(column, start, iterations) <= limit) starts.push_back(start);
  }
  return starts;
}

Buffer make_input(const Matrix& matrix, std::size_t rows, std::uint64_t seed) {
  std::array<std::vector<float>, functions> tables;
  for (std::size_t column = 0; column < functions; ++column) {
    tables[column] = start_values(column, matrix.iterations);
  }
  Buffer input(rows * matrix.size);
  parallel_for(rows, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t column = 0; column < matrix.size; ++column) {
        const std::uint64_t draw = random_bits(seed + row % matrix.size * matrix.size + column);
        input.data()[row * matrix.size + column] = tables[column % functions][draw % starts_in_table];
      }
    }
  });
  return input;
}

}  // namespace mprof::elementwise
