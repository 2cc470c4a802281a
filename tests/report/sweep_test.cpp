// SPDX-License-Identifier: MIT
#include "report/analysis/standing/sweep.hpp"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "report/page/report.hpp"
#include "report/views/views.hpp"
#include "system/files.hpp"
#include "tests/report/planned_charts.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using nlohmann::json;

/// A run's analysis with the sweeps of its only family.
struct Swept {
  explicit Swept(mprof::Run r)
      : run(std::move(r)), analysis(analyse(run)), all(sweeps_of(analysis.families.at(0))) {}
  mprof::Run run;
  RunAnalysis analysis;
  std::vector<Sweep> all;

  [[nodiscard]] const Sweep& of(std::string_view variant) const {
    for (const Sweep& sweep : all) {
      if (sweep.variant->info.id == variant) return sweep;
    }
    throw std::out_of_range(std::string(variant));
  }
  /// The view of one variant's sweep.
  [[nodiscard]] json view(std::string_view variant) const {
    PagePlan plan;
    const json whole = sweep_view(analysis.families.at(0), plan);
    for (const json& one : whole["variants"]) {
      if (one["id"] == variant) return samples::with_charts(one, plan);
    }
    throw std::out_of_range(std::string(variant));
  }
};

const SweepSeries& series_at(const OpSweep& op, std::uint64_t batch) {
  const auto found = std::find_if(op.series.begin(), op.series.end(), [&](const SweepSeries& s) {
    return s.problem == samples::at_batch(batch);
  });
  if (found == op.series.end()) throw std::out_of_range(std::to_string(batch));
  return *found;
}

std::string best_name(const Sweep& sweep, std::size_t op, std::uint64_t batch) {
  return sweep.name(series_at(sweep.ops.at(op), batch).best_point()->at);
}

const SweepPoint& point_named(const Sweep& sweep, const SweepSeries& series, std::string_view name) {
  const auto found = std::find_if(series.points.begin(), series.points.end(),
                                  [&](const SweepPoint& point) { return sweep.name(point.at) == name; });
  if (found == series.points.end()) throw std::out_of_range(std::string(name));
  return *found;
}

/// One swept variant with a point for each of these values, at one batch; op times as given, layer 2 twice
/// that.
mprof::Run sweep_over(const ParameterInfo& parameter, const std::vector<double>& times) {
  mprof::Run run = samples::empty_run();
  VariantInfo info = samples::variant("conv/one");
  info.parameters = {parameter};
  run.variants = {info};
  run.plan.problems = {{"conv", {samples::at_batch(100)}}};
  for (std::size_t i = 0; i < times.size(); ++i) {
    run.cases.push_back(
        samples::timed_case(info, 100, times[i], 2 * times[i], {{parameter.name, parameter.values[i]}}));
  }
  return run;
}

SweepAxis axis_over(std::vector<std::string> values) {
  const std::vector<double> times(values.size(), 0.1);
  const Swept swept(sweep_over({"p", "", values[0], values}, times));
  return swept.all.at(0).axes.at(0);
}

TEST(Sweep, OnlySweptVariantsHaveOne) {
  EXPECT_TRUE(Swept(samples::healthy()).all.empty());
  PagePlan plan;
  const mprof::Run run = samples::healthy();
  EXPECT_EQ(sweep_view(analyse(run).families.at(0), plan), json(false));
  const Swept swept(samples::swept());
  ASSERT_EQ(swept.all.size(), 5U) << "and the baseline has none";
  EXPECT_EQ(swept.all[0].variant->info.id, "conv/tiled");
}

