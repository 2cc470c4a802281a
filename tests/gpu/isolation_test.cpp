// SPDX-License-Identifier: MIT
// Each way in which a kernel can be wrong is reported for what it is, and costs its own case only.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/coordinated.hpp"
#include "tests/kernels/lenet_support.hpp"

namespace mprof {
namespace {

class Isolation : public ::testing::Test {
 protected:
  /// Runs `variant` and conv/baseline at these batches and passes, and expects everything but `variant` at
  /// `bad` to be ok.
  PassResult said_of(const std::string& variant, std::uint64_t bad,
                     const std::vector<std::uint64_t>& batches) {
    std::vector<Problem> problems;
    for (const std::uint64_t batch : batches) problems.push_back(conv::test::batch_of(batch));
    const mprof::Run run =
        test::coordinated("conv", {variant, "conv/baseline"}, problems, {Pass::timing},
                          {.min_samples = 1, .max_samples = 2, .max_seconds = 1, .relative_half_width = 0.5});
    EXPECT_EQ(run.state, RunState::complete);
    PassResult said;
    for (const Case& c : run.cases) {
      if (c.key.variant == variant && c.key.problem == conv::test::batch_of(bad)) {
        said = c.passes.at(0);
      } else {
        EXPECT_EQ(c.passes.at(0).status, Status::ok) << c.id << ": " << c.passes.at(0).reason;
      }
    }
    std::printf("%s@%lu: %s: %s\n", variant.c_str(), static_cast<unsigned long>(bad),
                std::string(to_string(said.status)).c_str(), said.reason.c_str());
    return said;
  }

  static void expect_said(const PassResult& said, Status status, const std::string& words) {
    EXPECT_EQ(said.status, status) << said.reason;
    EXPECT_NE(said.reason.find(words), std::string::npos) << said.reason;
  }
};

TEST_F(Isolation, AnIllegalAccess) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_illegal_access", 1000, {100, 1000, 1500}), Status::failed,
              "cudaErrorIllegalAddress");
}

TEST_F(Isolation, AHang) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_hang", 1000, {100, 1000, 1500}), Status::timeout, "took longer than 20 s");
}

TEST_F(Isolation, MemoryThatDoesNotSuffice) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_greedy", 1000, {100, 1000, 1500}), Status::failed,
              "cudaErrorMemoryAllocation");
}

TEST_F(Isolation, NotANumber) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_nan", 1000, {100, 1000, 1500}), Status::wrong, "are NaN or infinite");
}

TEST_F(Isolation, AKernelThatDoesNothing) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_nothing", 1000, {100, 1000, 1500}), Status::wrong, "were never written");
}

TEST_F(Isolation, RightAtASmallBatchAndWrongAtALargeOne) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_wrong_at_large", 10000, {100, 10000}), Status::wrong,
              "never written, the first at [image 9999");
}

}  // namespace
}  // namespace mprof
