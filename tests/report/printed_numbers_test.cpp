// SPDX-License-Identifier: MIT
#include <algorithm>
#include <variant>

#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "report/analysis/judgement/estimate.hpp"
#include "report/analysis/kernels/op_metrics.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

/// GoogleTest's fixtures have another Run.
using Record = Run;

/// A program that prints the times of two ops, and whose trace knows it as a whole alone.
class PrintedNumbersTest : public ::testing::Test {
 protected:
  PrintedNumbersTest() {
    VariantInfo info = samples::variant("conv/mine");
    info.subject = Subject::program;
    Case c = samples::timed_case(info, 100, 2e-3, 3e-3);
    for (PassResult& pass : c.passes) {
      pass.verification.clear();
      pass.outcome = ProgramOutcome{.exit_code = 0};
      for (Measurement& row : pass.measurements) {
        if (!row.op.empty()) row.source = Source::printed;
      }
    }
    c.ops.push_back({.name = "program", .title = "the whole program"});
    run.families = {samples::conv_family()};
    run.families.front().problems = {{samples::at_batch(100), c.ops}};
    run.variants = {info};
    run.cases = {c};
  }

  Case& only() { return run.cases.front(); }
  template <class Kind>
  bool finds() {
    const RunAnalysis analysis = analyse(run);
    return std::ranges::any_of(
        analysis.findings, [](const Finding& finding) { return std::holds_alternative<Kind>(finding.what); });
  }

  Record run = samples::empty_run();
};

TEST_F(PrintedNumbersTest, OpsThatTheTraceAloneKnowsDoNotTakeTheirSumAway) {
  const RunAnalysis analysis = analyse(run);
  const CaseResult& result = analysis.families.front().variants.front().cases.front();
  ASSERT_TRUE(result.compared_time());
  EXPECT_NEAR(*result.compared_time(), 5e-3, 1e-4);
  const Reading sum = reading_for(result, "op_time", "");
  ASSERT_TRUE(sum.value);
  EXPECT_NEAR(sum.value->median, 5e-3, 1e-4);
}

TEST_F(PrintedNumbersTest, ATimeThatWasNotPrintedDoes) {
  for (Measurement& row : samples::timing(only()).measurements) {
    if (row.metric != "op_time" || row.op != only().ops.front().name) continue;
    row.samples.clear();
    row.absent = "the program printed no line of it";
  }
  const RunAnalysis analysis = analyse(run);
  EXPECT_FALSE(analysis.families.front().variants.front().cases.front().compared_time());
}

TEST_F(PrintedNumbersTest, WhoSaysThemIsSaid) {
  EXPECT_TRUE(finds<finding::PrintedNumbers>());
  for (PassResult& pass : only().passes) {
    for (Measurement& row : pass.measurements) row.source = Source::measured;
  }
  EXPECT_FALSE(finds<finding::PrintedNumbers>());
}

TEST_F(PrintedNumbersTest, AnOutputIsVerifiedAsItsSuiteSaysOrIsSaidNotToBe) {
  EXPECT_TRUE(finds<finding::UnverifiedPrograms>());
  samples::timing(only()).outcome->verified_by = "by `./compare`";
  EXPECT_FALSE(finds<finding::UnverifiedPrograms>());
}

}  // namespace
}  // namespace mprof
