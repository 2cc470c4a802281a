#include "system/files.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using test::expect_contains;
using test::message_of;

TEST(FileWriter, LeavesTheOldFileUntilItIsDone) {
  const test::TemporaryDirectory temporary;
  const fs::path path = temporary.write("file", "old");
  const std::string part(300'000, 'x');
  {
    FileWriter given_up(path);
    given_up.write(part);
  }
  EXPECT_EQ(read_file(path), "old");
  FileWriter file(path);
  for (int i = 0; i < 3; ++i) file.write(part);
  EXPECT_EQ(read_file(path), "old");
  file.commit();
  EXPECT_EQ(read_file(path), part + part + part);
  EXPECT_FALSE(fs::exists(temporary.path() / "file.tmp"));
}

class Within : public ::testing::Test {
 protected:
  Within() {
    temporary.write("run/notes/story.md", "story");
    temporary.write("elsewhere/secret.md", "secret");
  }
  [[nodiscard]] bool is_inside(const fs::path& relative) const { return is_within(run, run / relative); }

  test::TemporaryDirectory temporary;
  fs::path run = temporary.path() / "run";
};

TEST_F(Within, FilesOfTheDirectoryAre) {
  EXPECT_TRUE(is_inside("notes/story.md"));
  EXPECT_TRUE(is_inside("notes/../notes/story.md"));
  EXPECT_TRUE(is_inside("not/there/yet.md"));
  EXPECT_EQ(read_file_within(run, run / "notes/story.md"), "story");
}

TEST_F(Within, WhatLiesElsewhereIsNot) {
  EXPECT_FALSE(is_inside("../elsewhere/secret.md"));
  EXPECT_FALSE(is_inside("/etc/passwd"));
  EXPECT_FALSE(is_inside("."));
  temporary.write("run2/file", "x");
  EXPECT_FALSE(is_inside("../run2/file")) << "its name begins alike";
}

TEST_F(Within, LinksAreFollowedToTheirEnd) {
  fs::create_symlink("story.md", run / "notes/inside.md");
  fs::create_symlink("../../elsewhere/secret.md", run / "notes/outside.md");
  fs::create_symlink("outside.md", run / "notes/by_way_of_another.md");
  fs::create_directory_symlink(temporary.path() / "elsewhere", run / "folder");
  fs::create_symlink("loop.md", run / "loop.md");
  EXPECT_TRUE(is_inside("notes/inside.md"));
  for (const char* link :
       {"notes/outside.md", "notes/by_way_of_another.md", "folder/secret.md", "folder/new.md", "loop.md"}) {
    EXPECT_FALSE(is_inside(link)) << link;
    expect_contains(message_of([&] { static_cast<void>(read_file_within(run, run / link)); }),
                    std::string(link) + " leads out of");
  }
}

TEST_F(Within, ADirectoryThatIsALinkItselfIsItsTarget) {
  fs::create_directory_symlink(run, temporary.path() / "latest");
  EXPECT_TRUE(is_within(temporary.path() / "latest", run / "notes/story.md"));
  EXPECT_TRUE(is_within(run, temporary.path() / "latest/notes/story.md"));
}

}  // namespace
}  // namespace mprof
