// SPDX-License-Identifier: MIT
#include "report/wording/program_change.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/derive/derive.hpp"
#include "model/derive/subjects.hpp"
#include "model/pool.hpp"
#include "report/analysis/machines/history.hpp"
#include "report/analysis/program/program_change.hpp"
#include "report/page/comparison_page.hpp"
#include "report/views/views.hpp"
#include "report/wording/comparison.hpp"
#include "tests/report/fabricated_program.hpp"
#include "tests/report/traced_steps.hpp"

namespace mprof {
namespace {

using test::FabricatedProgram;
using test::step_time;
using test::traced_run;

/// Ten steps, of which each launches these kernels, with how long they run.
FabricatedProgram steps_with(const std::vector<std::pair<std::string, std::int64_t>>& kernels,
                             const std::string& range = "step") {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range(range, [&] {
      for (const auto& [name, time] : kernels) program.launch(name, time);
    });
  return program;
}

ProgramPicture picture_of_trace(const FabricatedProgram& program) {
  auto picture = compared_picture(*program.evidence().profile, 0);
  EXPECT_TRUE(picture);
  return picture.value_or(ProgramPicture{});
}

ProgramChange change_of(const FabricatedProgram& before, const FabricatedProgram& after) {
  auto change = program_change(picture_of_trace(before), picture_of_trace(after));
  EXPECT_TRUE(change);
  return change.value_or(ProgramChange{});
}

const FabricatedProgram& unfused() {
  static const FabricatedProgram program = steps_with({{"gemm", 4'000'000},
                                                       {"softmax_warp_forward", 1'000'000},
                                                       {"softmax_warp_backward", 3'000'000},
                                                       {"gemm", 4'000'000}});
  return program;
}

const FabricatedProgram& fused() {
  static const FabricatedProgram program =
      steps_with({{"gemm", 4'000'000}, {"fused_softmax", 1'000'000}, {"gemm", 4'000'000}});
  return program;
}

// --- Where a step changed

TEST(ProgramChange, IsOfAStepOnAverage) {
  const ProgramChange change = change_of(unfused(), fused());
  EXPECT_TRUE(change.is_by_step());
  EXPECT_EQ(change.before.steps, 10U);
  EXPECT_NEAR(change.before.median, 12e-3, 1e-5);
  EXPECT_NEAR(change.after.median, 9e-3, 1e-5);
  EXPECT_EQ(change.before.launches, 4);
  EXPECT_EQ(change.after.launches, 3);
}

TEST(ProgramChange, NamesKernelsThatAreNewAndGone) {
  const ProgramChange change = change_of(unfused(), fused());
  ASSERT_EQ(change.kinds.size(), 2U);
  const KindChange& softmax = change.kinds.front();
  EXPECT_EQ(softmax.kind, KernelKind::softmax) << "it changed the most";
  EXPECT_NEAR(softmax.difference(), -3e-3, 1e-9);
  ASSERT_EQ(softmax.added.size(), 1U);
  ASSERT_EQ(softmax.removed.size(), 2U);
  EXPECT_EQ(change.functions.at(softmax.added[0]).name, "fused_softmax");
  EXPECT_EQ(change.functions.at(softmax.removed[0]).name, "softmax_warp_backward") << "the longest first";
  EXPECT_TRUE(change.kinds.back().added.empty()) << "both have the gemm";
  EXPECT_NEAR(change.kinds.back().difference(), 0, 1e-9);
}

TEST(ProgramChange, ItsBudgetAddsUpToAStep) {
  FabricatedProgram waits;
  for (int step = 0; step < 10; ++step)
    waits.range("step", [&] {
      waits.launch("gemm", 4'000'000);
      waits.wait();
      waits.compute(2'000'000);
    });
  const ProgramChange change = change_of(steps_with({{"gemm", 4'000'000}}), waits);
  double before = 0, after = 0;
  for (const BudgetChange& part : change.budget) {
    before += part.before;
    after += part.after;
  }
  EXPECT_NEAR(before, change.before.mean, 1e-12);
  EXPECT_NEAR(after, change.after.mean, 1e-12);
  EXPECT_EQ(change.budget.front().part, BudgetPart::idle_host);
  EXPECT_NEAR(change.budget.front().difference(), 1.8e-3, 1e-4) << "nothing follows the last step";
  EXPECT_EQ(change.before.bound, ProgramBound::kernels);
  EXPECT_EQ(change.after.bound, ProgramBound::host);
}

TEST(ProgramChange, ComparesTheWholeWhereNothingRepeats) {
  FabricatedProgram before, after;
  for (const char* kernel : {"a", "b", "c"}) before.launch(kernel, 1'000'000);
  for (const char* kernel : {"a", "c"}) after.launch(kernel, 1'000'000);
  const ProgramChange change = change_of(before, after);
  EXPECT_FALSE(change.is_by_step());
  EXPECT_NEAR(change.before.mean, 3e-3, 1e-5);
  EXPECT_NEAR(change.after.mean, 2e-3, 1e-5);
}

TEST(ProgramChange, IsNoneOfStepsThatAreOthers) {
  const auto epochs = picture_of_trace(steps_with({{"gemm", 1'000'000}}, "epoch"));
  const auto batches = picture_of_trace(steps_with({{"gemm", 1'000'000}}, "batch"));
  EXPECT_FALSE(program_change(epochs, batches));
  EXPECT_TRUE(program_change(epochs, epochs));
}

TEST(ProgramChange, FollowsKernelsByTheRangeThatLaunchedThem) {
  const auto in_ranges = [](std::int64_t backward) {
    FabricatedProgram program = steps_with({{"gemm", 1'000'000}, {"gemm", backward}});
    program.made.trace.places.push_back({"forward", trace::part::op});
    program.made.trace.places.push_back({"backward", trace::part::op});
    trace::PlaceIndex next = 0;
    program.made.trace.kernels.change_all([&](trace::Kernel& kernel) { kernel.place = 1 + next++ % 2; });
    return program;
  };
  const ProgramChange change = change_of(in_ranges(2'000'000), in_ranges(5'000'000));
  ASSERT_EQ(change.ranges.size(), 2U);
  EXPECT_EQ(change.ranges[0].range, "backward");
  EXPECT_NEAR(change.ranges[0].difference(), 3e-3, 1e-9);
  EXPECT_NEAR(change.ranges[1].difference(), 0, 1e-9);
  EXPECT_TRUE(change_of(unfused(), fused()).ranges.empty()) << "of one op there is nothing to tell apart";
}

// --- The time of a step

TEST(StepTime, IsThatOfTheSteadySteps) {
  FabricatedProgram program;
  for (int step = 0; step < 8; ++step)
    program.range("step", [&] { program.launch("gemm", step == 0 ? 9'000'000 : 1'000'000); });
  const std::vector<Measurement> rows = step_times(program.made.trace, 0);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].metric, "step_time");
  EXPECT_EQ(rows[0].derived->step, std::vector<std::string>{"step"});
  ASSERT_EQ(rows[0].samples.size(), 7U) << "the first one warms up";
  EXPECT_NEAR(rows[0].samples[3], 1e-3, 1e-9);
  EXPECT_EQ(rows[1].metric, "step_gpu_share");
  EXPECT_EQ(rows[1].samples, std::vector<double>{1});
  FabricatedProgram once;
  once.launch("gemm", 100);
  EXPECT_TRUE(step_times(once.made.trace, 0).empty());
}

