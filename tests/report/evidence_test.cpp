// SPDX-License-Identifier: MIT
#include "report/analysis/evidence.hpp"

#include <gtest/gtest.h>

#include "model/trace/writer.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

TEST(Evidence, ComparesKernelsWithTheCallsThatLaunchThem) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "trace.sqlite";
  trace::write_trace(file, test::sample_trace_with_pause());
  const trace::Trace read = trace::read_trace(file);
  const KernelsAndCalls numbers = kernels_and_calls(read, {});
  ASSERT_TRUE(numbers.kernels && numbers.calls && numbers.launching && numbers.transferring);
  EXPECT_EQ(numbers.kernels->count, 6);
  EXPECT_EQ(numbers.launching->count, 4) << "a graph's launch counts once";
  EXPECT_EQ(numbers.launching->total, 50 + 30 + 40 + 90);
  EXPECT_EQ(numbers.launchers, (std::vector<std::string>{"cudaGraphLaunch_v10000", "cudaLaunchKernel"}));
  EXPECT_EQ(numbers.longest, "cudaStreamSynchronize");
  EXPECT_EQ(numbers.calls->count, 13);
  EXPECT_EQ(*numbers.transferring, 800);
}

TEST(Evidence, HoldsWhatATimeBudgetTakes) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "trace.sqlite";
  trace::write_trace(file, test::sample_trace_with_pause());
  const Evidence evidence = read_evidence(samples::healthy(), file);
  ASSERT_TRUE(evidence.profile.has_value());
  EXPECT_EQ(evidence.profile->pauses.size(), 1U);
  EXPECT_EQ(evidence.profile->overheads.size(), 1U);
  EXPECT_EQ(evidence.profile->synchronizations.size(), 1U);
}

TEST(Evidence, IsAbsentForAReason) {
  mprof::Run run = samples::healthy();
  run.plan.passes = {Pass::timing};
  EXPECT_EQ(why_not_traced(run), "the run was made without the trace pass");
  run.plan.passes = {Pass::timing, Pass::trace};
  EXPECT_EQ(why_not_traced(run), "no case of the run was traced");
  for (mprof::Case& c : run.cases) {
    PassResult pass;
    pass.pass = Pass::trace;
    pass.status = Status::skipped;
    pass.reason = "no collector.";
    c.passes.push_back(pass);
  }
  EXPECT_EQ(why_not_traced(run), "no case was traced: no collector");
  run.cases.front().passes.back().status = Status::ok;
  EXPECT_EQ(read_evidence(run, "/nowhere/trace.sqlite").absent,
            "the run was traced, but its trace.sqlite is not beside run.json");
}

}  // namespace
}  // namespace mprof
