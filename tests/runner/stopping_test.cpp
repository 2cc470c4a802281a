// SPDX-License-Identifier: MIT
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
  return StoppingRule(limits).ending({{series}}, series.size(), elapsed);
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
  EXPECT_EQ(StoppingRule(limits).ending({{a}, {b}}, 9, 1), std::nullopt);
  EXPECT_EQ(StoppingRule(limits).ending({{a}, {a}}, 9, 1), Ending::confidence);
  EXPECT_GT(*widest_half_width({{a}, {b}}), 0.3);
}

TEST(StoppingRule, ASeriesWithoutAnIntervalNeverConfirms) {
  const std::vector<double> few = steady(5);
  const std::vector<double> many = steady(9);
  EXPECT_EQ(StoppingRule(limits).ending({{few}, {many}}, 9, 1), std::nullopt);
  EXPECT_EQ(StoppingRule(limits).ending({}, 9, 1), std::nullopt);
}

/// About 2 s, with a mean distance of a percent from it.
std::vector<double> nearly_steady(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(2 + 0.02 * (static_cast<double>(i % 3) - 1) * 1.5);
  return values;
}

constexpr Stopping of_a_round{
    .min_samples = 3, .max_samples = 20, .max_seconds = 10, .relative_half_width = 0.001};

std::optional<Ending> ending_in_round(const std::vector<double>& series, ClockSource clock, double elapsed,
                                      const OtherRounds& others) {
  return StoppingRule(of_a_round, others).ending({{series, clock}}, series.size(), elapsed);
}

TEST(StoppingRule, RoundsThatFollowTellMoreThanSamplesOfATimeThatDiffersBetweenProcesses) {
  const std::vector<double> three = nearly_steady(3);
  EXPECT_EQ(ending_in_round(three, ClockSource::host, 0.1, {.rounds = 3, .seconds_before = 1}),
            Ending::confidence);
  EXPECT_EQ(ending_in_round(three, ClockSource::device, 0.1, {.rounds = 3, .seconds_before = 1}),
            std::nullopt)
      << "the clock of a device differs less from process to process";
  EXPECT_EQ(ending_in_round(three, ClockSource::host, 0.1, {.rounds = 2, .seconds_before = 1}),
            Ending::confidence);
  EXPECT_EQ(ending_in_round(three, ClockSource::host, 0.1, {}), std::nullopt);
}

TEST(StoppingRule, TheCheaperASampleIsBesideARoundTheMoreAreTaken) {
  const std::vector<double> three = nearly_steady(3), nine = nearly_steady(9);
  const OtherRounds dear{.rounds = 5, .seconds_before = 100};
  EXPECT_EQ(ending_in_round(three, ClockSource::host, 1, dear), std::nullopt);
  EXPECT_EQ(ending_in_round(nine, ClockSource::host, 3, dear), Ending::confidence);
  EXPECT_EQ(ending_in_round(three, ClockSource::host, 1, {.rounds = 5, .seconds_before = 0.1}),
            Ending::confidence);
}

TEST(StoppingRule, TwoLongSamplesAreEnoughForARoundAndOneIsNot) {
  const OtherRounds others{.rounds = 3, .seconds_before = 1};
  EXPECT_EQ(ending_in_round(steady(1), ClockSource::host, 2, others), std::nullopt);
  EXPECT_EQ(ending_in_round(steady(2), ClockSource::host, 2, others), Ending::confidence);
  EXPECT_EQ(ending_in_round(steady(2), ClockSource::host, 0.01, others), std::nullopt);
  EXPECT_EQ(ending_in_round(steady(2), ClockSource::host, 2, {}), std::nullopt);
  EXPECT_EQ(ending_in_round({1, 2}, ClockSource::host, 2, others), std::nullopt) << "they disagree";
}

/// With a deviation of so much over the median, about.
std::vector<double> scattered(std::size_t count, double deviation) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(1 + deviation * 1.2 * (static_cast<double>(i % 3) - 1));
  return values;
}

TEST(StoppingRule, OnAHostThatOthersUseSamplesThatDisagreeTellLessThanTheNextRound) {
  const OtherRounds others{.rounds = 3, .seconds_before = 1};
  const double long_enough = 1.2;
  EXPECT_EQ(ending_in_round(scattered(3, 0.09), ClockSource::host, long_enough, others), Ending::confidence);
  EXPECT_EQ(ending_in_round(scattered(3, 0.09), ClockSource::host, 0.1, others), std::nullopt)
      << "cheap samples beside a round that is dear";
  EXPECT_EQ(ending_in_round(scattered(3, 0.3), ClockSource::host, long_enough, others), std::nullopt)
      << "processes do not differ that much";
  EXPECT_EQ(ending_in_round(scattered(3, 0.09), ClockSource::device, long_enough, others), std::nullopt)
      << "what is read from a device's clock does not differ so between processes";
}

TEST(StoppingRule, ATimeWithoutSamplesKeepsARoundGoing) {
  const std::vector<double> none, some = steady(5);
  const StoppingRule rule(of_a_round, {.rounds = 3, .seconds_before = 1});
  EXPECT_EQ(rule.ending({{some}, {none}}, 5, 1), std::nullopt);
}

}  // namespace
}  // namespace mprof
