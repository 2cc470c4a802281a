// SPDX-License-Identifier: MIT
#include "runner/sanitize/sanitize.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "fake_workload.hpp"
#include "model/run_file.hpp"
#include "model/sanitizer_file.hpp"
#include "runner/protocol.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_directory.hpp"

/// A script in the place of compute-sanitizer starts the tests' worker, whose variants say that they are for
/// a GPU.
namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* worker = MPROF_BINARY_DIR "/tests/mprof_test_worker";
constexpr const char* clean = "========= COMPUTE-SANITIZER\\n========= ERROR SUMMARY: 0 errors\\n";
constexpr const char* three_errors =
    "========= COMPUTE-SANITIZER\\n"
    "========= Invalid __global__ write of size 4 bytes\\n"
    "=========     at conv_x+0x120\\n"
    "=========     by thread (0,0,0) in block (0,0,0)\\n"
    "========= ERROR SUMMARY: 3 errors\\n";

/// Tells what it is told, and writes into a pipe when a variant begins under a tool.
class Recorder final : public SanitizeProgress {
 public:
  Recorder() {
    if (::pipe(ends_) != 0) throw std::runtime_error("pipe");
  }
  ~Recorder() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void step_begins(const SanitizeStep& step) override {
    began.push_back(step.variant + " " + std::string(to_string(step.tool)));
    if (began.back() == interrupt_at && ::write(ends_[1], "x", 1) != 1) throw std::runtime_error("write");
  }
  void step_ends(const SanitizerResult& result) override {
    if (on_end) on_end(result);
  }
  [[nodiscard]] int fd() const { return ends_[0]; }

  std::string interrupt_at;
  std::vector<std::string> began;
  std::function<void(const SanitizerResult&)> on_end;

 private:
  int ends_[2] = {-1, -1};
};

class SanitizeTest : public ::testing::Test {
 protected:
  SanitizeTest() : file(sanitizer_file(temporary.path())) {
    auto gpu = std::make_unique<test::FakeDevice>(clock, "cuda");
    device = gpu.get();
    devices.add(std::move(gpu), 10);
    registry.add(std::make_unique<test::FakeFamily>());
  }

  /// A run of these variants of the worker at sizes 2 and 3.
  mprof::Run run_of(const std::vector<std::string>& variants) {
    mprof::Run run;
    run.plan.variants = variants;
    run.plan.problems["fake"] = {test::size_of(2), test::size_of(3)};
    for (const std::string& id : variants) {
      RegisteredVariant variant = test::fake_variant(id);
      variant.info.device = "cuda";
      run.variants.push_back(variant.info);
      if (registry.variant(id) == nullptr) registry.add(variant);
      for (const std::uint64_t size : {3U, 2U}) {
        Case c;
        c.key = {id, {}, test::size_of(size)};
        c.id = case_id(c.key, variant.info);
        run.cases.push_back(c);
      }
    }
    return run;
  }

  /// In place of compute-sanitizer: sets $tool and $log, leaves the worker's command in "$@", does the rest.
  void sanitizer_does(const std::string& script) {
    const fs::path program = temporary.write("fake/compute-sanitizer",
                                             "#!/bin/bash\n"
                                             "while [[ $1 == --* ]]; do\n"
                                             "  case $1 in --tool) tool=$2 ;; --log-file) log=$2 ;; esac\n"
                                             "  shift 2\n"
                                             "done\n" +
                                                 script);
    fs::permissions(program, fs::perms::owner_all);
    sanitizer = {program.string(), "2025.3.1.0", ""};
  }
  /// Runs the worker, then leaves this log and this exit code.
  void sanitizer_writes(const std::string& log, int exit_code = 0) {
    sanitizer_does("\"$@\"\nprintf '" + log + "' >\"$log\"\nexit " + std::to_string(exit_code) + "\n");
  }

  SanitizeOutcome sanitized(const mprof::Run& run,
                            const SanitizeRequest& request = {{}, {SanitizerTool::memcheck}, {}}) {
    const std::vector<SanitizeStep> steps = plan_sanitize(run, request, registry, devices, sanitizer);
    record = read_sanitizer_record(file).value_or(SanitizerRecord{});
    SanitizeOutcome done = sanitize(run, record, steps,
                                    {.sanitizer = sanitizer,
                                     .worker_command = {worker},
                                     .file = file,
                                     .inputs = {},
                                     .timeout = timeout,
                                     .clock = steady_clock(),
                                     .progress = progress,
                                     .interrupt_fd = progress.fd()});
    if (fs::exists(file)) {
      EXPECT_EQ(*read_sanitizer_record(file), record) << "the record on disk is not the one in memory";
    }
    return done;
  }

