// SPDX-License-Identifier: MIT
#include "report/analysis/machines/noise.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "report/views/variant_parts.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

/// One variant for the GPU at two problems; in the second an op takes less than ten times as long, and passes
/// ten times as much.
mprof::Run noisy_run() {
  mprof::Run run = samples::empty_run();
  run.families = {samples::conv_family()};
  run.variants = {samples::variant("conv/one")};
  run.variants[0].device = "cuda";
  run.cases = {samples::timed_case(run.variants[0], 100, 1, 1),
               samples::timed_case(run.variants[0], 1000, 5, 10)};
  for (Case& c : run.cases) {
    for (OpInfo& op : c.ops) op.items = static_cast<double>(&c == &run.cases[0] ? 100 : 1000);
  }
  return run;
}

Measurement& time_in(Case& c, const std::string& metric, const std::string& op) {
  for (Measurement& row : samples::timing(c).measurements) {
    if (row.metric == metric && row.op == op) return row;
  }
  throw std::runtime_error("no such time");
}

TEST(Noise, IsTheStandardDeviationOfAllSamples) {
  mprof::Run run = noisy_run();
  Measurement& row = time_in(run.cases[0], "op_time", "layer1");
  row.samples = {2, 4, 4, 4, 5, 5, 7, 9};
  row.rounds = {4, 4};
  row.derived.own().series.far_out = {7};
  const RunAnalysis analysis = analyse(run);
  const CaseResult& result = analysis.families[0].variants[0].cases[0];
  const auto spreading = spreading_of(result, "op_time", "layer1");
  ASSERT_TRUE(spreading.has_value());
  EXPECT_EQ(spreading->samples, 8U);
  EXPECT_NEAR(spreading->deviation, std::sqrt(32.0 / 7), 1e-12);
  EXPECT_NEAR(spreading->coefficient, std::sqrt(32.0 / 7) / 5, 1e-12);
  EXPECT_EQ(spreading->far_out, 1U);
  EXPECT_FALSE(spreading_of(result, "op_time", "no such op").has_value());
}

TEST(Noise, OfOneSampleThereIsNone) {
  mprof::Run run = noisy_run();
  time_in(run.cases[0], "op_time", "layer1").samples = {2};
  const RunAnalysis analysis = analyse(run);
  EXPECT_FALSE(spreading_of(analysis.families[0].variants[0].cases[0], "op_time", "layer1").has_value());
}

TEST(Noise, HasTheClockOrTheReasonWhyNot) {
  mprof::Run run = noisy_run();
  samples::timing(run.cases[0])
      .measurements.push_back(samples::measured("gpu_sm_clock", "", {1.98e9, 1.5e9, 1.98e9}));
  const RunAnalysis analysis = analyse(run);
  const std::vector<CaseResult>& cases = analysis.families[0].variants[0].cases;
  Why absent;
  const auto clock = sm_clock_of(cases[0], absent);
  ASSERT_TRUE(clock.has_value());
  EXPECT_EQ(clock->median, 1.98e9);
  EXPECT_EQ(clock->lowest, 1.5e9);
  EXPECT_EQ(clock->highest, 1.98e9);
  EXPECT_FALSE(sm_clock_of(cases[1], absent).has_value());
  EXPECT_EQ(absent, Why(Because::not_recorded));
}

TEST(NoiseTable, HasARowForEachCase) {
  mprof::Run run = noisy_run();
  samples::timing(run.cases[0])
      .measurements.push_back(samples::measured("gpu_sm_clock", "", {1.98e9, 1.5e9, 1.98e9}));
  const RunAnalysis analysis = analyse(run);
  Anchors anchors;
  const nlohmann::json table =
      noise_table(analysis.families[0], analysis.families[0].variants[0], anchors).view();
  ASSERT_EQ(table["rows"].size(), 2U);
  const nlohmann::json& clock = table["rows"][0]["cells"].back();
  EXPECT_EQ(clock["text"], "1,980");
  EXPECT_EQ(clock["detail"], "1,500–1,980");
}

TEST(Scaling, SaysWhatAnOpDoesASecond) {
  const mprof::Run run = noisy_run();
  const RunAnalysis analysis = analyse(run);
  const std::string text = scaling_text(analysis.families[0], analysis.families[0].variants[0]);
  EXPECT_EQ(text.find("Scaling, from batch 100 to batch 1000: layer1 2.00× to "), 0U) << text;
  EXPECT_NE(text.find("/s, layer2 1.00× to "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(" images/s.")) << text;
  mprof::Run alone = noisy_run();
  alone.cases.pop_back();
  const RunAnalysis of_one = analyse(alone);
  EXPECT_EQ(scaling_text(of_one.families[0], of_one.families[0].variants[0]), "");
}

/// Shapes are of a problem: beside the work of the largest one stands the title of that one.
TEST(FamilyView, AnOpIsCalledAsAtTheProblemOfItsWork) {
  mprof::Run run = noisy_run();
  run.cases[0].ops[0].title = "100 elements";
  run.cases[1].ops[0].title = "1000 elements";
  const nlohmann::json op = milestone_page(analyse(run), {}).view["families"][0]["ops"][0];
  EXPECT_EQ(op["title"], "1000 elements");
  EXPECT_NE(op["size"].get<std::string>().find("1000"), std::string::npos);
}

}  // namespace
}  // namespace mprof