TEST(Sweep, NumbersLieOnANumericAxis) {
  EXPECT_EQ(axis_over({"8", "16", "32"}).scale, AxisScale::log2);
  EXPECT_EQ(axis_over({"8", "10", "12"}).scale, AxisScale::linear);
  EXPECT_EQ(axis_over({"0", "1", "2"}).scale, AxisScale::linear) << "0 has no logarithm";
  EXPECT_EQ(axis_over({"100", "500", "5000"}).scale, AxisScale::log2) << "too wide for a linear one";
  EXPECT_EQ(axis_over({"all", "1", "2"}).scale, AxisScale::categories);
  EXPECT_EQ(axis_over({"8x4", "8x8"}).scale, AxisScale::categories);
  EXPECT_DOUBLE_EQ(axis_over({"8", "16", "32"}).position(1), 4);
  EXPECT_DOUBLE_EQ(axis_over({"8", "10", "12"}).position(2), 12);
  EXPECT_DOUBLE_EQ(axis_over({"all", "1", "2"}).position(2), 2);
}

TEST(Sweep, NumbersAscendAndWordsKeepTheirOrder) {
  EXPECT_EQ(axis_over({"32", "4", "16"}).values, (std::vector<std::string>{"4", "16", "32"}));
  EXPECT_EQ(axis_over({"32", "4", "16"}).default_index, 2U);
  EXPECT_EQ(axis_over({"tf32", "fp32"}).values, (std::vector<std::string>{"tf32", "fp32"}));
}

TEST(Sweep, ABestThatOthersAreLevelWithIsSaidToBeLevel) {
  const mprof::Run run = sweep_over({"p", "", "1", {"1", "2", "3"}}, {0.1, 0.1001, 0.2});
  const Swept swept(run);
  const SweepSeries& series = series_at(swept.all.at(0).ops.at(0), 100);
  EXPECT_EQ(series.level(), 1U);
  const json view = swept.view("conv/one");
  const std::string sentence = view["sentences"][0];
  EXPECT_NE(sentence.find("p=1 is best, tied with 1 other, with"), std::string::npos) << sentence;
  const std::string rows = view["tables"][0].dump();
  EXPECT_NE(rows.find("tied with 1 other"), std::string::npos) << rows;
  EXPECT_EQ(rows.find("\"best\",\"text"), std::string::npos);
}

TEST(Sweep, TheBestIsTheLowestMedianOfEachOpAndBatch) {
  const Swept swept(samples::swept());
  const Sweep& tiled = swept.of("conv/tiled");
  EXPECT_EQ(best_name(tiled, 0, 1000), "tile_width=8");
  EXPECT_EQ(best_name(tiled, 0, 10000), "tile_width=16");
  EXPECT_EQ(best_name(tiled, 1, 10000), "tile_width=32");
  const SweepSeries& series = series_at(tiled.ops[0], 10000);
  const SweepPoint& widest = point_named(tiled, series, "tile_width=4");
  EXPECT_EQ(widest.standing, Standing::slower);
  EXPECT_DOUBLE_EQ(*widest.to_best, 2.3);
  EXPECT_EQ(series.slowest(), &widest);
  EXPECT_NEAR(*point_named(tiled, series, "tile_width=16").over_default.factor, 1.4, 1e-12);
  EXPECT_TRUE(point_named(tiled, series, "tile_width=8").is_default);
}

TEST(Sweep, PointsWhoseIntervalsOverlapAreLevel) {
  const Swept swept(samples::swept());
  const Sweep& tiled = swept.of("conv/tiled");
  EXPECT_EQ(point_named(tiled, series_at(tiled.ops[1], 10000), "tile_width=16").standing, Standing::level);
  for (const OpSweep& op : swept.of("conv/precision").ops) {
    for (const SweepPoint& point : op.series.at(0).points) EXPECT_TRUE(point.among_best());
  }
  const json sentences = swept.view("conv/precision")["sentences"];
  ASSERT_EQ(sentences.size(), 2U) << "which value is best for both ops is nothing to say";
  EXPECT_EQ(sentences[0], "layer1 at batch 10000: all values are tied: all take 800.0\u00a0ms.");
}

