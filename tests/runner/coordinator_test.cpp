// SPDX-License-Identifier: MIT
#include "runner/coordinator.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fake_workload.hpp"
#include "model/case_file.hpp"
#include "model/rounds.hpp"
#include "model/run_file.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Interrupts the run, through a pipe, when a case with this id begins.
class InterruptAt final : public Progress {
 public:
  explicit InterruptAt(std::string id) : id_(std::move(id)) {
    if (::pipe(ends_) != 0) throw std::runtime_error("pipe");
  }
  ~InterruptAt() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void case_begins(const Case& c, Pass /*pass*/) override {
    if (c.id == id_ && ::write(ends_[1], "x", 1) != 1) throw std::runtime_error("write");
  }
  [[nodiscard]] int fd() const { return ends_[0]; }

 private:
  std::string id_;
  int ends_[2] = {-1, -1};
};

const std::vector<std::string> test_worker{MPROF_BINARY_DIR "/tests/mprof_test_worker"};

/// Lets its clock pass a time when a case with this id begins.
class SlowAt final : public Progress {
 public:
  SlowAt(std::string id, test::FakeClock& clock, double seconds)
      : id_(std::move(id)), clock_(clock), seconds_(seconds) {}
  void case_begins(const Case& c, Pass /*pass*/) override {
    if (c.id == id_) clock_.advance(seconds_);
  }

 private:
  std::string id_;
  test::FakeClock& clock_;
  double seconds_;
};

/// A clock that is ever further on, until a first case begins: a start that takes its time.
class SlowStart final : public Clock, public Progress {
 public:
  [[nodiscard]] double now() const override { return now_ += step_; }
  void case_begins(const Case& /*c*/, Pass /*pass*/) override { step_ = 0; }
  void case_ends(const Case& /*c*/, const PassResult& /*result*/) override { step_ = seconds; }
  static constexpr double seconds = 1;

 private:
  mutable double now_ = 0;
  double step_ = seconds;
};

class CoordinatorTest : public ::testing::Test {
 protected:
  CoordinatorTest() : directory(temporary.path() / "run", ResultDirectory::Mode::create) {}

  /// A run of these variants at sizes 1, 2 and 3 in the timing pass.
  static mprof::Run run_of(const std::vector<std::string>& variants) {
    mprof::Run run;
    run.plan.variants = variants;
    run.plan.problems["fake"] = {test::size_of(1), test::size_of(2), test::size_of(3)};
    run.families = {test::fake_family()};
    for (const Problem& problem : run.plan.problems["fake"])
      run.families[0].problems.push_back({problem, test::FakeFamily().ops(problem)});
    run.plan.passes = {Pass::timing};
    run.plan.seed = 1;
    run.plan.timeout = 20;
    run.plan.stopping = {1, 2, 0.1, 0.5};
    run.environment["cpu"]["model"] = "known already";  // no survey
    for (const std::string& id : variants) {
      run.variants.push_back(test::fake_variant(id).info);
      for (const ProblemInfo& problem : run.families[0].problems) {
        Case c;
        c.key = {id, {}, problem.problem};
        c.id = case_id(c.key, run.variants.back());
        c.ops = problem.ops;
        c.passes = {{.pass = Pass::timing, .reason = "not run yet"}};
        run.cases.push_back(c);
      }
    }
    return run;
  }

  void go(mprof::Run& run, std::vector<std::string> command = test_worker, Progress* progress = nullptr,
          int interrupt_fd = -1, const Clock& clock = steady_clock()) {
    Progress silent;
    coordinate(run, {std::move(command), directory, clock, progress ? *progress : silent, interrupt_fd});
    EXPECT_EQ(directory.load(), run) << "the record on disk is not the one in memory";
  }

  static const PassResult& result(const mprof::Run& run, const std::string& variant, std::uint64_t size) {
    return find_case(run, {variant, {}, test::size_of(size)})->passes.at(0);
  }

  /// Runs one variant that goes wrong at size 2; looks at the others, and returns what was said of size 2.
  PassResult of_size_two(const std::string& variant) {
    mprof::Run run = run_of({variant, "fake/right"});
    go(run);
    EXPECT_EQ(run.state, RunState::complete);
    for (const std::uint64_t size : {1U, 3U}) {
      EXPECT_EQ(result(run, variant, size).status, Status::ok)
          << size << ": " << result(run, variant, size).reason;
    }
    for (const std::uint64_t size : {1U, 2U, 3U}) {
      EXPECT_EQ(result(run, "fake/right", size).status, Status::ok);
    }
    return result(run, variant, 2);
  }

