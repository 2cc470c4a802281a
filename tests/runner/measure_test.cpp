// SPDX-License-Identifier: MIT
#include "runner/measure.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fake_workload.hpp"
#include "runner/host_retries.hpp"
#include "system/error.hpp"
#include "tests/support/fake_device.hpp"

namespace mprof {
namespace {

using test::ScriptedExecution;

/// A case on a fake device in fake time, with the product's own timing collectors.
class Measure : public ::testing::Test {
 protected:
  Measure() {
    subject.id = "fake/x@1";
    subject.key = {"fake/x", {}, test::size_of(1)};
    plan.stopping = {.min_samples = 7, .max_samples = 9, .max_seconds = 1e6, .relative_half_width = 0.01};
    subject.ops = {{"op1", "", 1e6, 1e3}};
    device.flush_seconds = 100;  // must be in no time
    plan.quick = true;           // the host's own collector takes no sample again when this machine is busy
  }

  PassResult timing(const test::Script& script) {
    ScriptedExecution execution(script);
    PassResult result = measure_timing(context(), execution);
    executions = execution.executions;
    return result;
  }

  PassResult watched(Pass pass) {
    ScriptedExecution execution({});
    PassResult result = measure_watched(context(), pass, execution);
    executions = execution.executions;
    return result;
  }

  /// prepare 1 s, forward 2 s, finish 4 s.
  test::Script steady() {
    return {.on_stage = [this](Stage stage) {
      clock.advance(stage == Stage::prepare ? 1 : stage == Stage::forward ? 2 : 4);
    }};
  }

  /// 3 ms each.
  test::Script brief() {
    return {.on_stage = [this](Stage) { clock.advance(1e-3); }};
  }

  static std::vector<double> samples(const PassResult& result, const std::string& metric,
                                     const std::string& op = {}) {
    for (const Measurement& m : result.measurements) {
      if (m.metric == metric && m.op == op) return m.samples;
    }
    return {};
  }

  MeasureContext context() { return with(CollectorKinds::instance()); }
  MeasureContext with(const CollectorKinds& collectors) {
    return {.subject = subject,
            .family = family,
            .device = device,
            .clock = clock,
            .collectors = collectors,
            .plan = plan,
            .takes_turns = most_in_turn > 0,
            .on_sample = [this](std::uint32_t n, std::optional<Ending>) {
              told.push_back(n);
              clock.advance(others_turn);
              return n < most_in_turn;
            }};
  }

