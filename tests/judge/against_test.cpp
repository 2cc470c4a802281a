// SPDX-License-Identifier: MIT
#include "serve/judge/against.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

std::string refusal_of(const std::string& against, const std::filesystem::path& file,
                       const Registry& registry) {
  try {
    require_against(against, file, registry);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Against, IsAnIdOrTheEndOfOneOrLiesBesideAFamily) {
  Registry registry;
  registry.add(RegisteredVariant{.info = {.id = "map/naive", .family = "map"}, .unavailable = {}});
  EXPECT_EQ(refusal_of("", {}, registry), "") << "what the file declares";
  EXPECT_EQ(refusal_of("map/naive", {}, registry), "");
  EXPECT_EQ(refusal_of("naive", {}, registry), "");
  EXPECT_THAT(refusal_of("map/naiv", {}, registry), ::testing::HasSubstr("Did you mean map/naive?"));
  EXPECT_THAT(refusal_of("ap/naive", {}, registry), ::testing::HasSubstr("there is no such variant"));

  const test::TemporaryDirectory folder;
  for (const char* name : {"family.cpp", "slow.cpp", "mine.cpp"}) folder.write(name, "");
  EXPECT_EQ(refusal_of("own/slow", folder.path() / "mine.cpp", registry), "");
  EXPECT_EQ(refusal_of("slow", folder.path() / "mine.cpp", registry), "");
  EXPECT_NE(refusal_of("fast", folder.path() / "mine.cpp", registry), "");
  EXPECT_NE(refusal_of("slow", {}, registry), "") << "of a class nothing beside counts";
}

TEST(Against, IsOneVariantForAClass) {
  Registry registry;
  const auto refusal = [&](const std::string& against) {
    try {
      require_one_against(against, registry);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* family : {"map", "conv"})
    registry.add(RegisteredVariant{.info = {.id = std::string(family) + "/naive", .family = family},
                                   .unavailable = {}});
  registry.add(RegisteredVariant{.info = {.id = "conv/fast", .family = "conv"}, .unavailable = {}});
  EXPECT_EQ(refusal("map/naive"), "");
  EXPECT_EQ(refusal("fast"), "") << "no other family has it";
  EXPECT_THAT(refusal("naive"), ::testing::HasSubstr("would choose one of them"));
  EXPECT_THAT(refusal("map/fast"), ::testing::HasSubstr("there is no such variant"));
}

}  // namespace
}  // namespace mprof
