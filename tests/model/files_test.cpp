// SPDX-License-Identifier: MIT
#include "system/files.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "messages.hpp"
#include "system/error.hpp"
#include "system/temporary_folder.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using test::expect_contains;
using test::message_of;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

/// A process that has done some work, and lives on until it is killed.
class Child {
 public:
  explicit Child(const std::function<void()>& work) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      work();
      ::close(ends[1]);
      while (true) ::pause();
    }
    ::close(ends[1]);
    char none = 0;
    while (::read(ends[0], &none, 1) < 0 && errno == EINTR) continue;  // until the child closes its end
    ::close(ends[0]);
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
};

TEST(FileWriter, RemovesWhatKilledOnesLeftAndNothingOfTheLiving) {
  const test::TemporaryDirectory temporary;
  const auto begin = [&](const char* name) {
    auto* const writer = new FileWriter(temporary.path() / name);  // which nothing ends
    writer->write(std::string(300'000, 'x'));
  };
  const Child living([&] { begin("living"); });
  Child killed([&] { begin("killed"); });
  killed.kill();
  temporary.write("theirs.tmp", "a file of somebody's");
  EXPECT_EQ(names_in(temporary.path()).size(), 3U);
  write_file(temporary.path() / "file", "new");
  const std::set<std::string> left = names_in(temporary.path());
  EXPECT_EQ(left.size(), 3U) << "the living one's, theirs and the new one";
  EXPECT_TRUE(left.contains("file") && left.contains("theirs.tmp"));
}

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
  EXPECT_EQ(names_in(temporary.path()), std::set<std::string>{"file"});
}

/// Two that write one file at once: each has a temporary file of its own, so the last one's file is whole.
TEST(FileWriter, SharesNoTemporaryFile) {
  const test::TemporaryDirectory temporary;
  const fs::path path = temporary.path() / "file";
  const std::string part(300'000, 'x');
  FileWriter first(path);
  first.write(part);
  write_file(path, "second");
  EXPECT_EQ(read_file(path), "second");
  first.write(part);
  first.commit();
  EXPECT_EQ(read_file(path), part + part);
  EXPECT_EQ(names_in(temporary.path()), std::set<std::string>{"file"});
}

TEST(FileWriter, FollowsNoLinkThatSomebodyPlanted) {
  const test::TemporaryDirectory temporary;
  const fs::path victim = temporary.write("victim", "mine"), out = temporary.path() / "out";
  fs::create_directory(out);
  for (const char* name : {"file.tmp", ".mprof-.tmp", ".file.tmp"}) fs::create_symlink(victim, out / name);
  write_file(out / "file", "new");
  EXPECT_EQ(read_file(victim), "mine");
  EXPECT_EQ(read_file(out / "file"), "new");
}

TEST(FileWriter, MakesFoldersBelowAndFollowsNoLinkThere) {
  const test::TemporaryDirectory temporary;
  const fs::path out = temporary.path() / "out", elsewhere = temporary.path() / "elsewhere";
  write_file_below(out, "a/b/file", "new");
  EXPECT_EQ(read_file(out / "a/b/file"), "new");
  fs::create_directory(elsewhere);
  fs::create_directory_symlink(elsewhere, out / "charts");
  fs::create_directory_symlink(elsewhere, out / "a/link");
  for (const char* name : {"charts/x.svg", "charts/below/x.svg", "a/link/x.svg"}) {
    expect_contains(message_of([&] { write_file_below(out, name, "new"); }),
                    "it is a symbolic link, which is not followed. Remove it");
  }
  EXPECT_THROW(write_file_below(out, "../outside", "new"), Error);
  EXPECT_THROW(write_file_below(out, "a/../../outside/file", "new"), Error);
  EXPECT_EQ(names_in(elsewhere), std::set<std::string>{});
  fs::create_directory_symlink(out, temporary.path() / "latest");
  write_file_below(temporary.path() / "latest", "a/file", "new");
  EXPECT_EQ(read_file(out / "a/file"), "new") << "the directory itself is the user's word";
}

class TemporaryFolders : public ::testing::Test {
 protected:
  TemporaryFolders() {
    if (const char* const set = std::getenv("TMPDIR")) before_ = set;
    ::setenv("TMPDIR", temporary.path().c_str(), 1);
  }
  ~TemporaryFolders() override {
    if (before_)
      ::setenv("TMPDIR", before_->c_str(), 1);
    else
      ::unsetenv("TMPDIR");
  }
  test::TemporaryDirectory temporary;

 private:
  std::optional<std::string> before_;
};

/// In one test, for each process looks once.
TEST_F(TemporaryFolders, OfKilledOnesAreRemovedAndNoOthers) {
  const auto begin = [] {
    auto* const folder = new TemporaryFolder("mprof-journals");  // which nothing ends
    write_file(folder->path() / "below/file", "x");
  };
  const Child living(begin);
  Child killed(begin);
  killed.kill();
  temporary.write("mprof-mine.mprof-tmp", "a file of somebody's");
  temporary.write("mprof-theirs/file", "a folder of somebody's");
  EXPECT_EQ(names_in(temporary.path()).size(), 4U);
  {
    const TemporaryFolder next("mprof-output");
    EXPECT_EQ(names_in(temporary.path()).size(), 4U) << "one was removed, one is new";
    EXPECT_EQ(fs::status(next.path()).permissions(), fs::perms::owner_all);
  }
  const std::set<std::string> left = names_in(temporary.path());
  EXPECT_EQ(left.size(), 3U) << "the living one's, and those of somebody";
  EXPECT_TRUE(left.contains("mprof-mine.mprof-tmp") && left.contains("mprof-theirs"));
}

TEST(MakeFolders, LetsNobodyElseWriteThere) {
  const test::TemporaryDirectory temporary;
  const mode_t before = ::umask(0);
  EXPECT_FALSE(make_folders(temporary.path() / "a/b/"));
  write_file(temporary.path() / "c/file", "x");
  ::umask(before);
  for (const char* folder : {"a", "a/b", "c"}) {
    const fs::perms others = fs::perms::group_write | fs::perms::others_write;
    EXPECT_EQ(fs::status(temporary.path() / folder).permissions() & others, fs::perms::none) << folder;
  }
  EXPECT_TRUE(make_folders(temporary.path() / "c/file/below"));
}

/// A named pipe, a device or a socket may have no end, or nobody who writes into it: none is waited for.
TEST(ReadFile, TakesRegularFilesAlone) {
  const test::TemporaryDirectory temporary;
  const fs::path pipe = temporary.path() / "pipe", link = temporary.path() / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", link);
  const fs::path name = temporary.path() / "socket";
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name.string().copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto refused = [](const fs::path& path) {
    return message_of([&] { static_cast<void>(read_file(path)); });
  };
  expect_contains(refused(pipe), "pipe: it is a named pipe, not a file");
  expect_contains(refused(link), "link: it is a device, not a file");
  expect_contains(refused(name), "socket: it is a socket, not a file");
  expect_contains(refused(temporary.path()), "it is a directory, not a file");
  expect_contains(refused(temporary.path() / "none"), "No such file or directory");
  ::close(socket);
  EXPECT_FALSE(read_file("/proc/self/status").empty()) << "the kernel says that these are empty";
}

TEST(ReadFile, RefusesWhatIsTooLargeBeforeItIsRead) {
  const test::TemporaryDirectory temporary;
  const fs::path path = temporary.write("file", "x");
  fs::resize_file(path, std::uintmax_t{1} << 40);  // has no bytes on disk
  expect_contains(message_of([&] { static_cast<void>(read_file(path)); }),
                  "file: it is larger than 4096 MiB");
  expect_contains(message_of([&] { static_cast<void>(read_file(path, 1 << 20)); }), "larger than 1 MiB");
}

/// Memory that is out is not the end of the file.
TEST(ReadFile, ThatFindsNoMemoryFails) {
  if (test::under_address_sanitizer)
    GTEST_SKIP() << "the address sanitizer needs more addresses than this test has";
  const test::TemporaryDirectory temporary;
  const fs::path path = temporary.write("file", "x");
  fs::resize_file(path, std::uintmax_t{4} << 30);
  const pid_t child = ::fork();
  if (child == 0) {
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = std::uintmax_t{2} << 30;
    ::setrlimit(RLIMIT_AS, &limit);
    try {
      static_cast<void>(read_file(path));
    } catch (const std::bad_alloc&) {
      ::_exit(0);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
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
  EXPECT_EQ(names_in(temporary.path()), std::set<std::string>{"link"});
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
       {"notes/outside.md", "notes/by_way_of_another.md", "folder/secret.md", "folder/new.md"}) {
    EXPECT_FALSE(is_inside(link)) << link;
    expect_contains(message_of([&] { static_cast<void>(read_file_within(run, run / link)); }),
                    std::string(link) + " leads out of");
  }
  EXPECT_FALSE(is_inside("loop.md"));
  expect_contains(message_of([&] { static_cast<void>(read_file_within(run, run / "loop.md")); }),
                  "loop.md: Too many levels of symbolic links");
}

TEST_F(Within, WhatCannotBeLookedAtIsNoLink) {
  const fs::path gone = temporary.path() / "gone";
  expect_contains(message_of([&] { require_within(gone, gone / "file"); }), "No such file or directory");
}

TEST_F(Within, ADirectoryThatIsALinkItselfIsItsTarget) {
  fs::create_directory_symlink(run, temporary.path() / "latest");
  EXPECT_TRUE(is_within(temporary.path() / "latest", run / "notes/story.md"));
  EXPECT_TRUE(is_within(run, temporary.path() / "latest/notes/story.md"));
}

}  // namespace
}  // namespace mprof
