// SPDX-License-Identifier: MIT
#include "system/cpus.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

namespace mprof {
namespace {

TEST(CpusOfList, AreThoseOfTheKernelsWayOfWritingThem) {
  EXPECT_EQ(cpus_of_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(cpus_of_list("5"), std::vector<int>{5});
  for (const char* text : {"", "\n", "x", "1-", "-1", "1,,2", "1,", "3 4", "0-99999", "99999999999999999999"})
    EXPECT_EQ(cpus_of_list(text), std::vector<int>()) << text;
}

TEST(StayOn, HoldsForTheCallingThreadAlone) {
  const std::vector<int> before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  std::thread([&] {
    EXPECT_TRUE(stay_on(std::vector{before.back()}));
    EXPECT_EQ(allowed_cpus(), std::vector{before.back()});
    EXPECT_EQ(usable_cpus(), 1U);
    EXPECT_EQ(allowed_cores(), (std::vector<std::vector<int>>{{before.back()}}));
    EXPECT_FALSE(stay_on({}));
    EXPECT_FALSE(stay_on(std::vector{CPU_SETSIZE - 1})) << "this machine has fewer";
    EXPECT_EQ(usable_cpus(), 1U);
  }).join();
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(AllowedCores, HaveEachAllowedCpuOnce) {
  std::vector<int> cpus;
  for (const std::vector<int>& core : allowed_cores()) {
    ASSERT_FALSE(core.empty());
    cpus.insert(cpus.end(), core.begin(), core.end());
  }
  std::ranges::sort(cpus);
  EXPECT_EQ(cpus, allowed_cpus());
}

}  // namespace
}  // namespace mprof
