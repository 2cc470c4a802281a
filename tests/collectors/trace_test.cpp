#include <gtest/gtest.h>

#include "collectors/collector.hpp"
#include "collectors/trace_attribution.hpp"
#include "collectors/trace_metrics.hpp"
#include "model/metric.hpp"
#include "tests/support/measurements.hpp"
#include "tests/support/sample_trace.hpp"

namespace mprof {
namespace {

using test::row_of;
using trace::Interval;
using trace::Place;

class TraceTest : public ::testing::Test {
 protected:
  TraceTest() { trace::attribute(traced); }

  [[nodiscard]] Place place_of(trace::PlaceIndex index) const { return traced.places.at(index); }
  [[nodiscard]] Place place_of_call(std::uint32_t correlation) const {
    for (const trace::ApiCall& call : traced.calls) {
      if (call.correlation == correlation) return place_of(call.place);
    }
    return {};
  }
  /// In ns, which the fabricated times are whole numbers of.
  static double nanoseconds(const Measurement& row) { return row.samples.at(0) * 1e9; }

  trace::Trace traced = test::sample_trace();
  std::vector<OpInfo> ops{{"layer1", "", 0, 0}, {"layer2", "", 0, 0}};
};

TEST_F(TraceTest, WorkBelongsToTheRangeThatLaunchedIt) {
  const Place op{"layer1", trace::part::op};
  EXPECT_EQ(place_of(traced.kernels[0].work.place), op);  // ends in finish
  EXPECT_EQ(place_of(traced.kernels[1].work.place), op);
  EXPECT_EQ(place_of(traced.copies[0].work.place), (Place{"layer1", trace::part::prepare}));
  EXPECT_EQ(place_of(traced.copies[1].work.place), (Place{"layer1", trace::part::finish}));
  EXPECT_EQ(place_of(traced.synchronizations[0].place), op);
  EXPECT_EQ(place_of_call(10), (Place{"layer1", trace::part::prepare}));
}

TEST_F(TraceTest, WorkOfAnotherThreadBelongsToTheRangeThatWasOpen) {
  EXPECT_EQ(place_of_call(20), (Place{"layer1", trace::part::op}));
  EXPECT_EQ(place_of(traced.kernels[2].work.place), (Place{"layer1", trace::part::op}));
}

TEST_F(TraceTest, AllKernelsOfAGraphBelongToItsLaunch) {
  EXPECT_EQ(place_of(traced.kernels[3].work.place), (Place{"layer2", trace::part::op}));
  EXPECT_EQ(place_of(traced.kernels[4].work.place), (Place{"layer2", trace::part::op}));
}

TEST_F(TraceTest, WhatTheRunnerDoesInAPauseIsNoWorkOfTheOp) {
  EXPECT_EQ(place_of(traced.sets[0].work.place), (Place{"", trace::part::pause}));
}

TEST_F(TraceTest, AKernelWithoutACallBelongsToNothingAndIsCounted) {
  EXPECT_EQ(traced.kernels[5].work.place, trace::nowhere);
  EXPECT_EQ(traced.counts.unattributed, 1U);
}

TEST_F(TraceTest, TheExternalIdWinsAndADisagreementIsCounted) {
  EXPECT_EQ(place_of_call(40), (Place{"layer2", trace::part::finish}));
  EXPECT_EQ(traced.counts.disagreements, 1U);
}

TEST_F(TraceTest, WithoutExternalIdsThreadAndTimeSayTheSame) {
  trace::Trace again = test::sample_trace();
  again.external_correlations.clear();
  trace::attribute(again);
  for (std::size_t i = 0; i < traced.kernels.size(); ++i) {
    EXPECT_EQ(again.kernels[i].work.place, traced.kernels[i].work.place) << i;
  }
  EXPECT_EQ(again.counts.disagreements, 0U);
}

TEST_F(TraceTest, AttributingTwiceCountsOnce) {
  trace::attribute(traced);
  EXPECT_EQ(traced.counts.unattributed, 1U);
  EXPECT_EQ(traced.counts.disagreements, 1U);
  EXPECT_EQ(traced.counts.dropped, 3U);
}

TEST_F(TraceTest, GpuTimeIsTheUnionOfTheKernelsOfTheOp) {
  const auto rows = trace::measure(traced, ops);
  EXPECT_NEAR(nanoseconds(row_of(rows, "gpu_time", "layer1")), 1800, 1e-6);
  EXPECT_NEAR(nanoseconds(row_of(rows, "gpu_time", "layer2")), 230, 1e-6);
  EXPECT_EQ(row_of(rows, "kernel_count", "layer1").samples.at(0), 3);
  EXPECT_EQ(row_of(rows, "launch_count", "layer1").samples.at(0), 3);
  EXPECT_EQ(row_of(rows, "kernel_count", "layer2").samples.at(0), 2);
  EXPECT_EQ(row_of(rows, "launch_count", "layer2").samples.at(0), 1);
  EXPECT_EQ(row_of(rows, "concurrent_streams", "layer1").samples.at(0), 3);
  EXPECT_EQ(row_of(rows, "concurrent_streams", "layer2").samples.at(0), 1);
}

TEST_F(TraceTest, EachKernelHasItsTimeUnderTheNameOfTheCountersPass) {
  std::vector<std::string> kernels;
  std::vector<double> times;
  for (const Measurement& row : trace::measure(traced, ops)) {
    if (row.metric != "kernel_time" || row.op != "layer1") continue;
    kernels.push_back(row.kernel);
    times.push_back(nanoseconds(row));
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"tiled", "scale"}));
  ASSERT_EQ(times.size(), 2U);
  EXPECT_NEAR(times[0], 1800 + 900, 1e-6);
  EXPECT_NEAR(times[1], 400, 1e-6);
}

