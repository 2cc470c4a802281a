// SPDX-License-Identifier: MIT
#include "injection/window_gate.hpp"

#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "model/trace/journal_reader.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using injection::WindowGate;

class WindowGateTest : public ::testing::Test {
 protected:
  /// As in a process of a program that was started at `since`, ns since 1970. `steps`: the name of the range
  /// that begins a step.
  WindowGate& gate(const std::string& text, std::int64_t since = 0, const std::string& steps = {}) {
    std::string wrong;
    trace::Window window = *trace::parse_window(text, wrong);
    if (!steps.empty()) window.range = steps;
    ::setenv(trace::window_variable, trace::written_window(window, since).c_str(), 1);
    journal_ = std::make_unique<injection::JournalWriter>(folder_.path().c_str(), 0);
    gate_ = std::make_unique<WindowGate>(*journal_);
    ::unsetenv(trace::window_variable);
    return *gate_;
  }
  std::optional<trace::Interval> written() {
    injection::Chunk chunk;
    chunk.add_value(journal::Kind::until, injection::now());
    journal_->write(chunk);
    return journal::opened_window(journal::read_journals(folder_.path()).at(0));
  }

 private:
  test::TemporaryDirectory folder_;
  std::unique_ptr<injection::JournalWriter> journal_;
  std::unique_ptr<WindowGate> gate_;
};

TEST_F(WindowGateTest, IsAlwaysOpenWithoutAWindow) {
  ::unsetenv(trace::window_variable);
  test::TemporaryDirectory folder;
  injection::JournalWriter journal(folder.path().c_str(), 0);
  const WindowGate open(journal);
  EXPECT_FALSE(open.is_set());
  EXPECT_TRUE(open.is_open());
  EXPECT_TRUE(open.keeps(1, 2, false));
}

TEST_F(WindowGateTest, OpensAndClosesWithTheRangesThatAreAskedFor) {
  WindowGate& of = gate("range:forward[2..3]");
  EXPECT_TRUE(of.needs_ranges());
  std::uint64_t id = 0;
  std::string states;
  for (int i = 0; i < 4; ++i) {
    of.range_begins(++id, "forward");
    states += of.is_open() ? 'F' : '-';
    of.range_begins(++id, "layer");
    of.range_ends(id);
    of.range_ends(id - 1);
    states += of.is_open() ? 'o' : '-';
  }
  EXPECT_EQ(states, "--FoF---") << "between the second and the third it stays open";
  EXPECT_TRUE(written());
}

TEST_F(WindowGateTest, ARangeWithinOneOfItsNameDoesNotCloseIt) {
  WindowGate& of = gate("range:a");
  of.range_begins(1, "a");
  of.range_begins(2, "a");
  of.range_ends(2);
  EXPECT_TRUE(of.is_open());
  of.range_ends(1);
  EXPECT_FALSE(of.is_open());
}

TEST_F(WindowGateTest, OfStepsClosesWhereTheNextStepBegins) {
  WindowGate& of = gate("step:2..3", 0, "step #");
  std::string states;
  for (std::uint64_t step = 1; step <= 5; ++step) {
    of.range_begins(step, "step " + std::to_string(step));
    states += of.is_open() ? 'S' : '-';
    of.range_ends(step);
    states += of.is_open() ? 'o' : '-';
  }
  EXPECT_EQ(states, "--SoSo----");
}

TEST_F(WindowGateTest, OfTheProfilersCallsIsTheFirstPair) {
  WindowGate& of = gate("profiler-api");
  of.profiler_stops();
  EXPECT_FALSE(of.is_open());
  of.profiler_starts();
  of.profiler_starts();
  EXPECT_TRUE(of.is_open());
  of.profiler_stops();
  of.profiler_starts();
  EXPECT_FALSE(of.is_open());
}

TEST_F(WindowGateTest, OfSecondsCountsFromTheProgramsStart) {
  const std::int64_t since = injection::now() - 2'000'000'000;
  EXPECT_TRUE(gate("seconds:1..100", since).is_open());
  EXPECT_FALSE(gate("seconds:1..1.5", since).is_open());
  EXPECT_FALSE(gate("seconds:50..", since).is_open());
}

TEST_F(WindowGateTest, KeepsWhatOverlapsItAndWhatMayHaveBeenLaunchedInIt) {
  constexpr std::int64_t second = 1'000'000'000, since = 1'000 * second;
  const WindowGate& of = gate("seconds:1..3", since);
  EXPECT_FALSE(of.keeps(since, since + second / 2, false)) << "before";
  EXPECT_TRUE(of.keeps(since, since + second + 1, false)) << "reaches into it";
  EXPECT_TRUE(of.keeps(since + 2 * second, since + 9 * second, false)) << "begins in it";
  EXPECT_FALSE(of.keeps(since + 4 * second, since + 5 * second, false)) << "a call after it";
  EXPECT_TRUE(of.keeps(since + 4 * second, since + 5 * second, true)) << "a kernel that may have waited";
  EXPECT_FALSE(of.keeps(since + 20 * second, since + 21 * second, true));
}

TEST_F(WindowGateTest, ThatNeverOpensKeepsNothingAndSaysSo) {
  WindowGate& of = gate("range:none");
  of.range_begins(1, "other");
  EXPECT_FALSE(of.is_open());
  EXPECT_FALSE(of.keeps(0, std::numeric_limits<std::int64_t>::max() / 2, true));
  EXPECT_FALSE(written());
}

}  // namespace
}  // namespace mprof
