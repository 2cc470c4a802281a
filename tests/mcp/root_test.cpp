// SPDX-License-Identifier: MIT
#include "serve/mcp/root.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "system/files.hpp"
#include "system/temporary_folder.hpp"

namespace mprof::mcp {
namespace {

namespace fs = std::filesystem;

class McpRoot : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path() / "a" / "run");
    write_file(folder_.path() / "a" / "run" / "run.json", "{}");
    fs::current_path(folder_.path());
  }
  void TearDown() override { fs::current_path(before_); }

 private:
  fs::path before_ = fs::current_path();
  TemporaryFolder folder_{"mprof-test"};
};

TEST_F(McpRoot, ListsTheRunsBelowItThatWereWrittenLastFirst) {
  fs::create_directories("b");
  write_file("b/run.json", "{}");
  const auto paths = [](std::size_t most) {
    std::vector<std::string> list;
    for (const FoundRun& run : find_runs(most).runs) list.push_back(run.path);
    return list;
  };
  const auto now = fs::last_write_time("b/run.json");
  fs::last_write_time("a/run/run.json", now);
  EXPECT_EQ(paths(10), (std::vector<std::string>{"a/run", "b"}));
  fs::last_write_time("a/run/run.json", now - std::chrono::hours(1));
  EXPECT_EQ(paths(10), (std::vector<std::string>{"b", "a/run"}));
  EXPECT_TRUE(find_runs(2).is_complete);
  EXPECT_EQ(paths(1), std::vector<std::string>{"b"});
  EXPECT_FALSE(find_runs(1).is_complete);
}

TEST_F(McpRoot, SaysSoWhereAFolderCannotBeRead) {
  // The root itself can be opened, and no folder in it.
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(next);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{static_cast<rlim_t>(next) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const FoundRuns found = find_runs(10);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(found.runs.empty());
  EXPECT_FALSE(found.is_complete);
}

}  // namespace
}  // namespace mprof::mcp