  test::TemporaryDirectory temporary;
  ResultDirectory directory;
};

TEST(WorkerProcess, HasTheVariablesThatItIsGivenBesideThisProcessesOwn) {
  Process process({"/bin/sh", "-c", "echo $TOLD ${PATH:+path}"}, "", {{"TOLD", "something"}});
  EXPECT_EQ(process.next(steady_clock(), std::nullopt, -1).line, "something path");
}

TEST_F(CoordinatorTest, AWorkerThatIsEndedWithTheRunHasNotCrashed) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  mprof::Run run = run_of({"fake/right"});
  std::jthread late([&] {
    ::usleep(200'000);  // the worker was reached first
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
  });
  go(run, {"/bin/sh", "-c", "kill -TERM $$"}, nullptr, ends[0]);
  EXPECT_EQ(run.state, RunState::interrupted);
  for (const Case& c : run.cases) EXPECT_NE(c.passes[0].status, Status::crashed) << c.passes[0].reason;
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(CoordinatorTest, TimesEachCaseInAProcessForEachRound) {
  mprof::Run run = run_of({"fake/right", "fake/slow"});
  run.plan.rounds = 3;
  go(run);
  EXPECT_EQ(run.state, RunState::complete);
  for (const Case& c : run.cases) {
    const PassResult& timing = c.passes.at(0);
    EXPECT_EQ(timing.status, Status::ok) << c.id << ": " << timing.reason;
    ASSERT_EQ(timing.rounds.size(), 3U);
    const Measurement* op_time = find_measurement(c, "op_time", "op1");
    ASSERT_NE(op_time, nullptr);
    const auto samples = samples_by_round(*op_time);
    ASSERT_EQ(samples.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(samples[i].size(), timing.rounds[i].samples);
    EXPECT_EQ(timing.sampling->samples, op_time->samples.size());
    EXPECT_EQ(find_measurement(c, "first_op_time", "op1")->samples.size(), 3U)
        << "each process has a first one";
  }
  ASSERT_EQ(run.spent.size(), 1U);
  const PassTime& spent = run.spent[0];
  EXPECT_EQ(spent.pass, Pass::timing);
  EXPECT_EQ(spent.workers, 2U * 3);
  EXPECT_GT(spent.measuring, 0);
  EXPECT_GE(spent.seconds, spent.starting + spent.loading + spent.measuring);
}

TEST_F(CoordinatorTest, TwoRunsInTurnsHaveASampleOfTheOtherBesideEachOfTheirs) {
  mprof::Run candidate = run_of({"fake/right", "fake/slow", "fake/crash"}), baseline = candidate;
  candidate.plan.rounds = baseline.plan.rounds = 3;
  candidate.plan.stopping = baseline.plan.stopping = {2, 5, 10, 1e-9};
  candidate.in_turns = baseline.in_turns = true;
  ResultDirectory other(temporary.path() / "baseline", ResultDirectory::Mode::create);
  Progress silent;
  coordinate_in_turns(baseline, {test_worker, other, steady_clock(), silent}, candidate,
                      {test_worker, directory, steady_clock(), silent});
  EXPECT_EQ(directory.load(), candidate);
  EXPECT_EQ(other.load(), baseline);
  for (std::size_t i = 0; i < candidate.cases.size(); ++i) {
    const Case &a = baseline.cases[i], &b = candidate.cases[i];
    EXPECT_EQ(a.passes[0].status, b.passes[0].status) << b.id;
    if (b.passes[0].status != Status::ok) continue;
    ASSERT_EQ(b.passes[0].rounds.size(), 3U);
    for (std::size_t round = 0; round < 3; ++round) {
      EXPECT_NEAR(a.passes[0].rounds[round].samples, b.passes[0].rounds[round].samples, 1) << b.id;
      EXPECT_GE(b.passes[0].rounds[round].samples, 2U) << b.id;
    }
  }
  EXPECT_EQ(result(candidate, "fake/crash", 2).status, Status::crashed);
  EXPECT_EQ(result(candidate, "fake/crash", 3).status, Status::ok);
  const PassTime& spent = candidate.spent[0];
  EXPECT_GT(spent.waiting, 0.05) << "the other side's slow variant had its turns meanwhile";
  EXPECT_GE(spent.seconds, spent.starting + spent.loading + spent.measuring)
      << "and none of that is in these";
}

/// A command whose cases are over at once for one side alone.
TEST_F(CoordinatorTest, ASideWhoseWorkersEndDoesNotHoldUpTheOther) {
  mprof::Run candidate = run_of({"fake/right"}), baseline = candidate;
  ResultDirectory other(temporary.path() / "baseline", ResultDirectory::Mode::create);
  Progress silent;
  coordinate_in_turns(baseline, {{"/bin/false"}, other, steady_clock(), silent}, candidate,
                      {test_worker, directory, steady_clock(), silent});
  for (const Case& c : candidate.cases) EXPECT_EQ(c.passes[0].status, Status::ok) << c.passes[0].reason;
  for (const Case& c : baseline.cases) EXPECT_EQ(c.passes[0].status, Status::crashed);
}

/// Throws when it is told of the first case that ends.
class Failing final : public Progress {
 public:
  void case_ends(const Case& /*c*/, const PassResult& /*result*/) override {
    throw Error(ExitCode::environment, "the disk is full");
  }
};

TEST_F(CoordinatorTest, ASideThatFailsStopsTheOther) {
  mprof::Run candidate = run_of({"fake/slow"}), baseline = candidate;
  candidate.plan.rounds = baseline.plan.rounds = 50;
  ResultDirectory other(temporary.path() / "baseline", ResultDirectory::Mode::create);
  Failing failing;
  EXPECT_THROW(coordinate_in_turns(baseline, {test_worker, other, steady_clock(), failing}, candidate,
                                   {test_worker, directory, steady_clock(), failing}),
               Error);
  for (const mprof::Run* const run : {&baseline, &candidate}) {
    for (const Case& c : run->cases) EXPECT_LT(rounds_of(c.passes[0]), 5U) << "of 50";
  }
}

TEST(WorkerProcess, IsToldMoreAndStopsWhileItHasNoTurn) {
  Process process({"/bin/sh", "-c", "while read line; do echo got $line; done; echo end"}, "first\n", {},
                  Process::Input::open);
  const Clock& clock = steady_clock();
  EXPECT_EQ(process.next(clock, std::nullopt, -1).line, "got first");
  process.pause();
  process.tell("second\n");
  EXPECT_EQ(process.next(clock, clock.now() + 0.2, -1).kind, Process::Event::Kind::deadline);
  process.resume();
  EXPECT_EQ(process.next(clock, std::nullopt, -1).line, "got second");
  const std::string large(1 << 22, 'x');  // more than any buffer of the kernel
  process.tell(large + "\n");
  EXPECT_EQ(process.next(clock, std::nullopt, -1).line.size(), large.size() + 4);
  process.pause();
  process.kill();
  process.tell("to nobody\n");
}

TEST(Jobs, KeepWhatAnEarlierRoundVerified) {
  Verification verified;
  verified.op = "op1";
  verified.passed = true;
  verified.elements = 3;
  verified.checksum = "0123456789abcdef";
  const Job job{.cases = {{"fake/right", {}, test::size_of(1)}, {"fake/right", {}, test::size_of(2)}},
                .verified = {{verified}, {}}};
  EXPECT_EQ(parse_job(to_line(job)).verified, job.verified);
}

TEST_F(CoordinatorTest, WhatAVariantChoseIsKeptForItsOtherPassesAndRounds) {
  mprof::Run run = run_of({"fake/chooses", "fake/right"});
  run.plan.passes = {Pass::timing, Pass::trace};
  run.plan.rounds = 2;
  for (Case& c : run.cases) c.passes.push_back({.pass = Pass::trace});
  go(run);
  for (const std::uint64_t size : {1U, 2U, 3U}) {
    const Case& c = *find_case(run, {"fake/chooses", {}, test::size_of(size)});
    const std::string chosen = std::to_string(size);
    const Choices chosen_once{{"engine", chosen}, {"followed", chosen}};
    EXPECT_EQ(c.passes[0].choices, chosen_once) << "in two rounds";
    EXPECT_EQ(c.passes[1].choices, chosen_once);
    EXPECT_TRUE(find_case(run, {"fake/right", {}, test::size_of(size)})->passes[0].choices.empty());
  }

  const Job job{.cases = {{"fake/right", {}, test::size_of(1)}}, .choices = {{{"engine", "3"}}}};
  EXPECT_EQ(parse_job(to_line(job)).choices, job.choices);
}

TEST_F(CoordinatorTest, WhatFailedInOneRoundIsNotTriedInTheNext) {
  mprof::Run run = run_of({"fake/early_exit", "fake/right"});
  run.plan.rounds = 3;
  go(run);
  EXPECT_EQ(result(run, "fake/early_exit", 2).status, Status::crashed);
  EXPECT_TRUE(result(run, "fake/early_exit", 2).rounds.empty());
  EXPECT_EQ(result(run, "fake/early_exit", 3).rounds.size(), 3U);
  EXPECT_EQ(result(run, "fake/right", 2).rounds.size(), 3U);
}

TEST_F(CoordinatorTest, MoreRoundsAreAddedToARunThatIsComplete) {
  mprof::Run run = run_of({"fake/right"});
  run.plan.rounds = 2;
  go(run);
  const std::vector<double> before = find_measurement(run.cases.at(0), "total_time")->samples;
  run.plan.rounds = 4;
  go(run);
  const Measurement& total = *find_measurement(run.cases.at(0), "total_time");
  ASSERT_EQ(samples_by_round(total).size(), 4U);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), total.samples.begin()))
      << "those that were there stay";
  EXPECT_TRUE(schedule(run).empty());
}

