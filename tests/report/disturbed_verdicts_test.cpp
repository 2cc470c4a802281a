// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "tests/report/sample_runs.hpp"

/// Verdicts beside neighbours that come and go, from records to comparisons. MPROF_SIMULATIONS=200 makes so
/// many pairs of runs of each kind, and prints how many of them were told.
namespace mprof::beside_neighbours {
namespace {

constexpr std::size_t rounds = 5, samples_of_a_round = 15, times = 8;
constexpr double cpus = 2;

/// What a neighbour slows, and by what factor while it runs on another CPU.
struct Neighbour {
  const char* name;
  double least, most;
};

constexpr std::array neighbours{Neighbour{"compute", 1, 1.3}, Neighbour{"cache", 1, 2},
                                Neighbour{"memory", 1, 2.9}};

enum class Where { nowhere, before, after, both, in_steps };

constexpr std::array<std::pair<const char*, Where>, 4> places{{{"A alone", Where::before},
                                                               {"B alone", Where::after},
                                                               {"both", Where::both},
                                                               {"steps in B", Where::in_steps}}};

class Machine {
 public:
  explicit Machine(std::uint64_t seed) : random_(seed) {}

  /// Runs of two CPUs whose times differ by 2 % between processes and by 1 % within one; `neighbour` is there
  /// in the last `disturbed` rounds, for a part of each.
  mprof::Run run(double time, const Neighbour& neighbour, std::size_t disturbed) {
    mprof::Run run = samples::empty_run();
    run.started = std::to_string(++runs_);
    run.families.push_back(samples::map_family());
    run.variants.push_back({.id = "map/one", .family = "map", .device = "cpu"});
    for (std::uint64_t size = 1; size <= times; ++size) {
      Case& c = run.cases.emplace_back();
      c.key = {"map/one", {}, {{{"size", size}}}};
      c.id = "map/one@" + std::to_string(size);
      PassResult timing;
      timing.status = Status::ok;
      for (const char* metric : {"total_time", "user_time", "system_time", "cpu_wait"})
        timing.measurements.push_back({metric, "", "", Source::measured, {}, "", {}});
      c.passes.push_back(timing);
      // What it does to this case, as long as the run lasts.
      const double slower = between(neighbour.least, neighbour.most), waiting = between(0, 0.5);
      for (std::size_t round = 0; round < rounds; ++round) {
        const bool is_beside = round + disturbed >= rounds;
        add_round(c.passes.front(), time * std::exp(0.02 * normal_(random_)), is_beside ? between(0, 1) : 0,
                  slower, waiting);
      }
    }
    derive_variation(run);
    return run;
  }

  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