TEST(Sweep, WithoutASpreadNothingIsTold) {
  mprof::Run run = sweep_over({"p", "", "1", {"1", "2"}}, {0.1, 0.3});
  for (Case& c : run.cases)
    samples::set_samples(c, "op_time", "layer1", {c.key.parameters.at("p") == "2" ? 0.3 : 0.1});
  const Swept swept(std::move(run));
  const SweepSeries& series = swept.all.at(0).ops.at(0).series.at(0);
  EXPECT_EQ(series.points[1].standing, Standing::unclear);
  EXPECT_EQ(series.points[1].reason, Why(Because::variation_unknown));
  EXPECT_NE(swept.view("conv/one")["sentences"][0].get<std::string>().find("the fastest measured"),
            std::string::npos);
}

TEST(Sweep, WideIntervalsAreNotTakenForEqualTimes) {
  mprof::Run run = sweep_over({"p", "", "1", {"1", "2"}}, {0.1, 0.2});
  for (Case& c : run.cases)
    samples::set_samples(c, "op_time", "layer1",
                         samples::around(c.key.parameters.at("p") == "2" ? 0.2 : 0.1, 0.9));
  const Swept swept(std::move(run));
  EXPECT_EQ(swept.all.at(0).ops.at(0).series.at(0).points[1].standing, Standing::level);
  EXPECT_NE(swept.view("conv/one")["sentences"][0].get<std::string>().find("too wide to separate the values"),
            std::string::npos);
}

TEST(Sweep, AWrongOutputIsNeverTheBest) {
  const Swept swept(samples::swept());
  const Sweep& tiled = swept.of("conv/tiled");
  const SweepPoint& wrong = point_named(tiled, series_at(tiled.ops[0], 1000), "tile_width=64");
  EXPECT_LT(wrong.time->median, series_at(tiled.ops[0], 1000).best_point()->time->median);
  EXPECT_EQ(wrong.standing, Standing::none);
  EXPECT_EQ(wrong.reason, Why(Because::wrong_output));
  EXPECT_FALSE(wrong.over_default);
  EXPECT_FALSE(wrong.to_best);
}

TEST(Sweep, WhatHasNoTimeStaysWithItsReason) {
  const Swept swept(samples::swept());
  const Sweep& matrix = swept.of("conv/matrix");
  const SweepSeries& series = series_at(matrix.ops[0], 10000);
  ASSERT_EQ(series.points.size(), 12U);
  EXPECT_EQ(point_named(matrix, series, "tile_width=8,block=16x16").reason,
            Why(Because::case_ended, {"crashed", "the worker ended by signal 11 (SIGSEGV)"}));
  const SweepPoint& missing = point_named(matrix, series, "tile_width=32,block=16x16");
  EXPECT_EQ(missing.result, nullptr);
  EXPECT_EQ(missing.reason, Why(Because::not_in_run));

  const json chart = swept.view("conv/matrix")["charts"][0];
  EXPECT_EQ(chart["kind"], "heat_map");
  std::size_t cells = 0;
  for (const json& shade : chart["series"]) cells += shade["points"].size();
  EXPECT_EQ(cells, 12U);
  EXPECT_EQ(chart["series"].back()["name"], "no verified time");
  EXPECT_EQ(chart["series"].back()["points"][0]["text"], "crashed");
  EXPECT_EQ(chart["series"].back()["points"][1]["text"], "not run");
}

TEST(Sweep, ShadesAreMultiplesOfTheBest) {
  const Swept swept(samples::swept());
  const json chart = swept.view("conv/matrix")["charts"][0];
  EXPECT_EQ(chart["series"][0]["name"], "up to 1.05×");
  ASSERT_EQ(chart["series"][0]["points"].size(), 1U);
  const json& best = chart["series"][0]["points"][0];
  EXPECT_EQ(best["title"], "tile_width=24,block=8x8");
  EXPECT_EQ(best["best"], true);
  EXPECT_EQ(chart["rows"][best["row"].get<std::size_t>()], "24");
  EXPECT_EQ(chart["columns"][best["column"].get<std::size_t>()], "8x8");
}

