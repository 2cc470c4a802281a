// SPDX-License-Identifier: MIT
#include "cuda/launch_counts.hpp"

#include <gtest/gtest.h>

namespace mprof::cuda {
namespace {

const int first = 0;
const int second = 0;
const int nameless = 0;

const char* name_elsewhere(const void* kernel) {
  if (kernel == &nameless) return nullptr;
  return kernel == &first ? "first" : "second";
}

TEST(LaunchCounts, OfAnotherRuntimeHaveItsNames) {
  count_launch_elsewhere(&first, name_elsewhere);  // nobody counts yet
  start_counting_launches();
  for (int i = 0; i < 3; ++i) count_launch_elsewhere(&second, name_elsewhere);
  count_launch_elsewhere(&first, name_elsewhere);
  count_launch_elsewhere(&nameless, name_elsewhere);
  EXPECT_EQ(stop_counting_launches(), (LaunchCounts{{"first", 1}, {"second", 3}}));
  count_launch_elsewhere(&first, name_elsewhere);
  start_counting_launches();
  EXPECT_EQ(stop_counting_launches(), LaunchCounts{});
}

}  // namespace
}  // namespace mprof::cuda