TEST_F(CoordinatorTest, RunsEverythingAndKeepsEverySample) {
  mprof::Run run = run_of({"fake/right", "fake/slow"});
  go(run);
  EXPECT_EQ(run.state, RunState::complete);
  EXPECT_FALSE(run.finished.empty());
  const Measurement* op_time = find_measurement(run.cases.at(3), "op_time", "op1");
  ASSERT_NE(op_time, nullptr);
  EXPECT_EQ(op_time->samples.size(), run.cases.at(3).passes.at(0).sampling->samples);
  EXPECT_GE(op_time->samples.at(0), 0.02);
}

TEST_F(CoordinatorTest, ACrashIsNamedWithItsSignalAndLastWords) {
  if (test::under_address_sanitizer)
    GTEST_SKIP() << "AddressSanitizer ends the worker before the signal does";
  const PassResult said = of_size_two("fake/crash");
  EXPECT_EQ(said.status, Status::crashed);
  EXPECT_NE(said.reason.find("signal 11 (Segmentation fault)"), std::string::npos) << said.reason;
  EXPECT_NE(said.reason.find("about to follow a bad pointer"), std::string::npos) << said.reason;
}

/// In a time that stands still, but for the hang: however slow the machine is, nothing else takes any.
TEST_F(CoordinatorTest, AHangEndsAtTheTimeLimit) {
  mprof::Run run = run_of({"fake/hang"});
  run.plan.timeout = 0.5;
  test::FakeClock clock;
  SlowAt progress("fake/hang@2", clock, 0.5);
  go(run, test_worker, &progress, -1, clock);
  EXPECT_EQ(result(run, "fake/hang", 2).status, Status::timeout);
  EXPECT_EQ(result(run, "fake/hang", 2).reason, "took longer than 0.5 s (--timeout)");
  EXPECT_EQ(result(run, "fake/hang", 1).status, Status::ok);
  EXPECT_EQ(result(run, "fake/hang", 3).status, Status::ok);
}

