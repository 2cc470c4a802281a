// SPDX-License-Identifier: MIT
// The library that is in a program's processes, with stand-ins for versions of CUPTI in its place.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/cuda/injected_trace.hpp"
#include "model/trace/journal_reader.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/window.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

struct Version {
  const char* folder;
  const char* file;
};

std::string path_of(const Version& version) {
  return std::string(MPROF_STANDINS) + "/" + version.folder + "/" + version.file;
}

class CuptiVersions : public ::testing::Test {
 protected:
  /// What a program did in whose process CUPTI was loaded before CUDA began: MPROF_CUPTI_PROGRAM in a mode.
  InjectedPass run(const Version& version, const std::string& mode, const std::string& window = {}) {
    std::string wrong;
    return run(version, mode, trace::parse_window(window, wrong));
  }
  InjectedPass run(const Version& version, const std::string& mode,
                   const std::optional<trace::Window>& window) {
    const std::string cupti = path_of(version);
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv(journal::folder_variable, folder.path().c_str(), 1);
      ::setenv("NVTX_INJECTION64_PATH", MPROF_TRACE_LIBRARY, 1);
      ::unsetenv(journal::cupti_variable);
      if (window) ::setenv(trace::window_variable, trace::written_window(*window, 0).c_str(), 1);
      ::execl(MPROF_CUPTI_PROGRAM, "cupti_program", cupti.c_str(), MPROF_TRACE_LIBRARY, mode.c_str(),
              nullptr);
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(mode == "killed" || mode == "hangs" ? WIFSIGNALED(status) : status == 0) << status;
    return read_injected_trace(journal::read_journals(folder.path()));
  }

  test::TemporaryDirectory folder;
};

class EachCuptiVersion : public CuptiVersions, public ::testing::WithParamInterface<Version> {};

TEST_P(EachCuptiVersion, GivesTheSameTrace) {
  const InjectedPass pass = run(GetParam(), "three");
  EXPECT_EQ(pass.dropped, 0U);
  ASSERT_EQ(pass.trace.kernels.size(), 3U);
  ASSERT_EQ(pass.trace.transfers.size(), 3U);
  EXPECT_EQ(pass.trace.calls.size(), 3U);
  EXPECT_EQ(pass.trace.overheads.size(), 3U);
  for (std::size_t i = 0; i < pass.trace.kernels.size(); ++i) {
    const trace::Kernel kernel = pass.trace.kernels[i];
    EXPECT_EQ(pass.trace.names[kernel.short_name], "good");
    EXPECT_EQ(kernel.time.length(), 20);
    EXPECT_EQ(kernel.queue.stream, 13U);
    EXPECT_EQ(kernel.local_memory_total, 4096U);
    EXPECT_EQ(pass.trace.transfers[i].bytes, 1000U);
  }
  ASSERT_EQ(pass.trace.contexts.size(), 1U);
  EXPECT_FALSE(pass.trace.contexts[0].is_green);
}

TEST_P(EachCuptiVersion, KnowsWhatWasInFlightWhenAKernelFailed) {
  const InjectedPass pass = run(GetParam(), "fault");
  EXPECT_EQ(pass.trace.kernels.size(), 3U) << "what ran before is kept";
  EXPECT_THAT(pass.notes, Contains(AllOf(HasSubstr("A kernel failed: an illegal memory access"),
                                         HasSubstr("cudaStreamSynchronize"))));
  EXPECT_THAT(pass.notes, Contains(HasSubstr("In flight was bad(float*): its 1st launch, grid 7 × 1 × 1, "
                                             "block 32 × 1 × 1, stream 13.")));
  EXPECT_THAT(pass.notes, Contains(HasSubstr("One launch behind it had not ended either.")));
  EXPECT_THAT(pass.notes, Contains(HasSubstr("mprof sanitize -- ")));
}

TEST_P(EachCuptiVersion, CountsLaunchesThatAreRefused) {
  const InjectedPass pass = run(GetParam(), "refused");
  EXPECT_THAT(
      pass.notes,
      Contains(AllOf(HasSubstr("10 launches of bad(float*) failed: invalid configuration"),
                     HasSubstr("grid 7 × 1 × 65536"), HasSubstr("at most 65,535 blocks in y and in z"))));
  EXPECT_THAT(pass.notes, Each(Not(HasSubstr("A kernel failed"))));
}

