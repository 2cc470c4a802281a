// SPDX-License-Identifier: MIT
#include "system/numbers.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "system/shell.hpp"

namespace mprof {
namespace {

TEST(ParseAs, TakesAWholeTextOrNothing) {
  EXPECT_EQ(parse_as<std::uint32_t>("12"), 12U);
  EXPECT_EQ(parse_as<double>("1.5e3"), 1500.0);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "-1", "4294967296"})
    EXPECT_FALSE(parse_as<std::uint32_t>(text)) << text;
}

TEST(ShellQuoted, QuotesOnlyWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_quoted("--out=runs/a-1"), "--out=runs/a-1");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("map[width=8]"), "'map[width=8]'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace mprof
