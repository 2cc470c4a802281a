// SPDX-License-Identifier: MIT
#include "model/statistics/series.hpp"

#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace mprof {
namespace {

/// Annual flow of the Nile at Aswan, 1871 to 1970, 10^8 m^3: the textbook series for a change of level, which
/// came in 1898 (G. W. Cobb, The problem of the Nile, Biometrika 65 (1978), 243-251).
const std::vector<double> nile{
    1120, 1160, 963,  1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994, 1020, 960,  1180,
    799,  958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,  874, 694,  940,  833,
    701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,  1120, 1100, 832, 764,  821,  768,
    845,  864,  862,  698,  845,  744,  796,  1040, 759,  781,  865,  845,  944,  984, 897,  822,  1010,
    771,  676,  649,  846,  812,  742,  801,  1040, 860,  874,  848,  890,  744,  749, 838,  1050, 918,
    986,  797,  923,  975,  815,  1020, 906,  901,  1170, 912,  746,  919,  718,  714, 740};

std::vector<double> noise(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(100, 1);
  std::vector<double> series(count);
  for (double& value : series) value = normal(random);
  return series;
}

TEST(Step, OfTheNileCameIn1898) {
  const auto step = most_likely_step(nile);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->at, 28U) << "the first year of the lower flow is 1899";
  EXPECT_LT(step->p, 1e-5);
  EXPECT_GT(step->before, 1090);
  EXPECT_LT(step->after, 860);
  ASSERT_EQ(steps(nile, 0.001).size(), 1U) << "and there is no other";
}

TEST(Step, IsNotSeenInNoiseMoreOftenThanItSays) {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed)
    seen += most_likely_step(noise(50, seed))->p <= 0.05 ? 1 : 0;
  EXPECT_LE(seen, 0.05 * 400 + 9);
}

TEST(Step, TwoAreFoundInTheirPlaces) {
  std::vector<double> series = noise(90, 5);
  for (std::size_t i = 30; i < 90; ++i) series[i] += i < 60 ? 12 : 30;
  const std::vector<LevelStep> found = steps(series, 1e-3);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(static_cast<double>(found[0].at), 30, 1);
  EXPECT_NEAR(static_cast<double>(found[1].at), 60, 1);
  EXPECT_LT(found[0].before, found[0].after);
  EXPECT_LT(found[1].before, found[1].after);
}

TEST(Step, NeedsEightSamples) {
  EXPECT_FALSE(most_likely_step(std::vector<double>{1, 1, 1, 1, 9, 9, 9}));
  EXPECT_TRUE(most_likely_step(std::vector<double>{1, 1, 1, 1, 9, 9, 9, 9}));
  EXPECT_DOUBLE_EQ(most_likely_step(std::vector<double>(20, 3.0))->p, 1) << "nothing changes";
}

TEST(Autocorrelation, TellsADriftFromNoise) {
  std::vector<double> drift(50);
  std::iota(drift.begin(), drift.end(), 0.0);
  EXPECT_GT(autocorrelation(drift), 0.9);
  EXPECT_LT(std::abs(autocorrelation(noise(200, 3))), 0.2);
  EXPECT_LT(autocorrelation(std::vector<double>{1, 2, 1, 2, 1, 2, 1, 2}), -0.8);
  EXPECT_EQ(autocorrelation(std::vector<double>(10, 1.0)), 0);
}

TEST(FarOut, MarksWhatLiesBeyondTheOuterFences) {
  const std::vector<bool> marks = far_out(std::vector<double>{10, 11, 12, 13, 14, 40, 11, 12, 13, 12});
  for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_EQ(marks[i], i == 5) << i;
  EXPECT_EQ(far_out(std::vector<double>{1, 2, 99}), std::vector<bool>(3, false));
}

TEST(Step, NeedsEnoughSamplesBesideIt) {
  EXPECT_FALSE(fewest_beside_a_step(10, 0.05)) << "not even five before and five behind";
  for (const std::size_t count : {11U, 20U, 50U}) {
    const auto beside = fewest_beside_a_step(count, 0.05);
    ASSERT_TRUE(beside) << count;
    std::vector<double> clear(count, 2), less(count, 2);
    std::fill_n(clear.begin(), *beside, 1.0);
    std::fill_n(less.begin(), *beside - 1, 1.0);
    EXPECT_LE(most_likely_step(clear)->p, 0.05) << count;
    EXPECT_GT(most_likely_step(less)->p, 0.05) << count;
  }
}

TEST(Drift, IsToldFromAStep) {
  std::vector<double> drift = noise(40, 3), step = noise(40, 4);
  for (std::size_t i = 0; i < 40; ++i) {
    drift[i] += 0.25 * static_cast<double>(i);
    step[i] += i < 12 ? 0 : 5;
  }
  ASSERT_FALSE(steps(drift, 0.05).empty()) << "to ranks, a slope has a step in its middle";
  EXPECT_TRUE(is_rather_a_drift(drift, 20));
  EXPECT_FALSE(is_rather_a_drift(step, 12));
}

}  // namespace
}  // namespace mprof
