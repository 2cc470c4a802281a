// SPDX-License-Identifier: MIT
// Variants that are wrong on purpose: each must be found out, and by what is wrong with it.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/common/poison.hpp"
#include "kernels/conv/lenet/execution.hpp"
#include "kernels/conv/lenet/host_convolution.hpp"
#include "kernels/conv/lenet/reference.hpp"
#include "kernels/conv/lenet/verification.hpp"
#include "tests/kernels/lenet_support.hpp"

namespace mprof::conv {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t images = 6;

void convolve(const Shape& shape, const float* input, const float* mask, float* output) {
  for (std::size_t b = 0; b < shape.batch; ++b) {
    const std::vector<double> image = reference_convolution(
        shape, {input + b * shape.image_size(), shape.image_size()}, {mask, shape.mask_size()});
    std::ranges::transform(image, output + b * shape.out_image_size(),
                           [](double value) { return static_cast<float>(value); });
  }
}

/// Computes what is right and then lets `spoil` at it.
class Spoiled final : public HostConvolution {
 public:
  using Spoil = void (*)(const Shape&, float* output);
  explicit Spoiled(Spoil spoil) : spoil_(spoil) {}
  void forward() override {
    convolve(shape(), input(0), mask(), output(0));
    spoil_(shape(), output(0));
  }

 private:
  Spoil spoil_;
};

class DoesNothing final : public HostConvolution {
 public:
  void forward() override {}
};

/// Keeps its output in memory of its own, as a GPU does; from the second time on forward() does nothing, and
/// what the first time left there is still right.
class StaleMemory final : public HostConvolution {
 public:
  void forward() override {
    device_.resize(shape().output_size());
    if (std::exchange(launched_, true)) return;
    convolve(shape(), input(0), mask(), device_.data());
  }
  void finish() override { std::ranges::copy(device_, output(0)); }
  void poison_output(std::uint32_t pattern) override {
    std::ranges::fill(device_, std::bit_cast<float>(pattern));
  }

