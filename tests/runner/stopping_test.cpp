#include "runner/stopping.hpp"

#include <gtest/gtest.h>

namespace mprof {
namespace {

const Stopping limits{.min_samples = 7, .max_samples = 20, .max_seconds = 10, .relative_half_width = 0.01};

std::vector<double> steady(std::size_t count) {
  return std::vector<double>(count, 2.0);
}

std::vector<double> noisy(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(i % 2 == 0 ? 1.0 : 2.0);
  return values;
}

std::optional<Ending> ending(const std::vector<double>& series, double elapsed) {
  return StoppingRule(limits).ending({series}, series.size(), elapsed);
}

TEST(StoppingRule, GoesOnBelowTheFloorHoweverSteady) {
  EXPECT_EQ(ending(steady(1), 1), std::nullopt);
  EXPECT_EQ(ending(steady(6), 1), std::nullopt);
}

TEST(StoppingRule, EndsByConfidenceFromTheFloorOn) {
  EXPECT_EQ(ending(steady(7), 1), Ending::confidence);
}

TEST(StoppingRule, GoesOnWhileTheIntervalIsWide) {
  EXPECT_EQ(ending(noisy(19), 1), std::nullopt);
}

TEST(StoppingRule, EndsAtTheCeilingOfSamples) {
  EXPECT_EQ(ending(noisy(20), 1), Ending::samples);
}

TEST(StoppingRule, EndsAtTheCeilingOfSecondsEvenBelowTheFloor) {
  EXPECT_EQ(ending(steady(1), 10), Ending::seconds);
  EXPECT_EQ(ending(noisy(8), 11), Ending::seconds);
}

TEST(StoppingRule, TheWidestSeriesDecides) {
  const std::vector<double> a = steady(9);
  const std::vector<double> b = noisy(9);
  EXPECT_EQ(StoppingRule(limits).ending({a, b}, 9, 1), std::nullopt);
  EXPECT_EQ(StoppingRule(limits).ending({a, a}, 9, 1), Ending::confidence);
  EXPECT_GT(*widest_half_width({a, b}), 0.3);
}

TEST(StoppingRule, ASeriesWithoutAnIntervalNeverConfirms) {
  const std::vector<double> few = steady(5);
  const std::vector<double> many = steady(9);
  EXPECT_EQ(StoppingRule(limits).ending({few, many}, 9, 1), std::nullopt);
  EXPECT_EQ(StoppingRule(limits).ending({}, 9, 1), std::nullopt);
}

}  // namespace
}  // namespace mprof
