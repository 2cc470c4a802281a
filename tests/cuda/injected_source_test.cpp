// SPDX-License-Identifier: MIT
// The library that samples a program's kernels, with a stand-in for CUPTI in its place.
#include "collectors/cuda/injected_source.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/trace/program.hpp"
#include "model/trace/window.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

class InjectedSource : public ::testing::Test {
 protected:
  /// What a program did: MPROF_CUPTI_PROGRAM in a mode. `variable` is set for it.
  InjectedPass run(const std::string& mode, const std::string& window = {}, const char* variable = "NOTHING",
                   const std::string& standin = "130001/libcupti.so.13") {
    const std::string cupti = std::string(MPROF_STANDINS) + "/" + standin;
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv(journal::folder_variable, folder.path().c_str(), 1);
      ::setenv("NVTX_INJECTION64_PATH", MPROF_SOURCE_LIBRARY, 1);
      ::setenv(variable, "1", 1);
      ::unsetenv(journal::cupti_variable);
      std::string wrong;
      if (const auto parsed = trace::parse_window(window, wrong))
        ::setenv(trace::window_variable, trace::written_window(*parsed, 0).c_str(), 1);
      ::execl(MPROF_CUPTI_PROGRAM, "cupti_program", cupti.c_str(), MPROF_SOURCE_LIBRARY, mode.c_str(),
              nullptr);
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return read_injected_source(journal::read_journals(folder.path()), folder.path());
  }

  test::TemporaryDirectory folder;
};

/// Three kernels, each of which was found waiting three times, and issuing twice.
TEST_F(InjectedSource, AddsUpWhatWasSampledOfEachKernel) {
  const InjectedPass pass = run("three");
  EXPECT_THAT(pass.notes, IsEmpty());
  ASSERT_EQ(pass.source_lines.size(), 1U);
  const SourceLine& line = pass.source_lines[0];
  EXPECT_EQ(line.op, trace::whole_program);
  EXPECT_EQ(line.kernel, "good");
  EXPECT_EQ(line.file, "") << "its code has no line table that can be read";
  EXPECT_EQ(line.samples, 15U);
  EXPECT_EQ(line.stalls, (std::map<std::string, std::uint64_t>{{"long_scoreboard", 9}, {"selected", 6}}))
      << "those in which nothing was issued would count twice";
}

TEST_F(InjectedSource, KeepsMachineCodeWithALineTable) {
  run("three");
  std::vector<std::string> kept;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (entry.path().extension() != journal::extension) kept.push_back(entry.path().filename());
  }
  EXPECT_EQ(kept, (std::vector<std::string>{"34.cubin"})) << "by its checksum, which is its size here";
  EXPECT_EQ(fs::file_size(folder.path() / "34.cubin"), 0x34U);
}

TEST_F(InjectedSource, SamplesTheWindowAlone) {
  const InjectedPass pass = run("region", "profiler-api");
  ASSERT_EQ(pass.source_lines.size(), 1U);
  EXPECT_EQ(pass.source_lines[0].samples, 5U) << "the one kernel of the first region";
  EXPECT_TRUE(pass.part);
}

TEST_F(InjectedSource, SaysWhyNothingIsSampled) {
  EXPECT_THAT(run("three", "", "STANDIN_IS_BUSY").notes,
              Contains(AllOf(HasSubstr("Not sampled: CUPTI could not sample program counters"),
                             HasSubstr("CUPTI_ERROR_OF_THE_STANDIN"))));
  EXPECT_THAT(run("none", "", "NOTHING", "28/libcupti.so.12").notes,
              Contains(HasSubstr("kernels are counted and sampled by CUPTI 13.0 alone")));
}

}  // namespace
}  // namespace mprof