/// Ten steps that launch a kernel, and wait for it while the host computes.
FabricatedProgram half_busy(std::int64_t kernel) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch("gemm", kernel);
      program.wait();
      program.compute(4'000'000);
    });
  return program;
}

TEST(StepTime, OfABusyGpuVariesAsItsTimesDo) {
  const Comparison comparison =
      compare(traced_run(unfused(), "2026-01-01T00:00:00Z"), traced_run(fused(), "2026-01-02T00:00:00Z"), {});
  EXPECT_NEAR(step_time(comparison).ratio.value_or(0), 0.75, 1e-3);
  EXPECT_EQ(step_time(comparison).speed_up.verdict, Verdict::faster);
  EXPECT_TRUE(step_time(comparison).speed_up.interval);
  EXPECT_EQ(comparison.mean_of_totals().count, 1U) << "a step is no total time";
  EXPECT_FALSE(comparison.failed());
}

TEST(StepTime, OfTheHostsCodeVariesAsTheHostDoes) {
  // 8 to 7.2 ms: ten steps of one execution do not say how the next execution differs.
  const Comparison comparison = compare(traced_run(half_busy(4'000'000), "2026-01-01T00:00:00Z"),
                                        traced_run(half_busy(3'200'000), "2026-01-02T00:00:00Z"), {});
  EXPECT_EQ(step_time(comparison).speed_up.verdict, Verdict::inconclusive);
  EXPECT_EQ(step_time(comparison).speed_up.reason, Why(Because::one_execution_each));
  EXPECT_TRUE(step_time(comparison).speed_up.no_change_above) << "but what they exclude is told";
}

