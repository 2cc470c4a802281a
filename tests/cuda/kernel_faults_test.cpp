// SPDX-License-Identifier: MIT
#include "collectors/cuda/kernel_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace/nsys_schema.hpp"

namespace mprof {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint32_t process = 7, thread = 8;

/// What a process did, launch by launch.
class KernelFaults : public ::testing::Test {
 protected:
  KernelFaults() {
    journal.head.process = process;
    journal.texts = {{1, "_Z4goodPf"}, {2, "_Z3badPf"}};
    journal.has_ended = true;
    journal.name = "./solver case";
  }

  /// A launch at a time, in stream 13, whose correlation id is its number.
  void launch(std::uint64_t symbol, std::int64_t time, bool ends) {
    launch_log::Launch launch{
        .number = journal.launched.size() + 1, .time = time, .symbol = symbol, .nth = 1};
    launch.correlation = static_cast<std::uint32_t>(launch.number);
    launch.thread = thread;
    launch.stream = 13;
    journal.launched.push_back(launch);
    if (ends) trace.kernels.push_back({.time = {time + 1, time + 2}, .correlation = launch.correlation});
  }

  void call(const char* name, trace::Interval time, std::uint32_t result = 0) {
    trace.calls.push_back(
        {.time = time, .correlation = next_call++, .name = trace.names.index(name), .result = result});
  }

  void range(const char* name, trace::Interval time) {
    trace.ranges.push_back(
        {.time = time,
         .thread = trace::nsys::global_thread(trace::nsys::global_process(process), thread),
         .name = trace.names.index(std::string(":") + name)});
  }

  [[nodiscard]] std::vector<std::string> said() const { return kernel_faults(journal, trace); }

  journal::Journal journal;
  trace::Trace trace;
  std::int64_t next_call = 1000;
};

TEST_F(KernelFaults, NothingIsSaidOfWhatWentWell) {
  launch(1, 10, true);
  launch(2, 20, false);
  EXPECT_TRUE(said().empty()) << "what a trace lacks is no fault";
}

TEST_F(KernelFaults, TheRangesOfALaunchAreNamedFromTheOutside) {
  range("step", {15, 40});
  range("epoch", {5, 100});
  range("before", {1, 4});
  launch(1, 10, true);
  launch(2, 20, false);
  call("cudaStreamSynchronize", {30, 50}, 719);
  EXPECT_THAT(said(), Contains(HasSubstr("In flight was bad(float*): its 1st launch")));
  EXPECT_THAT(said(), Contains(HasSubstr("in the NVTX range epoch / step.")));
  EXPECT_THAT(said(), Contains(HasSubstr("`mprof sanitize -- PROGRAM`")));
}

TEST_F(KernelFaults, WhatEndedOrWasCapturedWasNotInFlight) {
  launch(1, 10, false);  // its record is lost; the next one of its stream has ended
  launch(1, 20, true);
  call("cudaStreamBeginCapture", {25, 26});
  launch(1, 27, false);
  call("cudaStreamEndCapture", {28, 29});
  launch(2, 30, false);
  call("cudaDeviceSynchronize", {40, 50}, 700);
  EXPECT_THAT(said(), Contains(HasSubstr("In flight was bad(float*)")));
  EXPECT_THAT(said(), Each(Not(HasSubstr("good(float*)"))));
  EXPECT_THAT(said(), Each(Not(HasSubstr("behind"))));
}

TEST_F(KernelFaults, OfAGraphOneKernelThatEndedSaysNothingOfTheOthers) {
  launch(0, 10, true);  // a graph: its second kernel fails
  launch(1, 20, false);
  call("cudaDeviceSynchronize", {40, 50}, 700);
  EXPECT_THAT(said(),
              Contains(HasSubstr("Not ended was a CUDA graph: 1 of its kernels had ended, stream 13")));
}

TEST_F(KernelFaults, FailuresThatWereNoLongerWrittenAreNotCountedAsNone) {
  for (std::uint64_t i = 0; i < launch_log::most_failures; ++i)
    journal.failed.push_back(
        {.number = 0, .symbol = 1, .grid = {1, 1, 1}, .block = {2048, 1, 1}, .result = 1});
  EXPECT_THAT(said(), Contains(HasSubstr("At least 10000 launches of good(float*) failed")));
}

TEST_F(KernelFaults, WhatSomebodyWaitedForWasNotInFlight) {
  launch(1, 10, false);
  call("cudaStreamSynchronize", {12, 15});
  trace.synchronizations.push_back({.time = {12, 15},
                                    .correlation = next_call - 1,
                                    .kind = trace::SynchronizationKind::stream,
                                    .stream = 13});
  launch(2, 20, false);
  call("cudaDeviceSynchronize", {40, 50}, 700);
  EXPECT_THAT(said(), Contains(HasSubstr("In flight was bad(float*)")));
  EXPECT_THAT(said(), Each(Not(HasSubstr("good(float*)"))));
}

}  // namespace
}  // namespace mprof
