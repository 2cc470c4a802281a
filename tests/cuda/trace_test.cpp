// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "collectors/collector.hpp"

namespace mprof {
namespace {

TEST(TraceCollector, OfAMachineWithoutAGpuSaysWhyItCannotRun) {
  int gpus = 0;
  // With one it would start to trace this process, and with it all tests that follow.
  if (cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0) GTEST_SKIP() << "there is a GPU";
  for (const CollectorKind* kind : CollectorKinds::instance().of(Pass::trace, "cuda")) {
    const auto reason = kind->unavailable();
    ASSERT_TRUE(reason.has_value());
    EXPECT_NE(reason->find("CUPTI"), std::string::npos) << *reason;
    EXPECT_EQ(kind->unavailable(), reason);
  }
  EXPECT_EQ(CollectorKinds::instance().of(Pass::trace, "cuda").size(), 1U);
  EXPECT_TRUE(CollectorKinds::instance().of(Pass::trace, "cpu").empty());
}

}  // namespace
}  // namespace mprof
