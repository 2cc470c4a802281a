// SPDX-License-Identifier: MIT
#include "kernels/common/host_copy.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace mprof {
namespace {

constexpr std::size_t room = 100;
constexpr float untouched = -7;

TEST(HostCopy, PastTheCachesCopiesFromAndToAnyPlace) {
  std::vector<float> from(room);
  std::iota(from.begin(), from.end(), 1.0F);
  for (std::size_t start = 0; start < 17; ++start) {
    for (const std::size_t count : {0U, 1U, 3U, 15U, 16U, 17U, 40U, 64U, 80U}) {
      std::vector<float> to(room, untouched);
      copy_past_caches(from.data() + start % 3, count, to.data() + start);
      for (std::size_t i = 0; i < room; ++i) {
        const bool copied = i >= start && i < start + count;
        ASSERT_EQ(to[i], copied ? from[start % 3 + i - start] : untouched)
            << start << " " << count << " " << i;
      }
    }
  }
}

struct HalfCase {
  float value;
  std::uint16_t half;
};

/// IEEE 754: sign, 5 bits of exponent with a bias of 15, 10 bits of mantissa.
const std::vector<HalfCase> known_halves{
    {0, 0x0000},
    {-0.0F, 0x8000},
    {1, 0x3C00},
    {-2, 0xC000},
    {65504, 0x7BFF},
    {65520, 0x7C00},                    // to infinity
    {1 + 0x1p-11F, 0x3C00},             // a tie: to even
    {1 + 0x1.8p-10F, 0x3C02},           // a tie: to even
    {1 + 0x1p-11F + 0x1p-20F, 0x3C01},  // beyond the tie
    {0x1p-24F, 0x0001},                 // the smallest
    {0x1p-14F, 0x0400},                 // the smallest that is normal
    {std::numeric_limits<float>::infinity(), 0x7C00},
};

TEST(HostCopy, HalvesAreRoundedToNearestEven) {
  if (!converts_halves()) GTEST_SKIP() << "built without F16C";
  for (std::size_t start = 0; start < 9; ++start) {  // in full vectors and in what is left
    std::vector<float> from(start, 3.0F);
    for (const HalfCase& known : known_halves) from.push_back(known.value);
    std::vector<std::uint16_t> to(from.size() + 1, 0xBEEF);
    halves_from_floats(from.data(), from.size(), to.data());
    for (std::size_t i = 0; i < known_halves.size(); ++i) {
      EXPECT_EQ(to[start + i], known_halves[i].half) << known_halves[i].value << " at " << start + i;
    }
    EXPECT_EQ(to.back(), 0xBEEF);
  }
}

TEST(HostCopy, HalvesAreWidenedExactlyFromAndToAnyPlace) {
  if (!converts_halves()) GTEST_SKIP() << "built without F16C";
  std::vector<std::uint16_t> all(0x7C00);  // every finite one that is not negative
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  for (std::size_t start = 0; start < 17; start += 3) {
    const std::size_t count = all.size() - start;
    std::vector<float> to(start + count + 1, untouched);
    floats_from_halves_past_caches(all.data(), count, to.data() + start);
    for (std::size_t i = 0; i < count; ++i) {
      const int exponent = all[i] >> 10U;
      const int mantissa = all[i] & 0x3FF;
      const double expected =
          exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
      ASSERT_EQ(to[start + i], expected) << all[i];
    }
    EXPECT_EQ(to.back(), untouched);
  }
}

}  // namespace
}  // namespace mprof