  SanitizerResult only(const std::string& variant) {
    const SanitizeOutcome done = sanitized(run_of({variant}));
    EXPECT_EQ(done.results.size(), 1U);
    return done.results.at(0);
  }

  test::TemporaryDirectory temporary;
  fs::path file;
  test::FakeClock clock;
  Devices devices;
  test::FakeDevice* device = nullptr;
  Registry registry;
  Sanitizer sanitizer;
  SanitizerRecord record;
  Recorder progress;
  double timeout = 30;
};

TEST_F(SanitizeTest, RunsEachVariantUnderEachToolAndKeepsWhatItFound) {
  sanitizer_does(
      "\"$@\"\n"
      "if [[ $tool == racecheck ]]; then\n"
      "  printf '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\\n' >\"$log\"\n"
      "else printf '========= ERROR SUMMARY: 0 errors\\n' >\"$log\"; fi\n");
  const SanitizeOutcome done = sanitized(run_of({"fake/right", "fake/slow"}), {{}, sanitizer_tools(), {}});
  EXPECT_TRUE(done.completed);
  ASSERT_EQ(done.results.size(), 8U);
  EXPECT_EQ(record.results, done.results);
  EXPECT_EQ(progress.began.at(1), "fake/right racecheck");
  EXPECT_EQ(progress.began.at(4), "fake/slow memcheck");
  for (const SanitizerResult& result : done.results) {
    EXPECT_EQ(result.status, SanitizerStatus::clean) << result.reason;
    EXPECT_EQ(result.problem, test::size_of(2)) << "the smallest of the run";
    EXPECT_EQ(result.sanitizer, "2025.3.1.0");
    EXPECT_EQ(result.device, "Fake device");
    EXPECT_GT(result.seconds.value(), 0);
    EXPECT_EQ(result.command.at(0), sanitizer.program);
    EXPECT_EQ(result.command.back(), worker);
    EXPECT_FALSE(result.started.empty());
  }
}

TEST_F(SanitizeTest, TheWorkerRunsTheProblemThatIsAskedFor) {
  sanitizer_writes(clean);
  const mprof::Run run = run_of({"fake/wrong_at_large"});
  EXPECT_EQ(sanitized(run).results.at(0).status, SanitizerStatus::clean);
  const SanitizerResult at_three =
      sanitized(run, {{}, {SanitizerTool::memcheck}, {{"size", {3}}}}).results.at(0);
  EXPECT_EQ(at_three.problem, test::size_of(3));
  EXPECT_EQ(at_three.status, SanitizerStatus::failed);
  EXPECT_NE(at_three.reason.find("came to nothing: wrong: op1: relative error 0.5"), std::string::npos)
      << at_three.reason;
}

TEST_F(SanitizeTest, TheWorkerIsGivenWhatTheRunChose) {
  const fs::path seen = temporary.path() / "job";
  sanitizer_does("tee '" + seen.string() + "' | \"$@\"\nprintf '" + clean + "' >\"$log\"\n");
  mprof::Run run = run_of({"fake/chooses"});
  for (Case& c : run.cases) {
    PassResult timing{.pass = Pass::timing};
    timing.choices = {{"engine", "of " + c.id}};
    c.passes = {timing};
  }
  EXPECT_EQ(sanitized(run).results.at(0).status, SanitizerStatus::clean);
  EXPECT_EQ(parse_job(read_file(seen)).choices, (std::vector<Choices>{{{"engine", "of fake/chooses@2"}}}));
}

TEST_F(SanitizeTest, ErrorsAreCountedAndTheFirstIsKept) {
  sanitizer_writes(three_errors, 99);
  const SanitizerResult result = only("fake/right");
  EXPECT_EQ(result.status, SanitizerStatus::errors);
  EXPECT_EQ(result.errors, 3U);
  EXPECT_EQ(result.first_report,
            "Invalid __global__ write of size 4 bytes at conv_x+0x120 by thread (0,0,0) in block (0,0,0)");
  EXPECT_EQ(result.reason, "");
}

