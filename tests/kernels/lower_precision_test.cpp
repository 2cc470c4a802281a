// SPDX-License-Identifier: MIT
// Outputs that are right to a lower precision, and outputs that are wrong and must not pass as such.
#include "kernels/common/lower_precision.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/conv/lenet/lenet.hpp"
#include "kernels/conv/lenet/variant.hpp"
#include "kernels/conv/lenet/verification.hpp"
#include "model/precision.hpp"
#include "tests/kernels/support.hpp"

namespace mprof::conv {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// To nearest even at `bits` bits of a mantissa, and no finer than `step`.
float rounded(float value, int bits, float step) {
  int exponent = 0;
  static_cast<void>(std::frexp(value, &exponent));
  const float unit = std::max(std::ldexp(1.0F, exponent - 1 - bits), step);
  return std::nearbyint(value / unit) * unit;
}
float exact(float value) {
  return value;
}
float to_half(float value) {
  return rounded(value, 10, 0x1p-24F);
}
float to_tf32(float value) {
  return rounded(value, 10, 0);
}
float cut_to_tf32(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFF'E000U);
}
float to_bf16(float value) {
  return rounded(value, 7, 0);
}

using Round = float (*)(float);

/// How a kernel computes: to what it rounds its factors, its sums and its results, and which factor it leaves
/// out.
struct Kernel {
  Round factor = exact;
  Round sum = exact;
  Round result = exact;
  std::optional<std::size_t> without{};
};

/// Something like the network's images: a smooth shape before a background of 0.
std::vector<float> images_of(const Shape& shape, unsigned seed) {
  std::vector<float> values = mprof::test::random_values(shape.input_size(), seed);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / shape.width % shape.height, column = i % shape.width;
    const bool is_shape = row > shape.height / 5 && row < shape.height * 4 / 5 && column > shape.width / 4 &&
                          column < shape.width * 3 / 4;
    values[i] = is_shape ? std::abs(values[i]) : 0;
  }
  return values;
}

struct Sampled {
  explicit Sampled(const Shape& of, unsigned seed = 1)
      : shape(of), input(images_of(of, seed)), mask(mprof::test::random_values(of.mask_size(), seed + 1)) {}

  [[nodiscard]] std::vector<float> output(const Kernel& kernel) const {
    const Shape& s = shape;
    std::vector<float> all(s.output_size());
    std::vector<float> x = input, w = mask;
    for (float& value : x) value = kernel.factor(value);
    for (float& value : w) value = kernel.factor(value);
    std::size_t at = 0;
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t m = 0; m < s.maps; ++m)
        for (std::size_t h = 0; h < s.out_height(); ++h)
          for (std::size_t v = 0; v < s.out_width(); ++v) {
            float sum = 0;
            for (std::size_t tap = 0; tap < s.taps(); ++tap) {
              if (tap == kernel.without) continue;
              const std::size_t c = tap / (s.mask * s.mask), p = tap / s.mask % s.mask, q = tap % s.mask;
              const float factor = x[((b * s.channels + c) * s.height + h + p) * s.width + v + q];
              sum = kernel.sum(sum + kernel.sum(factor * w[m * s.taps() + tap]));
            }
            all[at++] = kernel.result(sum);
          }
    return all;
  }

  [[nodiscard]] Verification verified(const std::vector<float>& output,
                                      const std::optional<std::string>& precision = "") const {
    return verify(
        in_precision(to_verify("op", shape, input, mask, output, single_precision_tolerance), precision));
  }

  Shape shape;
  std::vector<float> input;
  std::vector<float> mask;
};

std::vector<Sampled> samples() {
  return {Sampled(layers[0].shape(1)), Sampled(layers[1].shape(1))};
}