TEST(Sweep, ACurveIsDrawnOverTheBestOfEachBatch) {
  const Swept swept(samples::swept());
  const json chart = swept.view("conv/tiled")["charts"][0];
  EXPECT_EQ(chart["kind"], "curve");
  ASSERT_EQ(chart["series"].size(), 2U);
  for (const json& series : chart["series"]) {
    ASSERT_EQ(series["points"].size(), 4U);
    ASSERT_EQ(series["gaps"].size(), 1U);
    for (const json& point : series["points"]) EXPECT_EQ(point["best"].get<bool>(), point["value"] == 1.0);
  }
  EXPECT_EQ(chart["series"][0]["gaps"][0]["text"], "wrong");
  EXPECT_EQ(chart["series"][1]["gaps"][0]["text"], "crashed");
  EXPECT_EQ(chart["axis"]["default"], 3.0) << "8 on an axis of powers of two";
}

TEST(Sweep, OfOneBatchACurveShowsTimes) {
  const Swept swept(sweep_over({"p", "", "1", {"1", "2", "4"}}, {0.003, 0.002, 0.004}));
  const json chart = swept.view("conv/one")["charts"][0];
  EXPECT_EQ(chart["axis"]["y"], "Op time (ms)");
  EXPECT_NEAR(chart["series"][0]["points"][0]["value"], 3, 1e-5);
  EXPECT_EQ(swept.view("conv/one")["sentences"][0],
            "layer1 at batch 100: p=2 is best with 2.000\u00a0ms, 2.00× as fast as the slowest, p=4; the "
            "default, p=1, takes 1.50× as long.");
}

TEST(Sweep, WorkOutsideForwardIsJudgedByLayerTime) {
  const Swept swept(samples::swept());
  const Sweep& streams = swept.of("conv/streams");
  EXPECT_EQ(streams.ops[0].compared_by, "group_time");
  EXPECT_EQ(best_name(streams, 0, 10000), "streams=6");
  const json view = swept.view("conv/streams");
  EXPECT_EQ(view["reading"],
            "Its op time says little, so the points of layer1 and layer2 are judged by layer "
            "time.");
  EXPECT_EQ(view["charts"][0]["axis"]["y"], "Layer time (ms)");
}

/// Without its trace a point would compete with an op time near zero.
TEST(Sweep, OnePointOutsideForwardDecidesForAll) {
  mprof::Run run = samples::swept();
  for (Case& c : run.cases) {
    if (c.id == "conv/streams[streams=1]@10000")
      std::erase_if(samples::timing(c).measurements,
                    [](const Measurement& m) { return m.metric == "gpu_time"; });
  }
  const Swept swept(std::move(run));
  EXPECT_EQ(best_name(swept.of("conv/streams"), 0, 10000), "streams=6");
}

TEST(Sweep, OfThreeParametersThereIsATableAndASentence) {
  const Swept swept(samples::swept());
  const json view = swept.view("conv/blocked");
  EXPECT_TRUE(view["charts"].empty());
  EXPECT_EQ(view["reading"],
            "3 parameters were swept at once, which no chart shows well: the tables hold every point.");
  EXPECT_EQ(view["tables"][0]["rows"].size(), 8U);
  EXPECT_EQ(best_name(swept.of("conv/blocked"), 0, 10000), "rows=2,columns=2,depth=4");
}

TEST(Sweep, SaysWhereTheBestDiffers) {
  const json sentences = Swept(samples::swept()).view("conv/tiled")["sentences"];
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_NE(sentences[0].get<std::string>().find(
                "The best value differs between batches: tile_width=8 at batch 1000, "
                "tile_width=16 at batch 10000."),
            std::string::npos);
  EXPECT_NE(
      sentences[1].get<std::string>().find("tile_width=32 is best, or tied with the best, at every batch."),
      std::string::npos);
  EXPECT_EQ(sentences[2], "At batch 10000, tile_width=16 is best, or tied with the best, for every op.")
      << "it is level in layer2";
}

