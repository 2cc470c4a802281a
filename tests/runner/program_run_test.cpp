// SPDX-License-Identifier: MIT
#include "runner/program/program_run.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/run_file.hpp"
#include "model/trace/journal.hpp"
#include "model/trace/program.hpp"
#include "model/trace/reader.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using test::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// GoogleTest's fixtures have another Run.
using Record = Run;

trace::Trace trace_of_steps() {
  test::TraceBuilder builder;
  builder.range("", "step", at(0, 1000), test::TraceBuilder::main_thread);
  builder.call(1, "cudaLaunchKernel_v7000", at(100, 200), 0);
  builder.kernel(test::scale, 1, 7, at(300, 800));
  builder.call(2, "cudaLaunchKernel_v7000", at(2000, 2100), 0);
  builder.kernel(test::tiled, 2, 7, at(2200, 2300));
  return builder.trace();
}

/// Programs whose trace somebody else made up.
class ProgramRunTest : public ::testing::Test {
 protected:
  void trace_as(InjectedPass pass) {
    injections.add(
        {.pass = Pass::trace,
         .library = "/bin/sh",  // is there
         .unavailable = [] { return std::nullopt; },
         .variables = [](const auto& library, const auto& /*request*/) -> std::map<std::string, std::string> {
           return {{"TOLD", library.string()}};
         },
         .read = [pass](const auto&) { return pass; }});
  }

  /// The second is what is seen while kernels are replayed, of which the program knows by $REPLAYS.
  void count_as(InjectedPass pass, InjectedPass replayed) {
    const auto replays = std::make_shared<bool>(false);
    injections.add(
        {.pass = Pass::counters,
         .library = "/bin/sh",
         .unavailable = [] { return std::nullopt; },
         .variables = [replays](const auto& /*library*/,
                                const auto& /*request*/) -> std::map<std::string, std::string> {
           return {{"REPLAYS", *replays ? "yes" : ""}};
         },
         .prepare = [replays](const auto& request) { *replays = request.replays; },
         .read = [pass, replayed](const auto& request) { return request.replays ? replayed : pass; }});
  }

  void sample_as(InjectedPass pass) {
    injections.add({.pass = Pass::source,
                    .library = "/bin/sh",
                    .unavailable = [] { return std::nullopt; },
                    .variables = [](const auto& /*library*/,
                                    const InjectionRequest& request) -> std::map<std::string, std::string> {
                      return {{"SECONDS_UNTRACED", request.seconds > 0 ? "known" : "unknown"}};
                    },
                    .read = [pass](const auto&) { return pass; }});
  }

  Record run(const std::string& script, std::vector<Pass> passes = {Pass::timing, Pass::trace},
             const std::string& window = {}) {
    Record record = planned_program_run({.command = {"/bin/sh", "-c", script},
                                         .path = "/bin/sh",
                                         .name = "script",
                                         .passes = std::move(passes),
                                         .rounds = 2,
                                         .timeout = 100,
                                         .window = window});
    ResultDirectory directory(folder.path() / "run", ResultDirectory::Mode::create);
    directory.save(record);
    Progress progress;
    measure_programs(record, {.worker_command = {"/bin/true"},
                              .directory = directory,
                              .clock = steady_clock(),
                              .progress = progress,
                              .injections = injections});
    return read_run(directory.path());
  }

  /// Traced, with samples of a GPU.
  Record run_sampled(const std::string& script, const std::string& uuid) {
    Record record = planned_program_run({.command = {"/bin/sh", "-c", script},
                                         .path = "/bin/sh",
                                         .name = "script",
                                         .passes = {Pass::trace},
                                         .timeout = 100,
                                         .sample_interval = 1e-6});
    ResultDirectory directory(folder.path() / "run", ResultDirectory::Mode::create);
    directory.save(record);
    Progress progress;
    measure_programs(record, {.worker_command = {MPROF_BINARY_DIR "/tests/mprof_test_worker"},
                              .directory = directory,
                              .clock = steady_clock(),
                              .progress = progress,
                              .injections = injections,
                              .gpus = [&] {
                                return std::vector<DeviceUnit>{{uuid, "GPU", "FAKE_GPU=" + uuid, {}}};
                              }});
    return read_run(directory.path());
  }

  static InjectedPass steps_on_gpu() {
    InjectedPass pass{.trace = trace_of_steps()};
    pass.trace.gpus = {{.id = 0, .name = "GPU", .uuid = "GPU-aa"}};
    return pass;
  }