TEST(LowerPrecision, IsFoundByTheErrorOfEachElement) {
  struct Sample {
    Kernel kernel;
    const char* name;
    double tolerance;
  };
  const Sample all[] = {
      {{exact, exact, exact}, "FP32", 1e-5},
      {{to_half, exact, exact}, "FP16", 2e-3},
      {{to_tf32, exact, exact}, "TF32", 2e-3},
      {{to_half, exact, to_half}, "FP16 results", 2e-3},
      {{cut_to_tf32, exact, exact}, "TF32, cut", 2e-3},
      {{to_half, to_half, exact}, "FP16 sums", 5e-3},
      {{to_bf16, exact, exact}, "BF16", 1.6e-2},
  };
  for (const Sampled& layer : samples()) {
    for (const Sample& sample : all) {
      SCOPED_TRACE(sample.name);
      const Verification found = layer.verified(layer.output(sample.kernel));
      EXPECT_TRUE(found.passed) << found.finding;
      EXPECT_LE(found.tolerance, sample.tolerance);
      EXPECT_EQ(found.tolerance == single_precision_tolerance,
                sample.tolerance == single_precision_tolerance);
      EXPECT_LE(found.relative_l2, found.tolerance);
      EXPECT_GT(found.relative_l2, 0);
    }
  }
}

TEST(LowerPrecision, DoesNotExcuseAFewWrongElements) {
  for (const Sampled& layer : samples()) {
    for (const Round factor : {to_half, to_bf16}) {
      std::vector<float> output = layer.output({.factor = factor});
      double largest = 0;
      for (const float value : output) largest = std::max<double>(largest, std::abs(value));
      const std::size_t wrong = output.size() / 2 + layer.shape.out_width() / 2;
      output[wrong] += static_cast<float>(largest / 10);
      const Verification found = layer.verified(output);
      EXPECT_FALSE(found.passed);
      EXPECT_THAT(found.finding, HasSubstr("no lower precision explains it: 1 of"));
    }
  }
}

TEST(LowerPrecision, DoesNotExcuseAShift) {
  for (const Sampled& layer : samples()) {
    std::vector<float> output = layer.output({.factor = to_half});
    std::rotate(output.begin(), output.begin() + 1, output.end());
    EXPECT_FALSE(layer.verified(output).passed);
  }
}

TEST(LowerPrecision, DoesNotExcuseAMissingTerm) {
  for (const Sampled& layer : samples()) {
    for (std::size_t tap = 0; tap < layer.shape.taps(); tap += layer.shape.channels == 1 ? 4 : 39) {
      for (const Kernel& kernel : {Kernel{exact, exact, exact, tap}, Kernel{to_half, exact, to_half, tap},
                                   Kernel{to_half, to_half, exact, tap}, Kernel{to_bf16, exact, exact, tap}})
        EXPECT_FALSE(layer.verified(layer.output(kernel)).passed) << "without term " << tap;
    }
  }
}

TEST(LowerPrecision, IsWhatTheUserDeclares) {
  const Sampled layer(layers[0].shape(1));
  const std::vector<float> single = layer.output({}), half = layer.output({.factor = to_half});
  EXPECT_FALSE(layer.verified(half, "fp32").passed);
  EXPECT_FALSE(layer.verified(half, std::nullopt).passed) << "a variant of mprof's own meets its tolerance";
  for (const char* precision : {"fp16", "tf32"}) {
    for (const std::vector<float>& output : {single, half}) {
      const Verification found = layer.verified(output, precision);
      EXPECT_TRUE(found.passed) << found.finding;
      EXPECT_EQ(found.tolerance, 2e-3);
      EXPECT_EQ(found.declared_precision, precision);
      EXPECT_EQ(found.precision, output == half ? "fp16/tf32" : "") << "FP32 explains the other one";
    }
  }
  EXPECT_TRUE(layer.verified(single, "fp32").passed);
  EXPECT_FALSE(layer.verified(layer.output({.factor = to_bf16}), "tf32").passed);
}

