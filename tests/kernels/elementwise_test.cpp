// SPDX-License-Identifier: MIT
// The family elementwise: its input, its reference, and that its tolerance lets pass what is right and
// nothing else.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/common/poison.hpp"
#include "kernels/elementwise/map/host_map.hpp"
#include "kernels/elementwise/map/reference.hpp"
#include "kernels/elementwise/map/start_values.hpp"
#include "kernels/registry.hpp"
#include "system/error.hpp"

namespace mprof::elementwise {
namespace {

using ::testing::HasSubstr;

const Family& family() {
  return *Registry::instance().family("elementwise");
}

Problem problem_of(std::uint64_t size, std::uint64_t iterations) {
  return {{{"size", size}, {"iterations", iterations}}};
}

constexpr Matrix small_matrix{.size = 256, .iterations = 5};

/// The map with a float function in place of the columns' own, verified.
using FloatFunction = std::function<float(std::size_t column, float v)>;
Verification verify_with(const Matrix& m, const FloatFunction& f) {
  const Buffer input = make_input(m, m.size);
  std::vector<float> output(input.span().begin(), input.span().end());
  for (std::size_t i = 0; i < output.size(); ++i) {
    for (unsigned n = 0; n < m.iterations; ++n) output[i] += std::sqrt(f(i % m.size, output[i]) + 1.0F);
  }
  return verify(to_verify("map", m, input.span(), output, tolerance(m.iterations)));
}

/// `value` with as many significant bits as a half has: 11.
float rounded_to_half(float value) {
  constexpr std::uint32_t dropped = 13;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) + (1U << (dropped - 1));
  return std::bit_cast<float>(bits >> dropped << dropped);
}

/// `value`, `ulps` floats away from zero.
float away_by(float value, int ulps) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) + static_cast<std::uint32_t>(ulps));
}

TEST(Elementwise, OpsAreThoseOfTheDefinition) {
  const std::vector<OpInfo> ops = family().ops(problem_of(8192, 5));
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(ops[0].name, "map");
  EXPECT_EQ(ops[0].title, "v + sqrt(f(v) + 1), 5 times of 8192 x 8192 elements");
  EXPECT_DOUBLE_EQ(ops[0].flops, 671'088'640);
  EXPECT_DOUBLE_EQ(ops[0].special_operations, 671'088'640);
  EXPECT_DOUBLE_EQ(ops[0].bytes, 536'870'912);
}

TEST(Elementwise, ProblemsAreOnItsAxes) {
  EXPECT_THAT(family().default_problems(false), ::testing::Contains(problem_of(8192, 5)));
  for (const Problem& problem : {problem_of(0, 5), problem_of(1U << 31, 5), problem_of(16, 0),
                                 problem_of(16, 9), Problem{{{"size", 16}}}, Problem{{{"batch", 16}}}}) {
    EXPECT_THROW(static_cast<void>(family().ops(problem)), Error) << problem_id(problem);
    EXPECT_THROW(static_cast<void>(family().load(problem, {})), Error) << problem_id(problem);
  }
}

TEST(Elementwise, RunsFromEndToEndAndSaysNothingOfQuality) {
  const auto workload = family().load(problem_of(33, 3), {});
  const auto execution = workload->bind("elementwise/cpu_naive", {});
  NoObserver observer;
  EXPECT_TRUE(execution->run(observer, {}).qualities.empty());
  const ExecutionResult result = execution->run(observer, {.proof = Proof::all_items});
  EXPECT_TRUE(result.qualities.empty());
  ASSERT_EQ(result.verification.size(), 1U);
  EXPECT_TRUE(result.verification[0].passed) << result.verification[0].finding;
  EXPECT_THROW(static_cast<void>(workload->bind("elementwise/absent", {})), Error);
}

// Worked out by hand, so that the reference does not only agree with itself.
TEST(Elementwise, ReferenceTakesAnotherFunctionInEachColumn) {
  EXPECT_DOUBLE_EQ(reference(0, 1, 1), 2);                       // log 1 = 0
  EXPECT_NEAR(reference(1, std::acos(0.5), 1), 2.271942, 1e-6);  // 1.047198 + sqrt(1.5)
  EXPECT_NEAR(reference(6, std::asin(0.5), 1), 1.748344, 1e-6);  // 0.523599 + sqrt(1.5)
  EXPECT_NEAR(reference(3, std::atan(3.0), 1), 3.249046, 1e-6);  // 1.249046 + 2
  EXPECT_NEAR(reference(4, 1, 2), 2 + std::sqrt(std::log(2) + 1), 1e-12);
}