  static const PassResult& pass(const Record& record, Pass which) {
    return *find_pass(record.cases.front(), which);
  }

  test::TemporaryDirectory folder;
  InjectionKinds injections;
};

TEST_F(ProgramRunTest, RangesOfTheTraceAreItsOpsAndWhatFollowsFromItIsDerived) {
  trace_as({.trace = trace_of_steps(), .notes = {"Process 7: something is missing."}});
  const Record record = run("exit 0");
  EXPECT_EQ(record.state, RunState::complete);
  std::vector<std::string> ops;
  for (const OpInfo& op : record.cases.front().ops) ops.push_back(op.name);
  EXPECT_THAT(ops, ElementsAre("step", trace::outside_of_ranges));
  const PassResult& traced = pass(record, Pass::trace);
  EXPECT_EQ(traced.status, Status::ok);
  EXPECT_THAT(traced.outcome->notes, ElementsAre("Process 7: something is missing."));
  EXPECT_DOUBLE_EQ(find_measurement(record.cases.front(), "gpu_time", "step")->samples.front(), 500e-9);
  EXPECT_DOUBLE_EQ(find_measurement(record.cases.front(), "gpu_time", "outside")->samples.front(), 100e-9);
  EXPECT_GT(find_measurement(record.cases.front(), "trace_overhead")->samples.front(), 0);
}

TEST_F(ProgramRunTest, SamplesOfItsGpuAreInTheTrace) {
  trace_as(steps_on_gpu());
  const Record record = run_sampled("exit 0", "GPU-aa");
  EXPECT_EQ(record.plan.sample_interval, 1e-6);
  EXPECT_THAT(pass(record, Pass::trace).outcome->notes, testing::IsEmpty());
  const trace::Trace trace =
      trace::read_trace(folder.path() / "run" / trace::file_name, {.parts = trace::every_part});
  ASSERT_EQ(trace.gpu_samples.size(), 1);
  const trace::GpuSamples& samples = trace.gpu_samples.front();
  EXPECT_EQ(samples.interval, 1000);
  EXPECT_THAT(samples.curves.front().values, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9))
      << "the first sample is of the time before";
  EXPECT_EQ(trace.epoch + samples.times.front().start, test::trace_base);
  const auto tally = std::ranges::find(trace.tallies, trace::TallyKind::gpu_metrics, &trace::Tally::kind);
  ASSERT_NE(tally, trace.tallies.end());
}

TEST_F(ProgramRunTest, OfAGpuThatTheProgramDoesNotUseThereAreNone) {
  InjectedPass seen = steps_on_gpu();
  seen.trace.gpus.push_back({.id = 1, .name = "GPU", .uuid = "GPU-bb"});
  trace_as(seen);
  const Record record = run_sampled("exit 0", "GPU-cc");
  EXPECT_TRUE(trace::read_trace(folder.path() / "run" / trace::file_name, {.parts = trace::every_part})
                  .gpu_samples.empty());
  EXPECT_EQ(pass(record, Pass::trace).status, Status::ok);
}

TEST_F(ProgramRunTest, AGpuThatCannotBeSampledIsTracedAndTheReasonIsSaid) {
  for (const auto& [does, says] :
       {std::pair{"busy", "Another profiler holds"}, std::pair{"dies", "exit code 7"}}) {
    SCOPED_TRACE(does);
    InjectionKinds fresh;
    std::swap(injections, fresh);
    trace_as(steps_on_gpu());
    ::setenv("FAKE_SAMPLER", does, 1);
    const Record record = run_sampled("sleep 0.3", "GPU-aa");
    ::unsetenv("FAKE_SAMPLER");
    EXPECT_EQ(pass(record, Pass::trace).status, Status::ok);
    EXPECT_THAT(pass(record, Pass::trace).outcome->notes,
                ElementsAre(testing::AllOf(HasSubstr("GPU 0 was not sampled"), HasSubstr(says))));
    EXPECT_TRUE(trace::read_trace(folder.path() / "run" / trace::file_name, {.parts = trace::every_part})
                    .gpu_samples.empty());
    std::filesystem::remove_all(folder.path() / "run");
  }
}

TEST_F(ProgramRunTest, TheTraceOfAProgramThatFailsIsKept) {
  trace_as({.trace = trace_of_steps()});
  const Record record = run("kill -ABRT $$");
  EXPECT_EQ(pass(record, Pass::timing).status, Status::crashed);
  EXPECT_EQ(pass(record, Pass::trace).status, Status::crashed);
  EXPECT_EQ(pass(record, Pass::trace).outcome->signal, 6);
  EXPECT_DOUBLE_EQ(find_measurement(record.cases.front(), "gpu_time", "step")->samples.front(), 500e-9);
}

