// SPDX-License-Identifier: MIT
#include "cuda/gpu_processes.hpp"

#include <array>

#include <gtest/gtest.h>

namespace mprof::cuda {
namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;
constexpr OwnProcess self{100, true};
const GpuProcess ours{100, gibibyte, 0.9}, idle{7, 2 * gibibyte, 0.0}, busy{4242, 2.1 * gibibyte, 0.97};

using Processes = std::vector<GpuProcess>;

TEST(GpuProcesses, WeAreNoOtherProcess) {
  EXPECT_EQ(who_used_the_gpu(Processes{ours}, self), "");
  EXPECT_EQ(count_others(Processes{ours}, self), 0U);
  EXPECT_EQ(share_of_others(Processes{ours}, self), 0.0);
}

TEST(GpuProcesses, OneThatUsesTheMultiprocessorsIsNamed) {
  EXPECT_EQ(who_used_the_gpu(Processes{busy, ours}, self),
            "another process used the GPU: pid 4242 (2.1 GiB, 97 % of the multiprocessors)");
  EXPECT_EQ(share_of_others(Processes{busy, ours}, self), 0.97);
  const GpuProcess second{8, std::nullopt, 0.1};
  EXPECT_EQ(who_used_the_gpu(Processes{busy, ours, second}, self),
            "other processes used the GPU: pid 4242 (2.1 GiB, 97 % of the multiprocessors), pid 8 (memory "
            "unknown, 10 "
            "% of the multiprocessors)");
}

TEST(GpuProcesses, AContextAloneDisturbsNobodyAndIsCounted) {
  EXPECT_EQ(who_used_the_gpu(Processes{ours, idle}, self), "");
  EXPECT_EQ(count_others(Processes{ours, idle}, self), 1U);
  EXPECT_EQ(described(Processes{idle}), "pid 7 (2.0 GiB, 0 % of the multiprocessors)");
}

TEST(GpuProcesses, WithoutSharesNothingIsSaidOfThem) {
  const GpuProcess unknown{7, gibibyte, std::nullopt};
  EXPECT_EQ(who_used_the_gpu(Processes{ours, unknown}, self), "");
  EXPECT_EQ(share_of_others(Processes{ours, unknown}, self), std::nullopt);
  EXPECT_EQ(count_others(Processes{ours, unknown}, self), 1U);
}

/// In a container we may be listed by an id that we do not know.
TEST(GpuProcesses, OfAnotherNamespaceOneIsTakenToBeUs) {
  const GpuProcess foreign_ours{31337, gibibyte, 0.9};
  EXPECT_EQ(who_used_the_gpu(Processes{foreign_ours}, self), "") << "a quiet GPU";
  EXPECT_EQ(count_others(Processes{foreign_ours}, self), 0U);
  EXPECT_EQ(who_used_the_gpu(Processes{foreign_ours, idle}, self), "");
  EXPECT_EQ(count_others(Processes{foreign_ours, idle}, self), 1U);
  EXPECT_EQ(share_of_others(Processes{foreign_ours, idle}, self), 0.0);
  EXPECT_EQ(who_used_the_gpu(Processes{foreign_ours, busy}, self),
            "another process used the GPU: pid 31337 (1.0 GiB, 90 % of the multiprocessors), pid 4242 (2.1 "
            "GiB, 97 % "
            "of the multiprocessors) did, and only one of these is our own");
  EXPECT_NEAR(*share_of_others(Processes{foreign_ours, busy}, self), 0.9, 1e-12) << "no more than is sure";
  EXPECT_EQ(who_used_the_gpu(Processes{}, self), "");
  EXPECT_EQ(count_others(Processes{}, self), 0U);
}

TEST(GpuProcesses, ThePartnerThatTakesTurnsWithUsIsNoOther) {
  const OwnProcess in_turns{100, true, true};
  const std::vector<GpuProcess> both{{100, {}, 0.5}, {200, {}, 0.4}},
      three{{100, {}, 0.5}, {200, {}, 0.4}, {300, {}, 0.3}};
  EXPECT_EQ(who_used_the_gpu(both, in_turns), "");
  EXPECT_EQ(count_others(both, in_turns), 0U);
  EXPECT_EQ(share_of_others(both, in_turns), 0);
  EXPECT_NE(who_used_the_gpu(three, in_turns), "");
  EXPECT_EQ(count_others(three, in_turns), 1U);
  EXPECT_EQ(share_of_others(three, in_turns), 0.3);
  const OwnProcess hidden{1, true, true};  // of another namespace
  EXPECT_EQ(who_used_the_gpu(both, hidden), "");
  EXPECT_EQ(count_others(three, hidden), 1U);
}

TEST(GpuProcesses, WithoutAContextOfOursAllAreOthers) {
  const OwnProcess doctor{100, false};
  EXPECT_EQ(who_used_the_gpu(Processes{busy}, doctor),
            "another process used the GPU: pid 4242 (2.1 GiB, 97 % of the multiprocessors)");
  EXPECT_EQ(count_others(Processes{busy, idle}, doctor), 2U);
}

TEST(GpuProcesses, HaveTheMeanOfTheirPeriods) {
  Processes processes{{1, gibibyte}, {2, gibibyte}, {3, gibibyte}};
  add_shares(processes, std::array<GpuUse, 6>{{{1, 100}, {1, 50}, {3, 20}, {3, 4000000}, {0, 99}, {77, 99}}});
  EXPECT_EQ(processes[0].share, 0.75);
  EXPECT_EQ(processes[1].share, 0.0);
  EXPECT_EQ(processes[2].share, 0.2) << "a row that nobody has written";
}

}  // namespace
}  // namespace mprof::cuda
