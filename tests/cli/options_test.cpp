// SPDX-License-Identifier: MIT
#include "cli/options.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace mprof::cli {
namespace {

Verb verb_with_options() {
  return {.name = "try",
          .positional = "DIR",
          .options = {{"out", "DIR", "here", "Where."}, {"quiet", "", "", "Little."}}};
}

Arguments parsed(const std::vector<std::string>& words) {
  std::vector<std::string> line{"mprof", "try"};
  line.insert(line.end(), words.begin(), words.end());
  return parse(verb_with_options(), line);
}

TEST(Arguments, HaveWhatIsInTheTable) {
  const Arguments arguments = parsed({"a", "--quiet"});
  EXPECT_EQ(arguments.text("DIR"), "a");
  EXPECT_EQ(arguments.text("out"), "here");
  EXPECT_FALSE(arguments.given("out"));
  EXPECT_TRUE(arguments.flag("quiet"));
}

TEST(Arguments, AskedForAnOptionThatTheVerbLacks_IsAFault) {
  const Arguments arguments = parsed({"a"});
  EXPECT_THROW(static_cast<void>(arguments.flag("quite")), std::logic_error);
  EXPECT_THROW(static_cast<void>(arguments.given("otu")), std::logic_error);
  EXPECT_THROW(static_cast<void>(arguments.text("FILE")), std::logic_error);
  EXPECT_THROW(static_cast<void>(arguments.texts("source")), std::logic_error);
}

}  // namespace
}  // namespace mprof::cli
