// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/selection.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "report/analysis/standing/standings.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

std::vector<std::string> ids(const mprof::Run& run) {
  std::vector<std::string> list;
  for (const VariantInfo& info : run.variants) list.push_back(info.id);
  return list;
}

TEST(Selection, NothingChosenIsTheRunItself) {
  EXPECT_EQ(selected(samples::healthy(), {}), samples::healthy());
}

TEST(Selection, OnlyKeepsTheBaselinesThatItsVariantsNeed) {
  const mprof::Run run = selected(samples::healthy(), {{"conv/cpu_onednn"}, ""});
  EXPECT_EQ(ids(run), (std::vector<std::string>{"conv/cpu_threads", "conv/cpu_onednn"}));
  EXPECT_EQ(run.cases.size(), 6U);
  EXPECT_EQ(run.variants.front().baseline, "") << "nobody asked what it is compared with";
  const RunAnalysis analysis = analyse(run);
  EXPECT_TRUE(analysis.families.front().variants[1].cases.front().total_speed_up);
}

TEST(Selection, AnotherBaselineIsThatOfEveryVariant) {
  const mprof::Run before = samples::healthy();
  const mprof::Run run = selected(before, {{}, "conv/cpu_threads"});
  for (const VariantInfo& info : run.variants) {
    EXPECT_EQ(info.baseline, info.id == "conv/cpu_threads" ? "" : "conv/cpu_threads");
    const VariantInfo& declared = *find_variant(before, info.id);
    const bool same_baseline = declared.baseline == info.baseline;
    EXPECT_EQ(info.expectations.size(), same_baseline ? declared.expectations.size() : 0U) << info.id;
  }
  const RunAnalysis analysis = analyse(run);
  for (const VariantResult& variant : analysis.families.front().variants) {
    const CaseResult& result = variant.cases.front();
    EXPECT_EQ(result.baseline, variant.info.id == "conv/cpu_threads" ? "" : "conv/cpu_threads@100");
  }
}

TEST(Selection, WhatIsLeftOutIsSaidWhereFastestIsClaimed) {
  const mprof::Run recorded = samples::healthy();
  const mprof::Run run = selected(recorded, {{"conv/cpu_onednn"}, ""});
  const RunAnalysis analysis = analyse(run, nullptr, &recorded);
  EXPECT_EQ(analysis.families.front().measured, 4U);
  Anchors anchors;
  const std::string answer =
      answer_view(analysis.families.front(), brief_of(analysis.families.front()), anchors)["sentences"]
          .dump();
  EXPECT_NE(answer.find(" is fastest of 2 shown, 4 measured,"), std::string::npos) << answer;
  EXPECT_TRUE(std::ranges::any_of(analysis.findings, [](const Finding& finding) {
    return std::holds_alternative<finding::LeftOut>(finding.what);
  }));
  const RunAnalysis whole = analyse(recorded);
  EXPECT_EQ(
      answer_view(whole.families.front(), brief_of(whole.families.front()), anchors)["sentences"].dump().find(
          "shown"),
      std::string::npos);
}

TEST(Selection, AParameterThatWasNotSweptIsSaidToBeAtItsDefault) {
  mprof::Run run = samples::healthy();
  run.variants[1].parameters = {{"tile_width", "", "16", {"8", "16"}}};
  run.variants[2].parameters = {{"only", "", "1", {"1"}}};
  const RunAnalysis analysis = analyse(run);
  const std::vector<Unswept> found = unswept(analysis.families.front());
  ASSERT_EQ(found.size(), 1U) << "one value leaves nothing to sweep";
  EXPECT_EQ(found[0].parameters.front(), (std::pair<std::string, std::string>{"tile_width", "16"}));
  EXPECT_TRUE(found[0].at_defaults);
  Anchors anchors;
  const std::string remarks =
      answer_view(analysis.families.front(), brief_of(analysis.families.front()), anchors)["remarks"].dump();
  EXPECT_NE(remarks.find("Not swept, so at their defaults: " + run.variants[1].id + " (tile_width=16)."),
            std::string::npos)
      << remarks;
}

TEST(Selection, WhatARemarkCountsAndDoesNotNameIsListed) {
  mprof::Run run = samples::large(6);
  for (VariantInfo& variant : run.variants) variant.parameters = {{"tile_width", "", "16", {"8", "16"}}};
  const RunAnalysis analysis = analyse(run);
  const std::size_t all = unswept(analysis.families.front()).size();
  ASSERT_GT(all, 4U);
  Anchors anchors;
  const nlohmann::json answer =
      answer_view(analysis.families.front(), brief_of(analysis.families.front()), anchors);
  EXPECT_NE(answer["remarks"].dump().find(fmt::format("and {} others", all - 3)), std::string::npos)
      << answer["remarks"];
  ASSERT_EQ(answer["lists"].size(), 1U);
  EXPECT_EQ(answer["lists"][0]["title"], fmt::format("Not swept, so at their defaults: all {}", all));
  EXPECT_EQ(answer["lists"][0]["items"].size(), all);
}

TEST(Selection, AnUnknownVariantIsRefusedWithTheNearestName) {
  try {
    (void)selected(samples::healthy(), {{"conv/cpu_thread"}, ""});
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("conv/cpu_threads"), std::string::npos) << error.what();
  }
  EXPECT_THROW((void)selected(samples::healthy(), {{}, "conv/none"}), Error);
}

}  // namespace
}  // namespace mprof
