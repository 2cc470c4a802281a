// SPDX-License-Identifier: MIT
#include "runner/alternation.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mprof {
namespace {

using Side = Alternation::Side;

/// Samples of cases, each side on a thread of its own. What both write down is in the order of their turns.
class Sampled {
 public:
  /// `steps`: cases, one after another, with so many samples each before there are enough.
  void run(Side side, const std::vector<int>& steps, Ending ending = Ending::confidence) {
    const char name = side == Side::baseline ? 'a' : 'b';
    for (std::size_t step = 0; step < steps.size(); ++step) {
      alternation_.meet(side, step + 1);
      Alternation::Turn turn(alternation_, side);
      for (int samples = 1;; ++samples) {
        turns += name;
        alternation_.note(side, samples >= steps[step] ? std::optional(ending) : std::nullopt);
        turn.change();
        if (!alternation_.wants_another(side)) break;
      }
      turns += static_cast<char>(std::toupper(name));  // what follows the samples
      alternation_.part(side);
    }
    alternation_.leave(side, false);
  }

  /// Of the baseline and the candidate.
  std::string of(const std::vector<int>& a, const std::vector<int>& b, Ending of_b = Ending::confidence) {
    std::jthread baseline([&] { run(Side::baseline, a); });
    run(Side::candidate, b, of_b);
    baseline.join();
    return turns;
  }

  std::string turns;

 private:
  Alternation alternation_;
};

TEST(Alternation, ChangesAfterEachSampleUntilBothHaveEnough) {
  EXPECT_EQ(Sampled().of({3}, {5}), "bababababAB");
}

TEST(Alternation, EndsForBothWhenOneMayTakeNoMore) {
  EXPECT_EQ(Sampled().of({100}, {3}, Ending::seconds),
            "babab"
            "AB");
}

TEST(Alternation, TheFirstTurnIsEachSidesAtHalfOfTheSteps) {
  EXPECT_EQ(Sampled().of({2, 2, 2}, {2, 2, 2}),
            "babaBA"
            "babaBA"
            "ababAB");
}

TEST(Alternation, ASideWhoseOtherHasLeftGoesOnAlone) {
  const std::string turns = Sampled().of({1}, {1, 3});
  EXPECT_TRUE(turns.ends_with("bbbB")) << turns;
}

TEST(Alternation, ASideAtALaterCaseIsNotWaitedFor) {
  Alternation alternation;
  std::jthread ahead([&] { alternation.meet(Side::baseline, 2); });  // its first case failed at once
  alternation.meet(Side::candidate, 1);
  EXPECT_TRUE(alternation.wants_another(Side::candidate));
  alternation.note(Side::candidate, Ending::confidence);
  EXPECT_FALSE(alternation.wants_another(Side::candidate));
  alternation.leave(Side::candidate, false);
}

TEST(Alternation, ACaseThatEndsEarlyLeavesTheOtherAlone) {
  Alternation alternation;
  std::jthread wrong([&] {
    alternation.meet(Side::baseline, 2);
    { const Alternation::Turn turn(alternation, Side::baseline); }
    alternation.part(Side::baseline);
  });
  alternation.meet(Side::candidate, 2);
  Alternation::Turn turn(alternation, Side::candidate);
  for (int i = 0; i < 3; ++i) turn.change();
  wrong.join();
  EXPECT_TRUE(alternation.wants_another(Side::candidate));
}

}  // namespace
}  // namespace mprof
