// SPDX-License-Identifier: MIT
#include "system/numbers.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "system/error.hpp"
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

TEST(ShellWords, AreTheWordsOfACommandAndNothingThatOnlyAShellCanDo) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(shell_words("./a 1 'b c' \"d e\""), (Words{"./a", "1", "b c", "d e"}));
  EXPECT_EQ(shell_words("sh -c 'a | b > c'"), (Words{"sh", "-c", "a | b > c"}));
  const auto refused = [](const char* command) -> std::string {
    try {
      static_cast<void>(shell_words(command));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const char* command : {"a | b", "a > b", "a; b", "a $(b)", "a `b`"})
    EXPECT_NE(refused(command).find("needs a shell"), std::string::npos) << command;
  for (const char* command : {"", "  "}) EXPECT_NE(refused(command).find("no command"), std::string::npos);
  EXPECT_NE(refused("a 'b").find("quotes do not match"), std::string::npos);
}

}  // namespace
}  // namespace mprof
