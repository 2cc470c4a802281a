// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map/reference.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace mprof::elementwise {
namespace {

constexpr double unit = 0x1p-24;     ///< the largest relative error of rounding to float
constexpr double function_ulps = 4;  ///< of the worst function that counts as right

/// The function of a column.
double value_at(std::size_t column, double v) {
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

double derivative_at(std::size_t column, double v) {
  switch (column % functions) {
    case 0:
      return 1 / v;
    case 1:
      return -std::sin(v);
    case 2:
      return std::cos(v);
    default:
      return 1 + std::tan(v) * std::tan(v);
  }
}

}  // namespace

double tolerance(unsigned iterations) {
  return std::ldexp(unit, static_cast<int>(iterations) + 1);
}

double error_bound(std::size_t column, double start, unsigned iterations) {
  constexpr double margin = 4;  // how often an error must fit into f(v) + 1
  double v = start;
  double error = 0;
  for (unsigned i = 0; i < iterations; ++i) {
    const double value = value_at(column, v);
    const double derivative = derivative_at(column, v);
    const double sum = value + 1;
    const double sum_error = 2 * function_ulps * unit * std::abs(value) + unit * sum;
    if (!(sum >= margin * (sum_error + std::abs(derivative) * error))) {
      return std::numeric_limits<double>::infinity();
    }
    const double root = std::sqrt(sum);
    v += root;
    error = error * std::abs(1 + derivative / (2 * root)) + sum_error / (2 * root) + unit * (root + v);
  }
  return error / v;
}

double reference(std::size_t column, double start, unsigned iterations) {
  double v = start;
  for (unsigned i = 0; i < iterations; ++i) v += std::sqrt(value_at(column, v) + 1);
  return v;
}

OutputToVerify to_verify(std::string_view op, const Matrix& matrix, std::span<const float> input,
                         std::span<const float> output, double tolerance) {
  return {.op = op,
          .item = "element",
          .items = "elements",
          .items_in_block = matrix.size,
          .output = output,
          .tolerance = tolerance,
          .reference =
              [=](std::size_t row) {
                std::vector<double> values(matrix.size);
                for (std::size_t column = 0; column < matrix.size; ++column) {
                  values[column] = reference(column, input[row * matrix.size + column], matrix.iterations);
                }
                return values;
              },
          .place =
              [=](std::size_t element) {
                return fmt::format("[row {}, column {}]", element / matrix.size, element % matrix.size);
              }};
}

}  // namespace mprof::elementwise