 private:
  std::vector<float> device_;
  bool launched_ = false;
};

template <typename Make>
std::vector<Verification> verification_of(Make make, int times = 1, std::optional<double> tolerance = {},
                                          const std::optional<std::string>& precision = {}) {
  static const Inputs inputs = test::random_inputs(images);
  const Declaration declaration{.title = {},
                                .idea = {},
                                .device = "cpu",
                                .baseline = {},
                                .tolerance = tolerance,
                                .make = [make](const Parameters&) { return make(); }};
  LenetExecution execution(inputs, declaration, {}, precision);
  NoObserver observer;
  ExecutionResult result;
  for (int i = 0; i < times; ++i) result = execution.run(observer, {.proof = Proof::all_items});
  return result.verification;
}

std::vector<Verification> check_spoiled(Spoiled::Spoil spoil) {
  return verification_of([=] { return std::make_unique<Spoiled>(spoil); });
}

TEST(Verification, PassesWhatIsRight) {
  const auto result = check_spoiled([](const Shape&, float*) {});
  ASSERT_EQ(result.size(), 2U);
  for (std::size_t i = 0; i < result.size(); ++i) {
    EXPECT_TRUE(result[i].passed) << result[i].finding;
    EXPECT_EQ(result[i].op, layers[i].op);
    EXPECT_EQ(result[i].finding, "");
    EXPECT_EQ(result[i].elements, layers[i].shape(images).output_size());
    EXPECT_LT(result[i].relative_l2, 1e-7);  // one rounding to float
    EXPECT_GT(result[i].relative_l2, 0);
  }
}

TEST(Verification, APrecisionThatIsDeclaredCountsBeforeTheToleranceOfTheVariant) {
  const auto off_by_3e3 = [] {
    return std::make_unique<Spoiled>([](const Shape& shape, float* output) {
      for (std::size_t i = 0; i < shape.output_size(); ++i) output[i] *= 1.003F;
    });
  };
  EXPECT_TRUE(verification_of(off_by_3e3, 1, 1e-2).at(0).passed);
  const Verification declared = verification_of(off_by_3e3, 1, 1e-2, "fp32").at(0);
  EXPECT_FALSE(declared.passed);
  EXPECT_EQ(declared.tolerance, single_precision_tolerance);
  EXPECT_FALSE(verification_of(off_by_3e3, 1, 1e-2, "tf32").at(0).passed);
}

TEST(Verification, FindsAVariantThatDoesNothing) {
  const auto result = verification_of([] { return std::make_unique<DoesNothing>(); });
  EXPECT_FALSE(result[0].passed);
  EXPECT_EQ(result[0].never_written, result[0].elements);
  EXPECT_EQ(result[0].non_finite, result[0].elements);
  EXPECT_THAT(result[0].finding, HasSubstr("153600 of 153600 elements were never written"));
  EXPECT_FALSE(result[1].passed);
}

TEST(Verification, FindsAVariantThatDoesNothingTheSecondTime) {
  EXPECT_TRUE(verification_of([] { return std::make_unique<StaleMemory>(); }).at(0).passed);
  const auto result = verification_of([] { return std::make_unique<StaleMemory>(); }, 2);
  EXPECT_FALSE(result[0].passed);
  EXPECT_EQ(result[0].never_written, result[0].elements);
}

TEST(Verification, FindsAnElementThatIsLeftOut) {
  const auto result = check_spoiled([](const Shape& shape, float* output) {
    output[2 * shape.out_image_size() + shape.plane_size() + shape.out_width() + 3] =
        std::bit_cast<float>(poison_pattern);
  });
  EXPECT_FALSE(result[0].passed);
  EXPECT_EQ(result[0].never_written, 1U);
  EXPECT_THAT(result[0].finding,
              HasSubstr("1 of 153600 elements were never written, the first at [image 2, map 1, row "
                        "1, column 3]"));
}

TEST(Verification, FindsOneNaN) {
  const auto result = check_spoiled(
      [](const Shape&, float* output) { output[12345] = std::numeric_limits<float>::quiet_NaN(); });
  EXPECT_FALSE(result[0].passed);
  EXPECT_EQ(result[0].non_finite, 1U);
  EXPECT_EQ(result[0].never_written, 0U);
  EXPECT_TRUE(is_finite(result[0].relative_l2));  // the record holds no NaN
  EXPECT_THAT(result[0].finding, HasSubstr("1 of 153600 elements are NaN or infinite"));
}

TEST(Verification, FindsOneInfinityAndLaysNothingAtTheNextLayersDoor) {
  const auto result =
      check_spoiled([](const Shape&, float* output) { output[0] = std::numeric_limits<float>::infinity(); });
  EXPECT_FALSE(result[0].passed);
  EXPECT_EQ(result[0].non_finite, 1U);
  EXPECT_FALSE(result[1].passed);
  for (const Verification& each : result) {
    EXPECT_TRUE(is_finite(each.relative_l2));
    EXPECT_TRUE(is_finite(each.max_error));
  }
}

TEST(Verification, FindsAnIndexThatIsOffByOne) {
  const auto result = check_spoiled([](const Shape& shape, float* output) {
    std::rotate(output, output + 1, output + shape.output_size());
  });
  EXPECT_FALSE(result[0].passed);
  EXPECT_EQ(result[0].non_finite, 0U);
  EXPECT_THAT(result[0].finding, HasSubstr("the relative L2 error of image "));
  EXPECT_THAT(result[0].finding, HasSubstr("above the tolerance of 1e-05"));
}

TEST(Verification, FindsWhatIsWrongFromSomeImageOn) {
  const auto result = check_spoiled([](const Shape& shape, float* output) {
    for (std::size_t i = 4 * shape.out_image_size(); i < shape.output_size(); ++i) output[i] = 0;
  });
  EXPECT_FALSE(result[0].passed);
  EXPECT_THAT(result[0].finding, HasSubstr("image 4 is 1,"));
}

// One wrong element hides in the norm of a large batch; it does not in the norm of its own image.
TEST(Verification, OneWrongElementShowsWhateverTheBatch) {
  const Shape shape{.batch = 3000, .channels = 1, .height = 9, .width = 9, .maps = 1, .mask = 1};
  const std::vector<float> input(shape.input_size(), 1.0F);
  const std::vector<float> mask{1.0F};
  std::vector<float> output = input;
  output[81 * 2000 + 40] = 1.05F;
  const Verification result =
      verify(to_verify("op", shape, input, mask, output, 1e-3));  // as loose as half precision needs
  EXPECT_FALSE(result.passed);
  EXPECT_NEAR(result.relative_l2, 0.05 / 9, 1e-6);
  EXPECT_NEAR(result.max_error, 0.05, 1e-6);
  EXPECT_THAT(result.finding, HasSubstr("[image 2000, map 0, row 4, column 4]"));
}

TEST(Verification, ErrorsOfAnAllZeroReferenceCountAsTheyAre) {
  const Shape shape{.batch = 1, .channels = 1, .height = 1, .width = 2, .maps = 1, .mask = 1};
  const std::vector<float> zeros(2), mask{1.0F};
  EXPECT_TRUE(verify(to_verify("op", shape, zeros, mask, zeros, 1e-5)).passed);
  const std::vector<float> almost_zeros{0, 1e-3F};
  EXPECT_FALSE(verify(to_verify("op", shape, zeros, mask, almost_zeros, 1e-5)).passed);
}

TEST(Verification, KnowsAnInputThatIsNotFinite) {
  const Shape shape{.batch = 1, .channels = 1, .height = 1, .width = 2, .maps = 1, .mask = 1};
  const std::vector<float> input{1, std::numeric_limits<float>::quiet_NaN()};
  const Verification result =
      verify(to_verify("op", shape, input, std::vector<float>{1}, std::vector<float>{1, 1}, 1e-5));
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.finding, HasSubstr("1 of 2 elements have no reference"));
}

TEST(Verification, FiniteIsDecidedByBits) {
  EXPECT_TRUE(is_finite(0.0F));
  EXPECT_TRUE(is_finite(-std::numeric_limits<float>::max()));
  EXPECT_TRUE(is_finite(std::numeric_limits<float>::denorm_min()));
  EXPECT_FALSE(is_finite(std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(is_finite(-std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(is_finite(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(is_finite(std::bit_cast<float>(poison_pattern)));
  EXPECT_FALSE(is_finite(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(is_finite(std::numeric_limits<double>::max()));
}

}  // namespace
}  // namespace mprof::conv