TEST(Sweep, SaysThatTheDefaultWasNotRun) {
  mprof::Run run = samples::swept();
  std::erase_if(run.cases, [](const Case& c) { return c.id.starts_with("conv/tiled@"); });
  const Swept swept(std::move(run));
  const Sweep& tiled = swept.of("conv/tiled");
  EXPECT_FALSE(tiled.axes[0].default_index);
  EXPECT_EQ(series_at(tiled.ops[0], 10000).points[0].over_default.absent,
            Why(Because::default_not_run, {"batch"}));
  const json view = swept.view("conv/tiled");
  EXPECT_NE(view["axes"][0].get<std::string>().find("(default 8, which was not run)"), std::string::npos);
  EXPECT_NE(view["sentences"][0].get<std::string>().find("; the default was not run."), std::string::npos);
  EXPECT_TRUE(view["charts"][0]["axis"]["default"].is_null());
}

TEST(Sweep, NothingVerifiedIsSaidAndNotDrawn) {
  mprof::Run run = samples::swept();
  for (Case& c : run.cases) {
    if (c.key.variant == "conv/matrix") samples::timing(c).status = Status::wrong;
  }
  const json view = Swept(std::move(run)).view("conv/matrix");
  EXPECT_EQ(view["sentences"][0], "layer1: no point has a verified time.");
  EXPECT_TRUE(view["charts"].empty());
  EXPECT_EQ(view["tables"][0]["rows"].size(), 12U);
}

/// A record made by hand: a diagonal of values, whose full grid would have a million points.
TEST(Sweep, AVastGridIsOnlyListed) {
  mprof::Run run = samples::empty_run();
  VariantInfo info = samples::variant("conv/vast");
  info.parameters = {{"a", "", "0", {}}, {"b", "", "0", {}}};
  run.variants = {info};
  for (int i = 0; i < 1000; ++i) {
    const std::string value = std::to_string(i);
    run.cases.push_back(samples::timed_case(info, 100, 0.1 + 0.001 * i, 0.1, {{"a", value}, {"b", value}}));
  }
  const Swept swept(std::move(run));
  EXPECT_FALSE(swept.all.at(0).is_grid);
  EXPECT_EQ(swept.all.at(0).ops.at(0).series.at(0).points.size(), 1000U);
  EXPECT_TRUE(swept.view("conv/vast")["charts"].empty());
}

TEST(Sweep, AFamilyWithoutOpsIsJudgedByTotalTime) {
  mprof::Run run = sweep_over({"p", "", "1", {"1", "2"}}, {0.3, 0.1});
  for (Case& c : run.cases) c.ops.clear();
  const Swept swept(std::move(run));
  ASSERT_EQ(swept.all.at(0).ops.size(), 1U);
  EXPECT_EQ(swept.all[0].ops[0].compared_by, "total_time");
  EXPECT_EQ(best_name(swept.all[0], 0, 100), "p=2");
}

TEST(Sweep, HostileNamesStayText) {
  mprof::Run run = samples::swept();
  const std::string attack = "<img src=x onerror=alert(1)>|`\n# heading " + std::string(2000, 'x');
  for (VariantInfo& info : run.variants) {
    for (ParameterInfo& parameter : info.parameters) {
      parameter.meaning = attack;
      for (Case& c : run.cases) {
        if (c.key.variant != info.id) continue;
        const std::string value = c.key.parameters[parameter.name];
        c.key.parameters.erase(parameter.name);
        c.key.parameters[attack + parameter.name] = value + attack;
      }
      parameter.name = attack + parameter.name;
    }
  }
  const test::TemporaryDirectory directory;
  write_report(run, {{"md", "html"}, directory.path(), {}});
  const std::string html = read_file(directory.path() / "milestone.html");
  EXPECT_EQ(html.substr(0, html.find("<script type=\"application/json\"")).find("<img"), std::string::npos);
  EXPECT_EQ(read_file(directory.path() / "milestone.md").find("\n# heading"), std::string::npos);
}

}  // namespace
}  // namespace mprof