TEST(LowerPrecision, IsInTheRecord) {
  const Sampled layer(layers[0].shape(1));
  EXPECT_EQ(layer.verified(layer.output({})).precision, "");
  const Verification half = layer.verified(layer.output({.factor = to_half}));
  EXPECT_EQ(half.precision, "fp16/tf32");
  EXPECT_EQ(half.declared_precision, "");
  const Verification brain = layer.verified(layer.output({.factor = to_bf16}));
  EXPECT_GT(brain.tolerance, half.tolerance);
  EXPECT_EQ(brain.precision, format_of_tolerance(brain.tolerance));
}

/// Only a declaration that helps is proposed.
TEST(LowerPrecision, AWrongOutputSaysWhatToDeclare) {
  const Sampled layer(layers[0].shape(1));
  const std::vector<float> half = layer.output({.factor = to_half});
  EXPECT_THAT(layer.verified(half, "fp32").finding,
              HasSubstr("--precision tf32 or bf16 or fp16 declares that"));
  std::vector<float> wrong = half;
  wrong[wrong.size() / 2] += 0.1F * *std::ranges::max_element(half);
  EXPECT_THAT(layer.verified(wrong, "fp32").finding, Not(HasSubstr("--precision")));
  EXPECT_THAT(layer.verified(wrong).finding, Not(HasSubstr("--precision")));
  // A family that does not say how large its products are.
  OutputToVerify output = to_verify("op", layer.shape, layer.input, layer.mask, half, 1e-5);
  output.magnitudes = {};
  const Verification near = verify(in_precision(output, ""));
  EXPECT_FALSE(near.passed);
  EXPECT_THAT(near.finding, HasSubstr("--precision tf32 or bf16 or fp16 declares that"));
  const Verification declared = verify(in_precision(output, "fp16"));
  EXPECT_TRUE(declared.passed);
  EXPECT_EQ(declared.declared_precision, "fp16");
}

/// What was right in FP32 must stay so; what was right in FP16 may differ within it.
TEST(LowerPrecision, StaysWhatItWasFoundToBe) {
  const Sampled layer(layers[0].shape(1));
  const std::vector<float> single = layer.output({}), half = layer.output({.factor = to_half});
  const auto to_prove = [&](const std::vector<float>& output) {
    return in_precision(to_verify("op", layer.shape, layer.input, layer.mask, output, 1e-5), "");
  };
  OutputProof of_single(Turning(1)), of_half(Turning(1));
  EXPECT_TRUE(of_single(to_prove(single), {.proof = Proof::all_items}).passed);
  EXPECT_FALSE(of_single(to_prove(half), {.proof = Proof::as_before}).passed);
  EXPECT_FALSE(of_single(to_prove(half), {.proof = Proof::some_items}).passed);
  const Verification found = of_half(to_prove(half), {.proof = Proof::all_items});
  EXPECT_TRUE(found.passed);
  EXPECT_TRUE(of_half(to_prove(single), {.proof = Proof::as_before}).passed);
  EXPECT_TRUE(of_half(to_prove(half), {.proof = Proof::some_items}).passed);
  const std::vector<Verification> before{found};
  OutputProof in_another_process(Turning(1));
  const Verification again =
      in_another_process(to_prove(half), {.proof = Proof::all_items, .verified = before});
  EXPECT_TRUE(again.passed);
  EXPECT_EQ(again.tolerance, found.tolerance);
  EXPECT_EQ(again.checksum, found.checksum);
}

TEST(LowerPrecision, StaysWhatItWasFoundToBeInAnotherProcess) {
  const Sampled layer(layers[0].shape(1));
  const std::vector<float> single = layer.output({}), half = layer.output({.factor = to_half}),
                           brain = layer.output({.factor = to_bf16});
  const auto passes_after = [&](const std::vector<float>& first, const std::vector<float>& later) {
    const auto to_prove = [&](const std::vector<float>& output) {
      return in_precision(to_verify("op", layer.shape, layer.input, layer.mask, output, 1e-5), "");
    };
    const std::vector<Verification> before{
        OutputProof(Turning(1))(to_prove(first), {.proof = Proof::all_items})};
    EXPECT_TRUE(before[0].passed) << before[0].finding;
    OutputProof in_another_process(Turning(1));
    return in_another_process(to_prove(later), {.proof = Proof::all_items, .verified = before}).passed;
  };
  EXPECT_FALSE(passes_after(single, half));
  EXPECT_FALSE(passes_after(half, brain));
  EXPECT_TRUE(passes_after(half, single));
  EXPECT_TRUE(passes_after(brain, half));
}