TEST_F(CoordinatorTest, TheTimeLimitDoesNotCountTheStartOfAWorker) {
  mprof::Run run = run_of({"fake/right"});
  run.plan.timeout = SlowStart::seconds / 2;
  SlowStart time;
  go(run, test_worker, &time, -1, time);
  for (const std::uint64_t size : {1U, 2U, 3U}) {
    EXPECT_EQ(result(run, "fake/right", size).status, Status::ok) << result(run, "fake/right", size).reason;
  }
}

TEST_F(CoordinatorTest, AWorkerThatNeverBeginsEndsToo) {
  mprof::Run run = run_of({"fake/right"});
  SlowStart time;
  go(run, {"/bin/sh", "-c", "while :; do echo . >&2; done"}, nullptr, -1, time);
  EXPECT_EQ(case_status(run.cases[0]), Status::timeout);
  EXPECT_NE(case_reason(run.cases[0]).find("did not begin it within"), std::string::npos)
      << case_reason(run.cases[0]);
}

TEST_F(CoordinatorTest, AnEarlyExitIsNoResult) {
  const PassResult said = of_size_two("fake/early_exit");
  EXPECT_EQ(said.status, Status::crashed);
  EXPECT_NE(said.reason.find("ended without a result: exit code 0"), std::string::npos) << said.reason;
}

TEST_F(CoordinatorTest, AVariantThatPrintsDoesNoHarm) {
  EXPECT_EQ(of_size_two("fake/chatty").status, Status::ok);
}

