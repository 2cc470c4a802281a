// SPDX-License-Identifier: MIT
#include "model/statistics/paired.hpp"

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace mprof {
namespace {

/// Student's own example: additional hours of sleep by two drugs, of ten patients (Biometrika 6, 1908). The
/// mean difference is 1.58 with t = 4.0621, p = 0.002833. As logarithms, so that the differences are those.
TEST(Paired, AgreesWithStudentsSleepData) {
  const std::vector<double> first{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
      second{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  std::vector<double> a, b;
  for (const double hours : first) a.push_back(std::exp(hours));
  for (const double hours : second) b.push_back(std::exp(hours));
  const RatioTest test = test_paired(a, b).value();
  EXPECT_NEAR(std::log(test.ratio), 1.58, 1e-12);
  EXPECT_NEAR(test.p, 0.002833, 5e-7);
  EXPECT_NEAR(std::log(test.interval.low), 0.7001142, 1e-6);
  EXPECT_NEAR(std::log(test.interval.high), 2.4598858, 1e-6);
}

TEST(Paired, NeedsTwoBlocks) {
  EXPECT_FALSE(test_paired(std::vector<double>{1}, std::vector<double>{2}));
  EXPECT_EQ(test_paired(std::vector<double>{1, 1}, std::vector<double>{1, 1})->p, 1);
  EXPECT_EQ(test_paired(std::vector<double>{1, 1}, std::vector<double>{2, 2})->p, 0);
}

/// A session on a machine that drifts, and on which something else runs now and then.
class NoisyMachine {
 public:
  explicit NoisyMachine(std::uint64_t seed) : random_(seed) {}

  /// The next round of something that takes this long: half a percent slower with each one before it, and 15
  /// % while the other process is there.
  double round(double time) {
    disturbed_ = disturbed_ ? uniform_(random_) > 0.3 : uniform_(random_) < disturbance_;
    drift_ += 0.005;
    return time * std::exp(drift_ + 0.002 * normal_(random_)) * (disturbed_ ? 1.15 : 1);
  }

  void disturb() { disturbance_ = 0.1; }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  bool disturbed_ = false;
  double disturbance_ = 0, drift_ = 0;
};

/// Whether a session A B B A calls a change of more than half a percent at one of its looks.
bool calls(NoisyMachine& machine, double change) {
  std::vector<double> a, b;
  while (a.size() < most_blocks()) {
    const double first = machine.round(1), second = machine.round(change), third = machine.round(change),
                 fourth = machine.round(1);
    a.push_back(std::sqrt(first * fourth));
    b.push_back(std::sqrt(second * third));
    if (!is_look(a.size())) continue;
    const RatioTest test = test_paired(a, b, alpha_of_a_look()).value();
    if (test.p <= alpha_of_a_look() && std::abs(test.ratio - 1) > 0.005) return true;
  }
  return false;
}

int calls_of(int sessions, std::uint64_t seed, double change, bool disturbed) {
  int called = 0;
  for (int i = 0; i < sessions; ++i) {
    NoisyMachine machine(seed + static_cast<std::uint64_t>(i));
    if (disturbed) machine.disturb();
    called += calls(machine, change) ? 1 : 0;
  }
  return called;
}

/// Rounds of processes that differ by `between`, on a machine whose speed wanders by a tenth over many
/// samples, measured in turns.
Difference measured_in_turns(std::mt19937_64& random, double change, std::size_t rounds, double between) {
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> a(rounds), b(rounds);
  double state = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const double of_a = between * normal(random), of_b = std::log(change) + between * normal(random);
    for (int i = 0; i < 12; ++i) {
      for (const bool is_a : {true, false}) {
        state = 0.98 * state + 0.02 * normal(random);
        const double time = std::exp((is_a ? of_a : of_b) + state + 0.01 * normal(random));
        (is_a ? a : b)[round].push_back(time);
      }
    }
  }
  std::vector<double> ratios;
  for (std::size_t round = 0; round < rounds; ++round) ratios.push_back(ratio_of_pairs(a[round], b[round]));
  return difference_of(ratios);
}

/// How many of 1000 runs call a change at 5 %.
int calls_in_turns(double change, std::size_t rounds, double between) {
  std::mt19937_64 random(7);
  int called = 0;
  for (int i = 0; i < 1000; ++i) {
    const Difference difference = measured_in_turns(random, change, rounds, between);
    called += test_ratio(difference.before(), difference.after(), Apart::in_one_run)->p <= 0.05 ? 1 : 0;
  }
  return called;
}

TEST(InTurns, OfTheSameIsWrongOnceInTwentyTimes) {
  for (const std::size_t rounds : {2U, 3U, 5U}) {
    EXPECT_NEAR(calls_in_turns(1, rounds, 0.01), 50, 21) << "three standard deviations of the simulation";
  }
}

TEST(InTurns, FindsFivePercentOnAMachineThatWandersByTen) {
  EXPECT_GE(calls_in_turns(1.05, 5, 0.01), 950);
}

TEST(InTurns, CountsSamplesThatHaveAPartnerAlone) {
  const std::vector<double> a{1, 1, 1}, b{2, 2, 2, 100, 100, 100, 100};
  EXPECT_EQ(ratio_of_pairs(a, b), 2);
  const Difference difference = difference_of(std::vector<double>{2, 2});
  EXPECT_EQ(difference.rounds, 2);
  EXPECT_DOUBLE_EQ(difference.mean, std::log(2));
  EXPECT_EQ(difference_of({}).rounds, 0);
}

TEST(Session, OfTheSameIsWrongOnceInTwentyTimesAtMost) {
  constexpr int sessions = 400;
  for (const bool disturbed : {false, true}) {
    const int called = calls_of(sessions, 1000, 1, disturbed);
    RecordProperty(disturbed ? "disturbed" : "quiet", called);
    EXPECT_LE(called, sessions / 20 + 9) << "two standard deviations of the simulation";
  }
}

TEST(Session, FindsOnePercentNineteenTimesInTwenty) {
  EXPECT_GE(calls_of(200, 5000, 1.01, false), 190);
}

}  // namespace
}  // namespace mprof
