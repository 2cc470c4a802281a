// SPDX-License-Identifier: MIT
#include "report/views/sample_charts.hpp"

#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "model/derive/subjects.hpp"
#include "report/analysis/findings/sample_series.hpp"
#include "tests/report/planned_charts.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

using nlohmann::json;

/// A time of two rounds of 20 samples, of which the second is 10 % slower in its second half.
Measurement stepping() {
  Measurement m = samples::measured("total_time", "", samples::around(1, 0.002, 40));
  m.rounds = {20, 20};
  for (std::size_t i = 30; i < 40; ++i) m.samples[i] *= 1.1;
  return m;
}

SampleSeries series_of(Measurement m) {
  m.derived.own().series = series_notes(m);
  return sample_series(m);
}

json chart_of(Measurement m, std::size_t most = 500) {
  m.derived.own().series = series_notes(m);
  const SamplePanel panel{"total time", {{"", &m}}};
  return sample_chart("id", "title", std::span(&panel, 1), most);
}

TEST(SampleSeries, ARoundIsCutWhereItSteps) {
  const SampleSeries series = series_of(stepping());
  EXPECT_EQ(series.rounds, (std::vector<std::size_t>{20, 20}));
  ASSERT_EQ(series.levels.size(), 3U);
  EXPECT_EQ(series.steps(), 1U);
  EXPECT_EQ(series.levels[2].round, 1U);
  EXPECT_EQ(series.levels[2].from, 10U);
  EXPECT_NEAR(series.levels[2].median / series.levels[1].median, 1.1, 0.005);
}

TEST(SampleSeries, ARoundWithoutSamplesIsNone) {
  Measurement m = stepping();
  m.rounds = {20, 0, 20};
  const SampleSeries series = series_of(m);
  EXPECT_EQ(series.rounds, (std::vector<std::size_t>{20, 20}));
  EXPECT_EQ(series.steps(), 1U);
}

TEST(SampleCharts, SaysWhereItStepsAndWhatIsFarOut) {
  Measurement m = stepping();
  m.samples[3] = 4;
  const json chart = chart_of(m);
  EXPECT_EQ(chart["caption"], "Steps: total time by +10.0\u00a0% (round 2). Far out: 1 of 40 in total time.");
  const json& panel = chart["series"][0];
  EXPECT_EQ(panel["points"].size(), 40U);
  EXPECT_EQ(panel["far"], json::array({3}));
  EXPECT_EQ(panel["sides"][0]["rounds"], json::array({20, 20}));
  EXPECT_EQ(panel["levels"].size(), 3U);
  EXPECT_EQ(panel["levels"][2][1], 0.5) << "half-way through its round";
}

TEST(SampleCharts, TooFewSamplesTellNoStep) {
  const Measurement m = samples::measured("total_time", "", {1, 1.1, 1.2, 1, 1.1, 1.2});
  EXPECT_EQ(chart_of(m)["caption"], "Too few samples in a round to tell a step.");
}

TEST(SampleCharts, AFewSamplesMakeNoSeries) {
  EXPECT_TRUE(chart_of(samples::measured("total_time", "", {1, 1.1, 1.2})).empty());
}

TEST(SampleCharts, ManySamplesAreThinnedAndKeepTheirExtremes) {
  Measurement m = samples::measured("total_time", "", samples::around(1, 0.002, 900));
  m.rounds.clear();
  m.samples[417] = 3;
  const json chart = chart_of(m, 100);
  EXPECT_LE(chart["series"][0]["points"].size(), 100U);
  EXPECT_EQ(chart["series"][0]["far"].size(), 1U) << "the sample that is far out is drawn";
  EXPECT_NE(chart["caption"].get<std::string>().find(" of 900 samples, evenly chosen"), std::string::npos);
}

TEST(SampleCharts, OfAVariantAreThoseOfTheLargestProblemAndOfStepsElsewhere) {
  mprof::Run run = samples::healthy();
  const auto titles = [&] {
    const RunAnalysis analysis = analyse(run);
    PagePlan plan;
    const FamilyResult& family = analysis.families[0];
    const json view = samples_view(family, family.variants[0], plan);
    std::vector<std::string> found;
    for (const json& chart : view["charts"]) found.push_back(chart["title"]);
    return found;
  };
  EXPECT_EQ(titles(), std::vector<std::string>{"conv/cpu_naive at batch 10000"});
  std::vector<double> stepped = samples::around(1, 0.002, 60);
  for (std::size_t i = 30; i < 40; ++i) stepped[i] *= 1.2;
  samples::set_samples(run.cases[0], "total_time", "", stepped);
  derive_variation(run);
  EXPECT_EQ(titles(),
            (std::vector<std::string>{"conv/cpu_naive at batch 10000", "conv/cpu_naive at batch 100"}));
}

TEST(SampleCharts, OnlyAPageDrawsThem) {
  const mprof::Run run = samples::healthy();
  for (const PlannedChart& planned : milestone_page(analyse(run), {}).charts)
    EXPECT_EQ(planned.drawn_on == DrawnOn::screen, planned.chart["kind"] == "strip") << planned.chart["id"];
}

}  // namespace
}  // namespace mprof
