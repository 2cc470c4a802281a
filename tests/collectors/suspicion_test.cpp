// SPDX-License-Identifier: MIT
// What makes times suspect while they are taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectors/clock_check.hpp"
#include "collectors/stage_work.hpp"
#include "tests/support/fake_clock.hpp"

namespace mprof {
namespace {

using ::testing::HasSubstr;

/// A sample during which one clock counts `seconds` and the other `other_seconds`.
std::optional<std::string> suspicion_of(double seconds, double other_seconds) {
  test::FakeClock clock, other;
  const auto check = make_clock_check(clock, other);
  check->begin_sample();
  clock.advance(seconds);
  other.advance(other_seconds);
  check->end_sample();
  return check->suspicion();
}

TEST(ClockCheck, FindsAClockThatCountsLess) {
  EXPECT_EQ(suspicion_of(1, 1), std::nullopt);
  EXPECT_EQ(suspicion_of(1, 1.0005), std::nullopt) << "slewed to the time of day";
  EXPECT_TRUE(suspicion_of(1e-5, 5e-4).has_value());
  EXPECT_THAT(suspicion_of(0.1, 1).value(),
              HasSubstr("counted 0.1 s while the kernel's counted 1 s: something in its process replaced"));
  EXPECT_TRUE(suspicion_of(1, 0.9).has_value());
}

/// A busy machine puts its process aside behind each reading.
class HeldClock final : public Clock {
 public:
  HeldClock(double& now, double held) : now_(now), held_(held) {}
  [[nodiscard]] double now() const override {
    const double read = now_;
    now_ += held_;
    return read;
  }

 private:
  double& now_;
  double held_;  ///< s
};

TEST(ClockCheck, SuspectsNobodyWhoIsPutAsideBetweenTwoReadings) {
  double now = 1024;
  const HeldClock clock(now, 0.02), other(now, 0.01);
  const auto check = make_clock_check(clock, other);
  for (int sample = 0; sample < 100; ++sample) {
    check->begin_sample();
    now += 1e-3;
    check->end_sample();
  }
  EXPECT_EQ(check->suspicion(), std::nullopt);
}

TEST(ClockCheck, TheProductsClocksAgree) {
  const auto check = make_clock_check(steady_clock(), kernel_clock());
  check->begin_sample();
  const double start = steady_clock().now();
  while (steady_clock().now() < start + 0.05) {
  }
  check->end_sample();
  EXPECT_EQ(check->suspicion(), std::nullopt);
}

/// Ten samples of an op whose stages take this CPU time, s; of which so many spend nothing outside forward().
std::optional<std::string> suspicion_of_stages(double prepare, double forward, double finish,
                                               int honest = 0) {
  double now = 0;
  const auto work = make_stage_work([&] { return now; });
  for (int i = 0; i < 10; ++i) {
    const double elsewhere = i < honest ? 0 : 1;
    work->begin_sample();
    for (const auto& [stage, seconds] :
         {std::pair(Stage::prepare, elsewhere * prepare), std::pair(Stage::forward, forward),
          std::pair(Stage::finish, elsewhere * finish)}) {
      work->begin_stage("op1", stage);
      now += seconds;
      work->end_stage("op1", stage);
    }
    work->end_sample();
  }
  return work->suspicion();
}

TEST(StageWork, FindsWorkOutsideForward) {
  EXPECT_EQ(suspicion_of_stages(0, 0.1, 0), std::nullopt);
  EXPECT_EQ(suspicion_of_stages(0.02, 0.1, 0.02), std::nullopt) << "memory, and weights in another order";
  EXPECT_EQ(suspicion_of_stages(0.002, 1e-4, 0), std::nullopt) << "a library that sets itself up";
  EXPECT_THAT(suspicion_of_stages(0.09, 0.01, 0).value(),
              HasSubstr("90 % of the CPU time of op1 is spent outside forward()"));
  EXPECT_TRUE(suspicion_of_stages(0, 0.01, 0.09).has_value());
}

TEST(StageWork, IsSureOfMuchWorkAtOnceAndOfLittleWithManySamples) {
  const auto fewest = [](double elsewhere) {
    double now = 0;
    const auto work = make_stage_work([&] { return now; });
    work->begin_sample();
    work->begin_stage("op1", Stage::prepare);
    now += elsewhere;
    work->end_stage("op1", Stage::prepare);
    EXPECT_TRUE(work->suspicion().has_value());
    return work->fewest_to_suspect();
  };
  EXPECT_EQ(fewest(0.5), 1U);
  EXPECT_EQ(fewest(0.05), 51U);
}

TEST(StageWork, IsDecidedByMostOfTheSamples) {
  EXPECT_TRUE(suspicion_of_stages(0.09, 0.01, 0, 4).has_value());
  EXPECT_EQ(suspicion_of_stages(0.09, 0.01, 0, 5), std::nullopt);
  EXPECT_EQ(suspicion_of_stages(0.5, 0, 0, 9), std::nullopt) << "a busy machine, once";
}

}  // namespace
}  // namespace mprof
