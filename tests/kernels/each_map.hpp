// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/common/poison.hpp"
#include "kernels/elementwise/map/reference.hpp"
#include "kernels/elementwise/map/start_values.hpp"
#include "kernels/elementwise/map/variant.hpp"
#include "tests/kernels/support.hpp"

/// What every variant of the family elementwise must do, on whatever device, on sizes that no block divides.
/// A test program includes this once and instantiates EachMap for the variants of its device.
namespace mprof::elementwise {
namespace {

/// Runs a map as a check does, with forward() `times` times, and compares it with the reference. Input and
/// output are exactly as large as they must be, so that the sanitizer sees what reads or writes beyond them.
inline Verification run(Map& map, const Matrix& matrix, int times = 1) {
  const Buffer input = make_input(matrix, matrix.size);
  std::vector<float> output(matrix.elements());
  poison(output);
  map.prepare(matrix, input.data(), output.data());
  map.poison_output(poison_pattern);
  for (int i = 0; i < times; ++i) map.forward();
  map.finish();
  return verify(to_verify("map", matrix, input.span(), output, tolerance(matrix.iterations)));
}

class EachMap : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static const Declaration& declaration() { return declaration_of<Map>(GetParam()); }
  [[nodiscard]] static std::unique_ptr<Map> make(const Parameters& given = {}) {
    return declaration().make(resolve_parameters(declaration().parameters, GetParam(), given));
  }
  static void expect_right(Map& map, const Matrix& matrix, int times = 1) {
    const Verification result = run(map, matrix, times);
    EXPECT_TRUE(result.passed) << matrix.size << " x " << matrix.size << ", " << matrix.iterations << ": "
                               << result.finding;
    EXPECT_EQ(result.elements, matrix.elements());
  }
};

/// Rows of every length modulo the widest group of columns that a variant takes at a time.
TEST_P(EachMap, IsRightAtEverySmallSize) {
  const std::unique_ptr<Map> map = make();
  for (std::size_t size = 1; size <= 67; ++size) expect_right(*map, {.size = size, .iterations = 2});
}

TEST_P(EachMap, IsRightAtSizesThatNoBlockDivides) {
  const std::unique_ptr<Map> map = make();
  for (const std::size_t size : {127U, 255U, 256U, 258U, 511U}) {
    expect_right(*map, {.size = size, .iterations = 5});
  }
}

TEST_P(EachMap, IsRightAtEachNumberOfIterations) {
  const std::unique_ptr<Map> map = make();
  for (unsigned iterations = 1; iterations <= 8; ++iterations) {
    expect_right(*map, {.size = 132, .iterations = iterations});
  }
}

TEST_P(EachMap, ForwardCanBeRepeated) {
  const std::unique_ptr<Map> map = make();
  expect_right(*map, {.size = 93, .iterations = 5}, 3);
}

TEST_P(EachMap, IsRightWithEveryValueOfItsParameters) {
  for (const ParameterInfo& parameter : declaration().parameters) {
    for (const std::string& value : parameter.values) {
      SCOPED_TRACE(parameter.name + "=" + value);
      const std::unique_ptr<Map> map = make({{parameter.name, value}});
      for (const std::size_t size : {93U, 260U}) expect_right(*map, {.size = size, .iterations = 5});
    }
  }
}

}  // namespace
}  // namespace mprof::elementwise