/// As after an illegal access, which ends the variant too.
TEST_F(SanitizeTest, ErrorsCountAlsoWhenTheVariantFails) {
  sanitizer_writes(three_errors, 99);
  EXPECT_EQ(only("fake/throws").status, SanitizerStatus::errors);
}

TEST_F(SanitizeTest, WarningsAloneAreClean) {
  sanitizer_writes(
      "========= Warning: Race reported between Read access at a()+0x260\\n"
      "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\\n",
      99);
  const SanitizerResult result = only("fake/right");
  EXPECT_EQ(result.status, SanitizerStatus::clean);
  EXPECT_EQ(result.warnings, 1U);
  EXPECT_EQ(result.first_report, "Race reported between Read access at a()+0x260");
}

TEST_F(SanitizeTest, NoErrorInWhatDidNotRunIsNoCleanResult) {
  sanitizer_does("printf '" + std::string(clean) + "' >\"$log\"\n");  // never starts the worker
  const SanitizerResult idle = only("fake/right");
  EXPECT_EQ(idle.status, SanitizerStatus::failed);
  EXPECT_NE(idle.reason.find("the worker gave 0 of 1 results"), std::string::npos) << idle.reason;

  sanitizer_writes(clean);
  const SanitizerResult thrown = only("fake/throws");
  EXPECT_EQ(thrown.status, SanitizerStatus::failed);
  EXPECT_NE(thrown.reason.find("failed: CUDA error 700"), std::string::npos) << thrown.reason;

  const SanitizerResult gone = only("fake/early_exit");
  EXPECT_EQ(gone.status, SanitizerStatus::failed);
  EXPECT_NE(gone.reason.find("the worker gave 0 of 1 results"), std::string::npos) << gone.reason;
}

TEST_F(SanitizeTest, AnExitCodeThatNothingExplainsIsNoCleanResult) {
  sanitizer_writes(clean, 7);
  const SanitizerResult result = only("fake/right");
  EXPECT_EQ(result.status, SanitizerStatus::failed);
  EXPECT_NE(result.reason.find("counts no error, and yet it ended with exit code 7"), std::string::npos)
      << result.reason;
}

TEST_F(SanitizeTest, WithoutASummaryTheReasonIsInTheLogAndTheLastWords) {
  sanitizer_does(
      "echo 'cannot open libInterceptor.so' >&2\nprintf '========= Internal Sanitizer Error: no\\n' "
      ">\"$log\"\n"
      "exit 1\n");
  const SanitizerResult result = only("fake/right");
  EXPECT_EQ(result.status, SanitizerStatus::failed);
  EXPECT_EQ(
      result.reason,
      "compute-sanitizer left no summary: exit code 1. Its last words: cannot open libInterceptor.so. Its "
      "log says: Internal Sanitizer Error: no");

  sanitizer_writes("========= Error: Target application terminated before first instrumented API call\\n");
  EXPECT_NE(only("fake/right").reason.find("saw no CUDA call"), std::string::npos);

  sanitizer_does("\"$@\"\nhead -c 100000 /dev/urandom >\"$log\"\n");
  EXPECT_EQ(only("fake/right").status, SanitizerStatus::failed);

  sanitizer_does("\"$@\"\n");
  EXPECT_EQ(only("fake/right").reason, "compute-sanitizer left no summary: exit code 0");
}

TEST_F(SanitizeTest, WhatTheToolPrintsItselfDoesNoHarm) {
  sanitizer_does("echo '========= COMPUTE-SANITIZER'\n\"$@\"\nprintf '" + std::string(clean) +
                 "' >\"$log\"\n");
  EXPECT_EQ(only("fake/right").status, SanitizerStatus::clean);
}

/// The ids of the processes that run this program.
std::vector<pid_t> processes_of(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stream(entry.path() / "cmdline", std::ios::binary);
    const std::string line((std::istreambuf_iterator<char>(stream)), {});
    if (line.find(text) != std::string::npos) found.push_back(std::atoi(name.c_str()));
  }
  return found;
}

