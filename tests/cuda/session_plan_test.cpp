// SPDX-License-Identifier: MIT
#include "injection/session_plan.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mprof::injection {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using Kernels = std::vector<std::size_t>;

/// A profiler of `passes` passes, which does as the plan says: each of its ranges has been of one kernel.
class Profiler {
 public:
  explicit Profiler(std::uint64_t passes, std::size_t most_launches = 64, std::uint64_t launches_before = 2)
      : plan(most_launches, launches_before), passes_(passes) {}

  std::size_t kernel(void* context = nullptr, bool is_wanted = true) {
    counted.push_back(0);
    return plan.add_kernel(context, is_wanted);
  }

  Kernels kernels(std::size_t count) {
    Kernels all;
    while (all.size() < count) all.push_back(kernel());
    return all;
  }

  /// Whether this launch was counted.
  bool launch(std::size_t kernel) {
    const SessionPlan::Choice choice = plan.at_launch(kernel);
    if (choice.ends_pass) end_pass();
    if (choice.ends_session) end_session();
    if (choice.begins_session) {
      ranges_.clear();
      at_ = done_ = 0;
      ++sessions;
    }
    if (!choice.counts) return false;
    if (at_ == ranges_.size()) ranges_.push_back(kernel);
    EXPECT_EQ(ranges_[at_], kernel) << "two kernels in one range";
    ++at_;
    if (plan.counted()) end_pass();
    return true;
  }

  void loop(const Kernels& kernels, int times) {
    for (int i = 0; i < times; ++i) {
      for (const std::size_t kernel : kernels) launch(kernel);
    }
  }

  void end_session(bool is_valid = true) {
    EXPECT_EQ(plan.launches(), ranges_.size());
    for (const SessionPlan::Counted& one : plan.finish(is_valid)) {
      EXPECT_EQ(ranges_.at(one.range), one.kernel);
      counted[one.kernel] = std::max(counted[one.kernel], one.passes);
    }
  }

  SessionPlan plan;
  std::vector<std::uint64_t> counted;  ///< passes
  int sessions = 0;

 private:
  void end_pass() {
    at_ = 0;
    if (plan.passed(++done_ == passes_)) end_session();
  }

  std::uint64_t passes_;
  std::uint64_t done_ = 0;
  std::size_t at_ = 0;
  Kernels ranges_;
};

TEST(SessionPlan, AKernelThatIsLaunchedInARowIsCountedOnceAPassAndNoMore) {
  Profiler profiler(3);
  const std::size_t kernel = profiler.kernel();
  std::vector<bool> counted;
  for (int i = 0; i < 8; ++i) counted.push_back(profiler.launch(kernel));
  // The fourth launch tells that the program is where the pass began.
  EXPECT_THAT(counted, ElementsAre(false, false, true, false, true, true, false, false));
  EXPECT_THAT(profiler.counted, ElementsAre(3));
}

TEST(SessionPlan, KernelsOfALoopAreCountedSideBySide) {
  constexpr int passes = 22;
  Profiler profiler(passes);
  profiler.loop(profiler.kernels(50), 4 + passes);
  EXPECT_EQ(profiler.sessions, 1);
  EXPECT_THAT(profiler.counted, Each(passes));
}

TEST(SessionPlan, ALoopThatIsLongerThanAPassTakesSeveralSessions) {
  constexpr int passes = 22;
  Profiler profiler(passes);
  profiler.loop(profiler.kernels(182), 3 + 3 * (passes + 1));
  EXPECT_EQ(profiler.sessions, 3);
  EXPECT_THAT(profiler.counted, Each(passes));
}

TEST(SessionPlan, PlacesThatBeginWithTheSameKernelAreToldApart) {
  Profiler profiler(5, 4);
  const Kernels k = profiler.kernels(6);
  const std::size_t add = k[0];
  profiler.loop({k[1], add, k[2], add, k[3], add, k[4], add, k[5], add}, 40);
  EXPECT_THAT(profiler.counted, Each(5));
  EXPECT_LE(profiler.sessions, 4);
}