TEST_F(CoordinatorTest, AnExceptionIsTheReason) {
  const PassResult said = of_size_two("fake/throws");
  EXPECT_EQ(said.status, Status::failed);
  EXPECT_EQ(said.reason, "CUDA error 700: an illegal memory access");
}

/// As after an illegal access on a GPU, when every further CUDA call of the process fails.
TEST_F(CoordinatorTest, AFailureThatSpoilsItsProcessCostsOneCase) {
  const PassResult said = of_size_two("fake/spoils_its_process");
  EXPECT_EQ(said.status, Status::failed);
}

TEST_F(CoordinatorTest, ExhaustedMemoryIsTheReason) {
  if (test::under_address_sanitizer) GTEST_SKIP() << "AddressSanitizer ends the worker where new would throw";
  const PassResult said = of_size_two("fake/greedy");
  EXPECT_EQ(said.status, Status::failed);
  EXPECT_NE(said.reason.find("memory"), std::string::npos) << said.reason;
}

TEST_F(CoordinatorTest, RightAtSmallAndWrongAtLargeIsWrongAtLargeOnly) {
  mprof::Run run = run_of({"fake/wrong_at_large"});
  go(run);
  EXPECT_EQ(result(run, "fake/wrong_at_large", 1).status, Status::ok);
  EXPECT_EQ(result(run, "fake/wrong_at_large", 2).status, Status::ok);
  EXPECT_EQ(result(run, "fake/wrong_at_large", 3).status, Status::wrong);
}

TEST_F(CoordinatorTest, AWorkerThatWritesGarbageCostsOneCaseEach) {
  mprof::Run run = run_of({"fake/right"});
  go(run, {"/bin/sh", "-c", "echo '{\"kind\": 7}'; sleep 60"});
  EXPECT_EQ(run.state, RunState::complete);
  for (const Case& c : run.cases) {
    EXPECT_EQ(case_status(c), Status::crashed);
    EXPECT_NE(case_reason(c).find("no message: message.kind"), std::string::npos) << case_reason(c);
  }
}

TEST_F(CoordinatorTest, AMessageAboutAnotherCaseIsGarbage) {
  mprof::Run run = run_of({"fake/right"});
  go(run, {"/bin/sh", "-c",
           "read -r job; token=$(echo \"$job\" | sed 's/.*\"token\":\"\\([0-9a-f]*\\)\".*/\\1/');"
           "echo '{\"kind\": \"begin\", \"token\": \"'$token'\", \"case\": \"other\", \"samples\": 0}'; "
           "sleep 60"});
  EXPECT_NE(case_reason(run.cases[0]).find("a message about \"other\""), std::string::npos)
      << case_reason(run.cases[0]);
}

/// What a variant writes to the worker's own channel is a message of another one.
TEST_F(CoordinatorTest, AForgedResultIsNoResult) {
  const PassResult said = of_size_two("fake/forger");
  EXPECT_EQ(said.status, Status::crashed);
  EXPECT_NE(said.reason.find("does not hold the token that this worker was given"), std::string::npos)
      << said.reason;
}

/// Changes the file of the first case that ended, as what a variant left running could, when the next one
/// begins.
class Tamperer final : public Progress {
 public:
  explicit Tamperer(fs::path directory) : directory_(std::move(directory)) {}
  void case_ends(const Case& c, const PassResult& /*result*/) override {
    if (changed.empty()) changed = c.id;
  }
  void case_begins(const Case& /*c*/, Pass /*pass*/) override {
    if (changed.empty() || std::exchange(is_done_, true)) return;
    const fs::path file = directory_ / case_file(changed);
    std::string text = read_file(file);
    text.replace(text.find("\"ok\""), 4, "\"no\"");
    write_file(file, text);
  }
  std::string changed;

 private:
  fs::path directory_;
  bool is_done_ = false;
};

TEST_F(CoordinatorTest, ARecordThatSomethingElseChangedIsNotBelieved) {
  mprof::Run run = run_of({"fake/right"});
  Tamperer tamperer(directory.path());
  go(run, test_worker, &tamperer);
  ASSERT_FALSE(tamperer.changed.empty());
  for (const Case& c : run.cases) {
    EXPECT_EQ(case_status(c), c.id == tamperer.changed ? Status::suspect : Status::ok) << c.id;
    EXPECT_EQ(case_reason(c), c.id == tamperer.changed
                                  ? "something changed the file of this case while the run "
                                    "went on; it is again as it was measured"
                                  : "");
  }
}

