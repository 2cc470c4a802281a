// SPDX-License-Identifier: MIT
#include "runner/further_rounds.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "runner/coordinator.hpp"

namespace mprof {
namespace {

/// A run of twelve cases in five rounds whose times differ by `deviation` from one process to the next; the
/// last case by `other`.
Run in_five_rounds(const char* device, double deviation, double other) {
  Run run;
  run.plan.rounds = 5;
  run.plan.variants = {"map/one"};
  run.plan.passes = {Pass::timing};
  run.plan.stopping.relative_half_width = 0.01;
  run.variants.push_back({.id = "map/one", .family = "map", .device = device});
  const double places[] = {-1.2, 0.6, 0, 1.3, -0.7};  // turned for each case: they have nothing in common
  for (std::uint64_t size = 1; size <= 12; ++size) {
    Case& c = run.cases.emplace_back();
    c.key = {"map/one", {}, {{{"size", size}}}};
    PassResult timing;
    timing.status = Status::ok;
    timing.rounds.resize(5);
    timing.sampling = Sampling{};
    Measurement time{"op_time", "map", "", Source::measured, {}, "", {1, 1, 1, 1, 1}};
    for (std::size_t round = 0; round < 5; ++round)
      time.samples.push_back(std::exp(places[(round + size) % 5] * (size == 12 ? other : deviation)));
    timing.measurements.push_back(time);
    c.passes.push_back(timing);
  }
  return run;
}

TEST(RoundsWanted, AreThePlansWhereTheyDo) {
  for (const std::uint32_t wanted : rounds_wanted(in_five_rounds("cuda", 0.003, 0.003)))
    EXPECT_EQ(wanted, 5U);
}

TEST(RoundsWanted, AreMoreWhereTheyHelp) {
  // Half width of five rounds: about t * s * sqrt(2/5) = 1.3 % here; of ten 0.9 %.
  const std::vector<std::uint32_t> wanted = rounds_wanted(in_five_rounds("cuda", 0.0095, 0.0095));
  for (const std::uint32_t rounds : wanted) {
    EXPECT_GT(rounds, 5U);
    EXPECT_LE(rounds, 10U);
  }
}

TEST(RoundsWanted, AreThePlansWhereTwiceAsManyWouldNotDo) {
  const std::vector<std::uint32_t> wanted = rounds_wanted(in_five_rounds("cuda", 0.003, 0.5));
  EXPECT_EQ(wanted.back(), 5U);
  EXPECT_EQ(wanted.front(), 5U);
}

TEST(RoundsWanted, TheHostMayBeThreeTimesAsWide) {
  for (const std::uint32_t wanted : rounds_wanted(in_five_rounds("cpu", 0.0095, 0.0095)))
    EXPECT_EQ(wanted, 5U);
}

TEST(RoundsWanted, OfOneRoundNothingIsKnown) {
  mprof::Run run = in_five_rounds("cuda", 0.0095, 0.0095);
  run.plan.rounds = 1;
  for (const std::uint32_t wanted : rounds_wanted(run)) EXPECT_EQ(wanted, 1U);
}

TEST(FurtherTasks, AreTheRoundsThatAreMissing) {
  const mprof::Run run = in_five_rounds("cuda", 0.003, 0.003);
  std::vector<std::uint32_t> wanted(12, 5);
  wanted[3] = 7;
  wanted[4] = 6;
  const std::vector<Task> tasks = further_tasks(run, wanted);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].round, 5U);
  EXPECT_EQ(tasks[0].cases.size(), 2U);
  EXPECT_EQ(tasks[1].round, 6U);
  EXPECT_EQ(tasks[1].cases, std::vector<std::size_t>{3});
  EXPECT_TRUE(further_tasks(run, std::vector<std::uint32_t>(12, 5)).empty());
}

}  // namespace
}  // namespace mprof
