#include "injection/session_plan.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mprof::injection {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;

/// A profiler of `passes` passes, which does as the plan says, and what it has counted of each kernel.
class Profiler {
 public:
  Profiler(std::uint64_t passes, std::size_t most_kernels = 64, std::uint64_t launches_before = 2)
      : plan(most_kernels, launches_before), passes_(passes) {}

  std::size_t kernel(std::uintptr_t context = 1) {
    counted.push_back(0);
    return plan.add_kernel(context);
  }

  /// Whether this launch was counted.
  bool launch(std::size_t kernel) {
    const SessionPlan::Choice choice = plan.at_launch(kernel);
    if (choice.ends_pass) end_pass();
    if (choice.begins_session) {
      pass_ = 0;
      ++sessions;
    }
    if (choice.counts && plan.counted(kernel)) end_pass();
    return choice.counts;
  }

  /// Each of the kernels once, in this order, `times` times.
  void loop(const std::vector<std::size_t>& kernels, int times) {
    for (int i = 0; i < times; ++i)
      for (const std::size_t kernel : kernels) launch(kernel);
  }

  SessionPlan plan;
  std::vector<std::uint64_t> counted;  ///< passes
  int sessions = 0;

 private:
  void end_pass() {
    if (!plan.passed(++pass_ == passes_)) return;
    for (const SessionPlan::Counted& one : plan.finish())
      counted[one.kernel] = std::max(counted[one.kernel], one.passes);
  }

  std::uint64_t passes_;
  std::uint64_t pass_ = 0;
};

TEST(SessionPlan, AKernelThatIsLaunchedInARowIsCountedOnceAPassAndNoMore) {
  Profiler profiler(3);
  const std::size_t kernel = profiler.kernel();
  std::vector<bool> counted;
  for (int i = 0; i < 8; ++i) counted.push_back(profiler.launch(kernel));
  // The fourth launch tells that nothing else comes beside it.
  EXPECT_THAT(counted, ElementsAre(false, false, true, false, true, true, false, false));
  EXPECT_THAT(profiler.counted, ElementsAre(3));
}

TEST(SessionPlan, KernelsOfALoopAreCountedSideBySide) {
  constexpr int passes = 27;
  Profiler profiler(passes);
  std::vector<std::size_t> kernels;
  for (int i = 0; i < 50; ++i) kernels.push_back(profiler.kernel());
  profiler.loop(kernels, 4 + passes);
  EXPECT_EQ(profiler.sessions, 1);
  EXPECT_THAT(profiler.counted, Each(passes));
}

TEST(SessionPlan, WhatIsLaunchedSeveralTimesALoopDoesNotEndTheFirstPassOfTheOthers) {
  Profiler profiler(3);
  const std::size_t a = profiler.kernel(), b = profiler.kernel(), c = profiler.kernel();
  profiler.loop({a, a, a, b, a, a, c, a}, 9);
  EXPECT_THAT(profiler.counted, Each(3));
  EXPECT_LE(profiler.sessions, 2);
}

TEST(SessionPlan, MoreKernelsThanASessionHoldsTakeAnother) {
  Profiler profiler(3, 4);
  std::vector<std::size_t> kernels;
  for (int i = 0; i < 10; ++i) kernels.push_back(profiler.kernel());
  profiler.loop(kernels, 20);
  EXPECT_EQ(profiler.sessions, 3);
  EXPECT_THAT(profiler.counted, Each(3));
}

TEST(SessionPlan, AKernelThatDoesNotComeBackHoldsNobodyUp) {
  Profiler profiler(3);
  const std::size_t first = profiler.kernel(), a = profiler.kernel(), b = profiler.kernel();
  profiler.loop({first}, 3);  // a session begins with it
  profiler.loop({a, b}, 400);
  EXPECT_THAT(profiler.counted, ElementsAre(1, 3, 3));
}

TEST(SessionPlan, OneThatStaysAwayLaterKeepsWhatItHasAndIsTriedAgain) {
  Profiler profiler(5);
  const std::size_t away = profiler.kernel(), stays = profiler.kernel();
  profiler.loop({away, stays}, 6);
  profiler.loop({stays}, 400);
  EXPECT_EQ(profiler.counted[stays], 5U);
  EXPECT_GE(profiler.counted[away], 1U);
  EXPECT_LT(profiler.counted[away], 5U);
  profiler.loop({away, stays}, 12);
  EXPECT_EQ(profiler.counted[away], 5U);
}

TEST(SessionPlan, KernelsOfAnotherContextWaitForTheirOwnSession) {
  Profiler profiler(2);
  const std::size_t here = profiler.kernel(1), there = profiler.kernel(2);
  profiler.loop({here, there}, 3);
  EXPECT_EQ(profiler.plan.context(), 1U);
  profiler.loop({here, there}, 12);
  EXPECT_EQ(profiler.sessions, 2);
  EXPECT_THAT(profiler.counted, Each(2));
}

TEST(SessionPlan, WhatIsLeftOutIsCountedNoMoreAndTheOthersGoOn) {
  Profiler profiler(3);
  const std::size_t a = profiler.kernel(), b = profiler.kernel();
  profiler.loop({a, b}, 3);
  profiler.plan.leave_out(a);
  profiler.loop({a, b}, 10);
  EXPECT_THAT(profiler.counted, ElementsAre(0, 3));
}

TEST(SessionPlan, ASessionThatIsEndedEarlyTellsWhatItHas) {
  Profiler profiler(9);
  const std::size_t a = profiler.kernel(), b = profiler.kernel();
  profiler.loop({a, b}, 6);
  std::vector<std::uint64_t> passes;
  for (const SessionPlan::Counted& one : profiler.plan.finish()) passes.push_back(one.passes);
  EXPECT_THAT(passes, ElementsAre(Ge(2U), Ge(2U)));
  EXPECT_FALSE(profiler.plan.is_in_session());
  EXPECT_TRUE(profiler.plan.finish().empty());
}

TEST(SessionPlan, ALaunchThatIsReplayedIsASessionOfItsOwn) {
  Profiler profiler(1, 1, 0);
  const std::size_t a = profiler.kernel(), b = profiler.kernel();
  EXPECT_TRUE(profiler.launch(a));
  EXPECT_TRUE(profiler.launch(b));
  EXPECT_FALSE(profiler.launch(a));
  EXPECT_THAT(profiler.counted, Each(1));
}

}  // namespace
}  // namespace mprof::injection