TEST_F(ProgramRunTest, TheLibraryIsInTheTracePassAlone) {
  trace_as({.trace = trace_of_steps()});
  const std::string journals = journal::folder_variable;
  const Record record = run("echo ${TOLD-nothing} ${" + journals + "+journals}");
  EXPECT_THAT(pass(record, Pass::timing).outcome->output, HasSubstr("nothing"));
  EXPECT_EQ(pass(record, Pass::trace).outcome->output, "/bin/sh journals");
}

TEST_F(ProgramRunTest, AProgramWithoutWorkForTheGpuHasNoTraceAndItSaysWhy) {
  trace_as({});
  const Record record = run("exit 0");
  EXPECT_EQ(pass(record, Pass::trace).status, Status::skipped);
  EXPECT_EQ(pass(record, Pass::trace).reason, "no process of the program called CUDA or NVTX");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run" / trace::file_name));
}

TEST_F(ProgramRunTest, TheSourcePassKeepsTheLinesThatWereSampled) {
  const SourceLine line{.op = trace::whole_program,
                        .kernel = "tiled",
                        .file = "tiled.cu",
                        .line = 7,
                        .samples = 90,
                        .stalls = {{"wait", 90}}};
  sample_as({.notes = {"Process 7: something is missing."}, .source_lines = {line}});
  const Record record = run("echo $SECONDS_UNTRACED", {Pass::timing, Pass::source});
  const PassResult& sampled = pass(record, Pass::source);
  EXPECT_EQ(sampled.status, Status::ok);
  EXPECT_EQ(sampled.source_lines, std::vector{line});
  EXPECT_THAT(sampled.outcome->notes, ElementsAre("Process 7: something is missing."));
  EXPECT_EQ(sampled.outcome->output, "known") << "how often to sample follows from it";
}

TEST_F(ProgramRunTest, AProgramThatWasNotSampledSaysWhy) {
  sample_as({.notes = {"Process 7: Not sampled: the GPU is busy."}});
  const Record record = run("echo $SECONDS_UNTRACED", {Pass::source});
  EXPECT_EQ(pass(record, Pass::source).status, Status::skipped);
  EXPECT_EQ(pass(record, Pass::source).reason, "Process 7: Not sampled: the GPU is busy.");
  EXPECT_EQ(pass(record, Pass::source).outcome->output, "unknown");
}