  test::FakeClock clock;
  test::FakeDevice device{clock};
  Case subject;
  FamilyInfo family = test::fake_family();
  Plan plan;
  std::vector<std::uint32_t> told;
  std::uint32_t most_in_turn = 0;  ///< samples, where turns are taken
  double others_turn = 0;          ///< s, after each sample
  int executions = 0;
};

TEST_F(Measure, TimesEachStageExactlyAndNoFlush) {
  const PassResult result = timing(steady());
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(samples(result, "op_time", "op1"), std::vector<double>(7, 2.0));
  EXPECT_EQ(samples(result, "group_time", "op1"), std::vector<double>(7, 7.0));
  EXPECT_EQ(samples(result, "total_time"), std::vector<double>(7, 7.0));
  EXPECT_EQ(samples(result, "first_op_time", "op1"), std::vector<double>{2.0});
}

TEST_F(Measure, FlushesTheCacheBeforeEachForwardThatIsTimed) {
  timing(steady());
  EXPECT_EQ(device.flushes,
            1 + 7 + 1);  // the verified execution, the samples, unseen inputs; not the warm-up
}

TEST_F(Measure, RepeatsForwardWhereTheDeviceAsksForIt) {
  device.forwards = 3;
  const PassResult result = timing(steady());
  EXPECT_EQ(samples(result, "op_time", "op1"), std::vector<double>(7 * 3, 2.0));
  EXPECT_EQ(samples(result, "group_time", "op1"), std::vector<double>(7, 7.0));  // as if it had run once
  EXPECT_EQ(samples(result, "total_time"), std::vector<double>(7, 7.0));
  EXPECT_EQ(device.flushes,
            1 + 7 * 3 + 2);  // the verified execution runs it once, that on unseen inputs twice
}

TEST_F(Measure, AnOpThatTakesLongIsRunLessOftenFromTheSecondSampleOn) {
  device.forwards = 5;
  EXPECT_EQ(samples(timing(steady()), "op_time", "op1"), std::vector<double>(5 + 6 * 3, 2.0));
  const PassResult result = timing({.on_stage = [&](Stage) { clock.advance(0.001); }});
  EXPECT_EQ(samples(result, "op_time", "op1").size(), 7U * 5);
}

/// The inputs are the same each time that forward() is called: an output that was kept is right.
TEST_F(Measure, AnOpThatComputesForTheFirstCallOnlyIsSuspect) {
  device.forwards = 5;
  device.can_hold = true;
  bool is_first = true;
  for (const auto& [later, status] :
       {std::pair{2.0, Status::ok}, {1.9, Status::ok}, {0.5, Status::suspect}}) {
    const PassResult result = timing({.on_stage = [&, later = later](Stage stage) {
      clock.advance(stage != Stage::forward ? 1 : is_first ? 2 : later);
      is_first = stage != Stage::forward;
    }});
    EXPECT_EQ(result.status, status) << later << ": " << result.reason;
    if (status != Status::suspect) continue;
    EXPECT_EQ(result.reason,
              "op1 takes 2 s for the first time after prepare(), and 500 ms when the same inputs are given "
              "again: it may have kept an output");
  }
}

/// What is slow for inputs that nobody has seen is as slow for known ones, just then.
TEST_F(Measure, AHostThatGetsBusyAfterTheSamplesMakesNothingSuspect) {
  int forwards = 0;
  const PassResult result = timing({.on_stage = [&](Stage stage) {
    if (stage == Stage::forward) ++forwards;
    clock.advance(stage != Stage::forward ? 1 : forwards <= 1 + 1 + 7 ? 2 : 20);
  }});
  EXPECT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_EQ(executions, 1 + 1 + 7 + 2) << "one on unseen inputs, and one beside it";
}

/// Executions of 1 ms, and of 10 ms where they are slow: by how many unseen ones there were before.
test::Script short_executions(test::FakeClock& clock, const std::function<bool(int)>& unseen_is_slow,
                              const std::function<bool(int)>& known_is_slow) {
  struct State {
    double next = 1e-3;  ///< s, of the execution that comes
    int samples = 0, unseen = 0;
  };
  const auto state = std::make_shared<State>();
  const auto right = test::right_result().verification.front();
  return {
      .on_stage = [&clock, state](Stage stage) { clock.advance(stage == Stage::forward ? state->next : 0); },
      .on_sample =
          [=] {
            const bool is_unseen_next = ++state->samples >= 7;
            state->next = is_unseen_next && unseen_is_slow(state->unseen) ? 10e-3 : 1e-3;
            return right;
          },
      .on_unseen =
          [=] {
            state->next = known_is_slow(state->unseen++) ? 10e-3 : 1e-3;
            return right;
          }};
}

/// A busy host may put short executions aside, one after the other, and none of the known ones beside them.
TEST_F(Measure, SomeSlowExecutionsOnUnseenInputsMakeAShortOpNotSuspect) {
  device.flush_seconds = 0;
  const auto first = [](int unseen) { return unseen < 7; };
  const PassResult result = timing(short_executions(clock, first, [](int) { return false; }));
  EXPECT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_EQ(result.scrutiny->unseen, 15U) << "most of them were fast";
}

TEST_F(Measure, OneSlowExecutionOnKnownInputsExcusesNoShortOp) {
  device.flush_seconds = 0;
  const auto once = [](int unseen) { return unseen == 8; };
  const PassResult result = timing(short_executions(
      clock, [](int) { return true; }, once));
  EXPECT_EQ(result.status, Status::suspect);
  EXPECT_EQ(result.scrutiny->unseen, 25U);
}

TEST_F(Measure, AnOpIsTimedBehindAHeldDeviceAndTheHostWithoutIt) {
  device.forwards = 3;
  device.can_hold = true;
  device.launch_gap = 0.5;
  const PassResult result = timing(steady());
  EXPECT_EQ(samples(result, "op_time", "op1"), std::vector<double>(7 * 2, 1.5));
  EXPECT_EQ(samples(result, "launched_op_time", "op1"), std::vector<double>(7, 2.0));
  EXPECT_EQ(samples(result, "total_time"), std::vector<double>(7, 7.0));
  EXPECT_EQ(samples(result, "first_op_time", "op1"), std::vector<double>{2.0}) << "as a program would see it";
}

TEST_F(Measure, WorkThatCannotBeHeldIsTimedAsLaunchedAndSaysSo) {
  device.forwards = 3;
  device.can_hold = true;
  device.waits = true;
  const PassResult result = timing(steady());
  // Of the first sample two forwards were given up and of the second one; then nothing is held any more.
  EXPECT_EQ(samples(result, "op_time", "op1"), std::vector<double>(1 + 2 + 5 * 3, 2.0));
  const auto row = std::ranges::find(result.measurements, "launched_op_time", &Measurement::metric);
  ASSERT_NE(row, result.measurements.end());
  EXPECT_NE(row->absent.find("the op waits for the device, or queues more"), std::string::npos)
      << row->absent;
}

TEST_F(Measure, HotTimesAreHeldTooUnlessTheWorkWaits) {
  plan.hot = true;
  device.can_hold = true;
  device.launch_gap = 0.5;
  EXPECT_EQ(samples(timing(steady()), "hot_op_time", "op1"), std::vector<double>(11, 1.5));
  device.waits = true;
  EXPECT_EQ(samples(timing(steady()), "hot_op_time", "op1"), std::vector<double>(11, 2.0));
}

TEST_F(Measure, HotTimesHaveNoFlushBeforeThem) {
  plan.hot = true;
  int forwards = 0;
  test::Script script = steady();
  script.on_stage = [&](Stage stage) {
    if (stage == Stage::forward) ++forwards;
    clock.advance(stage == Stage::forward && forwards > 9 ? 1
                                                          : 2);  // verified, warmed up, sampled 7 times: cold
  };
  const PassResult result = timing(script);
  EXPECT_EQ(samples(result, "op_time", "op1"), std::vector<double>(7, 2.0));
  EXPECT_EQ(samples(result, "hot_op_time", "op1"), std::vector<double>(11, 1.0));
  EXPECT_EQ(device.flushes, 1 + 7 + 1);
}

TEST_F(Measure, HotTimesEndWhenTheSecondsAreSpent) {
  plan.hot = true;
  const auto hot_times = [&] { return samples(timing(steady()), "hot_op_time", "op1"); };
  plan.stopping.max_seconds = 5;
  EXPECT_EQ(hot_times(), std::vector<double>(3, 2.0));
  subject.ops.push_back({"op2", "", 1e6, 1e3});  // which has a right to half of them
  EXPECT_EQ(hot_times(), std::vector<double>(2, 2.0));
  plan.stopping.max_seconds = 1;
  EXPECT_EQ(hot_times(), std::vector<double>(1, 2.0));
}

TEST_F(Measure, HotTimesAreLeftOutUnlessAskedFor) {
  EXPECT_TRUE(samples(timing(steady()), "hot_op_time", "op1").empty());
}

/// Wants each forward three times, and two executions.
class Insatiable final : public Collector {
 public:
  void begin_sample() override {
    ++samples_;
    forwards_ = 0;
  }
  [[nodiscard]] bool again(std::string_view) override { return ++forwards_ < 3; }
  [[nodiscard]] bool wants_more() override { return samples_ < 2; }
  void finish(std::vector<Measurement>& measurements) override {
    measurements.push_back({"executions", "", "", Source::measured, {samples_}, ""});
  }

