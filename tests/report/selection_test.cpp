#include "report/analysis/selection.hpp"

#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
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
