// SPDX-License-Identifier: MIT
#include "runner/devices.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_workload.hpp"
#include "runner/plan.hpp"
#include "runner/result_directory.hpp"
#include "runner/shards.hpp"
#include "system/cpus.hpp"
#include "system/error.hpp"
#include "tests/model/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using test::expect_contains;
using test::message_of;

/// The test worker says which of them it was started on.
const std::vector<DeviceUnit> two{{"FAKE-a1", "Fake", "FAKE_DEVICE=FAKE-a1"},
                                  {"FAKE-b2", "Fake", "FAKE_DEVICE=FAKE-b2"}};

std::vector<std::string> chosen(const std::string& list, const std::vector<DeviceUnit>& present = two) {
  std::vector<std::string> ids;
  for (const DeviceUnit& unit : chosen_units(list, present)) ids.push_back(unit.id);
  return ids;
}

TEST(ChosenUnits, AreNamedByNumberIdOrItsBeginning) {
  EXPECT_EQ(chosen("all"), (std::vector<std::string>{"FAKE-a1", "FAKE-b2"}));
  EXPECT_EQ(chosen("1"), std::vector<std::string>{"FAKE-b2"});
  EXPECT_EQ(chosen("FAKE-b,0"), (std::vector<std::string>{"FAKE-b2", "FAKE-a1"}));
}

TEST(ChosenUnits, RefusesWhatNamesNoneSeveralOrOneTwice) {
  const auto refused = [](const std::string& list, const std::vector<DeviceUnit>& present = two) {
    return message_of([&] { static_cast<void>(chosen_units(list, present)); }, ExitCode::usage);
  };
  expect_contains(refused("0,2"), "'2' is none of the devices here: 0: FAKE-a1 (Fake), 1: FAKE-b2 (Fake)");
  expect_contains(refused("99999999999999999999"), "is none of the devices here");
  expect_contains(refused("0,,1"), "'' is none of the devices here");
  expect_contains(refused("GPU-c3"), "'GPU-c3' is none of the devices here");
  expect_contains(refused("FAKE-"), "is the beginning of several");
  expect_contains(refused("0,FAKE-a1"), "FAKE-a1 is named twice");
  expect_contains(refused("all", {two[0], {"FAKE-c3", "Other", "FAKE_DEVICE=FAKE-c3"}}),
                  "FAKE-a1 is of the model Fake and FAKE-c3 of Other");
}