TEST_F(CoordinatorTest, AWorkerThatEndsAtOnceIsNoEndlessLoop) {
  mprof::Run run = run_of({"fake/right"});
  go(run, {"/bin/sh", "-c", "echo no luck >&2; exit 7"});
  EXPECT_EQ(case_status(run.cases[0]), Status::crashed);
  EXPECT_NE(case_reason(run.cases[0]).find("exit code 7"), std::string::npos);
  EXPECT_NE(case_reason(run.cases[0]).find("no luck"), std::string::npos);
}

TEST_F(CoordinatorTest, AWorkerThatCannotStartIsAnError) {
  mprof::Run run = run_of({"fake/right"});
  EXPECT_THROW(go(run, {"/no/such/program"}), Error);
}

TEST_F(CoordinatorTest, TheSurveyFillsTheEnvironment) {
  mprof::Run run = run_of({"fake/right"});
  run.environment.clear();
  go(run);
  EXPECT_EQ(std::get<std::string>(run.environment.at("libraries").at("fake library")), "1.0");
}

TEST_F(CoordinatorTest, AFailedSurveyIsAbsentWithTheReason) {
  mprof::Run run = run_of({"fake/right"});
  run.environment.clear();
  go(run, {"/bin/sh", "-c", "exit 9"});
  const Fact& fact = run.environment.at("survey").at("fingerprint");
  EXPECT_NE(std::get<Absent>(fact).reason.find("exit code 9"), std::string::npos);
}

TEST_F(CoordinatorTest, AnInterruptKeepsWhatIsFinishedAndResumeDoesTheRest) {
  mprof::Run run = run_of({"fake/slow", "fake/right"});
  InterruptAt progress("fake/slow@2");
  go(run, test_worker, &progress, progress.fd());
  EXPECT_EQ(run.state, RunState::interrupted);
  EXPECT_EQ(result(run, "fake/slow", 2).status, Status::interrupted);

  mprof::Run resumed = directory.load();
  std::set<std::string> to_do;
  for (const Task& task : schedule(resumed)) {
    for (const std::size_t index : task.cases) to_do.insert(resumed.cases[index].id);
  }
  EXPECT_TRUE(to_do.contains("fake/slow@2"));
  const mprof::Run before = resumed;
  go(resumed);
  EXPECT_EQ(resumed.state, RunState::complete);
  for (std::size_t i = 0; i < before.cases.size(); ++i) {
    EXPECT_EQ(case_status(resumed.cases[i]), Status::ok) << resumed.cases[i].passes[0].reason;
    const bool run_again = to_do.contains(before.cases[i].id);
    EXPECT_TRUE(run_again || resumed.cases[i] == before.cases[i]) << before.cases[i].id << " was run again";
  }
}

/// A run of these variants of a device elsewhere, in a pass.
mprof::Run elsewhere_in(Pass pass, mprof::Run run) {
  run.plan.passes = {pass};
  for (VariantInfo& variant : run.variants) variant.device = "elsewhere";
  for (Case& c : run.cases) c.passes = {{.pass = pass, .reason = "not run yet"}};
  return run;
}

TEST_F(CoordinatorTest, VariantsShareAProcessWhereTheirSourcesAreSampled) {
  const auto workers = [&](mprof::Run run) {
    go(run);
    for (const Case& c : run.cases) EXPECT_EQ(c.passes[0].status, Status::ok) << c.id << c.passes[0].reason;
    return run.spent.at(0).workers;
  };
  const std::vector<std::string> variants{test::elsewhere, test::slow_elsewhere};
  EXPECT_EQ(workers(elsewhere_in(Pass::source, run_of(variants))), 1U);
  EXPECT_EQ(workers(elsewhere_in(Pass::counters, run_of(variants))), 2U);
  EXPECT_EQ(workers(elsewhere_in(Pass::trace, run_of(variants))), 2U);
  EXPECT_EQ(workers(elsewhere_in(Pass::timing, run_of(variants))), 2U);
}

/// Of these variants at size 1.
mprof::Run small(mprof::Run run) {
  run.plan.problems["fake"] = {test::size_of(1)};
  std::erase_if(run.cases, [](const Case& c) { return !c.id.ends_with("@1"); });
  return run;
}

TEST_F(CoordinatorTest, WhatGoesWrongBesideAnotherVariantIsTriedAlone) {
  for (const char* variant : {test::elsewhere, test::is_spoiled_elsewhere}) {  // which fails, and is suspect
    mprof::Run run = small(elsewhere_in(Pass::source, run_of({test::spoils_elsewhere, variant})));
    go(run);
    EXPECT_EQ(result(run, test::spoils_elsewhere, 1).status, Status::ok) << "it harms those behind it";
    EXPECT_EQ(result(run, variant, 1).status, Status::ok) << result(run, variant, 1).reason;
    EXPECT_EQ(run.spent.at(0).workers, 2U);
  }
}

