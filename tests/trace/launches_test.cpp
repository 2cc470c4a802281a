// SPDX-License-Identifier: MIT
#include "model/trace/launches.hpp"

#include <gtest/gtest.h>

#include "tests/support/sample_trace.hpp"

namespace mprof {
namespace {

using test::at;
using test::TraceBuilder;
using trace::Launches;

TEST(LaunchesTest, AreWithWorkCapturedOrWithoutWork) {
  TraceBuilder builder;
  builder.call(1, "cudaLaunchKernel_v7000", at(10, 20), 0);
  builder.kernel(test::scale, 1, 7, at(30, 40));
  builder.call(2, "cudaStreamBeginCapture_v10000", at(50, 51), 0);
  builder.call(3, "cudaLaunchKernel_v7000", at(52, 53), 0);
  builder.call(4, "cudaLaunchKernelExC_v11060", at(54, 55), 0, TraceBuilder::other_thread);
  builder.call(5, "cudaStreamEndCapture_v10000", at(56, 57), 0);
  builder.call(6, "cuLaunchKernel", at(60, 61), 0);
  builder.call(7, "cudaLaunchHostFunc_v10000", at(62, 63), 0);
  builder.call(8, "cudaLaunchKernel_v7000", at(64, 65), 0);
  builder.trace().calls.back().result = 9;  // invalid configuration
  EXPECT_EQ(trace::launches_of(builder.trace(), 0), (Launches{1, 2, 1}));
  EXPECT_EQ(trace::unseen_launches(builder.trace(), 0), 0U) << "there is a kernel";
  builder.trace().kernels.clear();
  EXPECT_EQ(trace::unseen_launches(builder.trace(), 0), 2U);
  std::erase_if(builder.trace().calls, [](const trace::Call& call) { return call.correlation == 1; });
  std::erase_if(builder.trace().calls, [](const trace::Call& call) { return call.correlation == 6; });
  EXPECT_EQ(trace::unseen_launches(builder.trace(), 0), 0U) << "all were captured";
}

}  // namespace
}  // namespace mprof