TEST(StepTime, ThatIsLongerFailsAComparison) {
  const Comparison comparison =
      compare(traced_run(fused(), "2026-01-01T00:00:00Z"), traced_run(unfused(), "2026-01-02T00:00:00Z"), {});
  EXPECT_TRUE(comparison.failed());
  const CaseComparison& c = comparison.cases.at(0);
  ASSERT_EQ(c.regressions.size(), 1U);
  EXPECT_EQ(regression_text(words_of(comparison, c), c, c.regressions[0]).find("step time slower by 33.3"),
            0U);
  EXPECT_NE(comparison_junit(comparison).find("step time slower by 33.3"), std::string::npos);
}

TEST(StepTime, OfSeveralRunsOfASideIsMoreRounds) {
  const auto side = [](const FabricatedProgram& program, int day) {
    std::vector<mprof::Run> runs;
    for (int run = 0; run < 4; ++run)
      runs.push_back(traced_run(program, "2026-01-0" + std::to_string(day + run) + "T00:00:00Z"));
    mprof::Run all = pooled(std::move(runs));
    derive_variation(all);
    return all;
  };
  const Comparison comparison = compare(side(unfused(), 1), side(fused(), 5), {});
  EXPECT_EQ(step_time(comparison).a->rounds, 4U);
  EXPECT_EQ(step_time(comparison).a->samples, 40U);
  EXPECT_EQ(step_time(comparison).speed_up.verdict, Verdict::faster);
}

TEST(StepTime, OfOtherStepsIsNotCompared) {
  const Comparison comparison = compare(traced_run(steps_with({{"gemm", 1'000'000}}, "epoch"), "a"),
                                        traced_run(steps_with({{"gemm", 1'000'000}}, "batch"), "b"), {});
  EXPECT_EQ(comparison.cases.at(0).times.size(), 1U) << "the total time";
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_EQ(comparison.notes[0],
            "program/p: steps are found by epoch in A, by batch in B, so that their times are not compared");
}

TEST(StepTime, HasAHistory) {
  std::vector<RecordedRun> runs;
  for (int day = 1; day < 5; ++day) {
    const std::string date = "2026-01-0" + std::to_string(day) + "T00:00:00Z";
    runs.push_back(recorded_run(traced_run(day < 3 ? unfused() : fused(), date), date));
  }
  runs.insert(runs.begin(),
              recorded_run(traced_run(steps_with({{"gemm", 5'000'000}}, "epoch"), "2025"), "0"));
  const History history = history_of(std::move(runs), {});
  const std::vector<HistorySeries>& series = history.machines.at(0).cases.at(0).series;
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[1].metric, "step_time");
  EXPECT_EQ(series[1].timed(), 4U) << "the first run has other steps";
  EXPECT_EQ(series[1].points[0].time.absent, Why(Because::other_steps));
  EXPECT_NEAR(series[1].overall.ratio, 0.75, 1e-3);
}

// --- In words and as data

Comparison compared_programs() {
  Comparison comparison =
      compare(traced_run(unfused(), "2026-01-01T00:00:00Z"), traced_run(fused(), "2026-01-02T00:00:00Z"), {});
  ProgramPictures before, after;
  before.emplace("program/p", picture_of_trace(unfused()));
  after.emplace("program/p", picture_of_trace(fused()));
  add_program_changes(comparison, before, after);
  return comparison;
}