 private:
  double samples_ = 0;
  int forwards_ = 0;
};

TEST_F(Measure, ACollectorOfAnotherPassHasStagesAndExecutionsRepeated) {
  CollectorKinds kinds;
  kinds.add({.id = "insatiable",
             .pass = Pass::counters,
             .device = "",
             .order = 0,
             .unavailable = {},
             .make = [](const CaseContext&) { return std::make_unique<Insatiable>(); }});
  int forwards = 0;
  ScriptedExecution execution(
      {.on_stage = [&](Stage stage) { forwards += stage == Stage::forward ? 1 : 0; }});
  const PassResult result = measure_watched(with(kinds), Pass::counters, execution);
  EXPECT_EQ(samples(result, "executions"), std::vector<double>{2});
  EXPECT_EQ(execution.executions, 1 + 2) << "the first one warms up";
  EXPECT_EQ(forwards, 1 + 2 * 3);
  EXPECT_EQ(device.flushes, 2 * 3) << "each from a cold cache";
}

TEST_F(Measure, WhatWasVerifiedWhenItWasTimedIsKnownWhereItIsWatched) {
  CollectorKinds kinds;
  kinds.add({.id = "insatiable",
             .pass = Pass::counters,
             .device = "",
             .order = 0,
             .unavailable = {},
             .make = [](const CaseContext&) { return std::make_unique<Insatiable>(); }});
  const std::vector<Verification> verified = test::right_result().verification;
  ScriptedExecution execution({});
  MeasureContext watched = with(kinds);
  watched.verified = verified;
  EXPECT_EQ(measure_watched(watched, Pass::counters, execution).status, Status::ok);
  ASSERT_GT(execution.trials.size(), 1U);
  for (const Trial& trial : execution.trials)
    EXPECT_EQ(trial.verified.size(), trial.proof == Proof::some_items ? 1U : 0U);
}

/// Finds the samples of its first `times` lives disturbed.
class Disturbed final : public Collector {
 public:
  explicit Disturbed(int& times) : times_(times) {}
  void end_sample() override { ++samples_; }
  [[nodiscard]] std::optional<std::string> disturbance() const override {
    if (samples_ == 0 || times_-- <= 0) return std::nullopt;
    return "the GPU throttled";
  }
  void finish(std::vector<Measurement>&) override {}

