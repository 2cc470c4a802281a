// SPDX-License-Identifier: MIT
#include "report/analysis/standing/time_budget.hpp"

#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "model/trace/program.hpp"
#include "report/views/time_budget_view.hpp"
#include "report/wording/time_budget.hpp"
#include "report/wording/why.hpp"
#include "tests/report/fabricated_trace.hpp"
#include "tests/report/planned_charts.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

using enum BudgetPart;
using test::FabricatedTrace;
using test::memory_set;
using test::to_device;
using test::to_host;

constexpr auto within_device = trace::TransferKind::device_to_device;

TimeBudget budget_in(const FabricatedTrace& made) {
  const std::optional<TimeBudget> budget = time_budget(made.trace, 0);
  EXPECT_TRUE(budget.has_value());
  if (!budget) return {};
  EXPECT_EQ(std::accumulate(budget->parts.begin(), budget->parts.end(), std::int64_t{0}), budget->window)
      << "each moment belongs to one part";
  return *budget;
}

/// One execution of a case "a".
FabricatedTrace execution(trace::Interval window) {
  FabricatedTrace made;
  made.add_case("a");
  made.range(trace::own_domain, "a", window);
  return made;
}

TEST(TimeBudget, IsAbsentWithoutActivity) {
  FabricatedTrace made;
  made.add_case("a");
  EXPECT_FALSE(time_budget(made.trace, 0).has_value());
  made = execution({0, 100});
  made.trace.pauses.push_back({{0, 100}, 0});
  EXPECT_FALSE(time_budget(made.trace, 0).has_value()) << "nothing but a pause";
}

TEST(TimeBudget, CudasStartAndTheTimeBeforeItArePartsOfTheirOwn) {
  FabricatedTrace made = execution({0, 1000});
  made.range(trace::own_domain, trace::cuda_start, {300, 500});
  made.kernel(1, {450, 700});
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.of(idle_before), 300);
  EXPECT_EQ(budget.of(idle_start), 150) << "what ran then was work";
  EXPECT_EQ(budget.of(kernels), 250);
  EXPECT_EQ(budget.of(kernels) + budget.idle(), 1000);
  const auto moments = idle_moments(made.trace, 0, {0, 1000});
  EXPECT_EQ(moments.at(static_cast<std::size_t>(idle_start)).length(), 150);
  EXPECT_EQ(part_name(idle_start), "idle: CUDA's start");
  EXPECT_EQ(idle_cause(idle_before), "before CUDA");
}

TEST(TimeBudget, TellsWhatRanBesideWhat) {
  FabricatedTrace made = execution({0, 1000});
  made.transfer(7, {0, 200}, to_device);
  made.kernel(8, {100, 400});
  made.transfer(7, {350, 500}, to_host);
  made.transfer(9, {450, 550}, to_device);
  made.transfer(9, {600, 650}, memory_set);
  made.transfer(9, {640, 700}, within_device);
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.window, 1000);
  EXPECT_EQ(budget.of(copies_in), 100 + 50);
  EXPECT_EQ(budget.of(kernels_and_copies), 100 + 50);
  EXPECT_EQ(budget.of(kernels), 150);
  EXPECT_EQ(budget.of(copies_out), 50);
  EXPECT_EQ(budget.of(copies_both_ways), 50);
  EXPECT_EQ(budget.of(other_work), 100);
  EXPECT_EQ(budget.of(idle_host), 50 + 300);
  EXPECT_EQ(budget.idle(), 350);
  EXPECT_DOUBLE_EQ(budget.share(kernels), 0.15);
}

TEST(TimeBudget, HasEachOfSeveralGpusByItself) {
  FabricatedTrace made = execution({0, 1000});
  made.kernel(8, {0, 990});
  EXPECT_TRUE(budget_in(made).gpus.empty()) << "one GPU is the budget's own";
  made.kernel(9, {100, 110});
  made.trace.kernels.change(made.trace.kernels.size() - 1,
                            [](trace::Kernel& kernel) { kernel.queue.device = 1; });
  made.transfer(7, {105, 205}, to_device);
  made.trace.transfers.back().queue.device = 1;
  const TimeBudget budget = budget_in(made);
  ASSERT_EQ(budget.gpus.size(), 2U);
  EXPECT_EQ(budget.gpus[0].gpu, 0U);
  EXPECT_EQ(budget.gpus[0].kernels, 990);
  EXPECT_EQ(budget.gpus[1].kernels, 10);
  EXPECT_EQ(budget.gpus[1].copies, 95) << "without what a kernel of its own hides";
}