 private:
  /// `there`: the share of the samples that have the neighbour beside them.
  void add_round(PassResult& pass, double level, double there, double slower, double waiting) {
    double longer = 0, all = 0;
    for (std::size_t i = 0; i < samples_of_a_round; ++i) {
      const bool is_beside = static_cast<double>(i) < there * samples_of_a_round;
      const double running = level * std::exp(0.01 * normal_(random_)) * (is_beside ? slower : 1);
      const double wait = is_beside ? running * waiting / (1 - waiting) : 0;
      const std::array values{running + wait, running, 0.0, wait};
      for (std::size_t row = 0; row < values.size(); ++row)
        pass.measurements[row].samples.push_back(values[row]);
      all += running + wait;
      longer += is_beside ? running + wait : 0;
    }
    for (Measurement& row : pass.measurements) row.rounds.push_back(samples_of_a_round);
    Sampling sampling{.samples = samples_of_a_round};
    const double busy = longer / all;  // of one CPU
    if (busy > 0.1 * cpus)
      sampling.host_disturbance =
          fmt::format("other processes used the CPUs: {:.1f} of the {} usable ones busy", busy, cpus);
    pass.rounds.push_back(sampling);
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  int runs_ = 0;
};

std::size_t disturbed_rounds(Where where, bool is_after, Machine& machine) {
  switch (where) {
    case Where::before:
      return is_after ? 0 : rounds;
    case Where::after:
      return is_after ? rounds : 0;
    case Where::both:
      return rounds;
    case Where::in_steps:
      return is_after ? static_cast<std::size_t>(machine.between(1, rounds)) : 0;
    case Where::nowhere:
      break;
  }
  return 0;
}

struct Told {
  std::size_t all = 0, right = 0, wrong = 0;
  std::size_t bounds = 0, broken = 0;  ///< "no change above" that were made, and that were not so
};

/// B takes `factor` times as long as A.
void judge_pair(Machine& machine, const Neighbour& neighbour, Where where, double factor, Told& told) {
  const mprof::Run a = machine.run(1, neighbour, disturbed_rounds(where, false, machine)),
                   b = machine.run(factor, neighbour, disturbed_rounds(where, true, machine));
  for (const CaseComparison& c : compare(a, b, {}).cases) {
    const SpeedUp& judged = c.times.front().speed_up;
    const bool is_change = factor - 1 > Thresholds{}.host;
    ++told.all;
    const Verdict truth = is_change ? Verdict::slower : Verdict::same;
    told.right += judged.verdict == truth;
    told.wrong += judged.verdict != truth && judged.verdict != Verdict::inconclusive;
    if (!judged.no_change_above) continue;
    ++told.bounds;
    told.broken += factor - 1 > *judged.no_change_above;
  }
}

std::size_t simulations() {
  const char* const wanted = std::getenv("MPROF_SIMULATIONS");  // NOLINT(concurrency-mt-unsafe)
  return wanted == nullptr ? 6 : static_cast<std::size_t>(std::atoi(wanted));
}

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

class BesideNeighbours : public testing::TestWithParam<Neighbour> {};

TEST_P(BesideNeighbours, OneVerdictInAHundredIsWrongAtMost) {
  Told all;
  std::map<double, Told> by_factor;
  std::string table;
  for (const auto& [place, where] : places) {
    for (const double factor : {1.0, 1.05, 1.2, 2.0, 10.0}) {
      Machine machine(static_cast<std::uint64_t>(1000 * factor) + static_cast<std::uint64_t>(where));
      Told told;
      for (std::size_t i = 0; i < simulations(); ++i) judge_pair(machine, GetParam(), where, factor, told);
      table += fmt::format("{:8} {:11} {:5}x: told {:5.1f} %, wrong {:.2f} %\n", GetParam().name, place,
                           factor, 100 * share(told.right, told.all), 100 * share(told.wrong, told.all));
      for (Told* sum : {&all, &by_factor[factor]}) {
        sum->all += told.all;
        sum->right += told.right;
        sum->wrong += told.wrong;
      }
    }
  }
  std::cout << table;
  EXPECT_LE(share(all.wrong, all.all), 0.01) << table;
  EXPECT_LE(share(by_factor[1.0].wrong, by_factor[1.0].all), 0.01) << table;
  EXPECT_GE(share(by_factor[10.0].right, by_factor[10.0].all), 0.9) << "more than any of them can make";
}

INSTANTIATE_TEST_SUITE_P(Kinds, BesideNeighbours, testing::ValuesIn(neighbours),
                         [](const auto& kind) { return std::string(kind.param.name); });

/// Each bound is a statement on one time, and is wrong for one in forty of them at most.
TEST(NoChangeAbove, HoldsOfEachTimeByItself) {
  for (const double factor : {1.0, 1.01, 1.03, 1.0301, 1.08}) {
    Machine machine(7);
    Told told;
    for (std::size_t i = 0; i < 4 * simulations(); ++i)
      judge_pair(machine, neighbours.front(), Where::nowhere, factor, told);
    const double limit =
        0.025 + 2 * std::sqrt(0.025 / static_cast<double>(std::max<std::size_t>(told.all, 1)));
    EXPECT_LE(share(told.broken, told.all), limit) << factor;
    std::cout << fmt::format("{:6}x: {} of {} bounds broken\n", factor, told.broken, told.bounds);
  }
}

}  // namespace
}  // namespace mprof::beside_neighbours
