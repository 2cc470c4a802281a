// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/gpu_memory.hpp"

#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

/// A variant at batches 100 and 1000 that needs so many bytes, on a GPU of 1 MB.
mprof::Run run_with(double at_100, double at_1000) {
  mprof::Run run = samples::gpu();
  run.variants.resize(1);
  run.cases.clear();
  run.environment["gpu"]["memory"] = 1e6;
  for (const auto& [batch, bytes] : {std::pair{100U, at_100}, {1000U, at_1000}}) {
    Case& c = run.cases.emplace_back(samples::timed_case(run.variants[0], batch, 0.001, 0.004));
    for (OpInfo& op : c.ops) op.items = batch;
    PassResult& trace = samples::pass_of(c, Pass::trace);
    if (bytes > 0) trace.measurements.push_back({"gpu_memory", "", "", Source::measured, {bytes}, ""});
  }
  return run;
}

TEST(GpuMemory, SaysWhatFitsByTheTwoLargestProblems) {
  const mprof::Run run = run_with(60e3, 150e3);
  const RunAnalysis analysis = analyse(run);
  const std::vector<GpuMemory>& needs = analysis.families[0].gpu_memory;
  ASSERT_EQ(needs.size(), 1U);
  EXPECT_EQ(needs[0].bytes, 150e3);
  EXPECT_DOUBLE_EQ(*needs[0].of_gpu, 0.15);
  EXPECT_DOUBLE_EQ(*needs[0].per_item, 100);
  EXPECT_DOUBLE_EQ(*needs[0].items_that_fit, 1000 + 850e3 / 100);
}

TEST(GpuMemory, ReckonsNothingFromOneProblemOrWithoutGrowth) {
  for (const mprof::Run& run : {run_with(0, 150e3), run_with(150e3, 150e3)}) {
    const RunAnalysis analysis = analyse(run);
    ASSERT_EQ(analysis.families[0].gpu_memory.size(), 1U);
    EXPECT_FALSE(analysis.families[0].gpu_memory[0].per_item);
    EXPECT_FALSE(analysis.families[0].gpu_memory[0].items_that_fit);
  }
  EXPECT_TRUE(analyse(run_with(0, 0)).families[0].gpu_memory.empty());
}

}  // namespace
}  // namespace mprof
