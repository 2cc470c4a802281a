// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/derive/subjects.hpp"
#include "model/metric.hpp"
#include "tests/support/measurements.hpp"
#include "tests/support/sample_trace.hpp"

namespace mprof {
namespace {

using test::row_of;

class TraceMetricsTest : public ::testing::Test {
 protected:
  TraceMetricsTest() {
    trace::Recording recording = test::sample_recording();
    trace::attribute(recording);
    traced = std::move(recording.trace);
  }

  /// In ns, which the fabricated times are whole numbers of.
  static double nanoseconds(const Measurement& row) { return row.samples.at(0) * 1e9; }

  trace::Trace traced;
  std::vector<OpInfo> ops{{.name = "layer1"}, {.name = "layer2"}};
};

TEST_F(TraceMetricsTest, GpuTimeIsTheUnionOfTheKernelsOfTheOp) {
  const auto rows = trace_metrics(traced, 0, ops);
  EXPECT_NEAR(nanoseconds(row_of(rows, "gpu_time", "layer1")), 1800, 1e-6);
  EXPECT_NEAR(nanoseconds(row_of(rows, "gpu_time", "layer2")), 230, 1e-6);
  EXPECT_EQ(row_of(rows, "kernel_count", "layer1").samples.at(0), 3);
  EXPECT_EQ(row_of(rows, "launch_count", "layer1").samples.at(0), 3);
  EXPECT_EQ(row_of(rows, "kernel_count", "layer2").samples.at(0), 2);
  EXPECT_EQ(row_of(rows, "launch_count", "layer2").samples.at(0), 1);
  EXPECT_EQ(row_of(rows, "concurrent_streams", "layer1").samples.at(0), 3);
  EXPECT_EQ(row_of(rows, "concurrent_streams", "layer2").samples.at(0), 1);
}

TEST_F(TraceMetricsTest, EachKernelHasItsTimeUnderTheNameOfTheCountersPass) {
  std::vector<std::string> kernels;
  std::vector<double> times;
  for (const Measurement& row : trace_metrics(traced, 0, ops)) {
    if (row.metric != "kernel_time" || row.op != "layer1") continue;
    kernels.push_back(row.kernel);
    times.push_back(nanoseconds(row));
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"tiled", "scale"}));
  ASSERT_EQ(times.size(), 2U);
  EXPECT_NEAR(times[0], 1800 + 900, 1e-6);
  EXPECT_NEAR(times[1], 400, 1e-6);
}

TEST_F(TraceMetricsTest, CopiesHaveTimeBytesAndTheShareUnderKernels) {
  const auto rows = trace_metrics(traced, 0, ops);
  EXPECT_NEAR(nanoseconds(row_of(rows, "copy_in_time", "layer1")), 400, 1e-6);
  EXPECT_EQ(row_of(rows, "copy_in_bytes", "layer1").samples.at(0), 4096);
  EXPECT_NEAR(nanoseconds(row_of(rows, "copy_out_time", "layer1")), 400, 1e-6);
  EXPECT_EQ(row_of(rows, "copy_out_bytes", "layer1").samples.at(0), 2048);
  EXPECT_EQ(row_of(rows, "memset_bytes", "layer1").samples.at(0), 0);  // the flush is not the op's
  EXPECT_DOUBLE_EQ(row_of(rows, "copy_overlap", "layer1").samples.at(0), 0.125);
  EXPECT_EQ(row_of(rows, "copy_overlap", "layer2").absent, "the op copies nothing");
}

TEST_F(TraceMetricsTest, CopiesOfForwardCountByThemselves) {
  EXPECT_EQ(nanoseconds(row_of(trace_metrics(traced, 0, ops), "forward_copy_time", "layer1")), 0);
  for (trace::Place& place : traced.places) {
    if (place.op == "layer1" && place.part == trace::part::prepare) place.part = trace::part::op;
  }
  const auto rows = trace_metrics(traced, 0, ops);
  EXPECT_NEAR(nanoseconds(row_of(rows, "forward_copy_time", "layer1")),
              nanoseconds(row_of(rows, "copy_in_time", "layer1")), 1e-6);
}

