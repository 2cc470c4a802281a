// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/estimate.hpp"

#include <gtest/gtest.h>

#include "report/wording/judgement.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

TEST(ValueOf, SaysWhyThereIsNone) {
  Case c = samples::timed_case(samples::variant("conv/a"), 100, 1, 2);
  EXPECT_NEAR(value_of(c, "op_time", "layer1")->median, 1, 1e-6) << "of three rounds";
  EXPECT_TRUE(value_of(c, "op_time", "layer1")->interval);
  EXPECT_FALSE(value_of(c, "accuracy")->interval) << "one sample";
  EXPECT_EQ(value_of(c, "flop_rate", "layer1")->source, Source::modelled);
  EXPECT_EQ(value_of(c, "cycles", "layer1").absent,
            said("the kernel forbids hardware counters here (perf_event_paranoid is 3)"));
  EXPECT_EQ(value_of(c, "nonsense").absent, Why(Because::not_recorded));
  const Case skipped =
      samples::failed_case(samples::variant("conv/b"), 100, Status::skipped, "no CUDA device");
  EXPECT_EQ(value_of(skipped, "op_time", "layer1").absent,
            Why(Because::case_ended, {"skipped", "no CUDA device"}));
}

TEST(NoInterval, IsOfSingleReadingsOrOfFewSamples) {
  EXPECT_EQ(no_interval(*derived_value(3)), "it follows from single readings, which have no interval");
  EXPECT_EQ(no_interval({.median = 3, .samples = 2}), "2 samples: too few for a 95 % interval (6 do)");
}

TEST(ComparableTime, IsLayerTimeWhereTheWorkHidesFromOpTime) {
  Case c = samples::timed_case(samples::variant("conv/streams"), 100, 1e-6, 1);
  EXPECT_EQ(comparable_time(c, "layer1"), "group_time") << "no memory is so fast, though there is no trace";
  EXPECT_EQ(comparable_time(c, "layer2"), "op_time") << "nothing is known of gpu_time";
  samples::timing(c).measurements.push_back(samples::measured("gpu_time", "layer1", {2e-3}));
  samples::timing(c).measurements.push_back(samples::measured("gpu_time", "layer2", {1.01}));
  EXPECT_EQ(comparable_time(c, "layer1"), "group_time");
  EXPECT_EQ(comparable_time(c, "layer2"), "op_time");
}

TEST(ComparableTime, IsLayerTimeWhereOpTimeHoldsTheCopiesAndNoTraceKnowsBetter) {
  Case c = samples::timed_case(samples::variant("conv/streams"), 100, 0.02, 1);
  for (Measurement& m : samples::timing(c).measurements)
    m.derived.own().holds_copies = m.metric == "op_time" && m.op == "layer1";
  EXPECT_EQ(op_time_flaw(c, "layer1"), OpTimeFlaw::copies_in_forward);
  EXPECT_EQ(comparable_time(c, "layer1"), "group_time");
  EXPECT_EQ(comparable_time(c, "layer2"), "op_time");
  samples::timing(c).measurements.push_back(samples::measured("forward_copy_time", "layer1", {0}));
  EXPECT_EQ(comparable_time(c, "layer1"), "op_time") << "the trace saw no copies in forward()";
}

}  // namespace
}  // namespace mprof
