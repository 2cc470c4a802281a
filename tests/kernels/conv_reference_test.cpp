// SPDX-License-Identifier: MIT
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/conv/lenet/network.hpp"
#include "kernels/conv/lenet/reference.hpp"
#include "tests/kernels/lenet_support.hpp"

namespace mprof::conv {
namespace {

using ::testing::ElementsAre;

TEST(Shape, FollowsTheDefinition) {
  const Shape shape{
      .batch = 10000, .channels = 4, .height = 40, .width = 41, .maps = 16, .mask = 7, .stride = 2};
  EXPECT_EQ(shape.out_height(), 17U);
  EXPECT_EQ(shape.out_width(), 18U);
  EXPECT_EQ(shape.input_size(), 10000U * 4 * 40 * 41);
  EXPECT_EQ(shape.output_size(), 10000U * 16 * 17 * 18);
  EXPECT_EQ(shape.mask_size(), 16U * 4 * 49);
}

TEST(Shape, LargeBatchesDoNotOverflow) {
  const Shape shape = layers[0].shape(1'000'000);
  EXPECT_EQ(shape.output_size(), 25'600'000'000U);  // above 2^32
}

// Worked out by hand, so that the reference does not only agree with itself.
TEST(Reference, ConvolvesWithoutFlippingTheMask) {
  const std::vector<float> image{1, 2, 3,  //
                                 4, 5, 6,  //
                                 7, 8, 9};
  const std::vector<float> mask{1, 10, 100, 1000};
  const Shape shape{.batch = 1, .channels = 1, .height = 3, .width = 3, .maps = 1, .mask = 2};
  EXPECT_THAT(reference_convolution(shape, image, mask), ElementsAre(5421, 6532, 8754, 9865));
}

TEST(Reference, SumsOverChannelsAndKeepsMapsApart) {
  const std::vector<float> image{1, 2, 10, 20};     // two channels of 1 x 2
  const std::vector<float> mask{1, 1, 2, 0, 0, 3};  // three maps of two channels of 1 x 1
  const Shape shape{.batch = 1, .channels = 2, .height = 1, .width = 2, .maps = 3, .mask = 1};
  EXPECT_THAT(reference_convolution(shape, image, mask), ElementsAre(11, 22, 2, 4, 30, 60));
}

TEST(Reference, StridesInBothDirections) {
  std::vector<float> image(4 * 5);
  std::iota(image.begin(), image.end(), 0.0F);
  const Shape shape{.batch = 1, .channels = 1, .height = 4, .width = 5, .maps = 1, .mask = 1, .stride = 2};
  EXPECT_THAT(reference_convolution(shape, image, std::vector<float>{1}), ElementsAre(0, 2, 4, 10, 12, 14));
}

/// Several maps and pixels are computed together where there are enough: whatever is left over of either,
/// each must be what it is alone.
TEST(Reference, IsTheSameForEachMapAloneWhateverIsComputedTogether) {
  for (const std::size_t width : {7U, 8U, 9U, 13U, 24U}) {
    for (const std::size_t maps : {1U, 3U, 4U, 6U, 9U}) {
      const Shape shape{.batch = 1, .channels = 2, .height = 5, .width = width + 2, .maps = maps, .mask = 3};
      std::vector<float> image(shape.image_size()), mask(maps * 2 * 9);
      for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i * 37 % 11) - 5;
      for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = static_cast<float>(i * 53 % 13) - 6;
      const std::vector<double> all = reference_convolution(shape, image, mask);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t m = i / shape.plane_size(), y = i % shape.plane_size() / width, x = i % width;
        double sum = 0;
        for (std::size_t tap = 0; tap < 18; ++tap) {
          const std::size_t c = tap / 9, p = tap % 9 / 3, q = tap % 3;
          sum += mask[m * 18 + tap] * image[(c * 5 + y + p) * (width + 2) + x + q];
        }
        ASSERT_EQ(all[i], sum) << width << " x " << maps << " at " << i;
      }
    }
  }
}

TEST(Network, ReluAndMaxPool) {
  const std::vector<float> in{-1, -2, 3, 4,  9,   //
                              -3, -4, 1, -5, 9,   //
                              9,  9,  9, 9,  9};  // neither the last row nor the last column fills a window
  std::vector<float> out(2, -1.0F);
  relu_max_pool<2>(in.data(), 1, 3, 5, out.data());
  EXPECT_THAT(out, ElementsAre(0, 4));
}

TEST(Network, PoolsPlanesOneByOne) {
  std::vector<float> in(2 * 34 * 34);
  std::iota(in.begin(), in.end(), 0.0F);
  std::vector<float> out(2 * 8 * 8);
  relu_max_pool<4>(in.data(), 2, 34, 34, out.data());
  EXPECT_EQ(out[0], 3 * 34 + 3);
  EXPECT_EQ(out[63], 31 * 34 + 31);
  EXPECT_EQ(out[64], 34 * 34 + 3 * 34 + 3);
}

/// Whatever part of a row full vectors serve, and with values that are no numbers.
TEST(Network, PoolsRowsOfAnyWidth) {
  for (unsigned width = 4; width < 90; ++width) {
    constexpr std::size_t height = 9;
    std::vector<float> in = test::random_values(2 * height * width, width);
    in[width % in.size()] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> out(2 * (height / 2) * (width / 2), -1.0F);
    relu_max_pool<2>(in.data(), 2, height, width, out.data());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t x = i % (width / 2) * 2;
      const std::size_t y = i / (width / 2) % (height / 2) * 2;
      const float* window = in.data() + i / (width / 2 * (height / 2)) * height * width + y * width + x;
      float expected = 0;
      for (const unsigned tap : {0U, 1U, width, width + 1}) {
        if (window[tap] > expected) expected = window[tap];
      }
      ASSERT_EQ(out[i], expected) << width << " at " << i;
    }
  }
}

