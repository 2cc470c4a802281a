// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/traced_times.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/analysis/judgement/compare.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

/// A profile of a step: its GPU time, and how long each of 50 launches of its kernel ran.
Run profile(const std::string& name, double launch, double launches = 50) {
  Run run;
  run.started = name;
  run.state = RunState::complete;
  run.variants = {
      {.id = "program/" + name, .family = "program", .device = "cuda", .subject = Subject::import}};
  run.inputs = {
      {.family = "program", .name = name + " (nsys)", .path = name, .size = 1, .checksum = "sha256:" + name}};
  Case& c = run.cases.emplace_back();
  c.id = c.key.variant = run.variants.front().id;
  c.ops.emplace_back().name = "step";
  PassResult& trace = c.passes.emplace_back();
  trace.pass = Pass::trace;
  trace.status = Status::ok;
  trace.measurements = {{.metric = "gpu_time", .op = "step", .samples = {launch * launches}},
                        {.metric = "kernel_count", .op = "step", .samples = {launches}}};
  Measurement& row = trace.measurements.emplace_back();
  row = {.metric = "launch_time", .op = "step", .kernel = "gemm"};
  for (int i = 0; i < 50; ++i) row.samples.push_back(launch * (1 + 0.0001 * (i % 7)));
  return run;
}

TEST(TracedTimes, OfTwoProfilesAreComparedAndTheFilesAreNoInputs) {
  const Comparison slower = compare(profile("p", 1e-3), profile("p", 2e-3), {});
  ASSERT_EQ(slower.cases.size(), 1U);
  ASSERT_EQ(slower.cases[0].times.size(), 2U);
  EXPECT_EQ(slower.cases[0].times[0].metric, "gpu_time");
  EXPECT_EQ(slower.cases[0].times[1].kernel, "gemm");
  EXPECT_TRUE(slower.cases[0].times[1].a->interval.has_value());
  for (const TimeComparison& time : slower.cases[0].times) EXPECT_EQ(time.speed_up.verdict, Verdict::slower);
  EXPECT_TRUE(slower.failed());
  const Comparison faster = compare(profile("p", 2e-3), profile("p", 1e-3), {});
  EXPECT_EQ(faster.count(Verdict::faster), 2U);
  EXPECT_FALSE(faster.failed());
}

TEST(TracedTimes, ASmallChangeOfOneExecutionIsNoVerdict) {
  const Comparison comparison = compare(profile("p", 1.00e-3), profile("p", 1.04e-3), {});
  EXPECT_EQ(comparison.count(Verdict::inconclusive), 2U) << "the launches are many, but of one execution";
  for (const TimeComparison& time : comparison.cases[0].times) {
    EXPECT_EQ(time.speed_up.reason, Why(Because::one_execution_each));
    EXPECT_FALSE(time.speed_up.more_rounds.has_value()) << "a profile has no rounds";
  }
  EXPECT_FALSE(comparison.failed());
}

TEST(TracedTimes, CountsThatDifferAreFigures) {
  const Comparison comparison = compare(profile("p", 1e-3, 50), profile("p", 1e-3, 70), {});
  ASSERT_EQ(comparison.cases[0].figures.size(), 1U);
  const TracedFigure& figure = comparison.cases[0].figures[0];
  EXPECT_EQ(figure.metric, "kernel_count");
  EXPECT_EQ(figure.a, 50);
  EXPECT_EQ(figure.b, 70);
  EXPECT_TRUE(figure.differs());
  EXPECT_NE(comparison_view(comparison, {}).dump().find("\"figures\""), std::string::npos);
}

/// The profile with a second kernel, of which a launch runs so long, and all launches so long together.
Run with_kernel(Run run, double launch, double time) {
  std::vector<Measurement>& rows = run.cases[0].passes[0].measurements;
  rows.push_back({.metric = "launch_time", .op = "step", .samples = {launch}});
  rows.push_back({.metric = "kernel_time", .op = "step", .samples = {time}});
  rows[rows.size() - 1].kernel = rows[rows.size() - 2].kernel = "helper";
  Measurement gemm{.metric = "kernel_time", .op = "step", .samples = {1 - time}};
  gemm.kernel = "gemm";
  rows.push_back(gemm);
  return run;
}

TEST(TracedTimes, AKernelIsComparedWhereItIsSomethingOfItsOpOnOneSide) {
  const mprof::Run p = profile("p", 1e-3);
  const Comparison gone = compare(with_kernel(p, 1e-3, 0.2), with_kernel(p, 1e-6, 0.0002), {});
  ASSERT_EQ(gone.cases[0].times.size(), 3U) << "it became fast";
  EXPECT_EQ(gone.cases[0].times[2].kernel, "helper");
  const Comparison short_ones = compare(with_kernel(p, 1e-5, 0.002), with_kernel(p, 1e-6, 0.0002), {});
  EXPECT_EQ(short_ones.cases[0].times.size(), 2U);
}

TEST(TracedTimes, WhatHardlyDiffersIsLeftOutOfTheTableButWithAll) {
  const Comparison comparison = compare(profile("p", 1.000e-3), profile("p", 1.001e-3), {});
  const nlohmann::json view = comparison_view(comparison, {}),
                       all = comparison_view(comparison, {Importance::unchanged});
  EXPECT_EQ(view["left_out"],
            "1 time of traces changed by less than 1\u00a0%, and is left out: --all shows it.");
  EXPECT_EQ(view["tables"].dump().find("a launch of gemm"), std::string::npos);
  EXPECT_EQ(all["left_out"], "");
  EXPECT_NE(all["tables"].dump().find("a launch of gemm"), std::string::npos);
}

TEST(TracedTimes, ProgramsThatAreCalledAfterTheirFilesAreOne) {
  const Comparison comparison = compare(profile("before", 1e-3), profile("after", 2e-3), {});
  ASSERT_EQ(comparison.cases.size(), 1U);
  EXPECT_EQ(comparison.cases[0].id_b, "program/after");
}

TEST(TracedTimes, ProfilesWithoutAnythingInCommonCannotBeCompared) {
  auto other = profile("p", 1e-3);
  other.cases[0].passes[0].measurements.clear();
  EXPECT_THROW((void)compare(profile("p", 1e-3), other, {}), Error);
}

}  // namespace
}  // namespace mprof
