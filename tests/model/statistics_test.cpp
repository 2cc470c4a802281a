// SPDX-License-Identifier: MIT
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "model/statistics/median.hpp"

namespace mprof {
namespace {

std::vector<double> one_to(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Median, IsTheMiddleOrTheMeanOfTwo) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
}

TEST(MedianInterval, NeedsSixSamples) {
  EXPECT_FALSE(median_interval(one_to(5)).has_value());
  EXPECT_TRUE(median_interval(one_to(6)).has_value());
}

/// Ranks from the tables of the sign test (two-sided, at least 95 %), for example Conover, table A3.
TEST(MedianInterval, HasTheRanksOfTheSignTest) {
  const std::vector<std::pair<int, std::pair<double, double>>> table{
      {6, {1, 6}},   {8, {1, 8}},   {9, {2, 8}},   {10, {2, 9}},
      {15, {4, 12}}, {20, {6, 15}}, {25, {8, 18}}, {50, {18, 33}}};
  for (const auto& [count, ranks] : table) {
    const auto interval = median_interval(one_to(count));
    ASSERT_TRUE(interval.has_value()) << count;
    EXPECT_DOUBLE_EQ(interval->low, ranks.first) << count;
    EXPECT_DOUBLE_EQ(interval->high, ranks.second) << count;
  }
}

TEST(MedianInterval, CoversTheMedianAsOftenAsItSays) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> skewed(1.0);
  const double true_median = std::log(2.0);
  int covered = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(21);
    for (double& sample : samples) sample = skewed(random);
    const auto interval = median_interval(samples);
    covered += interval->low <= true_median && true_median <= interval->high ? 1 : 0;
  }
  EXPECT_GT(covered, trials * 95 / 100);
  EXPECT_LT(covered, trials * 99 / 100);
}

TEST(RelativeHalfWidth, IsHalfTheIntervalOverTheMedian) {
  EXPECT_DOUBLE_EQ(*relative_half_width(one_to(9)), 3.0 / 5.0);
  EXPECT_FALSE(relative_half_width(one_to(3)).has_value());
  EXPECT_FALSE(relative_half_width(std::vector<double>(9, 0.0)).has_value());
  EXPECT_DOUBLE_EQ(*relative_half_width(std::vector<double>(9, 4.0)), 0.0);
}

TEST(RelativeDeviation, IsThatOfNormalSamplesAndOneThatIsFarOutMovesItLittle) {
  EXPECT_FALSE(relative_deviation(one_to(1)).has_value());
  EXPECT_FALSE(relative_deviation(std::vector<double>(9, 0.0)).has_value());
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(100, 2);
  std::vector<double> samples(10'000);
  for (double& sample : samples) sample = normal(random);
  EXPECT_NEAR(*relative_deviation(samples), 0.02, 0.0005);
  samples.front() = 1000;  // a standard deviation would be more than four times as large
  EXPECT_NEAR(*relative_deviation(samples), 0.02, 0.002);
}

TEST(RelativeStandardError, IsThatOfTheMedianOfNormalSamples) {
  EXPECT_FALSE(relative_standard_error(one_to(1)).has_value());
  EXPECT_FALSE(relative_standard_error(std::vector<double>(9, 0.0)).has_value());
  EXPECT_DOUBLE_EQ(*relative_standard_error(std::vector<double>(2, 4.0)), 0.0);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(100, 2);
  constexpr int trials = 4000;
  constexpr std::size_t count = 25;
  double squares = 0, claimed = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(count);
    for (double& sample : samples) sample = normal(random);
    squares += std::pow(median(samples) / 100 - 1, 2);
    claimed += *relative_standard_error(samples);
  }
  const double actual = std::sqrt(squares / trials);
  EXPECT_NEAR(claimed / trials / actual, 1, 0.05);
}

}  // namespace
}  // namespace mprof
