// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "model/statistics/median.hpp"
#include "model/statistics/next_run.hpp"

/// Whether intervals and verdicts are right as often as they say, on times that are made up: each process has
/// a level of its own, each sample noise around it. What is simulated is what the rounds of a run are: cases,
/// rounds, samples.
namespace mprof {
namespace {

constexpr double between_processes = 0.01, within_process = 0.002;
constexpr std::size_t samples_of_a_round = 15;

class Machine {
 public:
  explicit Machine(std::uint64_t seed) : random_(seed) {}

  /// The median of one round of a case that takes `time`, whose processes vary by `spread`.
  double round(double time, double spread = between_processes) {
    const double level = time * std::exp(spread * normal_(random_));
    std::vector<double> taken(samples_of_a_round);
    for (double& sample : taken) sample = level * std::exp(within_process * normal_(random_));
    return median(taken);
  }

  std::vector<double> rounds(std::size_t count, double time, double spread = between_processes) {
    std::vector<double> medians(count);
    for (double& one : medians) one = round(time, spread);
    return medians;
  }

  /// The spread of a case on a machine whose cases differ by this factor, up or down.
  double spread_of_a_case(double factor) {
    return between_processes * std::exp(std::log(factor) * normal_(random_));
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

/// A run of these cases, as its reader sees it: each with a variance that the others have moderated.
std::vector<Rounds> seen(const std::vector<std::vector<double>>& cases) {
  std::vector<Variance> own;
  for (const auto& medians : cases) own.push_back(variance_of_logs(medians));
  const VariancePrior prior = variance_prior(own, {});
  std::vector<Rounds> run;
  for (std::size_t i = 0; i < cases.size(); ++i)
    run.push_back({geometric_mean(cases[i]), static_cast<double>(cases[i].size()), moderated(own[i], prior)});
  return run;
}

constexpr std::size_t cases_of_a_run = 40;

/// A run of forty cases; `spreads` holds each one's.
std::vector<Rounds> run_of(Machine& machine, std::size_t rounds, const std::vector<double>& spreads,
                           double time = 1e-3) {
  std::vector<std::vector<double>> cases;
  for (const double spread : spreads) cases.push_back(machine.rounds(rounds, time, spread));
  return seen(cases);
}

std::vector<double> spreads_of(Machine& machine, double factor) {
  std::vector<double> spreads(cases_of_a_run);
  for (double& spread : spreads) spread = machine.spread_of_a_case(factor);
  return spreads;
}

struct Conditions {
  std::size_t rounds;
  double factor;  ///< by which the spreads of cases differ; 1: all alike
};

class NextRunCoverage : public ::testing::TestWithParam<Conditions> {};

TEST_P(NextRunCoverage, IsAtLeast93In100) {
  Machine machine(42 + GetParam().rounds);
  std::size_t covered = 0, all = 0;
  for (int repeat = 0; repeat < 60; ++repeat) {
    const std::vector<double> spreads = spreads_of(machine, GetParam().factor);
    const std::vector<Rounds> now = run_of(machine, GetParam().rounds, spreads);
    const std::vector<Rounds> next = run_of(machine, GetParam().rounds, spreads);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const Interval interval = next_run_interval(now[i]).value();
      covered += interval.low <= next[i].center && next[i].center <= interval.high ? 1 : 0;
      ++all;
    }
  }
  const double share = static_cast<double>(covered) / static_cast<double>(all);
  RecordProperty("coverage", std::to_string(share));
  EXPECT_GE(share, 0.93);
  EXPECT_LE(share, 0.985) << "wider than it says";
}

INSTANTIATE_TEST_SUITE_P(Rounds, NextRunCoverage,
                         ::testing::Values(Conditions{3, 1}, Conditions{5, 1}, Conditions{10, 1},
                                           Conditions{3, 2}, Conditions{5, 2}, Conditions{10, 2}));

/// A GPU whose clock stands a step higher in three of ten runs, from their first round to their last: no
/// round of a run tells. As one H100 did.
TEST(ClockThatStepsBetweenRuns, IsWithinTheIntervalsThatKnowItsStep) {
  constexpr double step = 15.0 / 1980, of_a_device = 0.001, share_of_runs = 0.3;
  Machine machine(3);
  std::mt19937_64 chance(17);
  std::bernoulli_distribution stands_higher(share_of_runs);
  const auto run = [&] {
    const std::vector<double> spreads(cases_of_a_run, of_a_device);
    return run_of(machine, 5, spreads, stands_higher(chance) ? 1e-3 / (1 + step) : 1e-3);
  };
  std::size_t knowing = 0, ignorant = 0, all = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::vector<Rounds> now = run(), next = run();
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto covers = [&](Rounds rounds, double known_step) {
        rounds.step = known_step;
        const Interval interval = next_run_interval(rounds).value();
        return interval.low <= next[i].center && next[i].center <= interval.high ? 1U : 0U;
      };
      knowing += covers(now[i], step);
      ignorant += covers(now[i], 0);
      ++all;
    }
  }
  const auto share = [&](std::size_t covered) {
    return static_cast<double>(covered) / static_cast<double>(all);
  };
  RecordProperty("coverage", std::to_string(share(knowing)));
  RecordProperty("coverage_without_step", std::to_string(share(ignorant)));
  EXPECT_GE(share(knowing), 0.95);
  EXPECT_LE(share(ignorant), 0.75) << "or there was nothing to know";
}

constexpr double significance = 0.05;

struct Called {
  std::size_t faster = 0;
  std::size_t slower = 0;
};

/// What a comparison of two runs calls: Holm over all cases, and a change that exceeds the threshold.
Called called(const std::vector<Rounds>& before, const std::vector<Rounds>& after, double threshold = 0.01) {
  std::vector<double> p, ratios;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const RatioTest test = test_ratio(before[i], after[i]).value();
    p.push_back(test.p);
    ratios.push_back(test.ratio);
  }
  Called result;
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (adjusted[i] > significance || std::abs(ratios[i] - 1) <= threshold) continue;
    ++(ratios[i] < 1 ? result.faster : result.slower);
  }
  return result;
}

