// SPDX-License-Identifier: MIT
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "report/views/table.hpp"
#include "tests/report/sample_runs.hpp"

/// A run of one round beside one of several, of the same machine.
namespace mprof {
namespace {

constexpr std::size_t cases_that_share_rounds = 12;

/// A machine whose host times vary by 1 % from process to process, and together by 2 % from round to round.
class SharedMachine {
 public:
  explicit SharedMachine(std::uint64_t seed) : random_(seed) {}

  /// `first`: the time of the first case; the others take 1 s.
  mprof::Run run(std::uint32_t rounds, double first = 1) {
    mprof::Run run = samples::empty_run();
    run.started = std::to_string(++runs_);
    run.families.push_back(samples::map_family());
    run.variants.push_back({.id = "map/one", .family = "map", .device = "cuda"});
    for (std::uint64_t size = 1; size <= cases_that_share_rounds; ++size) {
      Case& c = run.cases.emplace_back();
      c.key = {"map/one", {}, {{{"size", size}}}};
      c.id = "map/one@" + std::to_string(size);
      PassResult timing;
      timing.status = Status::ok;
      timing.measurements.push_back({"total_time", "", "", Source::measured, {}, "", {}});
      c.passes.push_back(timing);
    }
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const double state = 0.02 * normal_(random_);
      for (std::size_t i = 0; i < cases_that_share_rounds; ++i) {
        Measurement& row = run.cases[i].passes[0].measurements[0];
        const double level = (i == 0 ? first : 1) * std::exp(state + 0.01 * normal_(random_));
        for (int sample = 0; sample < 3; ++sample)
          row.samples.push_back(level * std::exp(0.002 * normal_(random_)));
        if (rounds > 1) row.rounds.push_back(3);
      }
    }
    derive_variation(run);
    return run;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  int runs_ = 0;
};

TEST(BorrowedVariation, IsThatOfTheSameTimeOfTheOtherRun) {
  SharedMachine machine(1);
  const mprof::Run full = machine.run(5), quick = machine.run(1);
  for (const bool quick_is_after : {true, false}) {
    const Comparison comparison = quick_is_after ? compare(full, quick, {}) : compare(quick, full, {});
    const TimeComparison& time = comparison.cases[3].times[0];
    const Value &one = quick_is_after ? time.b : time.a, &five = quick_is_after ? time.a : time.b;
    EXPECT_TRUE(one->borrowed);
    EXPECT_FALSE(five->borrowed);
    EXPECT_GE(one->between.value, five->between.value);
    EXPECT_LT(one->between.value, five->between.value + 0.01 * 0.01) << "and its own samples";
    EXPECT_DOUBLE_EQ(one->between.dof, five->between.dof / 2);
    EXPECT_DOUBLE_EQ(one->common.value, five->common.value);
    EXPECT_LT(*relative_half_width(*one), *relative_half_width(*value_of(quick.cases[3], "total_time")));
    EXPECT_EQ(Cell::value(one).note,
              "one round: by how much the next process will differ is as the other run's rounds say");
  }
}

TEST(BorrowedVariation, IsNoneOfAnotherMachineOrOfOneRound) {
  SharedMachine machine(2);
  const mprof::Run full = machine.run(5), quick = machine.run(1), other_quick = machine.run(1);
  EXPECT_FALSE(compare(quick, other_quick, {}).cases[0].times[0].b->borrowed);
  EXPECT_FALSE(compare(full, machine.run(3), {}).cases[0].times[0].b->borrowed);
  mprof::Run elsewhere = machine.run(1);
  elsewhere.environment["cpu"]["model"] = std::string("Another CPU");
  const Comparison comparison = compare(full, elsewhere, {.allow_different_machines = true});
  EXPECT_FALSE(comparison.cases[0].times[0].b->borrowed);
}

TEST(BorrowedVariation, CallsNoiseAChangeInAtMostOneOfTwentyRuns) {
  constexpr int repeats = 300;
  int wrong = 0;
  SharedMachine machine(3);
  for (int i = 0; i < repeats; ++i) {
    const Comparison comparison = compare(machine.run(5), machine.run(1), {});
    wrong += comparison.count(Verdict::faster) + comparison.count(Verdict::slower) > 0 ? 1 : 0;
  }
  RecordProperty("runs_with_a_call", wrong);
  EXPECT_LE(wrong, repeats * 0.05 + 2 * std::sqrt(repeats * 0.05 * 0.95));
}

TEST(BorrowedVariation, FindsWhatTheAssumptionLeavesOpen) {
  constexpr int repeats = 60;
  int found = 0, found_alone = 0;
  SharedMachine machine(4);
  for (int i = 0; i < repeats; ++i) {
    const mprof::Run full = machine.run(5), quick = machine.run(1, 1.25), before = machine.run(1);
    found += compare(full, quick, {}).cases[0].times[0].speed_up.verdict == Verdict::slower ? 1 : 0;
    found_alone += compare(before, quick, {}).cases[0].times[0].speed_up.verdict == Verdict::slower ? 1 : 0;
  }
  RecordProperty("found", found);
  RecordProperty("found_alone", found_alone);
  EXPECT_GT(found, 2 * found_alone);
  EXPECT_GE(found, repeats / 2);
}

}  // namespace
}  // namespace mprof
