#include "runner/measure.hpp"

#include <gtest/gtest.h>

#include "fake_workload.hpp"
#include "tests/support/fake_device.hpp"

namespace mprof {
namespace {

using test::ScriptedExecution;

/// A case on a fake device in fake time, with the product's own timing collectors.
class Measure : public ::testing::Test {
 protected:
  Measure() {
    subject.id = "fake/x@1";
    subject.key = {"fake/x", {}, 1};
    subject.ops = {{"layer1", "", 1e6, 1e3}};
    device.flush_seconds = 100;  // must be in no time
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

  static std::vector<double> samples(const PassResult& result, const std::string& metric,
                                     const std::string& op = {}) {
    for (const Measurement& m : result.measurements) {
      if (m.metric == metric && m.op == op) return m.samples;
    }
    return {};
  }

  MeasureContext context() {
    return {subject,
            device,
            clock,
            collectors,
            stopping,
            ceilings,
            [this](std::uint32_t n) { told.push_back(n); },
            hot};
  }

  test::FakeClock clock;
  test::FakeDevice device{clock};
  Case subject;
  Stopping stopping{.min_samples = 7, .max_samples = 9, .max_seconds = 1e6, .relative_half_width = 0.01};
  std::vector<Ceiling> ceilings;
  const CollectorKinds& collectors = CollectorKinds::instance();
  std::vector<std::uint32_t> told;
  bool hot = false;
  int executions = 0;
};

TEST_F(Measure, TimesEachStageExactlyAndNoFlush) {
  const PassResult result = timing(steady());
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(samples(result, "op_time", "layer1"), std::vector<double>(7, 2.0));
  EXPECT_EQ(samples(result, "layer_time", "layer1"), std::vector<double>(7, 7.0));
  EXPECT_EQ(samples(result, "total_time"), std::vector<double>(7, 7.0));
  EXPECT_EQ(samples(result, "first_op_time", "layer1"), std::vector<double>{2.0});
}

TEST_F(Measure, FlushesTheCacheBeforeEachForwardThatIsTimed) {
  timing(steady());
  EXPECT_EQ(device.flushes, 1 + 7);  // the checked execution and the samples; not the warm-up
}

TEST_F(Measure, RepeatsForwardWhereTheDeviceAsksForIt) {
  device.forwards = 3;
  const PassResult result = timing(steady());
  EXPECT_EQ(samples(result, "op_time", "layer1"), std::vector<double>(7 * 3, 2.0));
  EXPECT_EQ(samples(result, "layer_time", "layer1"), std::vector<double>(7, 7.0));  // as if it had run once
  EXPECT_EQ(samples(result, "total_time"), std::vector<double>(7, 7.0));
  EXPECT_EQ(device.flushes, 1 + 7 * 3);  // the checked execution runs it once
}

TEST_F(Measure, HotTimesHaveNoFlushBeforeThem) {
  hot = true;
  int forwards = 0;
  test::Script script = steady();
  script.on_stage = [&](Stage stage) {
    if (stage == Stage::forward) ++forwards;
    clock.advance(stage == Stage::forward && forwards > 9 ? 1
                                                          : 2);  // checked, warmed up, sampled 7 times: cold
  };
  const PassResult result = timing(script);
  EXPECT_EQ(samples(result, "op_time", "layer1"), std::vector<double>(7, 2.0));
  EXPECT_EQ(samples(result, "hot_op_time", "layer1"), std::vector<double>(11, 1.0));
  EXPECT_EQ(device.flushes, 1 + 7);
}

TEST_F(Measure, HotTimesEndWhenTheSecondsAreSpent) {
  hot = true;
  const auto hot_times = [&] { return samples(timing(steady()), "hot_op_time", "layer1"); };
  stopping.max_seconds = 5;
  EXPECT_EQ(hot_times(), std::vector<double>(3, 2.0));
  subject.ops.push_back({"layer2", "", 1e6, 1e3});  // which has a right to half of them
  EXPECT_EQ(hot_times(), std::vector<double>(2, 2.0));
  stopping.max_seconds = 1;
  EXPECT_EQ(hot_times(), std::vector<double>(1, 2.0));
}

TEST_F(Measure, HotTimesAreLeftOutUnlessAskedFor) {
  EXPECT_TRUE(samples(timing(steady()), "hot_op_time", "layer1").empty());
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

TEST_F(Measure, DisturbedSamplesAreTakenAgainAtMostTwice) {
  for (const auto& [times, retries, remark] :
       {std::tuple{0, 0U, ""}, {1, 1U, ""}, {2, 2U, ""}, {3, 2U, "the GPU throttled"}}) {
    int left = times;
    CollectorKinds kinds;
    kinds.add({.id = "disturbed",
               .pass = Pass::timing,
               .device = "",
               .order = 0,
               .unavailable = {},
               .make = [&](const CaseContext&) { return std::make_unique<Disturbed>(left); }});
    stopping.max_samples = 2;
    ScriptedExecution execution(steady());
    const MeasureContext with_kinds{subject, device, clock, kinds, stopping, ceilings, {}};
    const PassResult result = measure_timing(with_kinds, execution);
    EXPECT_EQ(result.status, Status::ok);
    ASSERT_TRUE(result.sampling.has_value());
    EXPECT_EQ(result.sampling->retries, retries) << times;
    EXPECT_EQ(result.sampling->disturbance, remark) << times;
    EXPECT_EQ(execution.executions, 2 + static_cast<int>(result.sampling->samples * (retries + 1)));
  }
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
  stopping.max_seconds = 5;
  const PassResult result = timing(steady());
  EXPECT_EQ(result.sampling->ended_by, Ending::seconds);
  EXPECT_EQ(result.sampling->samples, 1U);
  EXPECT_EQ(result.sampling->relative_half_width, std::nullopt);
  EXPECT_EQ(result.sampling->warmups, 1U);  // the checked execution alone
  EXPECT_EQ(executions, 2);
}

TEST_F(Measure, AFastCaseIsWarmedUpBeyondTheCheck) {
  const PassResult result = timing(steady());
  EXPECT_EQ(result.sampling->warmups, 2U);
  EXPECT_EQ(executions, 1 + 1 + 7);
}

TEST_F(Measure, AWrongOutputIsNotTimed) {
  test::Script script = steady();
  script.on_check = [] {
    CheckedResult wrong = test::right_result();
    wrong.verification[0].passed = false;
    wrong.verification[0].finding = "3 of 10 elements are NaN";
    return wrong;
  };
  const PassResult result = timing(script);
  EXPECT_EQ(result.status, Status::wrong);
  EXPECT_EQ(result.reason, "layer1: 3 of 10 elements are NaN");
  EXPECT_TRUE(samples(result, "op_time", "layer1").empty());
  EXPECT_EQ(result.verification.size(), 1U);
  EXPECT_EQ(executions, 1);
}

TEST_F(Measure, RightAtFirstAndWrongLaterIsWrong) {
  int execution = 0;
  test::Script script = steady();
  script.accuracy = [&] { return ++execution < 5 ? 0.9 : 0.1; };
  const PassResult result = timing(script);
  EXPECT_EQ(result.status, Status::wrong);
  EXPECT_NE(result.reason.find("only 0.1000"), std::string::npos) << result.reason;
}

TEST_F(Measure, APassWithoutACollectorIsSkippedWithTheReason) {
  const PassResult result = watched(Pass::trace);
  EXPECT_EQ(result.status, Status::skipped);
  EXPECT_EQ(result.reason, "the cpu device has no collector for the trace pass");
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
  MeasureContext with_kinds{subject, device, clock, kinds, stopping, ceilings, {}};
  EXPECT_EQ(measure_watched(with_kinds, Pass::counters, execution).status, Status::ok);
  EXPECT_EQ(entries,
            (std::vector<std::string>{"outer sample{", "inner sample{", "outer pause{", "inner pause{",
                                      "inner }pause", "outer }pause", "outer forward{", "inner forward{",
                                      "inner }forward", "outer }forward", "inner }sample", "outer }sample",
                                      "outer finish", "inner finish"}));
  EXPECT_EQ(execution.executions, 2);  // a warm-up that nobody watches, and the sample
}

}  // namespace
}  // namespace mprof