/// The tolerance of BF16 alone would take a largest element that is off by a tenth.
TEST(LowerPrecision, ExplainsEachElementOfEachExecution) {
  struct Sample {
    Round factor;
    const char* precision;
    float off;  ///< of the largest element, and within the tolerance of an item
  };
  for (const Sampled& layer : samples()) {
    for (const Sample& sample :
         {Sample{to_half, "", 0.05F}, Sample{to_bf16, "", 0.1F}, Sample{exact, "fp16", 0.05F}}) {
      std::atomic<int> references = 0;
      OutputProof proof(Turning(1));
      const auto shown = [&](const std::vector<float>& output, Proof what) {
        OutputToVerify to_prove = in_precision(
            to_verify("op", layer.shape, layer.input, layer.mask, output, 1e-5), sample.precision);
        to_prove.reference = [&, reference = to_prove.reference](std::size_t block) {
          ++references;
          return reference(block);
        };
        return proof(to_prove, {.proof = what});
      };
      std::vector<float> output = layer.output({.factor = sample.factor});
      ASSERT_TRUE(shown(output, Proof::all_items).passed);
      references = 0;
      std::vector<float> summed_otherwise = output;
      for (float& value : summed_otherwise) value = std::nextafter(value, 1e9F);
      EXPECT_TRUE(shown(summed_otherwise, Proof::as_before).passed);
      EXPECT_EQ(references, 0) << "rounding in single precision needs no reference";
      EXPECT_TRUE(shown(layer.output({.factor = exact}), Proof::as_before).passed);
      output[output.size() / 2 + layer.shape.out_width() / 2] +=
          sample.off * *std::ranges::max_element(output);
      const Verification off = shown(output, Proof::as_before);
      EXPECT_FALSE(off.passed);
      EXPECT_THAT(off.finding, HasSubstr("no lower precision explains it: 1 of"));
      EXPECT_EQ(off.elements, output.size());
    }
  }
}

TEST(LowerPrecision, IsRecordedOnlyWhereItsToleranceIsMet) {
  const Sampled layer(layers[0].shape(1));
  const std::vector<float> brain = layer.output({.factor = to_bf16});
  const Verification found =
      verify(in_precision(to_verify("op", layer.shape, layer.input, layer.mask, brain, 5e-2), "fp16"));
  EXPECT_TRUE(found.passed);
  EXPECT_LE(found.relative_l2, found.tolerance);
}

TEST(LowerPrecision, MakesAnItemRightOnlyWithTheWholeOutput) {
  const Sampled layer(layers[0].shape(3));
  const std::size_t size = layer.shape.out_image_size();
  std::vector<float> half = layer.output({.factor = to_half});
  std::fill(half.begin() + static_cast<std::ptrdiff_t>(size), half.end(), 0.0F);
  EXPECT_THAT(layer.verified(half).finding, HasSubstr("; only the first of 3 images is close to right"));
  std::vector<float> single = layer.output({});
  std::fill_n(single.begin(), size, 0.0F);
  EXPECT_THAT(layer.verified(single).finding, HasSubstr("; only the last 2 of 3 images are right"));
  single = layer.output({});
  std::fill_n(single.begin() + static_cast<std::ptrdiff_t>(size), size, 0.0F);
  EXPECT_THAT(layer.verified(single).finding, HasSubstr("; 1 of 3 images is wrong"));
}

}  // namespace
}  // namespace mprof::conv
