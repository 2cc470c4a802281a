#include "system/files.hpp"

#include <array>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST(WriteFile, ReplacesALink) {
  const test::TemporaryDirectory temporary;
  const fs::path link = temporary.path() / "run.json", secret = temporary.write("secret", "old");
  fs::create_symlink("secret", link);
  write_file(link, "new");
  EXPECT_FALSE(fs::is_symlink(link)) << "a run that came from anywhere leads nobody out of it";
  EXPECT_EQ(read_file(secret), "old");
}

class WriteOutput : public ::testing::Test {
 protected:
  /// What waits at this end of a pipe or a socket.
  static std::string waiting(int end) {
    std::array<char, 64> text{};
    const ssize_t size = ::read(end, text.data(), text.size());
    return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  }

  test::TemporaryDirectory temporary;
  fs::path link = temporary.path() / "link";
};

TEST_F(WriteOutput, FollowsLinksAndLeavesThem) {
  const fs::path file = temporary.write("folder/file", "old");
  fs::create_symlink("folder/second", link);
  fs::create_symlink("file", temporary.path() / "folder/second");
  write_output(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_symlink(temporary.path() / "folder/second"));
  EXPECT_FALSE(fs::is_symlink(file));
  EXPECT_EQ(read_file(file), "new");
}

TEST_F(WriteOutput, MakesWhatALinkLeadsTo) {
  fs::create_symlink("none/yet", link);
  write_output(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(temporary.path() / "none/yet"), "new");
}

TEST_F(WriteOutput, RefusesLinksThatLeadNowhereAndDirectories) {
  const auto refused = [](const fs::path& path) {
    return message_of([&] { write_output(path, "new"); }, ExitCode::environment);
  };
  fs::create_symlink("link", link);
  expect_contains(refused(link), "link: Too many levels of symbolic links");
  expect_contains(refused(temporary.path()), "Is a directory. What was there before is unchanged");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_FALSE(fs::exists(temporary.path().string() + ".tmp"));
}

TEST_F(WriteOutput, WritesIntoANamedPipe) {
  const fs::path pipe = temporary.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("pipe", link);
  const int end = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(end, 0);
  for (const fs::path& name : {pipe, link}) {
    write_output(name, "new");
    EXPECT_EQ(waiting(end), "new");
  }
  ::close(end);
  EXPECT_TRUE(fs::is_fifo(fs::symlink_status(pipe)));
  EXPECT_TRUE(fs::is_symlink(link));
}

/// By way of links alone: what fails here shall not cost the machine its devices.
TEST_F(WriteOutput, WritesIntoADevice) {
  fs::create_symlink("/dev/null", link);
  write_output(link, "new");
  const fs::path full = temporary.path() / "full";
  fs::create_symlink("/dev/full", full);
  expect_contains(message_of([&] { write_output(full, "new"); }, ExitCode::environment),
                  "full: No space left on device; free some space");
  for (const fs::path& name : {link, full}) {
    EXPECT_TRUE(fs::is_symlink(name));
    EXPECT_TRUE(fs::is_character_file(name));
  }
}

TEST_F(WriteOutput, WritesIntoADescriptor) {
  std::array<int, 2> ends{};  // /dev/stdout may be a socket, which cannot be opened by its name
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const std::string name = "/dev/fd/" + std::to_string(ends[1]);
  fs::create_symlink(name, link);
  for (const std::string& path : {name, link.string()}) {
    write_output(path, "new");
    EXPECT_EQ(waiting(ends[0]), "new");
  }
  EXPECT_TRUE(fs::is_symlink(link));
  for (const int end : ends) ::close(end);
  expect_contains(message_of([&] { write_output(name, "new"); }, ExitCode::environment),
                  name + ": Bad file descriptor; write elsewhere.");
}

TEST_F(WriteOutput, GoesOnInAFileThatADescriptorIsAt) {
  const fs::path path = temporary.path() / "file";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(file, "first, ", 7), 7);
  write_output("/dev/fd/" + std::to_string(file), "then");
  ::close(file);
  EXPECT_EQ(read_file(path), "first, then");
}

TEST(ObstacleToWriting, IsFoundWithoutLeavingAnything) {
  const test::TemporaryDirectory temporary;
  temporary.write("file", "x");
  EXPECT_FALSE(obstacle_to_writing(temporary.path()));
  EXPECT_FALSE(obstacle_to_writing(temporary.path() / "none" / "yet/"));
  EXPECT_EQ(obstacle_to_writing(temporary.path() / "file"), std::errc::not_a_directory);
  EXPECT_EQ(obstacle_to_writing(temporary.path() / "file/below"), std::errc::not_a_directory);
  EXPECT_TRUE(obstacle_to_writing("/proc/mprof")) << "of which no permission tells root";
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary.path()), {}), 1);
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