TEST_F(TraceTest, CopiesHaveTimeBytesAndTheShareUnderKernels) {
  const auto rows = trace::measure(traced, ops);
  EXPECT_NEAR(nanoseconds(row_of(rows, "copy_in_time", "layer1")), 400, 1e-6);
  EXPECT_EQ(row_of(rows, "copy_in_bytes", "layer1").samples.at(0), 4096);
  EXPECT_NEAR(nanoseconds(row_of(rows, "copy_out_time", "layer1")), 400, 1e-6);
  EXPECT_EQ(row_of(rows, "copy_out_bytes", "layer1").samples.at(0), 2048);
  EXPECT_EQ(row_of(rows, "memset_bytes", "layer1").samples.at(0), 0);  // the flush is not the op's
  EXPECT_DOUBLE_EQ(row_of(rows, "copy_overlap", "layer1").samples.at(0), 0.125);
  EXPECT_EQ(row_of(rows, "copy_overlap", "layer2").absent, "the op copies nothing");
}

TEST_F(TraceTest, CallsCountOnceWhateverIsNestedInThem) {
  const auto rows = trace::measure(traced, ops);
  EXPECT_EQ(row_of(rows, "api_call_count", "layer1").samples.at(0), 9);
  EXPECT_NEAR(nanoseconds(row_of(rows, "api_time", "layer1")), 2520, 1e-6);
  EXPECT_NEAR(nanoseconds(row_of(rows, "synchronization_time", "layer1")), 1590, 1e-6);
}

TEST_F(TraceTest, EachMomentOfALayerHasOneCause) {
  const auto rows = trace::measure(traced, ops);
  const std::vector<std::pair<std::string, double>> causes{
      {"gpu_kernel_time", 1700},         {"gpu_copy_only_time", 700},
      {"gpu_idle_tracing_time", 200},    {"gpu_idle_synchronization_time", 100},
      {"gpu_idle_allocation_time", 700}, {"gpu_idle_api_time", 150},
      {"gpu_idle_host_time", 1640}};
  double sum = 0;
  for (const auto& [metric, expected] : causes) {
    const double value = nanoseconds(row_of(rows, metric, "layer1"));
    EXPECT_NEAR(value, expected, 1e-6) << metric;
    sum += value;
  }
  EXPECT_NEAR(nanoseconds(row_of(rows, "traced_layer_time", "layer1")), sum, 1e-6);
}

TEST_F(TraceTest, WhatTheTraceLacksIsInTheCase) {
  const auto rows = trace::measure(traced, ops);
  EXPECT_EQ(row_of(rows, "dropped_records").samples.at(0), 3);
  EXPECT_EQ(row_of(rows, "zero_time_records").samples.at(0), 2);
  EXPECT_EQ(row_of(rows, "reversed_records").samples.at(0), 1);
  EXPECT_EQ(row_of(rows, "unattributed_records").samples.at(0), 1);
  EXPECT_EQ(row_of(rows, "attribution_disagreements").samples.at(0), 1);
}

TEST_F(TraceTest, AnOpWithoutKernelsSaysWhyItHasNoGpuTime) {
  ops.push_back({"layer3", "", 0, 0});
  auto rows = trace::measure(traced, ops);
  EXPECT_EQ(row_of(rows, "gpu_time", "layer3").absent,
            "the trace has no kernel of this op; it lacks 3 dropped records, 2 without a time and 1 with a "
            "reversed one, and 1 belong to no op");
  EXPECT_EQ(row_of(rows, "traced_layer_time", "layer3").absent, "the op did not run in the traced execution");
  traced.counts = {};
  rows = trace::measure(traced, ops);
  EXPECT_EQ(row_of(rows, "gpu_time", "layer3").absent, "the op launched no kernel");
}

TEST_F(TraceTest, EveryMetricIsInTheCatalogue) {
  auto rows = trace::measure(traced, ops);
  rows.push_back(trace::trace_overhead({}, rows));
  for (const Measurement& row : rows) EXPECT_NE(find_metric(row.metric), nullptr) << row.metric;
}

TEST_F(TraceTest, OverheadIsOverTheMedianOfTheTimingPass) {
  const auto rows = trace::measure(traced, ops);
  Case subject;
  EXPECT_EQ(trace::trace_overhead(subject, rows).absent, "the timing pass has no layer time of layer1");
  subject.passes.push_back({.pass = Pass::timing});
  subject.passes[0].measurements = {{"layer_time", "layer1", "", Source::measured, {9e-6, 4e-6, 3e-6}, ""},
                                    {"layer_time", "layer2", "", Source::measured, {2e-6}, ""}};
  EXPECT_NEAR(trace::trace_overhead(subject, rows).samples.at(0), (5190. + 2590) / (4000 + 2000), 1e-9);
}

}  // namespace
}  // namespace mprof
