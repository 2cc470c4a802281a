// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/kernels.hpp"

#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/why.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

constexpr const char* bytes = "dram__bytes.sum";
constexpr const char* duration = "gpu__time_duration.sum";
constexpr const char* hits = "lts__t_sector_hit_rate.pct";

/// Two kernels in layer 1, of which the second is launched ten times, and one in layer 2.
Case with_kernels() {
  Case c = samples::timed_case(samples::variant("conv/x"), 100, 1, 1);
  c.passes.erase(c.passes.begin() + 1);
  PassResult& counters = samples::pass_of(c, Pass::counters);
  counters.measurements = {samples::of_kernel(bytes, "layer1", "unroll", 700),
                           samples::of_kernel(duration, "layer1", "unroll", 3),
                           samples::of_kernel(hits, "layer1", "unroll", 20),
                           samples::of_kernel(bytes, "layer1", "product", 50),
                           samples::of_kernel(duration, "layer1", "product", 1),
                           samples::of_kernel(hits, "layer1", "product", 60),
                           samples::of_kernel(bytes, "layer2", "other", 5),
                           samples::of_kernel(duration, "layer2", "other", 4),
                           samples::of_kernel(hits, "layer2", "other", 90)};
  samples::pass_of(c, Pass::trace).measurements = {
      samples::of_kernel("kernel_instances", "layer1", "unroll", 1),
      samples::of_kernel("kernel_instances", "layer1", "product", 10),
      samples::of_kernel("kernel_instances", "layer2", "other", 1)};
  return c;
}

TEST(Kernels, WhatAddsUpIsSummedOverAllLaunches) {
  const Case c = with_kernels();
  const Reading op = value_over_kernels(c, bytes, "layer1");
  EXPECT_DOUBLE_EQ(op.value->median, 700 + 10 * 50);
  EXPECT_EQ(origin_text(op.origin, Words()), "the sum over unroll and 10× product");
  EXPECT_DOUBLE_EQ(value_over_kernels(c, bytes, "").value->median, 1205);
  const Reading single = value_over_kernels(c, bytes, "layer2");
  EXPECT_DOUBLE_EQ(single.value->median, 5);
  EXPECT_EQ(single.origin.how, Origin::How::plainly) << "one launch of one kernel needs no explanation";
}

TEST(Kernels, ARateIsThatOfTheKernelThatTakesTheLongestOverAllItsLaunches) {
  const Case c = with_kernels();
  const Reading op = value_over_kernels(c, hits, "layer1");
  EXPECT_DOUBLE_EQ(op.value->median, 60) << "10 x 1 s is more than 1 x 3 s";
  EXPECT_EQ(origin_text(op.origin, Words()), "of product, the longest of 2 kernels");
  EXPECT_EQ(origin_text(value_over_kernels(c, hits, "").origin, Words()),
            "of product in layer1, the longest of 3 kernels");
}

TEST(Kernels, WithoutATraceOneLaunchOfEachCountsAndItSaysSo) {
  Case c = with_kernels();
  c.passes.pop_back();
  const Reading op = value_over_kernels(c, bytes, "layer1");
  EXPECT_DOUBLE_EQ(op.value->median, 750);
  EXPECT_FALSE(op.origin.all_launches);
  EXPECT_EQ(value_over_kernels(c, hits, "layer1").origin.kernels.at(0).kernel, "unroll");
}

TEST(Kernels, AMetricThatTheCatalogueDoesNotListAddsUpByItsName) {
  Case c = with_kernels();
  auto& list = samples::pass_of(c, Pass::counters).measurements;
  for (const char* metric : {"new__conflicts.sum", "new__conflicts.avg"}) {
    list.push_back(samples::of_kernel(metric, "layer1", "unroll", 1));
    list.push_back(samples::of_kernel(metric, "layer1", "product", 2));
  }
  EXPECT_DOUBLE_EQ(value_over_kernels(c, "new__conflicts.sum", "layer1").value->median, 21);
  EXPECT_DOUBLE_EQ(value_over_kernels(c, "new__conflicts.avg", "layer1").value->median, 2);
}