TEST(TimeBudget, HasWhyEachOfSeveralGpusWasIdle) {
  FabricatedTrace made = execution({0, 1000});
  made.kernel(8, {0, 900});
  made.kernel(9, {100, 110});
  made.trace.kernels.change(1, [](trace::Kernel& kernel) { kernel.queue.device = 1; });
  made.call("cudaMalloc", {200, 300});
  made.call("cudaMemcpy", {950, 990});
  const TimeBudget budget = budget_in(made);
  ASSERT_EQ(budget.gpus.size(), 2U);
  const auto idle = [&](std::size_t gpu, BudgetPart part) {
    return budget.gpus[gpu].idle.at(static_cast<std::size_t>(part));
  };
  EXPECT_EQ(idle(0, idle_allocation), 0) << "this one worked then";
  EXPECT_EQ(idle(1, idle_allocation), 100);
  EXPECT_EQ(idle(1, idle_host), 1000 - 10 - 100 - idle(1, idle_waiting) - idle(1, idle_calls));
  for (const GpuShare& gpu : budget.gpus) {
    const std::int64_t sum = std::accumulate(gpu.idle.begin(), gpu.idle.end(), gpu.kernels + gpu.copies);
    EXPECT_EQ(sum, budget.window);
  }
  EXPECT_EQ(idle_causes(budget.gpus[1].idle, budget.window).substr(0, 9), "host code");
}

TEST(TimeBudget, TellsTheHostsTimeOutsideTheOpsFromThatInThem) {
  FabricatedTrace made = execution({0, 1000});
  made.kernel(8, {100, 200});
  EXPECT_EQ(budget_in(made).host_outside_ops, 0) << "without ops nothing is outside of them";
  const auto stage = [&](trace::Interval time, const char* part) {
    made.range(trace::own_domain, "map", time);
    made.trace.ranges.back().place = made.trace.index_of({"map", part});
  };
  stage({50, 150}, trace::part::prepare);
  stage({150, 160}, trace::part::between);
  stage({160, 300}, trace::part::op);
  stage({300, 400}, trace::part::pause);
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.of(idle_host), 900);
  EXPECT_EQ(budget.host_outside_ops, 900 - 50 - 100);
  EXPECT_EQ(largest_parts(budget, 2)[0],
            "the GPU idle while the host ran its own code 90.0\u00a0% (75.0\u00a0% outside the ops)");
}

TEST(TimeBudget, CountsAMomentOfSeveralStreamsOnce) {
  FabricatedTrace made = execution({0, 100});
  for (std::uint32_t stream = 1; stream <= 8; ++stream) {
    made.kernel(stream, {10, 60 + stream});
    made.transfer(stream + 10, {80, 90}, to_host);
  }
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.of(kernels), 58);
  EXPECT_EQ(budget.of(copies_out), 10);
  EXPECT_EQ(budget.of(kernels_and_copies), 0);
}

TEST(TimeBudget, TellsWhatTheHostDidWhileTheGpuWasIdle) {
  FabricatedTrace made = execution({0, 1000});
  made.call("cudaMalloc", {0, 100});
  made.call("cuMemAlloc_v2", {10, 90}, trace::Api::driver);
  made.call("cudaMemcpy", {100, 300});
  made.transfer(7, {150, 280}, to_device);
  made.call("cudaLaunchKernel", {300, 320});
  made.kernel(7, {330, 500});
  made.call("cudaDeviceSynchronize", {325, 540});
  made.call("cudaFreeHost", {560, 600});
  made.call("cudaHostRegister", {610, 700});
  made.trace.overheads.push_back({.time = {640, 650}});
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.of(copies_in), 130);
  EXPECT_EQ(budget.of(kernels), 170);
  EXPECT_EQ(budget.of(idle_allocation), 100 + 40 + 80) << "a driver call within a runtime call is part of it";
  EXPECT_EQ(budget.of(idle_calls), 50 + 20 + 20) << "staging before and after the copy, and the launch";
  EXPECT_EQ(budget.of(idle_waiting), 5 + 40) << "before the kernel began and after it ended";
  EXPECT_EQ(budget.of(idle_tracing), 10);
  EXPECT_EQ(budget.of(idle_host), 5 + 20 + 10 + 300);
}

