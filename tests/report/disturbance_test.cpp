// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/disturbance.hpp"

#include <gtest/gtest.h>

namespace mprof {
namespace {

TEST(Disturbances, AreReadFromTheTextOfRecords) {
  EXPECT_EQ(disturbances_in("another process used the GPU: pid 4242 (2.1 GiB), pid 7"),
            (Disturbances{{"another process used the GPU", "pid 4242 (2.1 GiB), pid 7"}}));
  EXPECT_EQ(
      disturbances_in("other processes used the CPUs: 2.0 busy; a hypervisor took CPU time: 4 %"),
      (Disturbances{{"other processes used the CPUs", "2.0 busy"}, {"a hypervisor took CPU time", "4 %"}}));
  EXPECT_EQ(disturbances_in("the GPU throttled around 4 of 9 samples"),
            (Disturbances{{"the GPU throttled around 4 of 9 samples", ""}}));
  EXPECT_TRUE(disturbances_in("").empty());
}

TEST(Disturbances, AreWrittenAsTheyWereRead) {
  for (const char* text : {"", "a", "a: b", "a: b: c; d", "a; b: c", "a:b; c"})
    EXPECT_EQ(to_text(disturbances_in(text)), text);
}

TEST(Disturbances, OfATimeAreThoseOfSomeOfItsRounds) {
  EXPECT_EQ(disturbed_in("the GPU throttled: around 4 of 9 samples (in 1 of 3 rounds)"),
            (Disturbed{{{"the GPU throttled", "around 4 of 9 samples"}}, 1, 3}));
  EXPECT_EQ(disturbed_in("another process used the GPU: pid 7 (in use)"),
            (Disturbed{{{"another process used the GPU", "pid 7 (in use)"}}, 0, 0}));
  EXPECT_TRUE(disturbed_in("").empty());
}

}  // namespace
}  // namespace mprof
