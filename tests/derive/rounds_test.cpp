// SPDX-License-Identifier: MIT
#include "model/rounds.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "model/statistics/next_run.hpp"

namespace mprof {
namespace {

PassResult round_of(std::vector<double> samples, std::string disturbance = "") {
  PassResult result;
  result.status = Status::ok;
  result.seconds = 2;
  result.sampling = Sampling{.warmups = 2,
                             .samples = static_cast<std::uint32_t>(samples.size()),
                             .ended_by = Ending::samples,
                             .relative_half_width = 0.01,
                             .retries = disturbance.empty() ? 0U : 1U,
                             .disturbance = std::move(disturbance)};
  result.verification = {{.op = "map", .passed = true}};
  result.measurements = {{"op_time", "map", "", Source::measured, std::move(samples), ""}};
  return result;
}

TEST(AddRound, TheFirstStandsAsItIs) {
  PassResult pass;
  add_round(pass, round_of({1, 2}));
  EXPECT_EQ(pass, round_of({1, 2}));
  EXPECT_EQ(rounds_of(pass), 1U);
  EXPECT_EQ(samples_by_round(pass.measurements[0]).size(), 1U);
}

TEST(AddRound, SamplesGoBehindThoseThatAreThere) {
  PassResult pass = round_of({1, 2, 3});
  add_round(pass, round_of({4, 5}, "the GPU throttled"));
  add_round(pass, round_of({6}));
  const Measurement& row = pass.measurements.at(0);
  EXPECT_EQ(row.samples, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(row.rounds, (std::vector<std::uint32_t>{3, 2, 1}));
  EXPECT_EQ(round_medians(row), (std::vector<double>{2, 4.5, 6}));
  EXPECT_EQ(rounds_of(pass), 3U);
  EXPECT_EQ(pass.sampling->samples, 6U);
  EXPECT_EQ(pass.sampling->warmups, 6U);
  EXPECT_EQ(pass.sampling->retries, 1U);
  EXPECT_EQ(pass.sampling->disturbance, "the GPU throttled");
  EXPECT_DOUBLE_EQ(pass.seconds, 6);
}

TEST(AddRound, AMetricThatComesLaterOrIsMissingOnceKeepsItsRounds) {
  PassResult pass = round_of({1});
  PassResult second = round_of({2});
  second.measurements.push_back({"power", "", "", Source::measured, {70, 71}, ""});
  add_round(pass, second);
  PassResult third = round_of({3});
  third.measurements.push_back({"power", "", "", Source::measured, {}, "NVML did not answer"});
  add_round(pass, third);
  const Measurement& power = pass.measurements.at(1);
  EXPECT_EQ(power.rounds, (std::vector<std::uint32_t>{0, 2, 0}));
  EXPECT_TRUE(power.absent.empty());
  EXPECT_EQ(round_medians(power), std::vector<double>{70.5});
}

TEST(AddRound, WhatItChoseOtherwiseStandsBesideWhatWasChosen) {
  PassResult pass = round_of({1, 2});
  pass.choices = {{"large", "engine 1"}, {"small", "engine 2"}};
  PassResult next = round_of({3});
  next.choices = {{"large", "engine 1"}, {"small", "engine 3"}, {"huge", "engine 1"}};
  add_round(pass, next);
  EXPECT_EQ(pass.choices,
            (std::map<std::string, std::string>{
                {"huge", "engine 1"}, {"large", "engine 1"}, {"small", "engine 2 | engine 3"}}));
  for (const char* choice : {"engine 2", "engine 3", "engine"}) {
    next.choices = {{"small", choice}};
    add_round(pass, next);
  }
  EXPECT_EQ(pass.choices.at("small"), "engine 2 | engine 3 | engine") << "each once";
}

TEST(AddRound, OneThatDidNotEndWellMakesThePassEndSo) {
  PassResult pass = round_of({1, 1});
  PassResult bad;
  bad.status = Status::wrong;
  bad.reason = "map: 3 of 9 elements were never written";
  bad.verification = {{.op = "map", .passed = false, .finding = "3 of 9 elements were never written"}};
  add_round(pass, bad);
  EXPECT_EQ(pass.status, Status::wrong);
  EXPECT_EQ(pass.reason, "in round 2: map: 3 of 9 elements were never written");
  EXPECT_FALSE(pass.verification.at(0).passed);
  EXPECT_EQ(pass.measurements.at(0).samples.size(), 2U) << "what was measured stays";
}

TEST(StoppingOfARound, IsItsShareOfAll) {
  const Stopping all{.min_samples = 7, .max_samples = 100, .max_seconds = 15, .relative_half_width = 0.01};
  EXPECT_EQ(stopping_of_a_round(all, 1), all);
  const Stopping one = stopping_of_a_round(all, 5);
  EXPECT_EQ(one.max_samples, 20U);
  EXPECT_EQ(one.min_samples, 3U) << "a median does not hang on one sample";
  EXPECT_DOUBLE_EQ(one.max_seconds, 3);
  EXPECT_EQ(stopping_of_a_round({.min_samples = 1, .max_samples = 2}, 5).min_samples, 1U);
}

/// A run of cases whose rounds vary by 1 %, but one that varies by 5 %.
mprof::Run with_rounds() {
  mprof::Run run;
  run.variants.push_back({.id = "map/one", .family = "map", .device = "cuda"});
  const std::vector<double> steady{1.00, 1.01, 0.99, 1.005, 0.995}, wild{1.0, 1.05, 0.95, 1.07, 0.93};
  for (std::uint64_t size = 1; size <= 12; ++size) {
    Case& c = run.cases.emplace_back();
    c.key = {"map/one", {}, {{{"size", size}}}};
    c.id = "map/one@" + std::to_string(size);
    PassResult timing;
    timing.status = Status::ok;
    for (const char* metric : {"op_time", "total_time"}) {
      const std::string op = std::string(metric) == "op_time" ? "map" : "";
      timing.measurements.push_back(
          {metric, op, "", Source::measured, size == 12 ? wild : steady, "", {1, 1, 1, 1, 1}});
    }
    c.passes.push_back(timing);
  }
  return run;
}

TEST(Variation, IsDrawnTowardsWhatTheOthersShow) {
  mprof::Run run = with_rounds();
  derive(run, {});
  const Measurement& steady = *find_measurement(run.cases.front(), "op_time", "map");
  const Measurement& wild = *find_measurement(run.cases.back(), "op_time", "map");
  const double own = variance_of_logs(round_medians(wild)).value;
  EXPECT_GT(wild.derived->between.value, 2 * steady.derived->between.value)
      << "one that differs stays different";
  EXPECT_LT(wild.derived->between.value, own);
  EXPECT_GT(steady.derived->between.dof, 4) << "the others tell of it too";
}

TEST(Variation, TimesOfAGpuKnowItsClock) {
  mprof::Run run = with_rounds();
  run.environment["gpu"] = {{"SM clock maximum", 1.98e9}, {"SM clock step", 15e6}};
  PassResult& timing = run.cases.front().passes[0];
  timing.measurements.push_back(
      {"gpu_measured_sm_clock", "", "", Source::measured, {1.995e9, 1.994e9, 1.996e9}, ""});
  RunPart& other = run.parts.emplace_back();
  other.environment["gpu"] = {{"SM clock maximum", 1.5e9}, {"SM clock step", 30e6}};
  other.cases = {run.cases.back().id};
  derive(run, {});
  const auto clock_of = [](const Case& c, const char* metric, const char* op) {
    return find_measurement(c, metric, op)->derived->sm_clock;
  };
  EXPECT_EQ(clock_of(run.cases.front(), "op_time", "map"), (SmClock{15.0 / 1980, 1.995e9}));
  EXPECT_EQ(clock_of(run.cases[1], "op_time", "map"), (SmClock{15.0 / 1980, 0}));
  EXPECT_EQ(clock_of(run.cases.back(), "op_time", "map"), (SmClock{0.02, 0})) << "measured by another GPU";
  EXPECT_EQ(clock_of(run.cases.front(), "total_time", ""), SmClock{}) << "of the host's clock";
}

/// As of a variant that copies in forward() and waits for it: its rounds differ as those of the host do, and
/// say nothing of how the GPU's times differ.
TEST(Variation, TheHostHasAPartInTheTimesOfWorkThatCouldNotBeHeld) {
  mprof::Run run = with_rounds();
  PassResult& wild = run.cases.back().passes[0];
  derive(run, {});
  const double among_the_gpus = find_measurement(run.cases.front(), "op_time", "map")->derived->between.value;
  EXPECT_EQ(find_measurement(run.cases.back(), "op_time", "map")->derived->clock, ClockSource::device);

  wild.measurements.push_back({"launched_op_time", "map", "", Source::measured, {}, "it waits itself"});
  derive(run, {});
  const Measurement& steady = *find_measurement(run.cases.front(), "op_time", "map");
  EXPECT_EQ(find_measurement(run.cases.back(), "op_time", "map")->derived->clock, ClockSource::host);
  EXPECT_EQ(steady.derived->clock, ClockSource::device);
  EXPECT_LT(steady.derived->between.value, among_the_gpus);
}

TEST(Variation, OfOneRoundIsAssumedAndLargerForTheHost) {
  mprof::Run run = with_rounds();
  for (Case& c : run.cases) {
    for (Measurement& row : c.passes[0].measurements) row.rounds.clear();
  }
  derive(run, {});
  const Case& c = run.cases.front();
  const Variance device = find_measurement(c, "op_time", "map")->derived->between;
  const Variance host = find_measurement(c, "total_time")->derived->between;
  EXPECT_GT(device.value, 0.003 * 0.003 * 0.999);
  EXPECT_GT(host.value, 0.1 * 0.1 * 0.999) << "as processes that use a GPU differ";
  EXPECT_LT(host.value, 0.11 * 0.11);
  EXPECT_EQ(device.dof, 4);
}

TEST(Variation, OfOneRoundIsSmallerWhereNothingTimedUsesAGpu) {
  mprof::Run run = with_rounds();
  run.variants.push_back({.id = "map/skipped", .family = "map", .device = "cuda"});
  run.variants[0].device = "cpu";
  Case& skipped = run.cases.emplace_back();
  skipped.key = {"map/skipped", {}, {{{"size", 1}}}};
  skipped.passes.push_back({.pass = Pass::timing, .status = Status::skipped});
  for (Case& c : run.cases) {
    for (Measurement& row : c.passes[0].measurements) row.rounds.clear();
  }
  derive(run, {});
  const Variance host = find_measurement(run.cases.front(), "total_time")->derived->between;
  EXPECT_GT(host.value, 0.05 * 0.05 * 0.999);
  EXPECT_LT(host.value, 0.06 * 0.06);
}

/// A run of twenty cases in five rounds on a machine whose state drifts from round to round: `machine` is how
/// much, and stays with it. Each time has 1 % of its own.
class DriftingMachine {
 public:
  DriftingMachine(std::uint64_t seed, double machine) : random_(seed), machine_(machine) {}

  mprof::Run run() {
    mprof::Run run;
    run.plan.rounds = 5;
    run.variants.push_back({.id = "map/one", .family = "map", .device = "cpu"});
    for (std::uint64_t size = 1; size <= 20; ++size) {
      Case& c = run.cases.emplace_back();
      c.key = {"map/one", {}, {{{"size", size}}}};
      PassResult timing;
      timing.status = Status::ok;
      timing.measurements.push_back({"total_time", "", "", Source::measured, {}, "", {1, 1, 1, 1, 1}});
      c.passes.push_back(timing);
    }
    for (int round = 0; round < 5; ++round) {
      state_ = 0.7 * state_ + machine_ * normal_(random_);
      for (Case& c : run.cases)
        c.passes[0].measurements[0].samples.push_back(std::exp(state_ + 0.01 * normal_(random_)));
    }
    derive_variation(run);
    return run;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  double machine_, state_ = 0;
};

Rounds total_of(const Case& c) {
  const Measurement& row = c.passes[0].measurements[0];
  const std::vector<double> medians = round_medians(row);
  return {geometric_mean(medians), static_cast<double>(medians.size()), row.derived->between,
          row.derived->common};
}

TEST(Variation, TellsTheMachineFromTheTimes) {
  DriftingMachine quiet(1, 0), busy(2, 0.05);
  constexpr int runs = 40;
  double alone = 0, shared = 0, own = 0;
  for (int i = 0; i < runs; ++i) {
    const mprof::Run drifting = busy.run();
    alone += total_of(quiet.run().cases[0]).common.value / runs;
    shared += total_of(drifting.cases[0]).common.value / runs;
    own += total_of(drifting.cases[0]).between.value / runs;
    EXPECT_EQ(total_of(drifting.cases[0]).common.dof, 4);
  }
  EXPECT_LT(alone, 0.002 * 0.002);
  EXPECT_GT(shared, 0.03 * 0.03);
  EXPECT_NEAR(std::sqrt(own), 0.01, 0.002) << "each time's own is what is left";
}

TEST(Variation, TheNextRunIsWithinTheIntervalThoughTheMachineDrifts) {
  int within = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    DriftingMachine machine(100 + seed, 0.05);
    machine.run();  // until it is in no particular state
    const mprof::Run now = machine.run();
    for (int between = 0; between < 3; ++between) machine.run();
    const mprof::Run next = machine.run();
    for (std::size_t i = 0; i < now.cases.size(); ++i) {
      const Interval interval = next_run_interval(total_of(now.cases[i])).value();
      const double center = total_of(next.cases[i]).center;
      within += interval.low <= center && center <= interval.high ? 1 : 0;
      ++all;
    }
  }
  RecordProperty("within", std::to_string(1.0 * within / all));
  EXPECT_GE(within, 0.9 * all);
}

TEST(Variation, WithinARunTheMachineHitsBothAlike) {
  DriftingMachine machine(5, 0.05);
  const mprof::Run run = machine.run();
  const Rounds one = total_of(run.cases[0]), other = total_of(run.cases[1]);
  const RatioTest within = test_ratio(one, other, Apart::in_one_run).value(),
                  across = test_ratio(one, other, Apart::in_two_runs).value();
  EXPECT_LT(within.interval.high / within.interval.low, across.interval.high / across.interval.low);
}

}  // namespace
}  // namespace mprof
