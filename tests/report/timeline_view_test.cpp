// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "report/page/charts.hpp"
#include "report/views/views.hpp"
#include "tests/report/fabricated_trace.hpp"
#include "tests/report/planned_charts.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

using test::FabricatedTrace;
using test::to_device;
using test::to_host;
using trace::CaseIndex;

/// With spaces that break, for the sake of whoever reads a test.
std::string plain(std::string text) {
  constexpr std::string_view no_break = "\u00a0";
  for (std::size_t at = text.find(no_break); at != text.npos; at = text.find(no_break, at))
    text.replace(at, no_break.size(), " ");
  return text;
}

class TimelineView : public ::testing::Test {
 protected:
  nlohmann::json view_of(const mprof::Run& run, const Evidence& evidence) {
    analysis = analyse(run);
    PagePlan plan;
    return samples::with_charts(timeline_view(analysis, evidence, plan), plan);
  }
  /// Of the GPU run: copies beside kernels on two streams against one after the other on one.
  static Evidence gpu_evidence(const mprof::Run& run, const std::string& kernel = "scale") {
    FabricatedTrace made;
    for (const Case& c : run.cases) made.add_case(c.id);
    made.transfer(7, {0, 1'000'000}, to_device, 4096, 0);
    made.kernel(7, {1'000'000, 3'000'000}, 0, kernel);
    made.transfer(21, {5'000'000, 6'000'000}, to_device, 4096, 1);
    made.kernel(22, {5'500'000, 7'500'000}, 1, kernel);
    return {std::move(made.trace), ""};
  }

  RunAnalysis analysis;
};

TEST_F(TimelineView, SaysWhyThereIsNone) {
  const nlohmann::json view = view_of(samples::healthy(), {std::nullopt, "the run has\nno <trace>"});
  EXPECT_EQ(view["absent"], "The run has no <trace>");
  EXPECT_TRUE(view["charts"].empty());
  EXPECT_FALSE(view.contains("live"));
}

TEST_F(TimelineView, SaysSoWhenTheTraceIsEmpty) {
  const mprof::Run run = samples::gpu();
  FabricatedTrace made;
  made.add_case(run.cases[0].id);
  EXPECT_EQ(view_of(run, {made.trace, ""})["absent"], "The trace holds no activity of any case");
}

TEST_F(TimelineView, PutsWhatUsesSeveralStreamsAboveItsBaseline) {
  const mprof::Run run = samples::gpu();
  const nlohmann::json view = view_of(run, gpu_evidence(run));
  EXPECT_EQ(view["absent"], "");
  ASSERT_EQ(view["charts"].size(), 1U);
  const nlohmann::json& chart = view["charts"][0];
  EXPECT_EQ(chart["title"], "conv/streams against conv/baseline");
  EXPECT_EQ(plain(chart["cases"][0]["figures"]),
            "overlap 50.0 % · 2 or more streams busy 20.0 % · GPU busy 100.0 % of 2.500 ms");
  EXPECT_EQ(plain(chart["cases"][1]["figures"]), "overlap 0.0 % · GPU busy 100.0 % of 3.000 ms");
  EXPECT_EQ(
      plain(view["sentences"][0]["lead"]),
      "conv/streams, batch 10000: 50.0 % of the shorter of copy and kernel time overlapped; its baseline "
      "conv/baseline: 0.0 %.");
  EXPECT_EQ(
      plain(view["sentences"][0]["text"]),
      "1 kernel and 1 copy in 2 streams: kernels ran for 2.000 ms and copies for 1.000 ms, both "
      "at once for 500.0 µs. Two or more streams were busy at once for 500.0 µs. The GPU was busy for "
      "2.500 ms. Against its baseline, kernels ran for as long as before and the GPU only copied or set "
      "memory for 500.0 µs less.");
  EXPECT_EQ(chart["cases"][0]["lanes"][1]["strips"][0]["blocks"], "500000,2000000,1");
  EXPECT_EQ(view["live"]["shown"], nlohmann::json::array({1, 0}));
  EXPECT_EQ(view["choices"].size(), 2U) << "a case without a record is none to choose";
}

TEST_F(TimelineView, TakesTheFastestWhereAllUseOneStream) {
  const mprof::Run run = samples::healthy();
  FabricatedTrace made;
  for (const Case& c : run.cases) {
    const CaseIndex index = made.add_case(c.id);
    made.kernel(7, {100, 200}, index);
  }
  const nlohmann::json view = view_of(run, {made.trace, ""});
  const Best* fastest = nullptr;
  for (const Best& best : analysis.families.at(0).best) {
    if (best.op.empty()) fastest = &best;  // the last one is of the largest batch
  }
  ASSERT_NE(fastest, nullptr);
  ASSERT_EQ(view["charts"].size(), 1U);
  const std::string title = view["charts"][0]["title"];
  EXPECT_TRUE(title.starts_with(fastest->fastest->configuration)) << title;
  EXPECT_NE(view["sentences"][0]["lead"].get<std::string>().find("no copies, so nothing could overlap"),
            std::string::npos);
}

TEST_F(TimelineView, CallsNoWrongOutputAnImprovement) {
  mprof::Run run = samples::gpu();
  samples::timing(run.cases[1]).status = Status::wrong;
  const std::string text = view_of(run, gpu_evidence(run))["sentences"][0]["text"];
  EXPECT_EQ(text.find("Its window is"), std::string::npos);
  EXPECT_NE(text.find("Its output is wrong"), std::string::npos) << text;
}

TEST_F(TimelineView, StaysSmallHoweverLongTheTrace) {
  const mprof::Run run = samples::large(18);
  FabricatedTrace made;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const CaseIndex index = made.add_case(run.cases[i].id);
    if (value_on(run.cases[i].key.problem, "batch") != 10000) continue;
    for (std::int64_t k = 0; k < 4000; ++k) {
      const std::int64_t start = 1'700'000'000'000'000'000 + 1'000'003 * k;
      made.kernel(static_cast<std::uint32_t>(7 + k % 3), {start, start + 700'001}, index);
      made.transfer(12, {start + 600'001, start + 900'001}, k % 2 == 0 ? to_device : to_host, 26'214'400,
                    index);
    }
  }
  const nlohmann::json view = view_of(run, {made.trace, ""});
  EXPECT_EQ(view["live"]["cases"].size(), 18U);
  EXPECT_LT(view["live"].dump().size(), 300'000U);
}

TEST_F(TimelineView, IsDrawnWithNamesThatAreText) {
  const std::string attack = "<script>x</script>" + std::string(2000, 'n');
  const mprof::Run run = samples::gpu();
  const nlohmann::json chart = view_of(run, gpu_evidence(run, attack))["charts"][0];
  EXPECT_LT(chart["cases"][0]["names"][1].get<std::string>().size(), 100U);
  const std::string svg = plain(ChartRenderer(Templates(std::filesystem::path())).svg(chart));
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_NE(svg.find("conv/streams, batch 10000"), std::string::npos);
  EXPECT_NE(svg.find("overlap 50.0 %"), std::string::npos);
  EXPECT_NE(svg.find("4.096"), std::string::npos) << "a copy says how much it copied";
}

}  // namespace
}  // namespace mprof