/// Waits for them to go: a process that was killed takes a moment.
void expect_gone(const std::string& text) {
  for (int i = 0; i < 6000 && !processes_of(text).empty(); ++i) ::usleep(10'000);
  EXPECT_TRUE(processes_of(text).empty()) << "a process was left behind";
}

TEST_F(SanitizeTest, AHangEndsAtTheTimeLimitAndLeavesNoProcess) {
  sanitizer_does("printf '" + std::string(three_errors) + "' | head -n 4 >\"$log\"\n\"$@\"\n");
  timeout = 0.7;
  const SanitizerResult result = only("fake/hang");
  EXPECT_EQ(result.status, SanitizerStatus::timeout);
  EXPECT_EQ(
      result.reason,
      "took longer than 0.7 s (--timeout); until then the tool had reported: Invalid __global__ write of "
      "size 4 bytes at conv_x+0x120 by thread (0,0,0) in block (0,0,0)");
  EXPECT_EQ(result.errors, 0U) << "that is no count";
  expect_gone(temporary.path().string());
}

/// A tool that starts the worker in a session of its own escapes the signal to the process group.
TEST_F(SanitizeTest, AWorkerOutsideOfTheGroupEndsWithItsReader) {
  const std::string log = (temporary.path() / "pid").string();
  sanitizer_does("setsid bash -c 'echo $$ >" + log + "; exec \"$@\"' sh \"$@\" <&0 &\nwait\n");
  timeout = 0.7;
  EXPECT_EQ(only("fake/hang").status, SanitizerStatus::timeout);
  pid_t pid = 0;
  std::ifstream(log) >> pid;
  ASSERT_GT(pid, 0);
  for (int i = 0; i < 6000 && ::kill(pid, 0) == 0; ++i) ::usleep(10'000);
  EXPECT_NE(::kill(pid, 0), 0) << "the worker was left behind";
}

TEST_F(SanitizeTest, AnInterruptKeepsWhatIsFinished) {
  sanitizer_writes(clean);
  progress.interrupt_at = "fake/hang memcheck";
  const SanitizeOutcome done = sanitized(run_of({"fake/right", "fake/hang", "fake/slow"}));
  EXPECT_FALSE(done.completed);
  ASSERT_EQ(done.results.size(), 1U);
  const SanitizerRecord kept = *read_sanitizer_record(file);
  ASSERT_EQ(kept.results.size(), 1U);
  EXPECT_EQ(kept.results[0].variant, "fake/right");
  expect_gone(temporary.path().string());
}

TEST_F(SanitizeTest, EachResultIsOnDiskBeforeTheNextBegins) {
  sanitizer_writes(clean);
  std::size_t done = 0;
  progress.on_end = [&](const SanitizerResult&) {
    EXPECT_EQ(read_sanitizer_record(file)->results.size(), ++done);
  };
  sanitized(run_of({"fake/right"}), {{}, {SanitizerTool::memcheck, SanitizerTool::synccheck}, {}});
  EXPECT_EQ(done, 2U);
  for (const auto& entry : fs::directory_iterator(file.parent_path()))
    EXPECT_FALSE(is_temporary_name(entry.path().filename().string())) << entry.path();
}

TEST_F(SanitizeTest, WhatIsAskedForIsDoneAgainAndTheRestStays) {
  sanitizer_writes(clean);
  const mprof::Run run = run_of({"fake/right", "fake/slow"});
  sanitized(run, {{}, {SanitizerTool::synccheck, SanitizerTool::memcheck}, {}});
  const SanitizerRecord before = record;
  sanitizer_writes(three_errors, 99);
  sanitized(run, {{"fake/slow"}, {SanitizerTool::memcheck}, {}});
  ASSERT_EQ(record.results.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const bool again =
        before.results[i].variant == "fake/slow" && before.results[i].tool == SanitizerTool::memcheck;
    EXPECT_EQ(record.results[i].status, again ? SanitizerStatus::errors : SanitizerStatus::clean);
    EXPECT_TRUE(again || record.results[i] == before.results[i]);
  }
  EXPECT_EQ(before.results[0].tool, SanitizerTool::memcheck) << "in the order of the tools";
}

TEST_F(SanitizeTest, WhatCannotRunUnderItHereIsSkippedAndReplacesNothing) {
  sanitizer_writes(clean);
  mprof::Run run = run_of({"fake/right", "fake/slow"});
  run.variants[1].device = "cpu";
  const SanitizeOutcome first = sanitized(run);
  EXPECT_EQ(first.results[0].status, SanitizerStatus::clean);
  EXPECT_EQ(first.results[1].status, SanitizerStatus::skipped);
  EXPECT_EQ(first.results[1].reason, "compute-sanitizer reads CUDA code only");
  EXPECT_FALSE(first.results[1].seconds);

  device->unavailable_reason = "no NVIDIA driver";
  const SanitizeOutcome second = sanitized(run);
  EXPECT_EQ(second.results[0].status, SanitizerStatus::skipped);
  EXPECT_EQ(second.results[0].reason, "no NVIDIA driver");
  EXPECT_EQ(record.results[0].status, SanitizerStatus::clean) << "what was found on another machine stays";

  device->unavailable_reason.reset();
  sanitizer = {"", "", "compute-sanitizer is not here"};
  EXPECT_EQ(sanitized(run).results[0].reason, "compute-sanitizer is not here");

  run.variants[0].id = run.cases[0].key.variant = run.cases[1].key.variant = "fake/of_another_build";
  EXPECT_EQ(sanitized(run).results[0].reason, "this build of mprof has no such variant");
}

TEST_F(SanitizeTest, EveryPointOfASweepIsRun) {
  sanitizer_writes(clean);
  mprof::Run run = run_of({"fake/right"});
  const std::vector<ParameterInfo> parameters{{"tile", "", "8", {"8", "16"}}};
  run.variants[0].parameters = parameters;
  run.cases[0].key.parameters = {{"tile", "8"}};
  run.cases[1].key.parameters = {{"tile", "16"}};
  const auto steps = plan_sanitize(run, {{}, {SanitizerTool::memcheck}, {}}, registry, devices, sanitizer);
  ASSERT_EQ(steps.size(), 1U);
  ASSERT_EQ(steps[0].cases.size(), 2U);
  EXPECT_EQ(case_id(steps[0].cases[0], run.variants[0]), "fake/right@2");
  EXPECT_EQ(case_id(steps[0].cases[1], run.variants[0]), "fake/right[tile=16]@2");
  EXPECT_EQ(sanitized(run).results[0].status, SanitizerStatus::clean);
}

std::string refused(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST_F(SanitizeTest, AnUnknownVariantOrValueIsRefused) {
  const mprof::Run run = run_of({"fake/right", "fake/slow"});
  const auto plan = [&](const std::vector<std::string>& patterns, const AxisValues& values = {}) {
    return plan_sanitize(run, {patterns, {SanitizerTool::memcheck}, values}, registry, devices, sanitizer);
  };
  const auto refusal = [&](const std::vector<std::string>& patterns, const AxisValues& values = {}) {
    return refused([&] { static_cast<void>(plan(patterns, values)); });
  };
  EXPECT_EQ(plan({"fake/*"}).size(), 2U);
  EXPECT_EQ(plan({"fake/slow"}).at(0).variant, "fake/slow");
  EXPECT_NE(refusal({"fake/rigth"}).find("no such variant. Did you mean fake/right?"), std::string::npos);
  EXPECT_EQ(refusal({}, {{"size", {1001}}}), "size 1001: the family fake takes 1 to 1000 (elements).");
  EXPECT_NE(refusal({}, {{"size", {0}}}), "");
  EXPECT_EQ(refusal({}, {{"size", {1, 2}}}),
            "size 1,2: each family is run with one problem; give one value.");
  EXPECT_NE(refusal({}, {{"siez", {1}}}).find("Did you mean size?"), std::string::npos);
}

TEST_F(SanitizeTest, WhereNothingCanBeWrittenItEndsWithTheOldRecord) {
  sanitizer_writes(clean);
  const fs::path folder = file.parent_path(), moved = folder.string() + ".moved";
  progress.on_end = [&](const SanitizerResult&) {
    fs::rename(folder, moved);
    std::ofstream(folder) << "in the way";
  };
  EXPECT_THROW(
      sanitized(run_of({"fake/right"}), {{}, {SanitizerTool::memcheck, SanitizerTool::synccheck}, {}}),
      Error);
  EXPECT_EQ(read_sanitizer_record(moved / file.filename())->results.size(), 1U);
  fs::remove(folder);
  fs::rename(moved, folder);
}

}  // namespace
}  // namespace mprof