TEST(CpusOfEach, AreAnEqualPartOfThoseNearIt) {
  const std::vector<std::vector<int>> eight{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
  const auto near = [](std::vector<int> cpus) { return DeviceUnit{"", "", "", std::move(cpus)}; };
  using Each = std::vector<std::vector<int>>;
  EXPECT_EQ(cpus_of_each(std::vector{near({0, 1, 2, 3}), near({4, 5, 6, 7}), near({0, 1, 2, 3})}, eight),
            (Each{{0, 1}, {4, 5, 6, 7}, {2, 3}}));
  EXPECT_EQ(cpus_of_each(two, eight), (Each{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(cpus_of_each(std::vector{near({0, 1}), near({})}, eight), (Each{{0, 1, 2, 3}, {4, 5, 6, 7}}))
      << "of one it is not known";
  EXPECT_EQ(cpus_of_each(std::vector{near({0, 1, 2}), near({2, 3})}, eight),
            (Each{{0, 1, 2, 3}, {4, 5, 6, 7}}))
      << "those near one are near another";
  EXPECT_EQ(cpus_of_each(std::vector{near({0, 1}), near({4, 5})}, {{1}, {4}, {5}}), (Each{{1}, {4, 5}}))
      << "what a scheduler has left";
  EXPECT_EQ(cpus_of_each(std::vector{near({9}), near({9})}, {{3}, {5}, {7}}), (Each{{3}, {5}}));
  EXPECT_EQ(cpus_of_each(two, {{0, 4}, {1, 5}, {2, 6}}), (Each{{0, 4}, {1, 5}}))
      << "hardware threads of one core stay together";
  EXPECT_EQ(
      cpus_of_each(std::vector{near({0, 1, 4, 5}), near({2, 3, 6, 7})}, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}),
      (Each{{0, 4, 1, 5}, {2, 6, 3, 7}}));
  EXPECT_EQ(cpus_of_each(two, {{3, 4}}), Each()) << "not enough";
}

/// Looks whether cases ran side by side, and interrupts the run when it has seen so many end.
class Watcher final : public Progress {
 public:
  explicit Watcher(int interrupt_after = -1) : left_(interrupt_after), fd_(::eventfd(0, EFD_NONBLOCK)) {}
  ~Watcher() override { ::close(fd_); }
  void begin(std::size_t steps, double /*work*/) override { announced = steps; }
  void case_begins(const Case& c, Pass pass) override {
    ++running_[pass];
    most_counting = std::max(most_counting, running_[Pass::counters]);
    if (pass != Pass::timing && c.key.variant == test::elsewhere && timed_before_elsewhere == 0)
      timed_before_elsewhere = timed_;
    for (const auto& [other, count] : running_) {
      if ((pass == Pass::timing && count > (other == pass ? 1 : 0)) ||
          (other == Pass::timing && count > 0 && pass != other))
        timing_had_company = true;
    }
  }
  void case_ends(const Case& /*c*/, const PassResult& result) override {
    --running_[result.pass];
    ++ended;
    if (result.pass == Pass::timing) ++timed_;
    const std::uint64_t one = 1;
    if (--left_ == 0 && ::write(fd_, &one, sizeof one) != sizeof one) throw std::runtime_error("write");
  }
  [[nodiscard]] int fd() const { return fd_; }

  std::size_t announced = 0;
  std::size_t ended = 0;
  std::size_t timed_before_elsewhere = 0;
  bool timing_had_company = false;
  int most_counting = 0;

 private:
  std::map<Pass, int> running_;
  std::size_t timed_ = 0;
  int left_;
  int fd_;
};

class DevicesTest : public ::testing::Test {
 protected:
  /// First of what disturbed it. Others may have kept this machine busy as well.
  static bool is_said_to_have_run_beside(const Case& c) {
    const auto& sampling = c.passes.at(0).sampling;
    return sampling &&
           sampling->host_disturbance.starts_with("2 devices of the host were measured side by side");
  }

  static mprof::Run planned(const std::vector<std::string>& variants) {
    mprof::Run run;
    run.started = "2026-11-21T02:51:07Z";
    run.plan.variants = variants;
    run.plan.passes = {Pass::timing};
    run.plan.seed = 7;
    run.plan.timeout = 20;
    run.plan.stopping = {1, 2, 0.1, 0.5};
    run.families = {test::fake_family()};
    for (const std::uint64_t size : {1U, 2U, 3U, 4U}) {
      run.plan.problems["fake"].push_back(test::size_of(size));
      run.families[0].problems.push_back({test::size_of(size), test::FakeFamily().ops(test::size_of(size))});
    }
    for (const std::string& id : variants) run.variants.push_back(test::fake_variant(id).info);
    run.cases = planned_cases(run.plan, run.variants, run.families);
    return run;
  }

  void go(mprof::Run& run, ResultDirectory& directory, Watcher& watcher, bool shares_host = false,
          const std::vector<DeviceUnit>& units = two) {
    coordinate_devices(
        run, units, shares_host, nullptr,
        {{MPROF_BINARY_DIR "/tests/mprof_test_worker"}, directory, steady_clock(), watcher, watcher.fd()});
    EXPECT_EQ(directory.load(), run) << "the record on disk is not the one in memory";
  }

  test::TemporaryDirectory temporary;
};

TEST_F(DevicesTest, ShareTheCasesAndEachPartNamesItsDevice) {
  mprof::Run run = planned({"fake/right", "fake/crash"});
  ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
  directory.save(run);
  Watcher watcher;
  go(run, directory, watcher);
  EXPECT_EQ(run.state, RunState::complete);
  EXPECT_EQ(watcher.announced, 8U);
  EXPECT_EQ(watcher.ended, 8U);
  EXPECT_FALSE(watcher.timing_had_company);
  ASSERT_EQ(run.cases.size(), 8U);
  for (const Case& c : run.cases) {
    const bool crashes = c.key.variant == "fake/crash" && c.key.problem == test::size_of(2);
    EXPECT_EQ(c.passes.at(0).status, crashes ? Status::crashed : Status::ok) << c.id << c.passes[0].reason;
    EXPECT_FALSE(is_said_to_have_run_beside(c));
  }
  ASSERT_EQ(run.parts.size(), 2U);
  std::set<std::string> cases;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(std::get<std::string>(run.parts[i].environment.at("libraries").at("fake device")), two[i].id);
    EXPECT_EQ(run.parts[i].cases.size(), 4U);
    ASSERT_EQ(run.parts[i].spent.size(), 1U);
    EXPECT_GE(run.parts[i].spent[0].workers, 2U) << "one a variant, and one more behind a crash";
    cases.insert(run.parts[i].cases.begin(), run.parts[i].cases.end());
  }
  EXPECT_EQ(cases.size(), 8U);
  EXPECT_TRUE(run.spent.empty()) << "each device spent it at the same time";
  EXPECT_TRUE(std::holds_alternative<Absent>(run.environment.at("libraries").at("fake device")));
}

TEST_F(DevicesTest, CollectCountersOnTwoAtATime) {
  mprof::Run run = planned({test::slow_elsewhere, test::elsewhere});
  run.variants = {test::variant_elsewhere(test::slow_elsewhere).info, test::variant_elsewhere().info};
  run.plan.passes = {Pass::counters};
  for (std::uint64_t size = 5; size <= 16; ++size) {  // several to each, so that they meet
    run.plan.problems["fake"].push_back(test::size_of(size));
    run.families[0].problems.push_back({test::size_of(size), test::FakeFamily().ops(test::size_of(size))});
  }
  run.cases = planned_cases(run.plan, run.variants, run.families);
  ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
  directory.save(run);
  std::vector<DeviceUnit> four = two;
  for (const char* id : {"FAKE-c3", "FAKE-d4"})
    four.push_back({id, "Fake", std::string("FAKE_DEVICE=") + id});
  Watcher watcher;
  go(run, directory, watcher, true, four);
  EXPECT_EQ(run.state, RunState::complete);
  EXPECT_EQ(watcher.ended, 32U);
  for (const Case& c : run.cases) EXPECT_EQ(c.passes.at(0).status, Status::ok) << c.passes[0].reason;
  EXPECT_EQ(run.parts.size(), 4U);
  EXPECT_LE(watcher.most_counting, 2);
}

TEST_F(DevicesTest, HaveCpusOfTheirOwnWhenTheyAreTimedSideBySide) {
  mprof::Run run = planned({test::elsewhere});
  run.variants = {test::variant_elsewhere().info};
  ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
  directory.save(run);
  Watcher watcher;
  go(run, directory, watcher, true);
  const auto cpus = cpus_of_each(two, allowed_cores());
  ASSERT_EQ(run.parts.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<int> own = cpus.empty() ? allowed_cpus() : cpus[i];
    EXPECT_EQ(std::get<std::string>(run.parts[i].environment.at("libraries").at("fake cpus")),
              fmt::format("{}", fmt::join(own, ",")));
  }
  for (const Case& c : run.cases) {
    EXPECT_TRUE(is_said_to_have_run_beside(c));
    const bool says_own =
        c.passes.at(0).sampling->host_disturbance.find("each with CPUs of its own") != std::string::npos;
    EXPECT_EQ(says_own, !cpus.empty());
  }
}

TEST_F(DevicesTest, SayWhatWasTracedBesideOthers) {
  mprof::Run run = planned({test::slow_elsewhere});
  run.variants = {test::variant_elsewhere(test::slow_elsewhere).info};
  run.plan.passes = {Pass::timing, Pass::trace};
  run.cases = planned_cases(run.plan, run.variants, run.families);
  ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
  directory.save(run);
  Watcher watcher;
  go(run, directory, watcher);
  EXPECT_FALSE(watcher.timing_had_company);
  std::size_t beside = 0;
  for (const Case& c : run.cases) {
    ASSERT_EQ(c.passes.size(), 2U);
    for (const PassResult& pass : c.passes) {
      ASSERT_TRUE(pass.sampling) << c.id << ' ' << pass.reason;
      const bool says = pass.sampling->host_disturbance.starts_with("other devices of the host were at work");
      EXPECT_FALSE(says && pass.pass == Pass::timing);
      beside += says ? 1 : 0;
    }
  }
  EXPECT_GT(beside, 0U);
}

TEST_F(DevicesTest, HaveTheHostForThemselvesWhereOnlyOneHasSomethingToDo) {
  mprof::Run run = planned({test::elsewhere});
  run.variants = {test::variant_elsewhere().info};
  run.plan.problems["fake"].resize(1);
  run.families[0].problems.resize(1);
  run.cases = planned_cases(run.plan, run.variants, run.families);
  ASSERT_EQ(run.cases.size(), 1U);
  ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
  directory.save(run);
  Watcher watcher;
  go(run, directory, watcher, true);
  EXPECT_EQ(run.state, RunState::complete);
  EXPECT_FALSE(is_said_to_have_run_beside(run.cases[0]));
}

/// A measured peak is another number each time.
TEST_F(DevicesTest, SurveyTheHostOnceAndEachItsOwnDevice) {
  mprof::Run run = planned({"fake/right", std::string(test::elsewhere)});
  run.variants[1] = test::variant_elsewhere().info;
  ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
  directory.save(run);
  Watcher watcher;
  go(run, directory, watcher);
  ASSERT_EQ(run.parts.size(), 2U);
  ASSERT_FALSE(run.parts[0].ceilings.empty());
  EXPECT_TRUE(std::ranges::any_of(run.parts[0].ceilings, [](const Ceiling& ceiling) {
    return ceiling.device == "cpu" && ceiling.value;
  }));
  EXPECT_EQ(run.parts[0].ceilings, run.parts[1].ceilings);
  for (const RunPart& part : run.parts) {
    EXPECT_TRUE(part.environment.contains("cpu"));
    EXPECT_TRUE(part.environment.contains("elsewhere")) << "each has surveyed the device that it is on";
  }
  EXPECT_NE(run.parts[0].environment.at("libraries"), run.parts[1].environment.at("libraries"));
}

TEST_F(DevicesTest, GoOnWhereTheyWereInterrupted) {
  mprof::Run run = planned({"fake/right"});
  const auto path = temporary.path() / "run";
  {
    ResultDirectory directory(path, ResultDirectory::Mode::create);
    directory.save(run);
    Watcher watcher(1);
    go(run, directory, watcher);
    EXPECT_EQ(run.state, RunState::interrupted);
    EXPECT_LT(watcher.ended, 4U);
  }
  ResultDirectory directory(path, ResultDirectory::Mode::resume);
  run = directory.load();
  EXPECT_EQ(devices_of(run, path), (std::vector<std::string>{"FAKE-a1", "FAKE-b2"}));
  Watcher watcher;
  go(run, directory, watcher);
  EXPECT_EQ(run.state, RunState::complete);
  EXPECT_GT(watcher.ended, 0U);
  EXPECT_LT(watcher.ended, 4U) << "what was finished stays";
  EXPECT_EQ(run.parts.size(), 2U) << "of this run, not of the interrupted one as well";
  mprof::Run other = run;
  other.started = "2026-11-22T02:51:07Z";
  EXPECT_TRUE(devices_of(other, path).empty()) << "the shares are of another run";
}

TEST_F(DevicesTest, AddRoundsToWhatIsComplete) {
  mprof::Run run = planned({"fake/right"});
  const auto path = temporary.path() / "run";
  {
    ResultDirectory directory(path, ResultDirectory::Mode::create);
    directory.save(run);
    Watcher watcher;
    go(run, directory, watcher);
  }
  ResultDirectory directory(path, ResultDirectory::Mode::resume);
  run = directory.load();
  run.plan.rounds = 2;
  Watcher watcher;
  go(run, directory, watcher);
  for (const Case& c : run.cases) EXPECT_EQ(c.passes.at(0).rounds.size(), 2U) << c.id;
}

TEST_F(DevicesTest, SideBySideSayThatHostTimesAreDisturbed) {
  mprof::Run run = planned({"fake/right"});
  ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
  directory.save(run);
  Watcher watcher;
  go(run, directory, watcher, true);
  for (const Case& c : run.cases)
    EXPECT_TRUE(is_said_to_have_run_beside(c)) << c.passes.at(0).sampling->host_disturbance;
}

TEST_F(DevicesTest, OtherPassesBeginWhenAllAreTimed) {
  mprof::Run run = planned({"fake/right"});
  run.plan.variants.emplace_back(test::elsewhere);
  run.plan.passes = {Pass::counters, Pass::timing};
  run.variants.push_back(test::variant_elsewhere().info);
  run.cases = planned_cases(run.plan, run.variants, run.families);
  ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
  directory.save(run);
  Watcher watcher;
  go(run, directory, watcher);
  EXPECT_EQ(run.state, RunState::complete);
  EXPECT_EQ(watcher.ended, 16U);
  EXPECT_FALSE(watcher.timing_had_company);
  EXPECT_EQ(watcher.timed_before_elsewhere, 8U) << "of the two variants, on both devices";
  double waited = 0;
  for (const RunPart& part : run.parts) {
    for (const PassTime& spent : part.spent) waited += spent.waiting;
  }
  EXPECT_GT(waited, 0) << "while the other one was timed";
}

TEST_F(DevicesTest, WhatIsComparedRunsOnOneDevice) {
  const mprof::Run run = planned({"fake/right", "fake/slow"});
  const std::vector<std::uint32_t> owners = assign_problems(run, 3, nullptr);
  std::map<Problem, std::set<std::uint32_t>> of_problem;
  for (std::size_t i = 0; i < run.cases.size(); ++i) of_problem[run.cases[i].key.problem].insert(owners[i]);
  EXPECT_EQ(of_problem.size(), 4U);
  for (const auto& [problem, shards] : of_problem) EXPECT_EQ(shards.size(), 1U);
  EXPECT_EQ(std::set<std::uint32_t>(owners.begin(), owners.end()), (std::set<std::uint32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace mprof
