// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/statistics/next_run.hpp"
#include "model/statistics/variance.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

using nlohmann::json;

/// What tests/vectors/statistics.py computed with SciPy.
const json& vectors() {
  static const json all = json::parse(read_file(MPROF_SOURCE_DIR "/tests/vectors/statistics.json"));
  return all;
}

/// With their own variance alone.
Rounds own_rounds(const std::vector<double>& medians) {
  return {geometric_mean(medians), static_cast<double>(medians.size()), variance_of_logs(medians)};
}

TEST(RatioOfRounds, EqualsSciPy) {
  for (const json& pair : vectors()["pairs"]) {
    const auto test = test_ratio(own_rounds(pair["before"]), own_rounds(pair["after"]));
    ASSERT_TRUE(test);
    const json& expected = pair["welch"];
    EXPECT_NEAR(test->ratio, expected["ratio"].get<double>(), 1e-9);
    EXPECT_NEAR(test->p, expected["p"].get<double>(), 1e-9 + 1e-6 * expected["p"].get<double>());
    EXPECT_NEAR(test->interval.low, expected["low"].get<double>(), 1e-7);
    EXPECT_NEAR(test->interval.high, expected["high"].get<double>(), 1e-7);
  }
}

TEST(NextRun, IntervalEqualsSciPy) {
  for (const json& pair : vectors()["pairs"]) {
    const auto interval = next_run_interval(own_rounds(pair["before"]));
    ASSERT_TRUE(interval);
    EXPECT_NEAR(interval->low / pair["next_run"]["low"].get<double>(), 1, 1e-7);
    EXPECT_NEAR(interval->high / pair["next_run"]["high"].get<double>(), 1, 1e-7);
  }
}

TEST(VariancePrior, WithoutVariationIsAssumed) {
  const VariancePrior fallback{1e-4, 4, std::numeric_limits<double>::infinity()};
  for (const double least : {0.0, 1e-33}) {
    const std::vector<Variance> none{{least, 4}, {0, 4}, {1e-33, 4}, {least, 4}};
    const VariancePrior prior = variance_prior(none, fallback);
    EXPECT_EQ(prior.value, fallback.value) << "clocks with steps say nothing, and never that nothing varies";
    EXPECT_EQ(prior.dof, fallback.dof);
  }
}

TEST(VariancePrior, EqualsSciPy) {
  for (const json& row : vectors()["priors"]) {
    std::vector<Variance> cases;
    for (std::size_t i = 0; i < row["variances"].size(); ++i)
      cases.push_back({row["variances"][i], row["dof"][i]});
    const VariancePrior prior = variance_prior(cases, {});
    EXPECT_NEAR(prior.value / row["prior"]["value"].get<double>(), 1, 1e-6);
    EXPECT_NEAR(prior.dof / row["prior"]["dof"].get<double>(), 1, 1e-6);
  }
}

TEST(VariancePrior, OfCasesThatVaryAlikeIsTheirPooledVariance) {
  const std::vector<Variance> cases{{1.0, 4}, {1.1, 4}, {0.9, 4}, {1.05, 4}, {0.95, 4}};
  const VariancePrior prior = variance_prior(cases, {});
  EXPECT_TRUE(std::isinf(prior.dof));
  EXPECT_DOUBLE_EQ(prior.value, 1.0);
  const Variance drawn = moderated(cases[1], prior);
  EXPECT_DOUBLE_EQ(drawn.value, 1.0);
  EXPECT_DOUBLE_EQ(drawn.dof, 20) << "no better known than all of them together";
}

TEST(VariancePrior, NeedsThreeCasesAndIsTheFallbackOtherwise) {
  const VariancePrior fallback{4e-6, 3, std::numeric_limits<double>::infinity()};
  const std::vector<Variance> two{{1, 4}, {2, 4}}, unknown{{1, 0}, {1, 0}, {1, 0}},
      constant{{0, 4}, {0, 4}, {0, 4}};
  EXPECT_EQ(variance_prior(two, fallback), fallback);
  EXPECT_EQ(variance_prior(unknown, fallback), fallback);
  EXPECT_EQ(variance_prior(constant, fallback), fallback);
  EXPECT_EQ(moderated({}, fallback), (Variance{4e-6, 3})) << "one round has the prior alone";
}

TEST(VariancePrior, AClockThatNeverChangesDoesNotSpoilIt) {
  const std::vector<Variance> cases{{0, 4}, {1e-6, 4}, {2e-6, 4}, {1.5e-6, 4}, {0.7e-6, 4}};
  const VariancePrior prior = variance_prior(cases, {});
  EXPECT_GT(prior.value, 0);
  EXPECT_TRUE(std::isfinite(prior.value));
}

