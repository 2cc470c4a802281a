// SPDX-License-Identifier: MIT
#include "injection/open_ranges.hpp"

#include <gtest/gtest.h>

namespace mprof::injection {
namespace {

TEST(OpenRanges, TheOutermostOfAThreadIsItsOp) {
  OpenRanges ranges({}, "");
  EXPECT_EQ(ranges.op_of(1), "");
  ranges.begins(1, 1, true, "step");
  ranges.begins(1, 2, true, "forward");
  ranges.begins(1, 3, false, "of a library");
  EXPECT_EQ(ranges.op_of(1), "step");
  ranges.ends(1);
  EXPECT_EQ(ranges.op_of(1), "forward");
  ranges.ends(2);
  EXPECT_EQ(ranges.op_of(1), "");
}

TEST(OpenRanges, AThreadWithoutRangesIsInTheLastOneThatWasOpened) {
  OpenRanges ranges({}, "");
  ranges.begins(1, 1, true, "a");
  ranges.begins(2, 2, true, "b");
  EXPECT_EQ(ranges.op_of(3), "b");
  ranges.ends(2);
  EXPECT_EQ(ranges.op_of(3), "a");
  EXPECT_EQ(ranges.op_of(2), "");
}

TEST(OpenRanges, OpsThatAreKnownAreFoundByTheirNamesWithNumbersOrWithout) {
  OpenRanges ranges({"step #", "load", "other ranges", "outside"}, "");
  ranges.begins(1, 1, true, "step 12");
  EXPECT_EQ(ranges.op_of(1), "step #");
  ranges.ends(1);
  ranges.begins(1, 2, true, "never seen");
  EXPECT_EQ(ranges.op_of(1), "other ranges");
  ranges.ends(2);
  OpenRanges chosen({"load"}, "lo*");
  chosen.begins(1, 1, true, "step");
  chosen.begins(1, 2, true, "load");
  EXPECT_EQ(chosen.op_of(1), "load");
}

}  // namespace
}  // namespace mprof::injection
