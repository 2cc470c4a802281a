// SPDX-License-Identifier: MIT
#include "model/pool.hpp"

#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "model/rounds.hpp"

namespace mprof {
namespace {

/// A case whose op took `samples`, as many a round as `rounds` says.
Case timed(const std::string& id, std::vector<double> samples, std::vector<std::uint32_t> rounds) {
  PassResult pass{.pass = Pass::timing, .status = Status::ok};
  Measurement time{
      .metric = "op_time", .op = "a", .samples = std::move(samples), .rounds = std::move(rounds)};
  for (const std::uint32_t count : time.rounds) pass.rounds.push_back({.samples = count});
  pass.sampling = Sampling{.samples = static_cast<std::uint32_t>(time.samples.size())};
  pass.measurements = {std::move(time)};
  return {.id = id, .key = {.variant = "f/" + id}, .passes = {std::move(pass)}};
}

Run run_of(std::vector<Case> cases) {
  Run run;
  run.state = RunState::complete;
  for (const Case& c : cases) run.variants.push_back({.id = c.key.variant, .family = "f", .device = "cuda"});
  run.cases = std::move(cases);
  return run;
}

const Measurement& op_time(const Run& run, std::size_t index) {
  return *find_measurement(run.cases.at(index), "op_time", "a");
}

TEST(Pooled, HasTheRoundsOfAllRuns) {
  mprof::Run all = pooled({run_of({timed("x", {1, 2, 3}, {2, 1})}), run_of({timed("x", {4, 5}, {})}),
                           run_of({timed("x", {6, 7}, {1, 1})})});
  ASSERT_EQ(all.cases.size(), 1U);
  EXPECT_EQ(op_time(all, 0).samples, (std::vector<double>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(op_time(all, 0).rounds, (std::vector<std::uint32_t>{2, 1, 2, 1, 1}));
  EXPECT_EQ(rounds_of(all.cases[0].passes[0]), 5U);
  EXPECT_EQ(round_medians(op_time(all, 0)), (std::vector<double>{1.5, 3, 4.5, 6, 7}));
  derive_variation(all);
  EXPECT_GE(op_time(all, 0).derived->between.dof, 4) << "the rounds of all runs tell how processes differ";
}

TEST(Pooled, ARowThatOneRunLacksKeepsItsPlace) {
  mprof::Run second = run_of({timed("x", {4}, {1})});
  Measurement other{.metric = "group_time", .op = "a", .samples = {9}, .rounds = {1}};
  second.cases[0].passes[0].measurements.push_back(other);
  const mprof::Run all = pooled({run_of({timed("x", {1, 2}, {1, 1})}), second});
  EXPECT_EQ(find_measurement(all.cases[0], "group_time", "a")->rounds, (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(Pooled, IsTheUnionOfTheirCases) {
  const mprof::Run all =
      pooled({run_of({timed("x", {1}, {1})}), run_of({timed("y", {2}, {1}), timed("x", {3}, {1})})});
  ASSERT_EQ(all.cases.size(), 2U);
  EXPECT_EQ(all.cases[1].id, "y");
  EXPECT_EQ(all.variants.size(), 2U);
}

TEST(Pooled, KnowsWhichGpusTookTheTimes) {
  const auto on = [](const char* gpu) {
    mprof::Run run = run_of({timed("x", {1, 2}, {1, 1})});
    run.environment["gpu"]["UUID"] = gpu;
    return run;
  };
  const auto of = [](std::vector<mprof::Run> runs) {
    mprof::Run all = pooled(std::move(runs));
    derive_variation(all);
    return op_time(all, 0).derived->gpu;
  };
  EXPECT_NE(of({on("GPU-1")}), 0U);
  EXPECT_EQ(of({on("GPU-1"), on("GPU-1")}), of({on("GPU-1")}));
  EXPECT_NE(of({on("GPU-2")}), of({on("GPU-1")}));
  const std::size_t both = of({on("GPU-1"), on("GPU-2")});
  EXPECT_EQ(of({on("GPU-2"), on("GPU-1"), on("GPU-2")}), both) << "the same ones together";
  for (const std::size_t other : {std::size_t{0}, of({on("GPU-1")}), of({on("GPU-2")})})
    EXPECT_NE(both, other);
  EXPECT_TRUE(pooled({on("GPU-1")}).parts.empty()) << "it is no merged run";
}

TEST(Pooled, WhatIsWrongInOneRunIsWrong) {
  mprof::Run wrong = run_of({timed("x", {1}, {1})}), crashed = wrong, skipped = wrong;
  wrong.cases[0].passes[0].status = Status::wrong;
  wrong.cases[0].passes[0].reason = "not right";
  crashed.cases[0].passes = {{.pass = Pass::timing, .status = Status::crashed, .reason = "signal 11"}};
  skipped.cases[0].passes = {{.pass = Pass::timing, .status = Status::skipped}};
  const mprof::Run right = run_of({timed("x", {2}, {1})});
  for (const mprof::Run& bad : {wrong, crashed}) {
    EXPECT_NE(case_status(pooled({bad, right}).cases[0]), Status::ok);
    EXPECT_NE(case_status(pooled({right, bad}).cases[0]), Status::ok);
    EXPECT_EQ(case_reason(pooled({bad, right}).cases[0]), case_reason(bad.cases[0]));
  }
  EXPECT_EQ(case_status(pooled({skipped, right}).cases[0]), Status::ok);
  EXPECT_EQ(case_status(pooled({right, skipped}).cases[0]), Status::ok);
}

}  // namespace
}  // namespace mprof