TEST(Kernels, AMissingValueHasItsReason) {
  Case c = with_kernels();
  EXPECT_EQ(value_over_kernels(c, "smsp__inst_executed.sum", "layer1").value.absent,
            Why(Because::metric_not_read));
  samples::pass_of(c, Pass::counters).status = Status::skipped;
  samples::pass_of(c, Pass::counters).reason = "ERR_NVGPUCTRPERM";
  samples::pass_of(c, Pass::counters).measurements.clear();
  EXPECT_EQ(value_over_kernels(c, bytes, "layer1").value.absent,
            Why(Because::counters_pass_ended, {"skipped", "ERR_NVGPUCTRPERM"}));
  std::erase_if(c.passes, [](const PassResult& pass) { return pass.pass == Pass::counters; });
  EXPECT_EQ(value_over_kernels(c, bytes, "layer1").value.absent, Why(Because::no_counters_pass));
  Case unknown = with_kernels();
  samples::pass_of(unknown, Pass::counters).measurements[3] = samples::absent(bytes, "layer1", "no room");
  samples::pass_of(unknown, Pass::counters).measurements[3].kernel = "product";
  EXPECT_EQ(value_over_kernels(unknown, bytes, "layer1").value.absent, said("no room"))
      << "half a sum is none";
}

TEST(Kernels, WithoutDurationsNobodyKnowsWhichOfSeveralMatters) {
  Case c = with_kernels();
  std::erase_if(samples::pass_of(c, Pass::counters).measurements,
                [](const Measurement& m) { return m.metric == duration; });
  EXPECT_EQ(value_over_kernels(c, hits, "layer1").value.absent.because, Because::durations_not_read);
  EXPECT_DOUBLE_EQ(value_over_kernels(c, hits, "layer2").value->median, 90);
}

struct CounterExpectation {
  const char* what;
  const char* metric;
  Direction direction;
  double before;
  double after;
  Outcome outcome;
};

// GoogleTest gives the name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const CounterExpectation& c, std::ostream* stream) {
  *stream << c.what;
}

class CounterExpectations : public testing::TestWithParam<CounterExpectation> {};

TEST_P(CounterExpectations, AreJudgedByTheKernels) {
  const CounterExpectation& p = GetParam();
  mprof::Run run = samples::empty_run();
  VariantInfo base = samples::variant("conv/base"), heir = samples::variant("conv/heir", "conv/base");
  heir.expectations = {{p.metric, "layer1", p.direction, std::nullopt, "why"}};
  run.variants = {base, heir};
  run.cases = {samples::timed_case(base, 100, 1, 1), samples::timed_case(heir, 100, 1, 1)};
  const double values[] = {p.before, p.after};
  for (std::size_t i = 0; i < 2; ++i) {
    PassResult& counters = samples::pass_of(run.cases[i], Pass::counters);
    counters.status = Status::ok;
    counters.measurements = {samples::of_kernel(p.metric, "layer1", "conv", values[i]),
                             samples::of_kernel(duration, "layer1", "conv", 1)};
  }
  const RunAnalysis analysis = analyse(run);
  const ExpectationAt& judged = analysis.families[0].variants[1].expectations.at(0).at.at(0);
  EXPECT_EQ(judged.outcome, p.outcome) << say(judged.reason);
  EXPECT_DOUBLE_EQ(judged.before->median, p.before);
  EXPECT_DOUBLE_EQ(judged.after->median, p.after);
}

constexpr const char* long_stall = "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio";

INSTANTIATE_TEST_SUITE_P(
    Outcomes, CounterExpectations,
    testing::Values(CounterExpectation{"fewer bytes", bytes, Direction::decreases, 100, 60, Outcome::met},
                    CounterExpectation{"more bytes", bytes, Direction::decreases, 60, 100, Outcome::not_met},
                    CounterExpectation{"within one reading", bytes, Direction::decreases, 100, 99,
                                       Outcome::not_met},
                    CounterExpectation{"hardly changed", bytes, Direction::unchanged, 100, 104, Outcome::met},
                    CounterExpectation{"changed", bytes, Direction::unchanged, 100, 110, Outcome::not_met},
                    CounterExpectation{"a higher rate", hits, Direction::increases, 40, 70, Outcome::met},
                    CounterExpectation{"nothing became nothing", long_stall, Direction::decreases, 2e-6, 0,
                                       Outcome::not_met},
                    CounterExpectation{"stalls went", long_stall, Direction::decreases, 2, 0, Outcome::met}));

TEST(Expectations, AnOpTimeOutsideForwardGivesWayToLayerTime) {
  mprof::Run run = samples::gpu();
  run.variants[1].expectations = {{"op_time", "layer1", Direction::decreases, 100.0, "it hides"}};
  const RunAnalysis analysis = analyse(run);
  const ExpectationAt& judged = analysis.families[0].variants[1].expectations.at(0).at.at(0);
  EXPECT_EQ(judged.outcome, Outcome::not_met) << "2 us of op time are no gain of 1000 times";
  EXPECT_NEAR(judged.after->median, 0.101, 1e-6);
  EXPECT_EQ(judged.after_origin.how, Origin::How::group_time);
}

}  // namespace
}  // namespace mprof