TEST(TimeBudget, TakesOnlyWaitsOfTheHostForWaits) {
  FabricatedTrace made = execution({0, 100});
  made.trace.synchronizations.push_back(
      {.time = {10, 20}, .kind = trace::SynchronizationKind::stream_wait_event});
  made.trace.synchronizations.push_back({.time = {30, 40}, .kind = trace::SynchronizationKind::event});
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.of(idle_waiting), 10);
  EXPECT_EQ(budget.of(idle_host), 90);
}

TEST(TimeBudget, TellsTheOperatingSystemFromTheHostsOwnCode) {
  FabricatedTrace made = execution({0, 1000});
  made.call("cudaLaunchKernel", {100, 110});
  made.kernel(7, {110, 200});
  made.system_call("ioctl", {100, 105});  // within the launch
  made.system_call("read", {150, 300});   // begins beside the kernel
  made.system_call("poll", {400, 600});
  made.system_call("poll", {0, 1000}, 2);  // the driver's own thread, which calls no CUDA
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.of(kernels), 90);
  EXPECT_EQ(budget.of(idle_calls), 10);
  EXPECT_EQ(budget.of(idle_system), 100 + 200);
  EXPECT_EQ(budget.of(idle_host), 100 + 100 + 400);
  ASSERT_EQ(budget.system.size(), 2U) << "nothing of what lies in CUDA's calls";
  EXPECT_EQ(budget.system[0].name, "poll");
  EXPECT_EQ(budget.system[0].time, 200);
  EXPECT_EQ(budget.system[1].name, "read");
  EXPECT_EQ(budget.system[1].time, 100);
}

TEST(TimeBudget, AThreadThatWaitsForOneThatComputesIsNoWaitingHost) {
  FabricatedTrace made = execution({0, 1000});
  const auto driver = trace::Api::driver;
  made.call("cuInit", {0, 10}, driver, 1);
  made.system_call("pthread_cond_wait", {100, 700}, 1);
  made.call("cuInit", {200, 210}, driver, 3);  // this one computes from here on, but for its own wait
  made.system_call("futex", {400, 450}, 3);
  made.call("cuInit", {590, 600}, driver, 3);
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.of(idle_calls), 10 + 10 + 10);
  EXPECT_EQ(budget.of(idle_system), (200 - 100) + (450 - 400) + (700 - 600)) << "before, within and after";
}

TEST(TimeBudget, CutsWorkAtTheEdgesOfTheExecution) {
  FabricatedTrace made = execution({100, 200});
  made.kernel(7, {50, 120});
  made.transfer(7, {190, 400}, to_host);
  made.call("cudaMalloc", {0, 130});
  made.kernel(7, {300, 350});
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.window, 100);
  EXPECT_EQ(budget.of(kernels), 20);
  EXPECT_EQ(budget.of(copies_out), 10);
  EXPECT_EQ(budget.of(idle_allocation), 10);
  EXPECT_EQ(budget.of(idle_host), 60);
}

TEST(TimeBudget, LeavesOutWhatTheRunnerDid) {
  FabricatedTrace made = execution({0, 100});
  made.kernel(7, {0, 20});
  made.trace.pauses.push_back({{30, 70}, 0});
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.window, 60);
  EXPECT_EQ(budget.paused, 40);
  EXPECT_EQ(budget.of(idle_host), 40);
}

TEST(TimeBudget, IsOfTheExecutionOfMedianLength) {
  FabricatedTrace made;
  made.add_case("a");
  made.range(trace::own_domain, "a", {0, 500});
  made.range(trace::own_domain, "a", {1000, 1100});
  made.range(trace::own_domain, "a", {2000, 2200});
  made.range("", "a", {3000, 9000});
  made.kernel(7, {2050, 2150});
  TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.executions, 3U);
  EXPECT_EQ(budget.execution, 3U) << "in the order of their starts; a range of the variant's own is none";
  EXPECT_EQ(budget.of(kernels), 100);
  made.range(trace::own_domain, "a", {10'000, 10'050});
  budget = budget_in(made);
  EXPECT_EQ(budget.execution, 2U) << "the shorter of the middle two";
}