TEST_F(ProgramRunTest, AWindowIsToldToTheProgramAndInTheRecord) {
  InjectedPass seen{.trace = trace_of_steps()};
  seen.part = trace::Interval{0, 2'000'000'000};
  trace_as(seen);
  const Record record =
      run("echo ${MPROF_WINDOW-none} | head -1", {Pass::timing, Pass::trace}, "range:step[1..2]");
  EXPECT_EQ(record.plan.window, "range:step[1..2]");
  EXPECT_THAT(pass(record, Pass::timing).outcome->output, HasSubstr("none")) << "the timing pass is of all";
  EXPECT_THAT(pass(record, Pass::trace).outcome->output, testing::Not(HasSubstr("none")));
  EXPECT_THAT(
      pass(record, Pass::trace).outcome->notes,
      ElementsAre(HasSubstr("The trace is of the part that --window range:step[1..2] names: 2 s of the")));
}

TEST_F(ProgramRunTest, AWindowThatNeverOpensSaysWhatThereIsInstead) {
  trace_as({.trace = trace_of_steps()});
  const Record record = run("exit 0", {Pass::timing, Pass::trace}, "range:forward");
  EXPECT_EQ(pass(record, Pass::trace).status, Status::skipped);
  EXPECT_THAT(
      pass(record, Pass::trace).reason,
      HasSubstr(
          "--window range:forward never opened: the program has no such range; its NVTX ranges are step ("));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run" / trace::file_name));
}

TEST_F(ProgramRunTest, AWindowOfStepsNeedsStepsThatTheTimingPassFound) {
  trace_as({.trace = trace_of_steps()});
  const Record record = run("exit 0", {Pass::timing, Pass::trace}, "step:1..2");
  EXPECT_EQ(pass(record, Pass::trace).status, Status::skipped);
  EXPECT_THAT(pass(record, Pass::trace).reason, HasSubstr("no NVTX range that repeats as a step"));
}

TEST_F(ProgramRunTest, CallsOfTheProfilersApiThatNobodyFollowsAreNamed) {
  InjectedPass seen{.trace = trace_of_steps()};
  trace::Call start = seen.trace.calls.front();
  start.name = start.versioned_name = seen.trace.names.index("cudaProfilerStart");
  start.correlation = 900;
  seen.trace.calls.push_back(start);
  trace_as(seen);
  EXPECT_THAT(
      pass(run("exit 0"), Pass::trace).outcome->notes,
      ElementsAre(HasSubstr("The program calls cudaProfilerStart() once. mprof did not follow that")));
}

TEST_F(ProgramRunTest, AProcessThatCouldNotBeTracedSaysWhy) {
  trace_as({.notes = {"Process 7: Another tool is attached to the process: Nsight Systems."}});
  EXPECT_THAT(pass(run("exit 0"), Pass::trace).reason, HasSubstr("Nsight Systems"));
}

Measurement counted(const std::string& kernel, const std::string& metric, std::optional<double> value) {
  Measurement row{.metric = metric, .op = "step", .kernel = kernel};
  if (value) row.samples = {*value};
  if (!value) row.absent = "it was launched 1 time";
  return row;
}

std::vector<double> samples_of(const PassResult& pass, const std::string& kernel, const std::string& metric) {
  for (const Measurement& row : pass.measurements) {
    if (row.kernel == kernel && row.metric == metric) return row.samples;
  }
  return {};
}

TEST_F(ProgramRunTest, KernelsThatAreLaunchedTooSeldomAreReplayedInARunOfTheirOwn) {
  count_as({.measurements = {counted("rare", "cycles", 10), counted("rare", "bytes", {}),
                             counted("often", "cycles", 20), counted("often", "bytes", 30)},
            .lacking = {"rare"}},
           {.measurements = {counted("rare", "cycles", 11), counted("rare", "bytes", 12),
                             counted("often", "cycles", 21), counted("often", "bytes", 31)}});
  const Record record = run("exit 0", {Pass::timing, Pass::counters});
  const PassResult& counters = pass(record, Pass::counters);
  EXPECT_EQ(counters.status, Status::ok);
  EXPECT_THAT(samples_of(counters, "rare", "cycles"), ElementsAre(11)) << "all of one launch";
  EXPECT_THAT(samples_of(counters, "rare", "bytes"), ElementsAre(12));
  EXPECT_THAT(samples_of(counters, "often", "cycles"), ElementsAre(20));
  EXPECT_THAT(counters.outcome->notes, ElementsAre(HasSubstr("One kernel is launched too seldom")));
}

TEST_F(ProgramRunTest, WhatWasCountedStaysWhereTheProgramDoesNotStandBeingReplayed) {
  count_as(
      {.measurements = {counted("rare", "cycles", 10), counted("rare", "bytes", {})}, .lacking = {"rare"}},
      {.measurements = {counted("rare", "bytes", 12)}});
  const Record record = run("test -z \"$REPLAYS\"", {Pass::timing, Pass::counters});
  const PassResult& counters = pass(record, Pass::counters);
  EXPECT_EQ(counters.status, Status::ok);
  EXPECT_THAT(samples_of(counters, "rare", "cycles"), ElementsAre(10));
  EXPECT_THAT(samples_of(counters, "rare", "bytes"), ElementsAre());
  EXPECT_THAT(counters.outcome->notes, ElementsAre(HasSubstr("did not end well: exit code 1")));
}

TEST_F(ProgramRunTest, NothingIsReplayedWhereLaunchesSufficed) {
  count_as({.measurements = {counted("often", "cycles", 20), counted("often", "bytes", {})}},
           {.measurements = {counted("often", "bytes", 31)}});
  const Record record = run("exit 0", {Pass::timing, Pass::counters});
  EXPECT_THAT(samples_of(pass(record, Pass::counters), "often", "bytes"), ElementsAre());
}

TEST_F(ProgramRunTest, ABuildWithoutCudaTimes) {
  const Record record = run("exit 0");
  EXPECT_EQ(pass(record, Pass::timing).status, Status::ok);
  EXPECT_EQ(pass(record, Pass::timing).rounds.size(), 2U);
  EXPECT_THAT(pass(record, Pass::trace).reason, HasSubstr("without CUDA"));
}

}  // namespace
}  // namespace mprof