TEST(Network, PoolsTheSamePastTheCaches) {
  constexpr std::size_t planes = 3;
  constexpr std::size_t side = 80;
  const std::vector<float> in = test::random_values(planes * side * side, 5);
  std::vector<float> expected(planes * side * side / 4);
  relu_max_pool<2>(in.data(), planes, side, side, expected.data());
  // From a multiple of 16 on that is none of 32.
  std::vector<float> out(expected.size() + 9, -1.0F);
  std::size_t first = 1;
  while (reinterpret_cast<std::uintptr_t>(out.data() + first) % 32 != 16) ++first;
  relu_max_pool<2, Written::past_caches>(in.data(), planes, side, side, out.data() + first);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin() + static_cast<std::ptrdiff_t>(first)));
  EXPECT_EQ(out[first - 1], -1.0F);
  EXPECT_EQ(out[first + expected.size()], -1.0F);
}

TEST(Network, ClassifierAgreesWithTheReference) {
  const Inputs inputs = test::random_inputs(1);
  const std::vector<float> values = test::random_values(features, 8);
  std::vector<double> hidden_values(inputs.weights.fc1_bias.begin(), inputs.weights.fc1_bias.end());
  for (std::size_t o = 0; o < hidden; ++o) {
    for (std::size_t i = 0; i < features; ++i)
      hidden_values[o] += inputs.weights.fc1_weight[o * features + i] * values[i];
  }
  const std::array<float, classes> logits = Classifier(inputs.weights).logits(values.data());
  for (std::size_t o = 0; o < classes; ++o) {
    double expected = inputs.weights.fc2_bias[o];
    for (std::size_t i = 0; i < hidden; ++i) {
      expected += inputs.weights.fc2_weight[o * hidden + i] * std::max(hidden_values[i], 0.0);
    }
    EXPECT_NEAR(logits[o], expected, 1e-3) << o;
  }
}

TEST(Network, PredictsTheFirstOfEqualLogits) {
  EXPECT_EQ(predicted_class({0, 3, 1, 3, 0, 0, 0, 0, 0, 0}), 1);
}

}  // namespace
}  // namespace mprof::conv
