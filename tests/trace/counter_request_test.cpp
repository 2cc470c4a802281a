// SPDX-License-Identifier: MIT
#include "model/trace/counter_request.hpp"

#include <gtest/gtest.h>

namespace mprof::journal {
namespace {

CounterRequest request() {
  return {.chip = "GH100",
          .metrics = {"a.sum", "b.avg", "c.sum"},
          .several = {"c.sum"},
          .passes = 10,
          .config = std::string("\0x\1", 3),
          .ops = {"step", "outside"},
          .ranges = "st*",
          .kernels = "gemm|conv",
          .launch_skip = 3,
          .max_kernels = 7,
          .left_out = {"_Z4spinPVi"},
          .wanted = {"_Z5triadPf", "_Z4copyPf"},
          .replays = true};
}

TEST(CounterRequest, IsReadAsItWasWritten) {
  EXPECT_EQ(read_counter_request(bytes_of(request())), request());
  EXPECT_EQ(read_counter_request(bytes_of({})), CounterRequest{});
}

TEST(CounterRequest, WhatWasCutOrIsNoneIsRefused) {
  const std::string bytes = bytes_of(request());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(read_counter_request(bytes.substr(0, size)), std::nullopt) << size;
  EXPECT_EQ(read_counter_request(bytes + "x"), std::nullopt);
  EXPECT_EQ(read_counter_request(std::string(bytes.size(), '\xff')), std::nullopt);
}

TEST(CounterRequest, KernelsOfCommunicationAreKnownByTheirNames) {
  EXPECT_TRUE(is_of_communication("_Z41ncclDevKernel_AllReduce_Sum_f32_RING_LLP"));
  EXPECT_FALSE(is_of_communication("_Z5triadPf"));
}

}  // namespace
}  // namespace mprof::journal
