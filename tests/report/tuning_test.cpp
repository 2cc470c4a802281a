// SPDX-License-Identifier: MIT
#include "report/analysis/standing/tuning.hpp"

#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "report/text/format.hpp"
#include "report/views/tuning_view.hpp"
#include "sample_runs.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

using samples::around;

/// A sweep of the GPU: `times` of layer 1 by the width, and 1 ms of layer 2.
mprof::Run sweep(const std::vector<double>& times) {
  mprof::Run run = samples::empty_run();
  VariantInfo tiled = samples::variant("conv/tiled");
  tiled.device = "cuda";
  tiled.parameters = {{"width", "of a tile", "0", {}}};
  for (std::size_t i = 0; i < times.size(); ++i) {
    tiled.parameters[0].values.push_back(std::to_string(i));
    run.cases.push_back(samples::timed_case(tiled, 100, times[i], 1e-3, {{"width", std::to_string(i)}}));
  }
  run.variants = {tiled};
  run.families = {samples::conv_family()};
  derive_variation(run);
  return run;
}

std::vector<std::string> order(const std::vector<Candidate>& candidates) {
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates) names.push_back(point_name(candidate.result.key.parameters));
  return names;
}

std::string refused(const std::string& text) {
  const mprof::Run run = sweep({1e-3});
  try {
    static_cast<void>(parse_objective(text, run.families[0], run.cases[0].ops));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << text << " was taken";
  return "";
}

TEST(Objective, IsAMetricOfAnOpOrOfAllTogether) {
  const mprof::Run run = sweep({1e-3});
  const auto parsed = [&](const std::string& text) {
    return parse_objective(text, run.families[0], run.cases[0].ops);
  };
  EXPECT_EQ(parsed("op_time").op, "");
  EXPECT_EQ(parsed("op_time:layer2").op, "layer2");
  EXPECT_EQ(parsed("op_time").better, Better::lower);
  EXPECT_EQ(parsed("flop_rate:layer1").better, Better::higher);
  EXPECT_EQ(parsed("accuracy").better, Better::higher) << "a quality of the family's";
}

TEST(Objective, RefusesWhatHasNoBetter) {
  EXPECT_NE(refused("op_tim").find("Did you mean op_time?"), std::string::npos);
  EXPECT_NE(refused("op_time:layer3").find("layer1"), std::string::npos);
  EXPECT_NE(refused("flops").find("neither more nor less"), std::string::npos);
}

TEST(Objective, OfTheWholeHasNoOp) {
  for (const char* metric : {"total_time", "user_time", "cpu_pressure", "trace_overhead", "dropped_records"})
    EXPECT_NE(refused(metric + std::string(":layer1")).find("of the whole, and of no op: leave :layer1 out"),
              std::string::npos)
        << metric;
}

/// The message with which an objective of a variant on that device is refused; empty: it is not.
std::string obstacle(const std::string& text, const std::string& device, std::vector<Pass> passes) {
  mprof::Run run = sweep({1e-3});
  run.variants[0].device = device;
  run.plan.variants = {"conv/tiled"};
  run.plan.passes = std::move(passes);
  for (OpInfo& op : run.cases[0].ops) op.flops = op.bytes = 1e6;
  run.cases[0].ops[1].special_operations = 1e6;
  const Objective objective = parse_objective(text, run.families[0], run.cases[0].ops);
  try {
    require_values(text, objective, run);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(ObjectiveBeforeMeasuring, IsTakenWhereThePassesAndTheDeviceHaveIt) {
  const std::vector<Pass> all{Pass::timing, Pass::trace, Pass::counters};
  for (const char* text : {"op_time", "group_time:layer1", "total_time", "accuracy", "user_time",
                           "first_op_time", "flop_rate:layer1", "special_rate:layer2"}) {
    EXPECT_EQ(obstacle(text, "cpu", {Pass::timing}), "") << text;
    EXPECT_EQ(obstacle(text, "cuda", {Pass::timing}), "") << text;
  }
  for (const char* text : {"gpu_time", "gpu_memory", "copy_overlap:layer1", "kernel_time", "dram__bytes.sum",
                           "launched_op_time"})
    EXPECT_EQ(obstacle(text, "cuda", all), "") << text;
  EXPECT_EQ(obstacle("cycles:layer1", "cpu", all), "");
}

TEST(ObjectiveBeforeMeasuring, OfOneOpNamesTheOpsThatHaveIt) {
  EXPECT_EQ(obstacle("flop_rate", "cuda", {Pass::timing}),
            "--objective flop_rate: it is of one op: flop_rate:layer1 or flop_rate:layer2.");
  EXPECT_NE(obstacle("special_rate", "cpu", {Pass::timing}).find("it is of one op: special_rate:layer2."),
            std::string::npos);
  EXPECT_NE(obstacle("special_rate:layer1", "cpu", {Pass::timing}).find("layer1 needs no such work"),
            std::string::npos);
  EXPECT_NE(obstacle("copy_overlap", "cuda", {Pass::timing, Pass::trace}).find("copy_overlap:layer1"),
            std::string::npos);
}

TEST(ObjectiveBeforeMeasuring, OfAnotherDeviceSaysSo) {
  const std::vector<Pass> all{Pass::timing, Pass::trace, Pass::counters};
  for (const char* text : {"gpu_time", "copy_in_time:layer1", "gpu_memory", "trace_overhead"})
    EXPECT_NE(
        obstacle(text, "cpu", all).find("conv/tiled runs on the CPU, and the trace has only what a GPU"),
        std::string::npos)
        << text;
  EXPECT_NE(obstacle("dram__bytes.sum", "cpu", all).find("are of GPU kernels"), std::string::npos);
  EXPECT_NE(obstacle("launched_op_time", "cpu", all).find("it is of a GPU"), std::string::npos);
  EXPECT_NE(obstacle("cycles", "cuda", all).find("runs on a GPU"), std::string::npos);
}

TEST(ObjectiveBeforeMeasuring, OfAPassThatIsNotRunSaysWhichToGive) {
  EXPECT_NE(obstacle("gpu_time", "cuda", {Pass::timing}).find("give --passes timing,trace."),
            std::string::npos);
  EXPECT_NE(obstacle("cycles", "cpu", {Pass::timing}).find("give --passes timing,counters."),
            std::string::npos);
  EXPECT_NE(obstacle("hot_op_time", "cuda", {Pass::timing}).find("no times from warm caches"),
            std::string::npos);
}

TEST(Ranking, SaysWhyThePassOfTheObjectiveDidNotRun) {
  mprof::Run run = sweep({1e-3});
  run.cases[0].passes.push_back({.pass = Pass::trace, .status = Status::skipped, .reason = "no CUPTI here"});
  EXPECT_EQ(ranked(run, {.metric = "gpu_time"})[0].reason,
            Why(Because::pass_said, {"trace", "no CUPTI here"}));
}

TEST(Ranking, PutsTheLowestSumOfAllOpsFirst) {
  const mprof::Run run = sweep({3e-3, 1e-3, 2e-3});
  const std::vector<Candidate> candidates = ranked(run, {.metric = "op_time"});
  EXPECT_EQ(order(candidates), (std::vector<std::string>{"width=1", "width=2", "width=0"}));
  EXPECT_NEAR(candidates[0].value->median, 2e-3, 1e-4) << "both ops";
  EXPECT_EQ(candidates[0].standing, Standing::best);
  EXPECT_EQ(candidates[2].standing, Standing::slower);
  EXPECT_NEAR(ranked(run, {.metric = "op_time", .op = "layer1"})[0].value->median, 1e-3, 1e-4);
}

TEST(Ranking, WhatIsWrongOrCrashedIsLastAndSaysWhy) {
  mprof::Run run = sweep({3e-3, 1e-3, 2e-3});
  PassResult& wrong = samples::timing(run.cases[1]);
  wrong.status = Status::wrong;
  wrong.reason = "layer1: relative error 0.5";
  run.cases.push_back(samples::failed_case(run.variants[0], 100, Status::crashed, "signal 11"));
  const std::vector<Candidate> candidates = ranked(run, {.metric = "op_time"});
  EXPECT_EQ(order(candidates).front(), "width=2");
  EXPECT_FALSE(candidates[2].value);
  EXPECT_EQ(candidates[2].reason, Why(Because::case_ended, {"wrong", "layer1: relative error 0.5"}));
  EXPECT_EQ(candidates[3].reason, Why(Because::case_ended, {"crashed", "signal 11"}));
  EXPECT_EQ(finalists(candidates, 3, 8), (std::vector<std::size_t>{0, 1}));
}

TEST(Ranking, WhereMoreIsBetterTheHighestIsFirst) {
  mprof::Run run = sweep({1e-3, 1e-3, 1e-3});
  samples::set_samples(run.cases[0], "accuracy", "", {0.8});
  samples::set_samples(run.cases[1], "accuracy", "", {0.9});
  samples::set_samples(run.cases[2], "accuracy", "", {0.9});
  const std::vector<Candidate> candidates = ranked(run, {.metric = "accuracy", .better = Better::higher});
  EXPECT_EQ(order(candidates), (std::vector<std::string>{"width=1", "width=2", "width=0"}));
  EXPECT_EQ(candidates[1].standing, Standing::level) << "equal";
  EXPECT_LT(cost_of(candidates[0].value, {.better = Better::higher}),
            cost_of(candidates[2].value, {.better = Better::higher}));
}

TEST(Ranking, TakesWhatIsLevelToTheFinals) {
  std::vector<double> times(10, 1e-3);
  times[7] = 5e-3;
  times[8] = 6e-3;
  times[9] = 0.999e-3;
  const std::vector<Candidate> candidates = ranked(sweep(times), {.metric = "op_time"});
  EXPECT_EQ(candidates[0].result.key.parameters.at("width"), "9");
  EXPECT_EQ(candidates[1].standing, Standing::level);
  EXPECT_EQ(finalists(candidates, 3, 20).size(), 8U) << "but the two that are slower beyond doubt";
  EXPECT_EQ(finalists(candidates, 9, 20).size(), 9U);
  EXPECT_EQ(finalists(candidates, 3, 4).size(), 4U);
}

TEST(UsualObjective, IsTheTimeByWhichEveryPointCanBeCompared) {
  mprof::Run run = sweep({1e-3, 2e-3});
  EXPECT_EQ(usual_objective(run).metric, "op_time");
  run.ceilings = {{.id = "memory_bandwidth", .device = "cuda", .value = 1e9}};
  samples::set_samples(run.cases[1], "op_time", "layer1", {1e-9});
  for (Case& c : run.cases) {
    for (OpInfo& op : c.ops) op.bytes = 1e6;
  }
  derive(run, "nowhere");
  const bool has_flaw = comparable_time(run.cases[1], "layer1") == "group_time";
  EXPECT_EQ(usual_objective(run).metric, has_flaw ? "group_time" : "op_time");
  for (Case& c : run.cases) c.ops.clear();
  EXPECT_EQ(usual_objective(run).metric, "total_time");
}

std::string rendered(const mprof::Run& run, bool is_final, std::size_t width = 80) {
  const Words words(run.families[0], {samples::at_batch(100)});
  TuningOutcome outcome{.variant = "conv/tiled",
                        .where = "at batch 100",
                        .strategy = "grid",
                        .points = 4,
                        .usual = {{"width", "0"}}};
  const Objective objective{.metric = "op_time"};
  outcome.all = ranked(run, objective);
  if (is_final) outcome.best = ranked(run, objective);
  std::erase_if(outcome.best, [](const Candidate& candidate) { return !candidate.value; });
  return render_tuning(outcome, objective, run.families[0], words, width);
}

TEST(TuningView, SaysWhatIsBestAndWhatWasNot) {
  mprof::Run run = sweep({3e-3, 1e-3, 2e-3});
  run.cases.push_back(samples::failed_case(run.variants[0], 100, Status::skipped, "tiles do not fit"));
  run.cases.back().key.parameters = {{"width", "9"}};
  const std::string text = rendered(run, true);
  for (const char* part : {"3 of 4", "by grid", "measured again side by side", "width=1", "best", "slower",
                           "the default", "1 point: tiles do not fit; width=9\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  EXPECT_NE(rendered(run, false).find("none of which was measured again"), std::string::npos);
}

/// `searched` and, beside it, the default that took `usual`.
std::string rendered_beside(const std::vector<double>& searched, double usual) {
  std::vector<double> times = searched;
  times.insert(times.begin(), usual);
  mprof::Run run = sweep(times), alone = run;
  run.cases.erase(run.cases.begin());
  alone.cases.resize(1);
  const Words words(run.families[0], {samples::at_batch(100)});
  const Objective objective{.metric = "op_time"};
  TuningOutcome outcome{.variant = "conv/tiled", .where = "at batch 100", .strategy = "grid", .points = 2};
  outcome.all = ranked(run, objective);
  outcome.best = ranked(run, objective);
  outcome.usual = {{"width", "0"}};
  outcome.beside = ranked(alone, objective).front();
  return render_tuning(outcome, objective, run.families[0], words, 120);
}

TEST(TuningView, HasTheDefaultBesideASearchWithoutItWhichNeverWins) {
  const std::string slow = rendered_beside({3e-3, 1e-3}, 9e-3);
  EXPECT_NE(slow.find("Over the default"), std::string::npos) << slow;
  EXPECT_NE(slow.find("not searched"), std::string::npos) << slow;
  EXPECT_EQ(slow.find("is better than all of these"), std::string::npos) << slow;
  const std::string fast = rendered_beside({3e-3, 1e-3}, 0.1e-3);
  EXPECT_LT(fast.find("width=2 "), fast.find("width=0 ")) << fast;
  EXPECT_NE(fast.find("The default (width=0) is better than all of these"), std::string::npos) << fast;
}

TEST(TuningView, IsNoWiderThanTheTerminal) {
  mprof::Run run = sweep({3e-3, 1e-3, 2e-3});
  run.cases.push_back(
      samples::failed_case(run.variants[0], 100, Status::skipped,
                           "it " + std::string(30, 'x') + " takes more than there is of it, by a lot"));
  const std::string text = rendered(run, true, 60);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    EXPECT_LE(format::width(text.substr(at, end - at)), 60U) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(TuningView, PointsOfOtherTolerancesAreNotAlike) {
  mprof::Run run = sweep({3e-3, 1e-3});
  EXPECT_EQ(rendered(run, true).find("different tolerances"), std::string::npos);
  for (Verification& verification : samples::timing(run.cases[1]).verification) verification.tolerance = 1e-2;
  EXPECT_NE(rendered(run, true).find("different tolerances"), std::string::npos);
}

}  // namespace
}  // namespace mprof