TEST_F(TraceMetricsTest, GpuMemoryIsWhatWasHeldAtTheMost) {
  EXPECT_THAT(row_of(trace_metrics(traced, 0, ops), "gpu_memory").absent,
              testing::HasSubstr("the trace has no allocation"));
  const auto place_of = [&](const char* op, const char* part) { return traced.index_of({op, part}); };
  std::uint64_t address = 0;
  std::int64_t now = 0;
  const auto add = [&](trace::PlaceIndex place, std::uint64_t bytes, trace::MemoryKind kind) {
    traced.allocations.push_back(
        {.time = {++now, now}, .address = ++address, .bytes = bytes, .place = place, .kind = kind});
  };
  const auto release = [&](std::uint64_t of, const char* op) {
    traced.allocations.push_back({.time = {++now, now},
                                  .address = of,
                                  .place = place_of(op, trace::part::finish),
                                  .kind = trace::MemoryKind::device,
                                  .is_release = true});
  };
  using enum trace::MemoryKind;
  release(99, "layer1");                                        // from before the execution
  add(place_of("layer1", trace::part::prepare), 1000, device);  // 1
  add(place_of("layer1", trace::part::prepare), 500, pinned);   // 2: the host's
  add(place_of("", trace::part::pause), 7000, device);          // 3: the runner's
  add(place_of("layer1", trace::part::op), 200, managed);       // 4
  release(1, "layer1");
  add(place_of("layer2", trace::part::prepare), 300, device);  // 5: beside 4
  const auto rows = trace_metrics(traced, 0, ops);
  EXPECT_EQ(row_of(rows, "gpu_memory").samples.at(0), 1200);
  EXPECT_EQ(row_of(rows, "gpu_memory", "layer1").samples.at(0), 1200);
  EXPECT_EQ(row_of(rows, "gpu_memory", "layer2").samples.at(0), 500);
}

TEST_F(TraceMetricsTest, CallsCountOnceWhateverIsNestedInThem) {
  const auto rows = trace_metrics(traced, 0, ops);
  EXPECT_EQ(row_of(rows, "api_call_count", "layer1").samples.at(0), 9);
  EXPECT_NEAR(nanoseconds(row_of(rows, "api_time", "layer1")), 2520, 1e-6);
  EXPECT_NEAR(nanoseconds(row_of(rows, "synchronization_time", "layer1")), 1590, 1e-6);
}

TEST_F(TraceMetricsTest, EachMomentOfTheStagesHasOneCause) {
  const auto rows = trace_metrics(traced, 0, ops);
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
  EXPECT_NEAR(nanoseconds(row_of(rows, "traced_group_time", "layer1")), sum, 1e-6);
}

TEST_F(TraceMetricsTest, KernelsAreAloneWhereNoCopyRunsBesideThem) {
  const auto rows = trace_metrics(traced, 0, ops);
  const double kernels = nanoseconds(row_of(rows, "gpu_kernel_time", "layer1"));
  const double beside = 0.125 * 800;  // of the op's copies
  EXPECT_NEAR(nanoseconds(row_of(rows, "gpu_kernel_alone_time", "layer1")), kernels - beside, 1e-6);
}

TEST_F(TraceMetricsTest, WhatTheTraceLacksIsInTheCase) {
  const auto rows = trace_metrics(traced, 0, ops);
  EXPECT_EQ(row_of(rows, "dropped_records").samples.at(0), 3);
  EXPECT_EQ(row_of(rows, "zero_time_records").samples.at(0), 2);
  EXPECT_EQ(row_of(rows, "reversed_records").samples.at(0), 1);
  EXPECT_EQ(row_of(rows, "unattributed_records").samples.at(0), 1);
  EXPECT_EQ(row_of(rows, "attribution_disagreements").samples.at(0), 1);
}

TEST_F(TraceMetricsTest, AnOpWithoutKernelsSaysWhyItHasNoGpuTime) {
  ops.push_back({.name = "layer3"});
  auto rows = trace_metrics(traced, 0, ops);
  EXPECT_EQ(row_of(rows, "gpu_time", "layer3").absent,
            "the trace has no kernel of this op; it lacks 3 dropped records, 2 without a time and 1 with a "
            "reversed one, and 1 belong to no op");
  EXPECT_EQ(row_of(rows, "traced_group_time", "layer3").absent, "the op did not run in the traced execution");
  traced.cases[0].counts = {};
  rows = trace_metrics(traced, 0, ops);
  EXPECT_EQ(row_of(rows, "gpu_time", "layer3").absent, "the op launched no kernel");
}

TEST_F(TraceMetricsTest, EveryMetricIsInTheCatalogue) {
  auto rows = trace_metrics(traced, 0, ops);
  rows.push_back(trace_overhead({}, rows));
  for (const Measurement& row : rows) EXPECT_NE(find_metric(row.metric), nullptr) << row.metric.text();
}

TEST_F(TraceMetricsTest, OverheadIsOverTheMedianOfTheTimingPass) {
  const auto rows = trace_metrics(traced, 0, ops);
  Case subject;
  EXPECT_EQ(trace_overhead(subject, rows).absent, "the timing pass has no group time of layer1");
  subject.passes.push_back({.pass = Pass::timing});
  subject.passes[0].measurements = {{"group_time", "layer1", "", Source::measured, {9e-6, 4e-6, 3e-6}, ""},
                                    {"group_time", "layer2", "", Source::measured, {2e-6}, ""}};
  EXPECT_NEAR(trace_overhead(subject, rows).samples.at(0), (5190. + 2590) / (4000 + 2000), 1e-9);
}

}  // namespace
}  // namespace mprof