TEST(SessionPlan, WhereTheProgramGoesAnotherWayTheRestIsTriedAgain) {
  Profiler profiler(4);
  const Kernels k = profiler.kernels(4);
  profiler.loop(k, 3);  // the first pass
  for (int i = 0; i < 400; ++i) profiler.loop(i % 2 == 0 ? Kernels{k[0], k[1], k[3]} : k, 1);
  EXPECT_THAT(profiler.counted, Each(4));
}

TEST(SessionPlan, InAProgramWithoutAnyRhythmEachKernelIsCountedByItself) {
  Profiler profiler(6);
  const Kernels k = profiler.kernels(20);
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  for (int i = 0; i < 80'000; ++i) profiler.launch(k[random() % k.size()]);
  EXPECT_THAT(profiler.counted, Each(6));
}

TEST(SessionPlan, AKernelThatDoesNotComeBackHoldsNobodyUp) {
  Profiler profiler(3);
  const Kernels k = profiler.kernels(3);
  profiler.loop({k[0]}, 3);  // a session begins with it
  profiler.loop({k[1], k[2]}, 2000);
  EXPECT_THAT(profiler.counted, ElementsAre(testing::Ge(1U), 3, 3));
}

TEST(SessionPlan, KernelsOfAnotherContextWaitForTheirOwnSession) {
  Profiler profiler(2);
  int one = 0, two = 0;
  const std::size_t here = profiler.kernel(&one), there = profiler.kernel(&two);
  profiler.loop({here, there}, 3);
  EXPECT_EQ(profiler.plan.context(), &one);
  profiler.loop({here, there}, 12);
  EXPECT_EQ(profiler.sessions, 2);
  EXPECT_THAT(profiler.counted, Each(2));
}

TEST(SessionPlan, APassIsOverBeforeWhatMustNotBeCountedAndTakesInWhatNobodyAskedFor) {
  Profiler profiler(3);
  const std::size_t a = profiler.kernel(), waits = profiler.kernel(), b = profiler.kernel();
  const std::size_t other = profiler.kernel(nullptr, false), c = profiler.kernel();
  profiler.plan.leave_out(waits);
  for (int i = 0; i < 20; ++i) {
    profiler.launch(a);
    EXPECT_FALSE(profiler.launch(waits));
    EXPECT_FALSE(profiler.plan.is_in_pass());
    profiler.loop({b, other, c}, 1);
  }
  EXPECT_THAT(profiler.counted, ElementsAre(3, 0, 3, 0, 3));
}

TEST(SessionPlan, WhatCuptiCountedOtherwiseIsTriedAgainAndThenByItself) {
  Profiler profiler(2);
  const Kernels k = profiler.kernels(2);
  for (int attempt = 0; attempt < 2; ++attempt) {
    while (!profiler.plan.is_in_session()) profiler.loop(k, 1);
    profiler.plan.finish(false);
  }
  profiler.loop(k, 2000);
  EXPECT_THAT(profiler.counted, Each(2));
}

TEST(SessionPlan, ASessionThatIsEndedEarlyTellsWhatItHas) {
  Profiler profiler(9);
  const Kernels k = profiler.kernels(2);
  profiler.loop(k, 6);
  profiler.end_session();
  EXPECT_THAT(profiler.counted, Each(testing::AnyOf(2U, 3U)));
  EXPECT_FALSE(profiler.plan.is_in_session());
  profiler.loop(k, 40);
  EXPECT_THAT(profiler.counted, Each(9));
}

TEST(SessionPlan, ALaunchThatIsReplayedIsASessionOfItsOwn) {
  Profiler profiler(1, 1, 0);
  const Kernels k = profiler.kernels(2);
  EXPECT_TRUE(profiler.launch(k[0]));
  EXPECT_TRUE(profiler.launch(k[1]));
  EXPECT_FALSE(profiler.launch(k[0]));
  EXPECT_THAT(profiler.counted, Each(1));
}

}  // namespace
}  // namespace mprof::injection