TEST(Elementwise, StartValuesAreTheSameEachTimeAndWellConditioned) {
  for (unsigned iterations = 1; iterations <= 8; ++iterations) {
    for (std::size_t column = 0; column < functions; ++column) {
      const std::vector<float> starts = start_values(column, iterations);
      EXPECT_EQ(starts.size(), starts_in_table);
      EXPECT_EQ(starts, start_values(column, iterations));
      for (const float start : starts) {
        ASSERT_GE(start, least_start);
        ASSERT_LT(start, start_limit);
        ASSERT_LE(error_bound(column, start, iterations), tolerance(iterations));
      }
    }
  }
}

TEST(Elementwise, StartValuesThatAreIllConditionedHaveNoBound) {
  EXPECT_TRUE(std::isinf(error_bound(0, 0.3, 1)));          // log 0.3 < -1
  EXPECT_TRUE(std::isinf(error_bound(1, 3.14159265, 1)));   // cos = -1
  EXPECT_TRUE(std::isinf(error_bound(3, 2.0, 1)));          // tan 2 < -1
  EXPECT_GT(error_bound(3, 3.525, 2), 100 * tolerance(2));  // to 4.7097, where the pole is at 4.7124
}

TEST(Elementwise, InputDiffersFromElementToElement) {
  const Buffer input = make_input(small_matrix, small_matrix.size);
  std::vector<float> values(input.span().begin(), input.span().end());
  std::ranges::sort(values);
  const auto distinct = std::unique(values.begin(), values.end()) - values.begin();
  EXPECT_GT(distinct, 3 * static_cast<std::ptrdiff_t>(starts_in_table));  // of 4 tables
}

TEST(Elementwise, FunctionsOfTheLibraryPassWithRoomToSpare) {
  for (unsigned iterations = 1; iterations <= 8; ++iterations) {
    const Verification result = verify_with({.size = 512, .iterations = iterations}, function_of);
    EXPECT_TRUE(result.passed) << iterations << ": " << result.finding;
    EXPECT_LT(result.relative_l2, 0.75 * tolerance(iterations)) << iterations;
  }
}

/// The worst that the tolerance promises to let pass.
TEST(Elementwise, FunctionsThatAreFourUlpOffPass) {
  for (const int ulps : {-4, 4}) {
    for (unsigned iterations = 1; iterations <= 8; ++iterations) {
      const Verification result =
          verify_with({.size = 256, .iterations = iterations},
                      [=](std::size_t column, float v) { return away_by(function_of(column, v), ulps); });
      EXPECT_TRUE(result.passed) << ulps << " ulp, " << iterations << " iterations: " << result.finding;
    }
  }
}

TEST(Elementwise, AFunctionInHalfPrecisionFailsInWhicheverColumn) {
  for (std::size_t coarse = 0; coarse < functions; ++coarse) {
    const Verification result = verify_with(small_matrix, [=](std::size_t column, float v) {
      const float value = function_of(column, v);
      return column % functions == coarse ? rounded_to_half(value) : value;
    });
    EXPECT_FALSE(result.passed) << coarse;
    EXPECT_EQ(result.non_finite, 0U);
  }
}

TEST(Elementwise, AWrongColumnFails) {
  const Verification result =
      verify_with(small_matrix, [](std::size_t column, float v) { return function_of(column + 1, v); });
  EXPECT_FALSE(result.passed);
}

TEST(Elementwise, AnIterationTooFewFails) {
  const Buffer input = make_input(small_matrix, small_matrix.size);
  std::vector<float> output(small_matrix.elements());
  for (std::size_t i = 0; i < output.size(); ++i) output[i] = transform(i, input.data()[i], 4);
  const Verification result = verify(to_verify("map", small_matrix, input.span(), output, tolerance(5)));
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.finding, HasSubstr("the relative L2 error of element "));
}

TEST(Elementwise, OneElementThatWasNotWrittenShows) {
  const Buffer input = make_input(small_matrix, small_matrix.size);
  std::vector<float> output(small_matrix.elements());
  for (std::size_t i = 0; i < output.size(); ++i) output[i] = transform(i, input.data()[i], 5);
  poison(std::span(output).subspan(3 * small_matrix.size + 7, 1));
  const Verification result = verify(to_verify("map", small_matrix, input.span(), output, tolerance(5)));
  EXPECT_EQ(result.never_written, 1U);
  EXPECT_THAT(result.finding,
              HasSubstr("1 of 65536 elements were never written, the first at [row 3, column 7]"));
}

}  // namespace
}  // namespace mprof::elementwise
