#include "kernels/elementwise/map/start_values.hpp"

#include <array>
#include <cstdint>

#include "kernels/common/parallel.hpp"
#include "kernels/elementwise/map/reference.hpp"

namespace mprof::elementwise {
namespace {

/// A random number that depends on nothing but `counter`, so that threads can draw in any order: the function
/// that ends each step of SplitMix64 (G. Steele, D. Lea, C. Flood: Fast Splittable Pseudorandom Number
/// Generators, OOPSLA 2014).
std::uint64_t random_bits(std::uint64_t counter) {
  std::uint64_t bits = (counter + 1) * 0x9E37'79B9'7F4A'7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58'476D'1CE4'E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D0'49BB'1331'11EB;
  return bits ^ (bits >> 31);
}

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

Buffer make_input(const Matrix& matrix) {
  std::array<std::vector<float>, functions> tables;
  for (std::size_t column = 0; column < functions; ++column) {
    tables[column] = start_values(column, matrix.iterations);
  }
  Buffer input(matrix.elements());
  parallel_for(matrix.size, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t column = 0; column < matrix.size; ++column) {
        const std::size_t element = row * matrix.size + column;
        input.data()[element] = tables[column % functions][random_bits(element) % starts_in_table];
      }
    }
  });
  return input;
}

}  // namespace mprof::elementwise
