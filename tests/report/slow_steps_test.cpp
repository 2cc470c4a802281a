// SPDX-License-Identifier: MIT
#include "report/wording/slow_steps.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/wording/program.hpp"
#include "tests/report/fabricated_program.hpp"

namespace mprof {
namespace {

using Program = test::FabricatedProgram;
using SlowWhat = SlowCause::What;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t millisecond = 1'000'000;

/// What a step does: twelve of them, and `slowly` happens in the eighth, before its kernel.
template <class Do>
Program program_with(const Do& slowly) {
  Program program;
  for (int step = 0; step < 12; ++step)
    program.range("step", [&] {
      if (step == 7) slowly(program);
      for (int i = 0; i < 4; ++i) program.launch("gemm", 2 * millisecond, 5000);
      program.launch("norm", 1 * millisecond, 5000);
      program.wait();
    });
  return program;
}

std::vector<SlowStep> slow_steps_of(const Program& program) {
  const auto steps = program.steps();
  if (!steps) return {};
  return slow_steps_of(program.made.trace, 0, *steps, SharedTime(program.made.trace, 0), 5);
}

/// The one cause of the one slow step.
template <class Do>
SlowCause cause_with(const Do& slowly) {
  const std::vector<SlowStep> slow = slow_steps_of(program_with(slowly));
  EXPECT_THAT(slow, SizeIs(1));
  if (slow.size() != 1) return {};
  EXPECT_EQ(slow.front().step, 7U);
  EXPECT_THAT(slow.front().causes, SizeIs(1)) << slow_step_text(slow.front());
  return slow.front().causes.empty() ? SlowCause{} : slow.front().causes.front();
}

TEST(SlowSteps, AreNoneOfAnEvenPace) {
  EXPECT_THAT(slow_steps_of(program_with([](Program&) {})), IsEmpty());
}

TEST(SlowSteps, AreTheHostsOwnCodeWhereNothingElseIsThere) {
  const std::vector<SlowStep> slow =
      slow_steps_of(program_with([](Program& program) { program.compute(12 * millisecond); }));
  ASSERT_THAT(slow, SizeIs(1));
  EXPECT_EQ(
      slow_step_text(slow[0]),
      "Step 8 took 21.01\u00a0ms, 12.00\u00a0ms more than the median. What differs: the host's own code (no "
      "CUDA call for 12.00\u00a0ms at a time), 12.00\u00a0ms longer.");
  EXPECT_EQ(slow_step_cause(slow[0]), "the host's own code");
}

TEST(SlowSteps, AreTheHostsOwnCodeInARange) {
  const SlowCause cause = cause_with(
      [](Program& program) { program.range("evaluate", [&] { program.compute(12 * millisecond); }); });
  EXPECT_EQ(cause.what, SlowWhat::host);
  EXPECT_EQ(cause.range, "step / evaluate");
}

TEST(SlowSteps, AreGarbageCollectionWhereARangeSaysSo) {
  const SlowCause cause = cause_with(
      [](Program& program) { program.range("Python gc", [&] { program.compute(12 * millisecond); }); });
  EXPECT_EQ(cause.what, SlowWhat::collecting_garbage);
  EXPECT_EQ(cause.name, "Python gc");
  // A word that only holds the letters is none.
  EXPECT_EQ(cause_with([](Program& program) {
              program.range("gcn layer", [&] { program.compute(12 * millisecond); });
            }).what,
            SlowWhat::host);
}

TEST(SlowSteps, AreTheLoaderThatIsWaitedFor) {
  const auto read = [](const std::string& range) {
    return [range](Program& program) {
      program.range(range, [&] {
        program.made.system_call("poll", {program.host, program.host + 12 * millisecond});
        program.compute(12 * millisecond);
      });
    };
  };
  const SlowCause cause = cause_with(read("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"));
  EXPECT_EQ(cause.what, SlowWhat::loader);
  EXPECT_EQ(cause.name, "poll");
  EXPECT_EQ(cause_with(read("load")).what, SlowWhat::loader);
  // Of another range only the call is known.
  for (const char* const other :
       {"upload", "load_balancing_loss", "data_parallel allreduce", "load checkpoint"})
    EXPECT_EQ(cause_with(read(other)).what, SlowWhat::system) << other;
}

/// As autograd's thread, which waits for work all the time.
TEST(SlowSteps, AreNotACallInWhichAnotherThreadIsParked) {
  const SlowCause cause = cause_with([](Program& program) {
    program.made.call("cudaStreamQuery", {program.host, program.host + 10}, trace::Api::runtime, 2);
    program.range("load", [&] {
      program.made.system_call("pthread_cond_wait", {0, program.host + 1000 * millisecond}, 2);
      program.made.system_call("poll", {program.host, program.host + 11 * millisecond});
      program.compute(12 * millisecond);
    });
  });
  EXPECT_EQ(cause.what, SlowWhat::loader);
  EXPECT_EQ(cause.name, "poll");
}

TEST(SlowSteps, AreCallsThatAllocate) {
  const SlowCause cause = cause_with([](Program& program) {
    for (int i = 0; i < 3; ++i) {
      program.made.call("cudaMalloc", {program.host, program.host + 4 * millisecond});
      program.compute(4 * millisecond);
    }
  });
  EXPECT_EQ(cause.what, SlowWhat::allocating);
  EXPECT_EQ(cause.name, "cudaMalloc");
  EXPECT_EQ(cause.count, 3U);
  EXPECT_NEAR(static_cast<double>(cause.more), 12e6, 1e4);
}

TEST(SlowSteps, AreLoadedOrCompiledCode) {
  const auto call = [](const std::string& name) {
    return [name](Program& program) {
      program.made.call(name, {program.host, program.host + 12 * millisecond});
      program.compute(12 * millisecond);
    };
  };
  EXPECT_EQ(cause_with(call("cuLibraryLoadData")).what, SlowWhat::loading_code);
  const SlowCause other = cause_with(call("cudaFuncSetAttribute"));
  EXPECT_EQ(other.what, SlowWhat::calling);
  EXPECT_EQ(other.name, "cudaFuncSetAttribute");
  const auto overhead = [](std::uint32_t kind) {
    return [kind](Program& program) {
      program.made.trace.overheads.push_back(
          {.time = {program.host, program.host + 12 * millisecond}, .thread = 1, .kind = kind});
      program.compute(12 * millisecond);
    };
  };
  constexpr std::uint32_t compiler = 2, flush = 3, lazy_loading = 7;
  EXPECT_EQ(cause_with(overhead(compiler)).what, SlowWhat::compiling);
  EXPECT_EQ(cause_with(overhead(lazy_loading)).what, SlowWhat::loading_code);
  const SlowCause recording = cause_with(overhead(flush));
  EXPECT_EQ(recording.what, SlowWhat::recording);
  EXPECT_THAT(recording.name, HasSubstr("Buffer flush"));
}

/// The host runs ahead, and launches in half the time that the GPU needs; one step waits in its middle.
Program ahead(const std::string& call, bool is_copy) {
  Program program;
  for (int step = 0; step < 12; ++step)
    program.range("step", [&] {
      for (int i = 0; i < 20; ++i) program.launch("gemm", 100'000, 60'000);
      if (step != 9) return;
      if (is_copy) {
        const std::int64_t end = std::max(program.host, program.gpu) + 2000;
        program.made.transfer(7, {end - 2000, end}, test::to_host, 4);
        program.made.trace.transfers.back().correlation = 99'999;
        program.gpu = end;
        program.made.call(call, {program.host, end + 1000});
        program.made.trace.calls.back().correlation = 99'999;
        program.host = end + 1000;
      } else {
        program.wait(call);
      }
      for (int i = 0; i < 20; ++i) {
        program.made.call("cudaGetDevice", {program.host, program.host + 40'000});
        program.compute(60'000);
      }
    });
  return program;
}

TEST(SlowSteps, AreCallsThatWaitAndLetTheQueueRunEmpty) {
  for (const bool is_copy : {false, true}) {
    const std::string call = is_copy ? "cudaMemcpyAsync" : "cudaStreamSynchronize";
    const std::vector<SlowStep> slow = slow_steps_of(ahead(call, is_copy));
    ASSERT_FALSE(slow.empty());
    ASSERT_FALSE(slow[0].causes.empty()) << slow_step_text(slow[0]);
    EXPECT_EQ(slow[0].causes[0].what, SlowWhat::drained) << slow_step_text(slow[0]);
    EXPECT_EQ(slow[0].causes[0].name, call);
    EXPECT_EQ(slow[0].causes[0].count, 1U);
    EXPECT_EQ(slow_step_cause(slow[0]), "waiting for the GPU");
  }
}

TEST(SlowSteps, AreCopies) {
  const SlowCause cause = cause_with([](Program& program) {
    const std::int64_t start = std::max(program.host, program.gpu);
    program.made.transfer(7, {start, start + 12 * millisecond}, test::to_host, 240'000'000);
    program.gpu = start + 12 * millisecond;
  });
  EXPECT_EQ(cause.what, SlowWhat::copies);
  EXPECT_THAT(cause.name, HasSubstr("Device-to-Host"));
  EXPECT_EQ(cause.bytes, 240e6);
}

TEST(SlowSteps, AreMoreKernels) {
  const SlowCause cause = cause_with([](Program& program) {
    for (int i = 0; i < 3; ++i) program.launch("sort", 4 * millisecond, 5000);
  });
  EXPECT_EQ(cause.what, SlowWhat::more_kernels);
  EXPECT_EQ(cause.name, "sort");
  EXPECT_EQ(cause.count, 3U);
}

/// Twelve steps, of which one has kernels of other times and grids: `time(kernel, launch)` of the eighth.
template <class Time>
SlowCause cause_of_kernels(const Time& time, std::int32_t blocks = 100) {
  Program program;
  for (int step = 0; step < 12; ++step)
    program.range("step", [&] {
      for (const char* kernel : {"gemm", "norm", "add"}) {
        for (int i = 0; i < 4; ++i) {
          program.launch(kernel, step == 7 ? time(std::string_view(kernel), i) : millisecond, 5000);
          program.made.trace.kernels.change(program.made.trace.kernels.size() - 1, [&](trace::Kernel& one) {
            one.grid = trace::Size{step == 7 ? blocks : 100, 1, 1};
          });
        }
      }
    });
  const std::vector<SlowStep> slow = slow_steps_of(program);
  EXPECT_THAT(slow, SizeIs(1));
  if (slow.size() != 1 || slow.front().causes.size() != 1) return {};
  return slow.front().causes.front();
}

TEST(SlowSteps, AreKernelsThatTakeLonger) {
  const SlowCause alike = cause_of_kernels([](std::string_view, int) { return millisecond * 3 / 2; });
  EXPECT_EQ(alike.what, SlowWhat::all_kernels);
  EXPECT_NEAR(alike.factor, 1.5, 0.01);
  const SlowCause one = cause_of_kernels(
      [](std::string_view name, int) { return name == "norm" ? 3 * millisecond : millisecond; });
  EXPECT_EQ(one.what, SlowWhat::one_kernel);
  EXPECT_EQ(one.name, "norm");
  EXPECT_NEAR(one.factor, 3, 0.01);
  const SlowCause single = cause_of_kernels(
      [](std::string_view name, int i) { return name == "add" && i == 2 ? 9 * millisecond : millisecond; });
  EXPECT_EQ(single.what, SlowWhat::some_launches);
  EXPECT_EQ(single.name, "add");
  EXPECT_EQ(single.count, 1U);
}

TEST(SlowSteps, AreLargerInputsWhereGridsAreLarger) {
  const SlowCause cause = cause_of_kernels([](std::string_view, int) { return millisecond * 3 / 2; }, 150);
  EXPECT_EQ(cause.what, SlowWhat::larger_grids) << "no clock explains more blocks";
}

TEST(SlowSteps, HaveNoCauseWithoutEvidence) {
  const SlowStep slow{.step = 3, .pace = 2000, .more = 1000};
  EXPECT_EQ(slow_step_text(slow),
            "Step 4 took 2.000\u00a0µs, 1.000\u00a0µs more than the median. No part of it stands out.");
  EXPECT_EQ(slow_step_cause(slow), "");
}

TEST(SlowSteps, StandOnTheFirstScreenWithTheirCauses) {
  const Program program =
      program_with([](Program& one) { one.range("gc", [&] { one.compute(12 * millisecond); }); });
  const std::vector<LedText> lines = program_lines(program.picture());
  const auto pace = std::ranges::find(lines, "Its pace", &LedText::lead);
  ASSERT_NE(pace, lines.end());
  EXPECT_THAT(pace->text, HasSubstr("step 8 21.01\u00a0ms (garbage collection)"));
}

}  // namespace
}  // namespace mprof
