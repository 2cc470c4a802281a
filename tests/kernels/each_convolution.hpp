// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/common/poison.hpp"
#include "kernels/conv/lenet/lenet.hpp"
#include "kernels/conv/lenet/variant.hpp"
#include "kernels/conv/lenet/verification.hpp"
#include "tests/kernels/support.hpp"

/// What every variant of the family conv must do, on whatever device, on sizes that no tile divides. A test
/// program includes this once and instantiates EachConvolution for the variants of its device.
namespace mprof::conv {
namespace {

/// Runs one convolution as a check does, with forward() `times` times, and compares it with the reference.
/// Input and output are exactly as large as they must be, so that the sanitizer sees what reads or writes
/// beyond them.
Verification run(Convolution& convolution, const Shape& shape, double tolerance, int times = 1) {
  const std::vector<float> input = mprof::test::random_values(shape.input_size(), 1);
  const std::vector<float> mask = mprof::test::random_values(shape.mask_size(), 2);
  std::vector<float> output(shape.output_size());
  poison(output);
  convolution.prepare(shape, input.data(), mask.data(), output.data());
  convolution.poison_output(poison_pattern);
  for (int i = 0; i < times; ++i) convolution.forward();
  convolution.finish();
  return verify(to_verify("test", shape, input, mask, output, tolerance));
}

std::string text(const Shape& s) {
  return "B " + std::to_string(s.batch) + " C " + std::to_string(s.channels) + " H " +
         std::to_string(s.height) + " W " + std::to_string(s.width) + " M " + std::to_string(s.maps) + " K " +
         std::to_string(s.mask) + " S " + std::to_string(s.stride);
}

class EachConvolution : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!declaration().unavailable) return;
    if (const auto reason = declaration().unavailable()) GTEST_SKIP() << *reason;
  }
  [[nodiscard]] const Declaration& declaration() const { return declaration_of<Convolution>(GetParam()); }
  [[nodiscard]] std::unique_ptr<Convolution> make(const Parameters& given = {}) {
    const Parameters parameters = resolve_parameters(declaration().parameters, GetParam(), given);
    tolerance_ = mprof::tolerance(declaration(), parameters, {}, single_precision_tolerance);
    return declaration().make(parameters);
  }
  void expect_right(Convolution& convolution, const Shape& shape, int times = 1) const {
    const Verification result = run(convolution, shape, tolerance_, times);
    EXPECT_TRUE(result.passed) << text(shape) << ": " << result.finding;
    EXPECT_EQ(result.elements, shape.output_size());
  }
  /// Row ends of every width between one block of the register kernel and two, in outputs of fewer rows than
  /// a vector has lanes and of more.
  void expect_right_at_every_width(Convolution& convolution) const {
    for (std::size_t width = 10; width <= 70; ++width) {
      for (const std::size_t height : {4U, 11U, 20U}) {
        expect_right(convolution,
                     {.batch = 1, .channels = 2, .height = height, .width = width, .maps = 6, .mask = 3});
      }
    }
  }
  /// Maps that fill no block of the register kernel, beside as many vectors as it takes and fewer.
  void expect_right_at_every_number_of_maps(Convolution& convolution) const {
    for (std::size_t maps = 1; maps <= 17; ++maps) {
      for (const std::size_t stride : {1U, 2U}) {
        expect_right(convolution, {.batch = 1,
                                   .channels = 2,
                                   .height = 1 + 17 * stride,
                                   .width = 1 + 43 * stride,
                                   .maps = maps,
                                   .mask = 3,
                                   .stride = stride});
      }
    }
  }

 private:
  double tolerance_ = 0;  ///< of what was made last
};

TEST_P(EachConvolution, IsRightAtOddSizes) {
  const std::unique_ptr<Convolution> convolution = make();
  for (const std::size_t batch : {1U, 3U, 37U}) {
    for (const auto& [height, width] : {std::pair{29U, 31U}, std::pair{31U, 29U}}) {
      for (const std::size_t mask : {1U, 3U, 5U, 7U}) {
        for (const std::size_t channels : {1U, 3U}) {
          for (const std::size_t maps : {1U, 5U}) {
            for (const std::size_t stride : {1U, 2U}) {
              expect_right(*convolution, {batch, channels, height, width, maps, mask, stride});
            }
          }
        }
      }
    }
  }
}

TEST_P(EachConvolution, IsRightAtTheNetworksSizes) {
  const std::unique_ptr<Convolution> convolution = make();
  for (const Layer& layer : layers) expect_right(*convolution, layer.shape(5));
}

TEST_P(EachConvolution, IsRightWhenTheOutputIsNarrowerThanAVector) {
  const std::unique_ptr<Convolution> convolution = make();
  for (std::size_t width = 7; width <= 7 + 8; ++width) {
    for (const std::size_t height : {9U, 17U}) {
      expect_right(*convolution,
                   {.batch = 2, .channels = 2, .height = height, .width = width, .maps = 3, .mask = 7});
    }
  }
  expect_right(*convolution, {.batch = 1, .channels = 1, .height = 1, .width = 1, .maps = 1, .mask = 1});
}

TEST_P(EachConvolution, IsRightAtEveryWidth) {
  expect_right_at_every_width(*make());
}

TEST_P(EachConvolution, IsRightAtEveryNumberOfMaps) {
  expect_right_at_every_number_of_maps(*make());
}

TEST_P(EachConvolution, ForwardCanBeRepeated) {
  const std::unique_ptr<Convolution> convolution = make();
  expect_right(*convolution, {.batch = 3, .channels = 3, .height = 29, .width = 31, .maps = 5, .mask = 5}, 3);
}

/// Batches around the sizes at which variants cut theirs.
TEST_P(EachConvolution, IsRightAtBatchesThatNoSectionDivides) {
  const std::unique_ptr<Convolution> convolution = make();
  for (const std::size_t batch : {63U, 64U, 65U, 127U, 129U}) {
    expect_right(*convolution,
                 {.batch = batch, .channels = 1, .height = 11, .width = 13, .maps = 2, .mask = 3});
  }
}

TEST_P(EachConvolution, IsRightWithEveryValueOfItsParameters) {
  for (const ParameterInfo& parameter : declaration().parameters) {
    for (const std::string& value : parameter.values) {
      SCOPED_TRACE(parameter.name + "=" + value);
      const std::unique_ptr<Convolution> convolution = make({{parameter.name, value}});
      expect_right(*convolution,
                   {.batch = 37, .channels = 3, .height = 29, .width = 31, .maps = 5, .mask = 7});
      for (const Layer& layer : layers) expect_right(*convolution, layer.shape(5));
    }
  }
}

}  // namespace
}  // namespace mprof::conv