TEST(TimeBudget, TakesAllThatWasRecordedWhereNoRangeHoldsTheCase) {
  FabricatedTrace made;
  made.add_case("a");
  made.call("cudaLaunchKernel", {100, 110});
  made.kernel(7, {120, 200});
  made.trace.cases[0].counts = {.dropped = 2, .reversed = 1};
  const TimeBudget budget = budget_in(made);
  EXPECT_EQ(budget.window, 100);
  EXPECT_EQ(budget.of(kernels), 80);
  EXPECT_EQ(budget.of(idle_calls), 10);
  EXPECT_EQ(budget.lacking, 3U);
}

/// With spaces that break.
std::string breaking(std::string text) {
  constexpr std::string_view no_break = "\u00a0";
  for (std::size_t at = text.find(no_break); at != text.npos; at = text.find(no_break, at))
    text.replace(at, no_break.size(), " ");
  return text;
}

/// The GPU run, its first two cases traced: the kernel after the copy, and the kernel beside it.
Evidence budget_evidence(const mprof::Run& run) {
  FabricatedTrace made;
  for (std::size_t i = 0; i < 2; ++i) made.add_case(run.cases[i].id);
  const auto range = [&](trace::CaseIndex in_case, trace::Interval time) {
    made.range(trace::own_domain, run.cases[in_case].id, time);
    made.trace.ranges.back().in_case = in_case;
  };
  range(0, {0, 4'000'000});
  made.transfer(7, {0, 1'000'000}, to_device, 4096, 0);
  made.kernel(7, {1'000'000, 3'000'000}, 0);
  range(1, {5'000'000, 8'000'000});
  made.transfer(21, {5'000'000, 6'000'000}, to_device, 4096, 1);
  made.kernel(22, {5'500'000, 7'500'000}, 1);
  return {std::move(made.trace), ""};
}

