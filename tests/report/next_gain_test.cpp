// SPDX-License-Identifier: MIT
#include "report/analysis/program/next_gain.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/analysis/program/process.hpp"
#include "report/wording/program.hpp"
#include "tests/report/counters.hpp"
#include "tests/report/fabricated_program.hpp"
#include "tests/report/traced_steps.hpp"

namespace mprof {
namespace {

using test::FabricatedProgram;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A long beginning on the host, and then steps of which kernels take nearly all.
FabricatedProgram busy_after_a_while() {
  FabricatedProgram program;
  program.allocate(1000);
  program.compute(1'000'000'000);
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch("gemm", 600'000);
      program.launch("softmax", 400'000);
    });
  return program;
}

TEST(NextGain, IsOfTheSteadyStepsAndNotOfWhatCameBefore) {
  const FabricatedProgram program = busy_after_a_while();
  const ProgramPicture picture = program.picture();
  const auto whole = time_budget(*program.evidence().profile, 0);
  ASSERT_TRUE(whole);
  EXPECT_GT(whole->share(BudgetPart::idle_host), 0.9) << "of the whole the host takes nearly all";
  ASSERT_TRUE(picture.steps);
  EXPECT_EQ(readings_of(picture).steps, picture.steps->steady_steps());
  EXPECT_TRUE(next_gains(picture).empty()) << "nothing of it is left in a step, and no kernel was counted";
}

TEST(NextGain, OfTheHostIsNoMoreThanWhatTheGpuWaits) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch("gemm", 600'000);
      program.wait();
      program.compute(200'000);
    });
  const std::vector<NextGain> gains = next_gains(program.picture());
  ASSERT_EQ(gains.size(), 1U);
  ASSERT_NE(gains[0].rule, nullptr);
  EXPECT_EQ(gains[0].rule->id, "whole_host_code");
  // Between ten steps the GPU waits nine times.
  EXPECT_NEAR(gains[0].gain, (10 * 600 + 9 * 200) / (10 * 600.0), 0.001);
}

TEST(NextGain, OfAKernelEndsAtItsBusiestUnit) {
  const FabricatedProgram program = busy_after_a_while();
  ProgramPicture picture = program.picture();
  KernelResult gemm;
  gemm.counters.values[test::counter::sm_throughput] = derived_value(20);
  gemm.counters.values[test::counter::memory_throughput] = derived_value(50);
  ASSERT_EQ(picture.functions[0].name, "gemm");
  EXPECT_FALSE(picture.floor_of_kernels()) << "no kernel was counted";
  picture.functions[0].counted = &gemm;
  const std::vector<NextGain> gains = next_gains(picture);
  ASSERT_EQ(gains.size(), 1U);
  EXPECT_EQ(gains[0].function, &picture.functions[0]);
  EXPECT_DOUBLE_EQ(gains[0].floor, 0.5);
  // 60 % of a step, of which half could go.
  EXPECT_NEAR(gains[0].gain, 1 / (1 - 0.6 * 0.5), 0.001);
  ASSERT_TRUE(picture.floor_of_kernels());
  EXPECT_NEAR(*picture.floor_of_kernels(), 0.6 * 0.5 + 0.4, 0.001) << "what was not counted stays";
  // All kernels together promise no more than what is left of them.
  for (const Advice& advice : advice_for(readings_of(picture))) {
    if (advice.rule->id == whole_kernels_rule) {
      EXPECT_NEAR(advice.gain, 1 / 0.7, 0.001);
    }
  }
}

std::string next_text(const ProgramPicture& picture) {
  const std::vector<LedText> lines = program_lines(picture);
  return std::ranges::find(lines, "The next gain", &LedText::lead)->text;
}

KernelResult counted_at(double percent) {
  KernelResult kernel;
  kernel.counters.values[test::counter::sm_throughput] = derived_value(percent);
  kernel.counters.values[test::counter::memory_throughput] = derived_value(percent);
  return kernel;
}

TEST(NextGain, IsNotKnownOfATraceThatLacksRecords) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch("gemm", 600'000);
      program.wait();
      program.compute(400'000);
    });
  EXPECT_THAT(next_text(program.picture()), HasSubstr("Launch first and compute on the host"));
  program.made.trace.cases.front().counts.dropped = 12;
  EXPECT_THAT(next_text(program.picture()), HasSubstr("Not known: the trace lacks 12 records"));
  EXPECT_THAT(next_text(program.picture()), Not(HasSubstr("No single part")));
  ProgramPicture counted = program.picture();
  const KernelResult poor = counted_at(20);
  counted.functions[0].counted = &poor;
  EXPECT_THAT(next_text(counted), HasSubstr("These are no bounds: the trace lacks 12 records"));
}

TEST(NextGain, OfKernelsThatWereNotCountedIsNotDenied) {
  ProgramPicture picture = busy_after_a_while().picture();
  EXPECT_THAT(next_text(picture), StartsWith("Apart from kernels, no single part of a traced step"));
  EXPECT_THAT(next_text(picture), HasSubstr("they were not counted"));
  const KernelResult good = counted_at(98);
  ASSERT_EQ(picture.functions[1].name, "softmax");
  picture.functions[1].counted = &good;
  EXPECT_THAT(next_text(picture), StartsWith("Apart from kernels, no single part"));
  EXPECT_THAT(next_text(picture), HasSubstr("other kernels could be is not known"));
  picture.functions[0].counted = &good;
  EXPECT_THAT(next_text(picture), StartsWith("No single part of a traced step"));
}

TEST(NextGain, OfAKernelIsABoundWhereOthersRunAtOnce) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch("a", 10'000);
      program.launch("b", 10'000);
      program.made.kernel(8, {program.gpu - 10'000, program.gpu}, 0, "c");
    });
  ProgramPicture picture = program.picture();
  const KernelResult useless = counted_at(0);
  const auto a = std::ranges::find(picture.functions, "a", &FunctionTime::name);
  ASSERT_NE(a, picture.functions.end());
  a->counted = &useless;
  const std::vector<NextGain> gains = next_gains(picture);
  ASSERT_EQ(gains.size(), 1U);
  // Without it half of the time is left.
  EXPECT_NEAR(gains[0].gain, 2, 0.01);
}

TEST(NextGain, OfAKernelIsOfTheTimeInWhichItRuns) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch("a", 10'000);
      program.made.kernel(8, {program.gpu - 10'000, program.gpu}, 0, "a");
      program.launch("b", 10'000);
    });
  ProgramPicture picture = program.picture();
  const KernelResult useless = counted_at(0);
  picture.functions.at(0).counted = &useless;
  ASSERT_EQ(picture.functions.at(0).name, "a");
  const std::vector<NextGain> gains = next_gains(picture);
  ASSERT_EQ(gains.size(), 1U);
  EXPECT_NEAR(gains[0].gain, 2, 0.01) << "two launches at once take the time of one";
}

TEST(Process, OfAProgramWithoutAGpuSaysHowLongAndWhatItWaitedFor) {
  ProcessPicture process{.times = {0.9, 1.0, 1.1, 1.0},
                         .user = 0.25,
                         .system = 0.05,
                         .cores_busy = 0.3,
                         .peak_memory = 64.0 * (1U << 20U),
                         .calls = {{"poll", 3, 500'000'000}, {"read", 1, 1'000'000}}};
  const std::vector<LedText> lines = process_lines(process);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0].text, HasSubstr("± 81.65"));
  EXPECT_THAT(lines[0].text, HasSubstr("It ran 4 times"));
  EXPECT_THAT(lines[1].text, HasSubstr("for at least 70.0"));
  EXPECT_THAT(lines[2].text, HasSubstr("poll 500.0"));
  EXPECT_THAT(lines[2].text, HasSubstr("(3 calls)"));
  EXPECT_THAT(lines[3].text, HasSubstr("64"));
  EXPECT_DOUBLE_EQ(process.mean(), 1);
  EXPECT_NEAR(process.deviation().value_or(0), 0.08165, 1e-5);
  process.times = {0.9};
  EXPECT_FALSE(process.deviation());
  process.calls.clear();
  process.peak_memory.reset();
  ASSERT_EQ(process_lines(process).size(), 2U) << "what was not recorded has no line";
  EXPECT_THAT(process_lines(process)[0].text, HasSubstr("It ran once"));
}

std::string not_recorded(const FabricatedProgram& program, const Evidence& evidence) {
  const Run run = test::traced_run(program, "2026-01-01T00:00:00Z");
  const RunAnalysis analysis = analyse(run);
  const CaseResult* const result = only_process(analysis.families.at(0));
  EXPECT_NE(result, nullptr);
  if (result == nullptr) return {};
  const std::vector<LedText> lines = process_lines(process_of(*result, &evidence));
  const auto line = std::ranges::find(lines, "Not recorded", &LedText::lead);
  return line == lines.end() ? "" : line->text;
}

TEST(Process, OfAProgramWhoseKernelsAreNotKnownSaysWhy) {
  FabricatedProgram launches, graphs, on_cpu;
  for (std::int64_t i = 0; i < 8; ++i) {
    launches.made.call("cudaLaunchKernel", {10 * i, 10 * i + 5});
    launches.made.trace.calls.back().correlation = i + 1;
    graphs.made.call("cudaGraphLaunch", {10 * i, 10 * i + 5});
    graphs.made.trace.graphs.push_back({.time = {10 * i + 5, 10 * i + 9}, .queue = {0, 1, 7}});
    on_cpu.made.system_call("read", {10 * i, 10 * i + 5});
  }
  for (FabricatedProgram* program : {&launches, &graphs, &on_cpu}) program->host = 100;
  EXPECT_THAT(not_recorded(launches, launches.evidence()),
              StartsWith("What it did on a GPU: the trace of program/p has no kernel of any launch (8)"));
  EXPECT_THAT(not_recorded(graphs, graphs.evidence()),
              StartsWith("What it did on a GPU: the trace of program/p has CUDA graphs as a whole"));
  EXPECT_EQ(not_recorded(on_cpu, on_cpu.evidence()), "") << "a program without a GPU lacks nothing";
  Evidence of_another = on_cpu.evidence();
  of_another.profile->cases.front().id = "program/q";
  EXPECT_EQ(not_recorded(on_cpu, of_another),
            "What it did on a GPU and in the operating system: program/p was not traced.");
}

}  // namespace
}  // namespace mprof