TEST(ProgramChangeWords, SayWhatBecameOfAStep) {
  const Comparison comparison = compared_programs();
  const std::vector<LedText> lines = program_change_lines(comparison.cases.at(0));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].lead, "A step");
  EXPECT_EQ(lines[0].text.find("12 → 9\u00a0ms (medians of 10 steady steps each"), 0U) << lines[0].text;
  EXPECT_EQ(lines[1].lead, "Where a step changed");
  EXPECT_EQ(lines[1].text,
            "Softmax and losses 4 → 1\u00a0ms (new: fused_softmax; gone: softmax_warp_backward and "
            "softmax_warp_forward).");
  EXPECT_EQ(lines[2].text, "4 → 3 kernels a step.");
  EXPECT_EQ(lines[3].text, "The GPU on both sides.");
}

TEST(ProgramChangeWords, WithoutStepsSayByHowMuchBeforeTheySayThat) {
  FabricatedProgram before, after;
  before.launch("gemm", 1'000'000);
  after.launch("gemm", 500'000);
  const std::string text = traced_change_lines(change_of(before, after)).front().text;
  EXPECT_NE(text.find(" while traced (\u221250.0"), std::string::npos) << text;
  EXPECT_NE(text.find("%). No steps were found on either side. Each was traced once, so"), std::string::npos)
      << text;
}

TEST(ProgramChangeWords, OfOneProgramTwiceSayThatNothingDiffers) {
  Comparison comparison = compare(traced_run(fused(), "a"), traced_run(fused(), "b"), {});
  ProgramPictures pictures;
  pictures.emplace("program/p", picture_of_trace(fused()));
  add_program_changes(comparison, pictures, pictures);
  const std::vector<LedText> lines = program_change_lines(comparison.cases.at(0));
  ASSERT_EQ(lines.size(), 3U) << "no word on launches";
  EXPECT_EQ(lines[1].text, "No kind of kernel, copy or idle time differs by 1\u00a0% of it.");
  const nlohmann::json view = program_changes_view(comparison, false);
  EXPECT_TRUE(view.at(0).at("tables").empty());
  EXPECT_FALSE(program_changes_view(comparison, true).at(0).at("tables").empty()) << "asked for";
}

TEST(ProgramChangeWords, OfMemoryThatNoRecordTellsOfGiveNoChange) {
  FabricatedProgram before, after;
  for (FabricatedProgram* program : {&before, &after}) {
    program->allocate(program == &before ? 4U << 20U : 2U << 20U);
    for (int step = 0; step < 10; ++step) program->range("step", [&] { program->launch("gemm", 1'000'000); });
  }
  after.made.call("cuMemCreate", {1, 2});
  Comparison comparison = compare(traced_run(before, "a"), traced_run(after, "b"), {});
  ProgramPictures a, b;
  a.emplace("program/p", picture_of_trace(before));
  b.emplace("program/p", picture_of_trace(after));
  add_program_changes(comparison, a, b);
  const std::vector<LedText> lines = program_change_lines(comparison.cases.at(0));
  ASSERT_EQ(lines.back().lead, "GPU memory at its peak");
  EXPECT_EQ(lines.back().text,
            "4\u00a0MiB → at least 2\u00a0MiB. How it changed is not known: no record tells of memory of "
            "cuMemCreate.");
  const auto data = nlohmann::json::parse(render_comparison(comparison, "json"));
  EXPECT_FALSE(data.at("cases").at(0).at("program").at("a").at("held_more"));
  EXPECT_TRUE(data.at("cases").at(0).at("program").at("b").at("held_more"));
}

TEST(ProgramChangeWords, StandInEachFormat) {
  const Comparison comparison = compared_programs();
  for (const char* format : {"text", "md", "html"}) {
    const std::string text = render_comparison(comparison, format);
    EXPECT_NE(text.find("fused_softmax"), std::string::npos) << format;
    EXPECT_NE(text.find("Where a step changed"), std::string::npos) << format;
  }
  EXPECT_NE(render_step_summary(comparison).find("Where a step changed"), std::string::npos);
  const auto data = nlohmann::json::parse(render_comparison(comparison, "json"));
  const auto& program = data.at("cases").at(0).at("program");
  EXPECT_TRUE(program.at("by_step"));
  EXPECT_EQ(program.at("kinds").at(0).at("added"), nlohmann::json::array({"fused_softmax"}));
  EXPECT_EQ(program.at("kernels").at(0).at("b"), nullptr) << "it is gone";
  EXPECT_NEAR(program.at("b").at("mean"), 9e-3, 1e-5);
}

}  // namespace
}  // namespace mprof
