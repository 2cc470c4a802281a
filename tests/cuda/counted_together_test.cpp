// SPDX-License-Identifier: MIT
#include "collectors/cuda/counted_together.hpp"

#include <gtest/gtest.h>

namespace mprof {
namespace {

using Places = std::vector<std::size_t>;

constexpr std::size_t between = 2;
constexpr std::size_t enough = 64;

TEST(CountedTogether, AKernelAloneIsTheOnlyLaunchOfAPass) {
  const CountedTogether alone = counted_alone(5);
  EXPECT_EQ(alone.kernels, Places{5});
  EXPECT_EQ(alone.launches, 1U);
  EXPECT_EQ(alone.place_of(5), 0U);
  EXPECT_EQ(alone.place_of(4), std::nullopt);
}

TEST(CountedTogether, AllThatCountAreInAPassWithWhatMakesThemCold) {
  const std::vector<StageLaunch> stage{{0, true}, {1, true}, {2, true}};
  const CountedTogether all = counted_together(0, stage, between, enough);
  EXPECT_EQ(all.kernels, (Places{0, 1, 2}));
  EXPECT_EQ(all.at, (Places{0, 3, 6}));
  EXPECT_EQ(all.launches, 7U);
}

TEST(CountedTogether, LaunchesThatDoNotCountAreInThePassAsWell) {
  const std::vector<StageLaunch> stage{{3, false}, {0, true},  {0, false}, {3, false},
                                       {1, true},  {0, false}, {1, false}};
  const CountedTogether all = counted_together(0, stage, between, enough);
  EXPECT_EQ(all.kernels, (Places{0, 1}));
  EXPECT_EQ(all.at, (Places{0, 5}));
  EXPECT_EQ(all.launches, 6U) << "and none after the last one that counts";
}

TEST(CountedTogether, WhatIsBeforeTheFirstOneIsLeftForOtherPasses) {
  const std::vector<StageLaunch> stage{{0, true}, {1, true}, {2, true}};
  EXPECT_EQ(counted_together(1, stage, between, enough).kernels, (Places{1, 2}));
}

TEST(CountedTogether, APassHasNoMoreLaunchesThanAllowed) {
  const std::vector<StageLaunch> stage{{0, true}, {1, true}, {2, true}};
  EXPECT_EQ(counted_together(0, stage, between, 7).kernels, (Places{0, 1, 2}));
  EXPECT_EQ(counted_together(0, stage, between, 6).kernels, (Places{0, 1}));
  EXPECT_EQ(counted_together(0, stage, between, 6).launches, 4U);
  EXPECT_EQ(counted_together(0, stage, between, 1).kernels, Places{0});
}

TEST(CountedTogether, AKernelThatTheStageDoesNotCountIsAlone) {
  const std::vector<StageLaunch> stage{{0, false}, {1, true}};
  EXPECT_EQ(counted_together(0, stage, between, enough).kernels, Places{0});
  EXPECT_EQ(counted_together(7, {}, between, enough).launches, 1U);
}

}  // namespace
}  // namespace mprof
