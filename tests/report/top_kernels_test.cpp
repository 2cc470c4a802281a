// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "report/views/variant_parts.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// GoogleTest's fixtures have another Run.
using Record = Run;

/// A program of which three kernels were traced at the larger of two problems, and one of them counted.
class TopKernelsTest : public ::testing::Test {
 protected:
  TopKernelsTest() {
    program.subject = Subject::program;
    Case small = samples::timed_case(program, 100, 2e-3, 3e-3);
    Case large = samples::timed_case(program, 1000, 2e-2, 3e-2);
    add(large, "gpu_time", "layer1", "", 20e-3);
    add(large, "gpu_time", "layer2", "", 30e-3);
    add_traced(large, "layer1", "pack", 5e-3, 4);
    add_traced(large, "layer2", "multiply", 30e-3, 100);
    add_traced(large, "layer1", "add", 15e-3, 1);
    samples::add_kernel(large, "layer2", "multiply", 91.25, 40);
    run.families = {samples::conv_family()};
    run.families.front().problems = {{samples::at_batch(100), small.ops},
                                     {samples::at_batch(1000), large.ops}};
    run.variants = {program};
    run.cases = {small, large};
  }

  static void add(Case& c, const std::string& metric, const std::string& op, const std::string& kernel,
                  double value) {
    samples::pass_of(c, Pass::trace).measurements.push_back(samples::of_kernel(metric, op, kernel, value));
  }
  static void add_traced(Case& c, const std::string& op, const std::string& kernel, double time,
                         double launches) {
    add(c, "kernel_time", op, kernel, time);
    add(c, "kernel_instances", op, kernel, launches);
  }

  nlohmann::json table() {
    const RunAnalysis analysis = analyse(run);
    const FamilyResult& family = analysis.families.front();
    Anchors anchors;
    return top_kernels_view(family, family.variants.front(), anchors);
  }
  /// The texts of a row, cell by cell.
  static std::vector<std::string> texts(const nlohmann::json& row) {
    std::vector<std::string> all;
    for (const nlohmann::json& cell : row["cells"]) all.push_back(cell["text"]);
    return all;
  }

  VariantInfo program = samples::variant("conv/mine");
  Record run = samples::empty_run();
};

TEST_F(TopKernelsTest, StandByTimeWithWhatWasCountedOfThem) {
  const nlohmann::json view = table();
  EXPECT_THAT(view["caption"], "Its kernels, the longest first, at batch 1000");
  ASSERT_EQ(view["rows"].size(), 3U);
  EXPECT_THAT(texts(view["rows"][0]), ElementsAre("multiply", "layer2", "100", "30.00", "100.0\u00a0%",
                                                  "91.2", "40.0", ::testing::_, HasSubstr("91")));
  EXPECT_THAT(texts(view["rows"][1])[0], "add");
  EXPECT_THAT(texts(view["rows"][1])[4], HasSubstr("75.0"));
  EXPECT_TRUE(view["rows"][1]["cells"][5]["absent"]);
  EXPECT_THAT(texts(view["rows"][2])[0], "pack");
}

TEST_F(TopKernelsTest, NothingStandsWhereNothingWasTraced) {
  run.cases.pop_back();
  EXPECT_EQ(table(), false);
}

TEST_F(TopKernelsTest, AVariantHasSectionsForThem) {
  run.variants.front().subject = Subject::variant;
  EXPECT_EQ(table(), false);
}

}  // namespace
}  // namespace mprof