TEST(RatioOfRounds, OfUnknownVarianceIsUnknown) {
  EXPECT_FALSE(test_ratio({1.0, 1, {}}, {2.0, 1, {}}));
  EXPECT_FALSE(next_run_interval({1.0, 1, {}}));
}

TEST(RatioOfRounds, OfAVarianceBeyondUseIsUnknown) {
  const Rounds usual{1, 5, {1e-4, 4}}, wild{1, 2, {100, 1}}, endless{1, 5, {1e200, 4}};
  for (const Rounds& rounds : {wild, endless}) {
    EXPECT_FALSE(next_run_interval(rounds)) << rounds.between.value;
    EXPECT_FALSE(test_ratio(usual, rounds)) << rounds.between.value;
    EXPECT_EQ(rounds_for(usual, rounds, 0.01), 1000U) << rounds.between.value;
  }
}

TEST(RatioOfRounds, WithoutAnyVarianceIsSure) {
  const Rounds same{1.0, 3, {0, 2}}, other{1.5, 3, {0, 2}};
  EXPECT_DOUBLE_EQ(test_ratio(same, same)->p, 1);
  EXPECT_DOUBLE_EQ(test_ratio(same, other)->p, 0);
  EXPECT_DOUBLE_EQ(test_ratio(same, other)->interval.low, 1.5);
}

TEST(NextRun, AStepOfTheClockAddsInFull) {
  const Rounds steady{1.0, 5, {1e-6, 40}};
  Rounds stepping = steady;
  stepping.step = 0.0076;
  const Interval without = next_run_interval(steady).value(), with = next_run_interval(stepping).value();
  EXPECT_NEAR(with.high, without.high * 1.0076, 1e-12);
  EXPECT_NEAR(with.low, without.low / 1.0076, 1e-12);
}

TEST(RatioOfRounds, WhatExceedsAStepIsTested) {
  const Rounds before{1.0, 5, {1e-6, 40}}, step_on{1.0076, 5, {1e-6, 40}}, beyond{1.02, 5, {1e-6, 40}};
  EXPECT_LT(test_ratio(before, step_on)->p, 1e-6);
  EXPECT_NEAR(test_ratio(before, step_on, Apart::in_two_runs, 0.0076)->p, 1, 1e-9);
  const RatioTest test = test_ratio(before, beyond, Apart::in_two_runs, 0.0076).value();
  const Rounds rest{1.02 / 1.0076, 5, {1e-6, 40}};
  EXPECT_NEAR(test.p, test_ratio(before, rest)->p, 1e-12);
  EXPECT_DOUBLE_EQ(test.ratio, 1.02);
  EXPECT_NEAR(test.interval.low, test_ratio(before, rest)->interval.low, 1e-12);
  EXPECT_NEAR(test.interval.high, test_ratio(before, beyond)->interval.high * 1.0076, 1e-12);
}

/// How often a difference is told with so many rounds, where p is multiplied by `together`.
double told(const Variance& between, double relative, std::size_t rounds, double together) {
  constexpr int tries = 4000;
  std::mt19937_64 random(rounds);
  std::normal_distribution<double> normal(0, std::sqrt(between.value / static_cast<double>(rounds)));
  int found = 0;
  for (int i = 0; i < tries; ++i) {
    const auto count = static_cast<double>(rounds);
    const auto test = test_ratio({std::exp(normal(random)), count, between},
                                 {(1 + relative) * std::exp(normal(random)), count, between});
    found += test->p * together <= 0.05 ? 1 : 0;
  }
  return static_cast<double>(found) / tries;
}

TEST(RoundsFor, TellFourTimesInFiveAndNoFewerDo) {
  const Rounds now{1.0, 3, {1e-4, 60}};
  for (const double together : {1.0, 100.0}) {
    for (const double relative : {0.03, 0.01, 0.005}) {
      const std::size_t count = rounds_for(now, now, relative, Apart::in_two_runs, together);
      EXPECT_GT(told(now.between, relative, count, together), 0.77) << relative << ' ' << count;
      if (count > 4) {
        EXPECT_LT(told(now.between, relative, count - 1, together), 0.83) << relative << ' ' << count;
      }
      EXPECT_GT(count, 3U) << "there are three already";
    }
  }
}

/// The example that textbooks and the encyclopaedias give: of four, the two smallest stand.
TEST(Holm, AdjustsTheTextbookExample) {
  const std::vector<double> adjusted = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-12);
}

TEST(Holm, NeverExceedsOneAndTakesNothing) {
  EXPECT_TRUE(holm({}).empty());
  for (const double p : holm(std::vector<double>{0.9, 0.8, 0.7})) EXPECT_LE(p, 1);
}

}  // namespace
}  // namespace mprof
