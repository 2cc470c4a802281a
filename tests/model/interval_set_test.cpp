// SPDX-License-Identifier: MIT
#include "model/trace/interval_set.hpp"

#include <gtest/gtest.h>

namespace mprof::trace {
namespace {

TEST(IntervalSet, IsTheUnionInAnyOrder) {
  const IntervalSet set({{30, 40}, {0, 10}, {5, 20}, {20, 25}, {38, 39}, {7, 7}, {9, 3}});
  EXPECT_EQ(set.length(), 25 + 10);
  EXPECT_EQ(IntervalSet().length(), 0);
  EXPECT_TRUE(IntervalSet({{5, 5}}).empty());
}

TEST(IntervalSet, KnowsWhatIsInBothAndInOneOnly) {
  const IntervalSet a({{0, 10}, {20, 30}, {40, 50}});
  const IntervalSet b({{5, 25}, {28, 29}, {45, 100}});
  EXPECT_EQ((a & b).length(), 5 + 5 + 1 + 5);
  EXPECT_EQ((a - b).length(), 5 + 3 + 1 + 5);
  EXPECT_EQ((b - a).length(), 10 + 50);
  EXPECT_EQ((a | b).length(), 30 + 60);  // 0 to 30 and 40 to 100
  EXPECT_EQ(((a - b) | (a & b)).length(), a.length());
}

TEST(IntervalSet, SaysHowMuchIsInBothAndGivesItAway) {
  const IntervalSet a({{0, 10}, {20, 30}, {40, 50}});
  const IntervalSet b({{5, 25}, {28, 29}, {45, 100}});
  EXPECT_EQ(a.length_in(b), (a & b).length());
  EXPECT_EQ(b.length_in(a), (a & b).length());
  EXPECT_EQ(a.length_in(IntervalSet({{30, 40}})), 0) << "what ends where the other begins is not in both";
  EXPECT_EQ(a.length_in(IntervalSet({{25, 1000}})), 5 + 10);
  EXPECT_EQ(IntervalSet().length_in(a), 0);
  IntervalSet rest = a;
  EXPECT_EQ(rest.take(b).intervals(), (a & b).intervals());
  EXPECT_EQ(rest.intervals(), (a - b).intervals());
  EXPECT_TRUE(rest.take(b).empty());
}

TEST(IntervalSet, KnowsWhenSeveralOfThemAre) {
  const std::vector<IntervalSet> sets{IntervalSet({{0, 10}, {10, 20}}), IntervalSet({{5, 15}, {40, 50}}),
                                      IntervalSet({{8, 30}}), IntervalSet({{50, 60}})};
  EXPECT_EQ(in_several(sets).intervals(), (std::vector<Interval>{{5, 20}}))
      << "what begins where other work ends is not beside it";
  EXPECT_TRUE(in_several({sets[0]}).empty());
  EXPECT_TRUE(in_several({}).empty());
}

}  // namespace
}  // namespace mprof::trace