TEST_F(CoordinatorTest, WhatIsToBeTriedAloneIsLeftToAResumedRun) {
  mprof::Run run = small(elsewhere_in(
      Pass::source, run_of({test::spoils_elsewhere, test::is_spoiled_elsewhere, test::slow_elsewhere})));
  InterruptAt progress(case_id(run.cases[2].key, run.variants[2]));
  go(run, test_worker, &progress, progress.fd());
  EXPECT_EQ(run.state, RunState::interrupted);
  const Status put_aside = result(run, test::is_spoiled_elsewhere, 1).status;
  EXPECT_TRUE(put_aside == Status::pending || put_aside == Status::interrupted)
      << "its turn comes behind the others', and may have come: " << to_string(put_aside);
  go(run);
  EXPECT_EQ(run.state, RunState::complete);
  for (const Case& c : run.cases) EXPECT_EQ(c.passes[0].status, Status::ok) << c.id;
}

TEST_F(CoordinatorTest, WhatGoesWrongAloneAsWellIsItsOwnDoing) {
  for (const char* variant : {test::crashes_elsewhere, test::throws_elsewhere}) {
    mprof::Run run = elsewhere_in(Pass::source, run_of({test::elsewhere, variant}));
    go(run);
    for (const Case& c : run.cases) {
      const bool goes_wrong = c.id == std::string(variant) + "@2";
      EXPECT_EQ(c.passes[0].status == Status::ok, !goes_wrong) << c.id;
      EXPECT_EQ(c.passes[0].reason.empty(), !goes_wrong) << c.id;
    }
    EXPECT_EQ(run.spent.at(0).workers, 3U) << "until it goes wrong, for those behind it, and for it alone";
  }
}

TEST_F(CoordinatorTest, ATraceKnowsItsCaseAndWhereToWrite) {
  mprof::Run run = run_of({"fake/right"});
  run.plan.passes = {Pass::timing, Pass::trace};
  for (Case& c : run.cases) c.passes.push_back({.pass = Pass::trace});
  go(run);
  for (const Case& c : run.cases) {
    const Measurement* const work = find_measurement(c, "work");
    ASSERT_NE(work, nullptr);
    EXPECT_EQ(work->samples.at(0), c.ops.at(0).flops) << c.id;
  }
  std::multiset<std::string> traced;
  std::ifstream file(directory.trace_file());
  for (std::string line; std::getline(file, line);) traced.insert(line);
  EXPECT_EQ(traced, (std::multiset<std::string>{"fake/right@1", "fake/right@2", "fake/right@3"}));

  run.cases[1].passes[1] = {.pass = Pass::trace};  // as --resume finds it
  go(run);
  file = std::ifstream(directory.trace_file());
  traced.clear();
  for (std::string line; std::getline(file, line);) traced.insert(line);
  EXPECT_EQ(traced.count("fake/right@2"), 2U);
  EXPECT_EQ(traced.size(), 4U);
}

TEST_F(CoordinatorTest, GivesEachCaseTheRoundsThatItIsTold) {
  mprof::Run run = run_of({"fake/right"});
  Progress silent;
  const auto measure = [&](const std::vector<std::uint32_t>& rounds) {
    CoordinatorContext context{test_worker, directory, steady_clock(), silent};
    context.rounds = rounds;
    coordinate(run, context);
    std::vector<std::size_t> made;
    for (const Case& c : run.cases)
      made.push_back(c.passes[0].status == Status::pending ? 0 : rounds_of(c.passes[0]));
    return made;
  };
  EXPECT_EQ(measure({0, 0, 0}), (std::vector<std::size_t>{0, 0, 0}));
  EXPECT_EQ(measure({1, 0, 1}), (std::vector<std::size_t>{1, 0, 1}));
  EXPECT_EQ(measure({3, 1, 1}), (std::vector<std::size_t>{3, 1, 1}));
  EXPECT_EQ(directory.load(), run);
}