TEST_P(EachCuptiVersion, KeepsWhatRangesHaveAttached) {
  const InjectedPass pass = run(GetParam(), "payloads");
  std::vector<std::string> ranges;
  for (const trace::Range& range : pass.trace.ranges)
    ranges.push_back(std::string(pass.trace.text_of(range)) + " " + pass.trace.names[range.payload]);
  EXPECT_THAT(
      ranges,
      testing::UnorderedElementsAre(
          R"(ncclCommInitRank {"NCCL communicator ID":11259375,"No. of ranks":2})", "ncclGroupStart ",
          R"(ncclAllReduce {"NCCL communicator ID":11259375,"Message size [bytes]":1000})",
          R"(ncclAllReduce {"NCCL communicator ID":11259375,"Message size [bytes]":25000000})", "anywhere ",
          R"(of this test {"NCCL communicator ID":11259375,"Message size [bytes]":1000})", "around ", "bad ",
          "bad ", "bad ", "bad ", "bad ", "stale "));
  const auto named = [&](std::string_view name) {
    return std::ranges::find(pass.trace.ranges, name,
                             [&](const trace::Range& range) { return pass.trace.text_of(range); });
  };
  EXPECT_LT(named("of this test")->time.end, named("around")->time.end);
  for (const trace::Range& range : pass.trace.ranges) EXPECT_LT(range.time.length(), 1'000'000'000);
  EXPECT_EQ(pass.dropped, 0U);
}

TEST_P(EachCuptiVersion, TellsOfWhichNodeANodeOfAGraphIsACopy) {
  const InjectedPass pass = run(GetParam(), "graph");
  ASSERT_EQ(pass.trace.kernels.size(), 1U);
  ASSERT_EQ(pass.trace.graph_nodes.size(), 2U);
  const trace::GraphNode &captured = pass.trace.graph_nodes[0], &copy = pass.trace.graph_nodes[1];
  EXPECT_EQ(captured.original, 0U);
  EXPECT_EQ(copy.original, captured.id);
  EXPECT_EQ(pass.trace.kernels[0].graph_node, copy.id);
  EXPECT_EQ(trace::nsys::process_of(copy.thread), pass.trace.kernels[0].process);
  EXPECT_EQ(trace::nsys::native_thread(copy.thread), trace::nsys::native_process(copy.thread))
      << "the program's only thread";
  EXPECT_LE(captured.time.start, copy.time.start);
}

/// How many launches of the kernel that is in the regions a trace has, where it has none of the other.
std::size_t kernels_in_region(const InjectedPass& pass) {
  for (const trace::Kernel& kernel : pass.trace.kernels)
    EXPECT_EQ(pass.trace.names[kernel.short_name], "good");
  EXPECT_TRUE(pass.part);
  EXPECT_EQ(pass.trace.calls.size(), pass.trace.kernels.size());
  return pass.trace.kernels.size();
}

TEST_P(EachCuptiVersion, TracesTheWindowAlone) {
  EXPECT_EQ(kernels_in_region(run(GetParam(), "region", "profiler-api")), 1U) << "the first region";
}

TEST_P(EachCuptiVersion, TracesTheRangeThatIsAskedForAlone) {
  EXPECT_EQ(kernels_in_region(run(GetParam(), "region", "range:region[2]")), 2U);
}

/// A step lasts until the next one begins: those of one and two good kernels, with a bad one behind each.
TEST_P(EachCuptiVersion, TracesTheStepsThatAreAskedForAlone) {
  const InjectedPass pass =
      run(GetParam(), "region",
          trace::Window{.kind = trace::Window::Kind::steps, .range = "region", .first = 1, .last = 2});
  EXPECT_TRUE(pass.part);
  std::map<std::string, int> launches;
  for (const trace::Kernel& kernel : pass.trace.kernels) ++launches[pass.trace.names[kernel.short_name]];
  EXPECT_EQ(launches, (std::map<std::string, int>{{"good", 3}, {"bad", 2}}));
}

TEST_P(EachCuptiVersion, TracesNothingInAWindowThatNeverOpens) {
  const InjectedPass pass = run(GetParam(), "region", "range:other");
  EXPECT_FALSE(pass.part);
  EXPECT_TRUE(pass.trace.kernels.empty());
}

INSTANTIATE_TEST_SUITE_P(Known, EachCuptiVersion,
                         ::testing::Values(Version{"18", "libcupti.so.11.8"}, Version{"22", "libcupti.so.12"},
                                           Version{"28", "libcupti.so.12"},
                                           Version{"130001", "libcupti.so.13"},
                                           Version{"130400", "libcupti.so.13"}),
                         [](const auto& tested) { return std::string("v") + tested.param.folder; });

TEST_F(CuptiVersions, OneThatIsNotKnownIsRefusedByName) {
  const InjectedPass later = run({"140000", "libcupti.so.14"}, "none");
  EXPECT_THAT(later.notes,
              testing::ElementsAre(AllOf(HasSubstr("CUPTI 14.0"), HasSubstr("/140000/libcupti.so.14"),
                                         HasSubstr("reads CUPTI 11.8 to 13"))));
  EXPECT_TRUE(later.trace.kernels.empty());
}

TEST_F(CuptiVersions, OneThatIsTooOldIsRefusedByName) {
  const InjectedPass older = run({"17", "libcupti.so.11.6"}, "none");
  EXPECT_THAT(older.notes, testing::ElementsAre(AllOf(HasSubstr("CUPTI 11.6"), HasSubstr("11.8 to 13"))));
}

TEST_F(CuptiVersions, AnotherThanThisBuildsIsNamedInTheNotes) {
  const InjectedPass pass = run({"28", "libcupti.so.12"}, "three");
  EXPECT_THAT(pass.notes,
              Contains(AllOf(HasSubstr("Recorded by CUPTI 12.9.1"), HasSubstr("/28/libcupti.so.12"))));
}

TEST_F(CuptiVersions, WhateverEndsAProcessLeavesItsLastLaunch) {
  const InjectedPass pass = run({"130001", "libcupti.so.13"}, "killed");
  EXPECT_THAT(pass.notes, Contains(HasSubstr("bad(float*): its 1st launch")));
}

TEST_F(CuptiVersions, AKernelThatDoesNotEndIsNamedWhenItsProcessIsKilled) {
  const InjectedPass pass = run({"130001", "libcupti.so.13"}, "hangs");
  EXPECT_EQ(pass.trace.kernels.size(), 3U);
  EXPECT_THAT(pass.notes, Contains(HasSubstr("no end of its last launch, bad(float*): its 1st launch")));
}

}  // namespace
}  // namespace mprof
