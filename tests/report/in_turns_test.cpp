// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/in_turns.hpp"

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "model/statistics/next_run.hpp"

namespace mprof {
namespace {

/// The differences of five rounds of the same code: 13 cases of three times, which deviate by `deviations`
/// and have half of their variance in common.
std::vector<TimeDifference> of_the_same(std::mt19937_64& random, const std::array<double, 3>& deviations) {
  constexpr std::array names{"layer1", "layer2", ""};
  std::normal_distribution<double> normal;
  std::vector<TimeDifference> differences;
  for (int c = 0; c < 13; ++c) {
    std::array<std::vector<double>, 3> ratios;
    for (int round = 0; round < 5; ++round) {
      const double common = normal(random);
      for (std::size_t i = 0; i < 3; ++i)
        ratios[i].push_back(std::exp(deviations[i] * std::sqrt(0.5) * (common + normal(random))));
    }
    for (std::size_t i = 0; i < 3; ++i)
      differences.push_back(
          {*names[i] == '\0' ? "total_time" : "group_time", names[i], false, difference_of(ratios[i])});
  }
  return differences;
}

/// Whether any of them is called a change at 5 % of all together.
bool calls_any(std::vector<TimeDifference> differences) {
  moderate(differences);
  std::vector<double> p;
  for (const auto& [metric, op, device, difference] : differences)
    p.push_back(test_ratio(difference.before(), difference.after(), Apart::in_one_run)->p);
  for (const double adjusted : holm(p)) {
    if (adjusted <= 0.05) return true;
  }
  return false;
}

TEST(DifferencesInTurns, OfTheSameCodeAreWrongOnceInTwentyTimesAlsoWhereTimesOfACaseVaryUnlike) {
  constexpr int comparisons = 400;
  for (const std::array<double, 3>& deviations :
       {std::array{0.03, 0.03, 0.03}, {0.01, 0.01, 0.03}, {0.005, 0.005, 0.03}}) {
    std::mt19937_64 random(11);
    int called = 0;
    for (int i = 0; i < comparisons; ++i) called += calls_any(of_the_same(random, deviations)) ? 1 : 0;
    EXPECT_LE(called, comparisons / 20 + 13) << "three standard deviations of the simulation";
  }
}

Case timed(const std::vector<double>& op_times, const std::vector<double>& totals, std::uint32_t executions) {
  Case c;
  PassResult& timing = c.passes.emplace_back(PassResult{.pass = Pass::timing});
  for (int round = 0; round < 5; ++round) timing.rounds.push_back({.samples = executions});
  for (const auto& [metric, op, samples] :
       {std::tuple("op_time", "op", op_times), std::tuple("total_time", "", totals)}) {
    Measurement& row = timing.measurements.emplace_back(Measurement{.metric = metric, .op = op});
    for (int round = 0; round < 5; ++round) {
      row.samples.insert(row.samples.end(), samples.begin(), samples.end());
      row.rounds.push_back(static_cast<std::uint32_t>(samples.size()));
    }
  }
  return c;
}

TEST(DifferencesInTurns, ArePairedWhereEachExecutionHasOneValue) {
  // The machine is twice as slow in the second half, and the other side took one execution more.
  const Case before = timed({1}, {1, 1, 2, 2}, 4), after = timed({1}, {1.1, 1.1, 2.2, 2.2, 2.2}, 5);
  EXPECT_NEAR(difference_in_turns(before, after, "total_time", "")->mean, std::log(1.1), 1e-12);
  // Four values of the op an execution on one side, and two on the other: a value has no partner by its
  // place.
  const Case four = timed({1, 1, 1, 1, 1, 1, 1, 3}, {1, 1}, 2), two = timed({1, 1, 1, 3}, {1, 1}, 2);
  EXPECT_NEAR(difference_in_turns(four, two, "op_time", "op")->mean, 0, 1e-12) << "by the medians";
}

TEST(DifferencesInTurns, NeedFiveRoundsAndPositiveTimes) {
  Case four = timed({1}, {1, 1}, 2);
  for (Measurement& row : four.passes[0].measurements) {
    row.rounds.pop_back();
    row.samples.resize(row.samples.size() * 4 / 5);
  }
  const Case five = timed({1}, {1, 1}, 2), none = timed({1}, {0, 1}, 2);
  EXPECT_FALSE(difference_in_turns(four, five, "total_time", ""));
  EXPECT_FALSE(difference_in_turns(five, none, "total_time", ""));
  EXPECT_FALSE(difference_in_turns(five, five, "total_time", "nothing"));
  EXPECT_TRUE(difference_in_turns(five, five, "total_time", ""));
}

}  // namespace
}  // namespace mprof