TEST(NoDifference, IsCalledInAtMostOneOfTwentyRunsAndNotOneWayOnly) {
  Machine machine(7);
  constexpr int runs = 600;
  int wrong = 0, faster = 0, slower = 0;
  for (int i = 0; i < runs; ++i) {
    const std::vector<double> spreads(cases_of_a_run, between_processes);
    const Called result = called(run_of(machine, 5, spreads), run_of(machine, 5, spreads));
    wrong += result.faster + result.slower > 0 ? 1 : 0;
    faster += static_cast<int>(result.faster);
    slower += static_cast<int>(result.slower);
  }
  RecordProperty("runs_with_a_call", wrong);
  EXPECT_LE(wrong, runs * 0.05 + 2 * std::sqrt(runs * 0.05 * 0.95))
      << "two standard deviations of the simulation";
  EXPECT_GT(faster, 0);
  EXPECT_GT(slower, 0);
  EXPECT_LE(std::abs(faster - slower), 3 * std::sqrt(faster + slower));
}

TEST(ThreePercent, IsFoundNineTimesInTenWithFiveRounds) {
  Machine machine(11);
  constexpr int runs = 400;
  int found = 0;
  for (int i = 0; i < runs; ++i) {
    const std::vector<double> spreads(cases_of_a_run, between_processes);
    std::vector<Rounds> before = run_of(machine, 5, spreads);
    std::vector<std::vector<double>> after(cases_of_a_run);
    for (std::size_t c = 0; c < cases_of_a_run; ++c) after[c] = machine.rounds(5, c == 0 ? 1.03e-3 : 1e-3);
    found += called(before, seen(after)).slower > 0 ? 1 : 0;
  }
  RecordProperty("found", found);
  EXPECT_GE(found, 0.9 * runs);
}

}  // namespace
}  // namespace mprof