TEST_F(CoordinatorTest, EndsWhenTimeIsUpAndLeavesTheRestAsItIs) {
  mprof::Run run = run_of({"fake/hang"});
  run.cases.resize(2);  // of which the second one hangs, and takes the time that there is
  std::swap(run.cases[0], run.cases[1]);
  test::FakeClock clock;
  SlowAt progress("fake/hang@2", clock, 100);
  CoordinatorContext context{test_worker, directory, clock, progress};
  context.deadline = clock.now() + 50;
  coordinate(run, context);
  EXPECT_EQ(run.state, RunState::complete) << "nobody interrupted it";
  EXPECT_EQ(result(run, "fake/hang", 2).status, Status::pending);
  EXPECT_EQ(directory.load(), run);
  const Status of_first = result(run, "fake/hang", 1).status;
  coordinate(run, context);
  EXPECT_EQ(result(run, "fake/hang", 1).status, of_first) << "nothing begins when time is up";
}

/// Of six variants at four problems each, the largest first.
mprof::Run to_be_timed_and_counted() {
  mprof::Run run;
  run.plan.passes = {Pass::timing, Pass::counters};
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
    run.plan.variants.emplace_back(id);
    for (const std::uint64_t size : {4U, 3U, 2U, 1U}) {
      Case c;
      c.key = {id, {}, test::size_of(size)};
      c.id = std::string(id) + std::to_string(size);
      c.ops = {{.name = "op", .flops = static_cast<double>(size)}};
      c.passes = {{.pass = Pass::timing}, {.pass = Pass::counters}};
      run.cases.push_back(c);
    }
  }
  return run;
}

TEST(Schedule, TimesCasesInAnyOrderAndCountsThoseOfLittleWorkFirst) {
  const mprof::Run run = to_be_timed_and_counted();
  std::size_t timed_so = 0;
  for (const Task& task : schedule(run)) {
    std::vector<double> work;
    for (const std::size_t index : task.cases) work.push_back(work_of(run.cases[index]));
    if (task.pass == Pass::counters)
      EXPECT_EQ(work, (std::vector<double>{1, 2, 3, 4}));
    else
      timed_so += std::ranges::is_sorted(work) ? 1 : 0;
  }
  EXPECT_LT(timed_so, 6U);
}

TEST(Schedule, OwnVariantsOfADeviceShareAProcessWhereTheirSourcesAreSampled) {
  mprof::Run run = to_be_timed_and_counted();
  run.plan.passes.push_back(Pass::source);
  for (Case& c : run.cases) c.passes.push_back({.pass = Pass::source});
  for (const std::string& id : run.plan.variants)
    run.variants.push_back({.id = id, .family = "family", .device = id < "c" ? "cpu" : "gpu"});
  run.plan.sources.push_back({.variant = "d"});
  const auto together = [&] {
    std::map<Pass, std::set<std::string>> all;  // the variants of each task
    for (const Task& task : schedule(run)) {
      std::set<std::string> variants;
      for (const std::size_t index : task.cases) variants.insert(run.cases[index].key.variant);
      all[task.pass].insert(fmt::format("{}", fmt::join(variants, "")));
    }
    return all;
  };
  const std::set<std::string> one_by_one{"a", "b", "c", "d", "e", "f"};
  EXPECT_EQ(together()[Pass::timing], one_by_one);
  EXPECT_EQ(together()[Pass::counters], one_by_one);
  EXPECT_EQ(together()[Pass::source], (std::set<std::string>{"a", "b", "cef", "d"}));
  run.plan.sources.push_back({.family = "family"});
  EXPECT_EQ(together()[Pass::source], one_by_one);

  run.plan.sources.clear();
  for (const Task& task : schedule(run)) {
    if (task.pass != Pass::source) continue;
    std::vector<double> work;
    for (const std::size_t index : task.cases) work.push_back(work_of(run.cases[index]));
    EXPECT_TRUE(std::ranges::is_sorted(work)) << "so that a problem's inputs are loaded once";
  }
}

TEST(Schedule, IsShuffledBySeedAloneAndComplete) {
  mprof::Run run = to_be_timed_and_counted();
  const auto order = [&](std::uint64_t seed) {
    run.plan.seed = seed;
    std::vector<std::string> ids;
    for (const Task& task : schedule(run)) {
      for (const std::size_t index : task.cases)
        ids.push_back(std::string(to_string(task.pass)) + " " + run.cases[index].id);
    }
    return ids;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  EXPECT_EQ(order(1).size(), 48U);
  const std::vector<std::string> ids = order(7);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 48U);
  // All of a pass before the next: passes disturb each other.
  EXPECT_TRUE(std::is_partitioned(ids.begin(), ids.end(),
                                  [](const std::string& id) { return id.starts_with("timing"); }));
}

}  // namespace
}  // namespace mprof