 private:
  int& times_;
  int samples_ = 0;
};

/// The host's times alone.
class HostDisturbed final : public Collector {
 public:
  [[nodiscard]] std::optional<std::string> host_disturbance() const override {
    return "others used the CPUs";
  }
  void finish(std::vector<Measurement>&) override {}
};

CollectorKind disturbed_kind(std::string id,
                             std::function<std::unique_ptr<Collector>(const CaseContext&)> make) {
  return {.id = std::move(id),
          .pass = Pass::timing,
          .device = "",
          .order = 0,
          .unavailable = {},
          .make = std::move(make)};
}

TEST_F(Measure, DisturbedSamplesAreTakenAgainOnce) {
  for (const auto& [times, retries, remark] :
       {std::tuple{0, 0U, ""}, {1, 1U, ""}, {2, 1U, "the GPU throttled"}}) {
    int left = times;
    CollectorKinds kinds;
    kinds.add(
        disturbed_kind("disturbed", [&](const CaseContext&) { return std::make_unique<Disturbed>(left); }));
    plan.stopping.max_samples = 2;
    ScriptedExecution execution(steady());
    const PassResult result = measure_timing(with(kinds), execution);
    EXPECT_EQ(result.status, Status::ok);
    ASSERT_TRUE(result.sampling.has_value());
    EXPECT_EQ(result.sampling->retries, retries) << times;
    EXPECT_EQ(result.sampling->disturbance, remark) << times;
    EXPECT_EQ(execution.executions, 3 + static_cast<int>(result.sampling->samples * (retries + 1)));
  }
}

TEST_F(Measure, WhatDisturbsTheHostIsKeptApartAndAQuickRunDoesNotWaitForItToEnd) {
  plan.quick = false;
  CollectorKinds kinds;
  int left = 2;
  const auto measured = [&] {
    ScriptedExecution execution(steady());
    return *measure_timing(with(kinds), execution).sampling;
  };
  kinds.add(disturbed_kind("host", [](const CaseContext&) { return std::make_unique<HostDisturbed>(); }));
  EXPECT_EQ(measured().retries, 1U);
  EXPECT_EQ(measured().disturbance, "");
  EXPECT_EQ(measured().host_disturbance, "others used the CPUs");
  plan.quick = true;
  EXPECT_EQ(measured().retries, 0U);
  EXPECT_EQ(measured().host_disturbance, "others used the CPUs");
  kinds.add(disturbed_kind("gpu", [&](const CaseContext&) { return std::make_unique<Disturbed>(left); }));
  EXPECT_EQ(measured().retries, 1U) << "a GPU may have cooled down";
}

TEST_F(Measure, ABusyHostThatIsTakenAsItIsIsStillSaid) {
  plan.quick = false;
  CollectorKinds kinds;
  kinds.add(disturbed_kind("host", [](const CaseContext&) { return std::make_unique<HostDisturbed>(); }));
  ScriptedExecution execution(steady());
  MeasureContext context = with(kinds);
  context.takes_busy_host = true;
  const Sampling sampling = *measure_timing(context, execution).sampling;
  EXPECT_EQ(sampling.retries, 0U);
  EXPECT_EQ(sampling.host_disturbance, "others used the CPUs");
}

/// Its times never get steady, and more samples would cost time for nothing.
TEST_F(Measure, OfABusyHostThatIsTakenAsItIsTheDevicesTimesAloneSayWhenItIsEnough) {
  device.forwards = 3;
  device.can_hold = true;
  for (const auto& [takes, most] : {std::pair{false, 9U}, {true, 7U}}) {
    int call = 0;
    ScriptedExecution execution({.on_stage = [&](Stage stage) {
      clock.advance(stage == Stage::forward ? 2 : call++ % 4 < 2 ? 1 : 30);
    }});
    MeasureContext context = this->context();
    context.takes_busy_host = takes;
    EXPECT_EQ(measure_timing(context, execution).sampling->samples, most) << takes;
  }
}

TEST(HostRetries, AreGivenUpAfterOneInVainUntilACaseIsUndisturbed) {
  HostRetries retries;
  const Sampling in_vain{.retries = 1, .host_disturbance = "others used the CPUs"};
  const Sampling untried{.host_disturbance = "others used the CPUs"};
  EXPECT_TRUE(retries.are_worth_it());
  retries.add({.retries = 1});
  EXPECT_TRUE(retries.are_worth_it()) << "one that helped is no vain one";
  retries.add(in_vain);
  EXPECT_FALSE(retries.are_worth_it());
  retries.add(untried);
  EXPECT_FALSE(retries.are_worth_it());
  retries.add({});
  EXPECT_TRUE(retries.are_worth_it());
}

TEST_F(Measure, AllDisturbancesAreSaid) {
  CollectorKinds kinds;
  int first = 9, second = 9;
  kinds.add(disturbed_kind("a", [&](const CaseContext&) { return std::make_unique<Disturbed>(first); }));
  kinds.add(disturbed_kind("b", [&](const CaseContext&) { return std::make_unique<Disturbed>(second); }));
  ScriptedExecution execution(steady());
  EXPECT_EQ(measure_timing(with(kinds), execution).sampling->disturbance,
            "the GPU throttled; the GPU throttled");
}

TEST_F(Measure, InTurnsTheOtherSideSaysWhenThereAreEnoughSamplesAndItsTimeIsNobodysElse) {
  const double seconds = timing(steady()).seconds;
  most_in_turn = 15;
  others_turn = 100;
  told.clear();
  const PassResult result = timing(steady());
  EXPECT_EQ(result.sampling->samples, 15U) << "although seven are enough for itself";
  EXPECT_EQ(told.size(), 15U);
  EXPECT_LT(result.seconds, 5 * seconds) << "the turns of the other took 1500 s";
}

TEST_F(Measure, InTurnsTheOtherSidesTimeIsTheReasonWhereItEndedSampling) {
  most_in_turn = 2;
  plan.stopping = {5, 100, 1000, 1e-9};
  EXPECT_EQ(timing(steady()).sampling->ended_by, Ending::seconds);
}

TEST_F(Measure, InTurnsDisturbedSamplesAreNotTakenAgain) {
  CollectorKinds kinds;
  int disturbed = 9;
  kinds.add(disturbed_kind("a", [&](const CaseContext&) { return std::make_unique<Disturbed>(disturbed); }));
  most_in_turn = 3;
  ScriptedExecution execution(steady());
  EXPECT_EQ(measure_timing(with(kinds), execution).sampling->retries, 0U);
}

TEST_F(Measure, SteadySamplesEndByConfidence) {
  const PassResult result = timing(steady());
  ASSERT_TRUE(result.sampling.has_value());
  EXPECT_EQ(result.sampling->ended_by, Ending::confidence);
  EXPECT_EQ(result.sampling->samples, 7U);
  EXPECT_EQ(result.sampling->relative_half_width, 0.0);
  EXPECT_EQ(told, (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Measure, NoisySamplesEndAtTheCeiling) {
  int call = 0;
  const PassResult result = timing({.on_stage = [&](Stage) { clock.advance(call++ % 2 == 0 ? 1 : 3); }});
  EXPECT_EQ(result.sampling->ended_by, Ending::samples);
  EXPECT_EQ(result.sampling->samples, 9U);
  EXPECT_GT(*result.sampling->relative_half_width, 0.01);
}

TEST_F(Measure, ASlowCaseIsRunOnceAndHasNoInterval) {
  plan.stopping.max_seconds = 5;
  const PassResult result = timing(steady());
  EXPECT_EQ(result.sampling->ended_by, Ending::seconds);
  EXPECT_EQ(result.sampling->samples, 1U);
  EXPECT_EQ(result.sampling->relative_half_width, std::nullopt);
  EXPECT_EQ(result.sampling->warmups, 1U);  // the verified execution alone
  EXPECT_EQ(executions, 2);
}

/// A median of one process says little of the next one: further processes tell more than further samples.
TEST_F(Measure, WhereRoundsFollowNoisySamplesEndWhenTheNextRoundTellsMore) {
  plan.stopping.min_samples = 3;
  const auto samples_of = [&](std::uint32_t rounds) {
    plan.rounds = rounds;
    int call = 0;
    const PassResult result =
        timing({.on_stage = [&](Stage) { clock.advance(100 + (call++ / 3 % 2 == 0 ? 1 : 4)); }});
    return std::pair(result.sampling->samples, result.sampling->ended_by);
  };
  EXPECT_EQ(samples_of(1), std::pair(9U, Ending::samples));
  EXPECT_EQ(samples_of(3), std::pair(2U, Ending::confidence)) << "each is long";
}

TEST_F(Measure, WhatAnEarlierRoundVerifiedIsForTheVerifiedExecutionAlone) {
  const std::vector<Verification> verified = test::right_result().verification;
  ScriptedExecution execution(steady());
  MeasureContext later = context();
  later.verified = verified;
  EXPECT_EQ(measure_timing(later, execution).status, Status::ok);
  ASSERT_GT(execution.trials.size(), 2U);
  for (const Trial& trial : execution.trials)
    EXPECT_EQ(trial.verified.size(), trial.proof == Proof::all_items ? 1U : 0U);
}

/// A later one runs the same code on the same inputs.
TEST_F(Measure, InALaterRoundOnlyWhatIsQuickIsRunOnUnseenInputs) {
  plan.stopping.max_seconds = 200;
  const std::vector<Verification> verified = test::right_result().verification;
  for (const auto& [seconds, unseen] : {std::pair{2.0, 0U}, {0.1, 1U}}) {
    ScriptedExecution execution({.on_stage = [&, s = seconds](Stage) { clock.advance(s); }});
    MeasureContext later = context();
    EXPECT_EQ(measure_timing(later, execution).scrutiny->unseen, 1U) << seconds;
    later.verified = verified;
    EXPECT_EQ(measure_timing(later, execution).scrutiny->unseen, unseen) << seconds;
  }
}

TEST_F(Measure, AFastCaseIsWarmedUpBeyondTheVerification) {
  const PassResult result = timing(steady());
  EXPECT_EQ(result.sampling->warmups, 2U);
  EXPECT_EQ(executions, 1 + 1 + 7 + 1) << "and once on unseen inputs";
}

TEST_F(Measure, AWrongOutputIsNotTimed) {
  test::Script script = steady();
  script.on_verify = [] {
    ExecutionResult wrong = test::right_result();
    wrong.verification[0].passed = false;
    wrong.verification[0].finding = "3 of 10 elements are NaN";
    return wrong;
  };
  const PassResult result = timing(script);
  EXPECT_EQ(result.status, Status::wrong);
  EXPECT_EQ(result.reason, "op1: 3 of 10 elements are NaN");
  EXPECT_TRUE(samples(result, "op_time", "op1").empty());
  EXPECT_EQ(result.verification.size(), 1U);
  EXPECT_EQ(executions, 1);
}

TEST_F(Measure, ACaseOfAMinuteHasTheVerifiedExecutionForItsSampleAndSaysWhy) {
  plan.stopping = {};
  const PassResult result = timing({.on_stage = [&](Stage stage) {
    if (stage == Stage::forward) clock.advance(60);
  }});
  EXPECT_EQ(samples(result, "op_time", "op1"), std::vector<double>{60.0});
  EXPECT_EQ(result.sampling->ended_by, Ending::seconds);
  EXPECT_EQ(result.sampling->warmups, 0U);
  EXPECT_EQ(result.sampling->samples, 1U);
  EXPECT_EQ(samples(result, "total_time"), std::vector<double>{60.0});
  EXPECT_EQ(result.scrutiny, (Scrutiny{.executions = 1, .orders = 1}));
  EXPECT_EQ(told, std::vector<std::uint32_t>{1});
  EXPECT_EQ(executions, 1) << "verified and timed at once";
}

TEST_F(Measure, ALongCaseIsRepeatedWhereThereIsTime) {
  plan.stopping = {.min_samples = 2, .max_samples = 2, .max_seconds = 300};
  const PassResult result = timing({.on_stage = [&](Stage stage) {
    if (stage == Stage::forward) clock.advance(60);
  }});
  EXPECT_EQ(samples(result, "op_time", "op1"), (std::vector<double>{60.0, 60.0}));
  EXPECT_GE(result.sampling->warmups, 1U);
}

/// Qualities of the executions: the verified one's first.
test::Script with_scores(std::vector<double> scores) {
  auto next = std::make_shared<std::size_t>(0);
  const auto score = [scores = std::move(scores), next] {
    return std::vector<QualityValue>{{"score", scores.at(std::min((*next)++, scores.size() - 1))}};
  };
  test::Script script;
  script.qualities = score;
  return script;
}

TEST_F(Measure, RightAtFirstAndWrongLaterIsWrong) {
  const PassResult result = timing(with_scores({0.9, 0.9, 0.9, 0.9, 0.1}));
  EXPECT_EQ(result.status, Status::wrong);
  EXPECT_EQ(
      result.reason,
      "Score was 0.9 when the output was verified, and 0.1 in timed execution 3: the output changes from "
      "one execution to the next");
}

test::Script right_ten_times(std::function<void(Stage)> on_stage) {
  const auto on_sample = [calls = 0]() mutable {
    Verification found = test::right_result().verification.front();
    if (++calls <= 10) return found;
    found.passed = false;
    found.finding = "1 of 10 elements is off";
    return found;
  };
  return {.on_stage = std::move(on_stage), .on_sample = on_sample};
}

TEST_F(Measure, AQuickRunFindsWhatIsRightTenTimes) {
  const PassResult result =
      timing(right_ten_times([&](Stage stage) { clock.advance(stage == Stage::forward ? 0.1 : 0); }));
  EXPECT_EQ(result.status, Status::wrong);
  EXPECT_EQ(result.reason, "in an execution after those, op1: 1 of 10 elements is off");
}

TEST_F(Measure, AQuickRunDoesNotRepeatWhatIsSlow) {
  const PassResult result =
      timing(right_ten_times([&](Stage stage) { clock.advance(stage == Stage::forward ? 0.2 : 0); }));
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(executions, 1 + 1 + 7 + 1);
}

TEST_F(Measure, ALossWithinTheToleranceIsNone) {
  const PassResult result = timing(with_scores({0.9, 0.9, 0.8985}));
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(samples(result, "score"), std::vector<double>{0.8985}) << "that of the last execution";
}

TEST_F(Measure, AQualityThatIsNoNumberIsWrongAndAbsentWithTheReason) {
  const PassResult result = timing(with_scores({0.9, 0.9, std::nan("")}));
  EXPECT_EQ(result.status, Status::wrong);
  const auto row = std::ranges::find(result.measurements, "score", &Measurement::metric);
  ASSERT_NE(row, result.measurements.end());
  EXPECT_EQ(row->absent, "it is no finite number");
  EXPECT_TRUE(row->samples.empty());
}

TEST_F(Measure, WithoutAQualityThereIsNoneInTheRecord) {
  family.qualities.clear();
  test::Script script = steady();
  script.qualities = [] { return std::vector<QualityValue>{}; };
  script.on_verify = [] {
    ExecutionResult result = test::right_result();
    result.qualities.clear();
    return result;
  };
  const PassResult result = timing(script);
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(std::ranges::count(result.measurements, "score", &Measurement::metric), 0);
}

TEST_F(Measure, AQualityThatItsFamilyDoesNotDescribeIsAFault) {
  family.qualities.clear();
  EXPECT_THROW(timing(steady()), Error);
}

TEST_F(Measure, APassWithoutACollectorIsSkippedWithTheReason) {
  const PassResult result = watched(Pass::trace);
  EXPECT_EQ(result.status, Status::skipped);
  EXPECT_EQ(result.reason, "the cpu device has no collector for this pass");
  EXPECT_EQ(executions, 0);
}

TEST_F(Measure, UnavailableCollectorsGiveTheirReasons) {
  CollectorKinds kinds;
  kinds.add({.id = "a",
             .pass = Pass::trace,
             .device = "",
             .order = 0,
             .unavailable = [] { return "no permission"; },
             .make = {}});
  kinds.add({.id = "b",
             .pass = Pass::trace,
             .device = "cpu",
             .order = 1,
             .unavailable = [] { return "no driver"; },
             .make = {}});
  EXPECT_EQ(pass_unavailable(kinds, Pass::trace, device), "no permission; no driver");
  kinds.add({.id = "c", .pass = Pass::trace, .device = "", .order = 2, .unavailable = {}, .make = {}});
  EXPECT_EQ(pass_unavailable(kinds, Pass::trace, device), std::nullopt);
}

/// Writes down the calls it gets.
class Diary final : public Collector {
 public:
  Diary(std::string name, std::vector<std::string>& entries) : name_(std::move(name)), entries_(entries) {}
  void begin_sample() override { write("sample{"); }
  void end_sample() override { write("}sample"); }
  void begin_stage(std::string_view, Stage stage) override {
    if (stage == Stage::forward) write("forward{");
  }
  void end_stage(std::string_view, Stage stage) override {
    if (stage == Stage::forward) write("}forward");
  }
  void pause() override { write("pause{"); }
  void resume() override { write("}pause"); }
  void finish(std::vector<Measurement>&) override { write("finish"); }

 private:
  void write(const std::string& what) { entries_.push_back(name_ + " " + what); }
  std::string name_;
  std::vector<std::string>& entries_;
};

TEST_F(Measure, CollectorsNestInTheirOrder) {
  std::vector<std::string> entries;
  CollectorKinds kinds;
  const auto kind = [&](const std::string& id, int order) {
    kinds.add({.id = id,
               .pass = Pass::counters,
               .device = "",
               .order = order,
               .unavailable = {},
               .make = [&entries, id](const CaseContext&) { return std::make_unique<Diary>(id, entries); }});
  };
  kind("inner", 2);
  kind("outer", 1);
  ScriptedExecution execution({});
  EXPECT_EQ(measure_watched(with(kinds), Pass::counters, execution).status, Status::ok);
  EXPECT_EQ(entries,
            (std::vector<std::string>{"outer sample{", "inner sample{", "inner pause{", "outer pause{",
                                      "outer }pause", "inner }pause", "outer forward{", "inner forward{",
                                      "inner }forward", "outer }forward", "inner }sample", "outer }sample",
                                      "outer finish", "inner finish"}));
  EXPECT_EQ(execution.executions, 2);  // a warm-up that nobody watches, and the sample
}

/// Suspects its samples, until there are `from` of them.
class Doubter final : public Collector {
 public:
  Doubter(std::size_t fewest, std::size_t from) : fewest_(fewest), from_(from) {}
  void begin_sample() override { ++samples_; }
  [[nodiscard]] std::optional<std::string> suspicion() const override {
    if (samples_ >= from_) return std::nullopt;
    return fmt::format("so {} samples say", samples_);
  }
  [[nodiscard]] std::size_t fewest_to_suspect() const override { return fewest_; }
  void finish(std::vector<Measurement>&) override {}

 private:
  std::size_t fewest_, from_, samples_ = 0;
};

/// The product's timing collectors, and one that doubts.
CollectorKinds with_doubter(std::size_t fewest, std::size_t from) {
  CollectorKinds kinds = CollectorKinds::instance();
  kinds.add({.id = "doubter",
             .pass = Pass::timing,
             .device = "",
             .order = 90,
             .unavailable = {},
             .make = [=](const CaseContext&) { return std::make_unique<Doubter>(fewest, from); }});
  return kinds;
}

TEST_F(Measure, ASuspicionOfFewSamplesTakesMore) {
  device.flush_seconds = 0;
  const auto measured = [&](std::size_t fewest, std::size_t from) {
    const CollectorKinds kinds = with_doubter(fewest, from);
    ScriptedExecution execution(brief());
    PassResult result = measure_timing(with(kinds), execution);
    executions = execution.executions;
    return result;
  };
  constexpr std::size_t never = 1000;
  PassResult result = measured(20, 15);
  EXPECT_EQ(result.status, Status::ok) << result.reason;
  EXPECT_EQ(samples(result, "op_time", "op1").size(), 20U) << "also when it knows better before";
  EXPECT_EQ(result.sampling->samples, 20U);
  EXPECT_EQ(executions, 1 + 1 + 20 + 1) << "verified, warm-up, samples, unseen inputs";

  result = measured(20, never);
  EXPECT_EQ(result.status, Status::suspect);
  EXPECT_EQ(result.reason, "so 20 samples say");
  EXPECT_EQ(samples(result, "op_time", "op1").size(), 20U);

  result = measured(1, never);
  EXPECT_EQ(result.reason, "so 7 samples say") << "they were enough";
  EXPECT_EQ(executions, 1 + 1 + 7);
}

TEST_F(Measure, TheyEndWithTheirTimeOrWithAWrongOutput) {
  const CollectorKinds kinds = with_doubter(1000, 1000);
  ScriptedExecution slow(steady());  // a sample takes longer than they may
  PassResult result = measure_timing(with(kinds), slow);
  EXPECT_EQ(result.status, Status::suspect);
  EXPECT_EQ(result.reason, "so 8 samples say");

  test::Script script = brief();
  device.flush_seconds = 0;
  script.on_sample = [n = 0]() mutable {
    Verification verification = test::right_result().verification[0];
    verification.passed = ++n < 10;
    verification.finding = "it is 7";
    return verification;
  };
  ScriptedExecution fickle(script);
  result = measure_timing(with(kinds), fickle);
  EXPECT_EQ(result.status, Status::wrong);
  EXPECT_EQ(result.reason,
            "it was right when it was verified, and in timed execution 10, op1: it is 7: it does "
            "not do the same work each time");
}

/// Has sampled a line of each forward that it watched.
class LineSampler final : public Collector {
 public:
  void end_stage(std::string_view op, Stage stage) override {
    if (stage == Stage::forward) lines_.push_back({std::string(op), "kernel", "a.cu", 7, 12, {{"wait", 12}}});
  }
  void finish(std::vector<Measurement>& measurements) override {
    measurements.push_back({"lines", "", "", Source::measured, {static_cast<double>(lines_.size())}, ""});
  }
  [[nodiscard]] std::vector<SourceLine> source_lines() const override { return lines_; }

 private:
  std::vector<SourceLine> lines_;
};

TEST_F(Measure, WhatIsSampledOfSourcesIsKept) {
  CollectorKinds kinds;
  kinds.add({.id = "lines",
             .pass = Pass::source,
             .device = "",
             .order = 0,
             .unavailable = {},
             .make = [](const CaseContext&) { return std::make_unique<LineSampler>(); }});
  ScriptedExecution execution({});
  const PassResult result = measure_watched(with(kinds), Pass::source, execution);
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(samples(result, "lines"), std::vector<double>{1});
  ASSERT_EQ(result.source_lines.size(), 1U);
  EXPECT_EQ(result.source_lines[0].op, "op1");
  EXPECT_EQ(execution.executions, 2) << "one that nobody watched";
}

TEST_F(Measure, APassThatNeedsNoWarmUpHasNone) {
  CollectorKinds kinds;
  bool needs = false;
  kinds.add({.id = "lines",
             .pass = Pass::source,
             .device = "",
             .order = 0,
             .unavailable = {},
             .make = [](const CaseContext&) { return std::make_unique<LineSampler>(); },
             .needs_warm_up = [&] { return needs; }});
  for (const bool again : {false, true}) {
    needs = again;
    ScriptedExecution execution({});
    const PassResult result = measure_watched(with(kinds), Pass::source, execution);
    EXPECT_EQ(result.status, Status::ok);
    EXPECT_EQ(result.sampling->warmups, needs ? 1U : 0U);
    EXPECT_EQ(execution.executions, needs ? 2 : 1);
  }
}

}  // namespace
}  // namespace mprof
