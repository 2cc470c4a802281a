// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "report/page/report.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

/// Runs at the edges of what there can be: each makes a report that says what there is, and why there is not
/// more.
namespace mprof {
namespace {

std::string markdown_of(const mprof::Run& run) {
  const test::TemporaryDirectory directory;
  write_report(run, {{"md", "html"}, directory.path(), {}, {}});
  return read_file(directory.path() / "milestone.md") + read_file(directory.path() / "evidence.md");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(EdgeRuns, NothingButTiming) {
  mprof::Run run = samples::gpu();
  run.plan.passes = {Pass::timing};
  const std::string text = markdown_of(run);
  EXPECT_TRUE(has(text, "run was made without the trace pass"));
  EXPECT_TRUE(has(text, "Nothing of this was counted by hardware."));
  EXPECT_TRUE(has(text, "conv/streams is fastest"));
}

TEST(EdgeRuns, EveryCaseFailed) {
  mprof::Run run = samples::healthy();
  for (Case& c : run.cases) {
    for (PassResult& pass : c.passes)
      pass = {.pass = pass.pass, .status = Status::failed, .reason = "the device fell off the bus"};
  }
  const std::string text = markdown_of(run);
  EXPECT_TRUE(has(text, "No case gave a verified time, so there is no best variant."));
  EXPECT_TRUE(has(text, "**Failed:**"));
  EXPECT_TRUE(has(text, "### Not run"));
  EXPECT_EQ(count(text, "#### How it works"), 0U) << "a variant that never ran has no section of its own";
  EXPECT_LT(count(text, "the device fell off the bus"), 40U) << "a reason is not repeated without end";
  EXPECT_LT(text.size(), 30'000U);
}

TEST(EdgeRuns, ASingleCase) {
  mprof::Run run = samples::healthy();
  run.cases.resize(1);
  run.variants.resize(1);
  run.plan.problems = {{"conv", {run.cases.front().key.problem}}};
  const std::string text = markdown_of(run);
  EXPECT_TRUE(has(text, "; nothing else was measured."));
  EXPECT_EQ(count(text, "#### How it works"), 1U);
  EXPECT_FALSE(has(text, "#### Was it successful?")) << "a baseline has nothing to be compared with";
  EXPECT_TRUE(has(text, "#### What limits it"));
}

TEST(EdgeRuns, FiveHundredCases) {
  const std::string text = markdown_of(samples::large(125));
  EXPECT_EQ(count(text, "#### How it works"), 125U);
  EXPECT_TRUE(has(text, "Drawn are the 40 best of 125."));
  EXPECT_TRUE(has(text, "conv/v124"));
}

}  // namespace
}  // namespace mprof