TEST(TimeBudget, ComparesTheFirstBaselineWithTheBest) {
  mprof::Run run = samples::gpu();
  samples::set_samples(run.cases[1], "total_time", "", samples::around(0.2));
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.at(0);
  const BudgetComparison comparison = compare_budgets(family, budget_evidence(run));
  ASSERT_EQ(comparison.cases.size(), 2U) << say(comparison.absent);
  EXPECT_EQ(comparison.cases[0].result->id, run.cases[0].id);
  EXPECT_EQ(comparison.cases[1].result->id, run.cases[1].id);
  EXPECT_EQ(comparison.cases[1].budget->of(kernels_and_copies), 500'000);
  EXPECT_TRUE(comparison.absent.empty());
}

TEST(TimeBudget, NamesAFasterOneThatWasNotTraced) {
  mprof::Run run = samples::gpu();
  samples::set_samples(run.cases[0], "total_time", "", samples::around(0.2));
  samples::set_samples(run.cases[1], "total_time", "", samples::around(0.1));
  Evidence evidence = budget_evidence(run);
  evidence.profile->cases[1].id = "other";
  const RunAnalysis analysis = analyse(run);
  const BudgetComparison comparison = compare_budgets(analysis.families.at(0), evidence);
  ASSERT_EQ(comparison.cases.size(), 1U) << "the baseline is the best of those with a trace";
  EXPECT_EQ(comparison.cases[0].result->id, run.cases[0].id);
  ASSERT_NE(comparison.faster, nullptr);
  EXPECT_EQ(comparison.faster->id, run.cases[1].id);
}

TEST(TimeBudget, SaysWhyThereIsNone) {
  const mprof::Run run = samples::gpu();
  const RunAnalysis analysis = analyse(run);
  EXPECT_EQ(compare_budgets(analysis.families.at(0), {std::nullopt, "no trace"}).absent, said("no trace"));
  FabricatedTrace empty;
  empty.add_case("other");
  const BudgetComparison untraced = compare_budgets(analysis.families.at(0), {empty.trace, ""});
  EXPECT_TRUE(untraced.cases.empty());
  EXPECT_EQ(untraced.absent, Why(Because::none_traced_with_baseline));
  mprof::Run wrong = run;
  for (Case& c : wrong.cases) samples::timing(c).status = Status::wrong;
  const RunAnalysis none = analyse(wrong);
  EXPECT_EQ(compare_budgets(none.families.at(0), budget_evidence(wrong)).absent,
            Why(Because::no_verified_time));
}

TEST(TimeBudget, IsShownAsAStackOfAHundredPercent) {
  mprof::Run run = samples::gpu();
  samples::set_samples(run.cases[1], "total_time", "", samples::around(0.2));
  const RunAnalysis analysis = analyse(run);
  PagePlan plan;
  const nlohmann::json view =
      samples::with_charts(time_budget_view(analysis.families.at(0), budget_evidence(run), plan), plan);
  EXPECT_EQ(view["absent"], "");
  ASSERT_EQ(view["charts"].size(), 1U);
  const nlohmann::json& chart = view["charts"][0];
  EXPECT_EQ(chart["kind"], "stacked_bars");
  std::vector<double> sums(chart["rows"].size());
  for (const nlohmann::json& series : chart["series"]) {
    for (const nlohmann::json& point : series["points"])
      sums.at(point["row"].get<std::size_t>()) += point["value"].get<double>();
  }
  ASSERT_EQ(sums.size(), 2U);
  for (const double sum : sums) EXPECT_NEAR(sum, 100, 1e-9);
  ASSERT_EQ(chart["series"].size(), 4U) << "a part that no case has is not shown";
  const std::string words = breaking(view["sentences"][0]);
  EXPECT_NE(words.find("of 4.000 ms, a kernel ran for 50.0 %"), std::string::npos) << words;
  EXPECT_NE(words.find("nothing to do for 25.0 %"), std::string::npos) << words;
  EXPECT_EQ(view["table"]["rows"].size(), 5U) << "a part each, and all of it";
}

TEST(TimeBudget, ACostOfTracingThatIsNoiseIsNone) {
  mprof::Run run = samples::gpu();
  samples::set_samples(run.cases[1], "total_time", "", samples::around(0.2));
  const auto said = [](const mprof::Run& of) {
    const RunAnalysis analysis = analyse(of);
    PagePlan plan;
    return time_budget_view(analysis.families.at(0), budget_evidence(of), plan)["sentences"].dump();
  };
  std::vector<Measurement>& traced = samples::pass_of(run.cases[0], Pass::trace).measurements;
  std::erase_if(traced, [](const Measurement& m) { return m.metric == "trace_overhead"; });
  traced.push_back(samples::measured("trace_overhead", "", {1.5}));
  EXPECT_NE(said(run).find("longer traced than untraced"), std::string::npos) << said(run);
  traced.back().samples = {1.001};
  for (const char* op : {"layer1", "layer2"})
    samples::set_samples(run.cases[0], "group_time", op, samples::around(5e-3));
  EXPECT_NE(said(run).find("its ops took as long traced as untraced, within noise"), std::string::npos)
      << said(run);
}

TEST(TimeBudget, WhatThePartsAreIsSaidOnce) {
  const mprof::Run run = samples::two_families();
  const nlohmann::json families = milestone_page(analyse(run), {}).view["families"];
  ASSERT_EQ(families.size(), 2U);
  EXPECT_EQ(families[0]["time_budget"]["explained"], true);
  EXPECT_EQ(families[1]["time_budget"]["explained"], false);
}

TEST(TimeBudget, IsShownToBeMissingForAReason) {
  const mprof::Run run = samples::gpu();
  const RunAnalysis analysis = analyse(run);
  PagePlan plan;
  const nlohmann::json view =
      time_budget_view(analysis.families.at(0), {std::nullopt, "the run has\nno <trace>"}, plan);
  EXPECT_EQ(view["absent"], "The run has no <trace>");
  EXPECT_TRUE(view["charts"].empty());
  EXPECT_TRUE(plan.charts().empty());
}

TEST(TimeBudget, AnIdlePartIsCalledByItsCause) {
  std::size_t idle = 0;
  for (std::size_t i = 0; i < budget_parts; ++i) {
    const auto part = static_cast<BudgetPart>(i);
    if (!is_idle(part)) continue;
    ++idle;
    EXPECT_EQ(part_name(part), "idle: " + std::string(idle_cause(part)));
  }
  EXPECT_EQ(idle, 8U);
}

}  // namespace
}  // namespace mprof
