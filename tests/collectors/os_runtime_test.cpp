// SPDX-License-Identifier: MIT
#include "collectors/os_runtime.hpp"

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "model/trace/journal.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/program.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/system_call_file.hpp"
#include "model/trace/writer.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/watched_program.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using ::testing::HasSubstr;

/// The calls of a thread by one name, in their order: global thread, name.
using Spans = std::map<std::tuple<std::int64_t, std::string>, std::vector<trace::Interval>>;

TEST(SystemCallFile, WhatIsNoneIsRefused) {
  const test::TemporaryDirectory folder;
  write_file(folder.path() / "1.calls", std::string(system_calls::head_size, 'x'));
  EXPECT_THROW((void)system_calls::read_file(folder.path() / "1.calls"), Error);
}

TEST(OsRuntime, AProcessWithoutTheLibraryIsNamed) {
  const test::TemporaryDirectory folder;
  trace::Trace trace;
  trace.calls.push_back(
      {.time = {1, 2}, .thread = trace::nsys::global_thread(trace::nsys::global_process(7), 7)});
  const std::vector<std::string> notes = os_runtime::add_calls(folder.path(), trace);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes.front(), HasSubstr("Process 7: "));
  EXPECT_THAT(notes.front(), HasSubstr("statically"));
}

#ifdef MPROF_OS_RUNTIME_LIBRARY

/// A program whose calls are noted, and which tells them itself.
class OsRuntimeProgram : public ::testing::Test {
 protected:
  void run(const std::string& mode, const char* program = MPROF_OS_CALLS_PROGRAM) {
    std::filesystem::create_directory(told_);
    std::filesystem::create_directory(noted_);
    end_ = run_to_end({.command = {program, mode, told_.string()},
                       .variables = {{"LD_PRELOAD", MPROF_OS_RUNTIME_LIBRARY},
                                     {"ASAN_OPTIONS", "verify_asan_link_order=0"},
                                     {journal::folder_variable, noted_.string()}},
                       .time_limit = 600},
                      steady_clock());
    notes_ = os_runtime::add_calls(noted_, trace_);
  }

  [[nodiscard]] Spans told() const {
    Spans all;
    for (const auto& entry : std::filesystem::directory_iterator(told_)) {
      if (entry.path().extension() != ".spans") continue;
      const auto process =
          trace::nsys::global_process(static_cast<std::uint32_t>(std::stoul(entry.path().stem())));
      std::ifstream file(entry.path());
      std::uint32_t thread = 0;
      std::string name;
      trace::Interval time;
      while (file >> thread >> name >> time.start >> time.end)
        all[{trace::nsys::global_thread(process, thread), name}].push_back(time);
    }
    return all;
  }

  static Spans spans_of(const trace::Trace& trace) {
    Spans all;
    for (const trace::Call& call : trace.system_calls)
      all[{call.thread, trace.names[call.name]}].push_back(call.time);
    for (auto& [key, times] : all) std::ranges::sort(times, {}, &trace::Interval::start);
    return all;
  }

  /// Each call that the program tells is there once, within the time that it tells.
  static void expect_all(const Spans& told, const Spans& noted) {
    for (const auto& [key, times] : told) {
      const auto& [thread, name] = key;
      if (name == "short:read") continue;
      const auto found = noted.find(key);
      ASSERT_NE(found, noted.end()) << name << " of " << trace::nsys::native_thread(thread);
      // The program tells its longest reads alone.
      if (name != "read") {
        EXPECT_EQ(found->second.size(), times.size()) << name;
      }
      for (const trace::Interval& time : times) {
        const auto within = std::ranges::count_if(found->second, [&](const trace::Interval& other) {
          return other.start >= time.start && other.end <= time.end;
        });
        EXPECT_EQ(within, 1) << name << " at " << time.start;
      }
    }
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path told_ = folder_.path() / "told";
  std::filesystem::path noted_ = folder_.path() / "noted";
  ProgramEnd end_;
  std::vector<std::string> notes_;
  trace::Trace trace_;
};

TEST_F(OsRuntimeProgram, EachCallIsThereWithItsTimeInEachProcessAndThread) {
  run("exits");
  ASSERT_TRUE(end_.succeeded()) << end_.output;
  EXPECT_EQ(notes_, std::vector<std::string>());
  const Spans noted = spans_of(trace_);
  expect_all(told(), noted);
  EXPECT_EQ(trace_.processes.size(), 2U);
  for (const trace::ProcessInfo& process : trace_.processes) EXPECT_THAT(process.name, HasSubstr("exits"));
  // Each thread that waited for long has its name.
  std::map<std::int64_t, std::string> names;
  for (const trace::ThreadInfo& thread : trace_.threads) names[thread.id] = thread.name;
  for (const auto& [key, times] : noted) EXPECT_THAT(names[std::get<0>(key)], HasSubstr("os_calls"));
}

TEST_F(OsRuntimeProgram, ShortCallsAreLeftOut) {
  run("exits");
  std::size_t told_reads = 0, noted_reads = 0;
  for (const auto& [key, times] : told()) {
    if (std::get<1>(key).ends_with("read")) told_reads += times.size();
  }
  for (const auto& [key, times] : spans_of(trace_)) {
    if (std::get<1>(key) == "read") noted_reads += times.size();
    for (const trace::Interval& time : times) EXPECT_GE(time.length(), system_calls::threshold);
  }
  EXPECT_GE(noted_reads, 1U);
  EXPECT_LE(noted_reads, told_reads);
  constexpr std::size_t all_reads =
      100'001;  // a long one, and the others, which are told where they are long
  if (told_reads == all_reads) GTEST_SKIP() << "none was short: on this machine each took 1 us or longer";
  EXPECT_LT(noted_reads, all_reads);
}

TEST_F(OsRuntimeProgram, WhateverEndsAProcessLeavesItsCalls) {
  run("_exits");
  ASSERT_TRUE(end_.succeeded()) << end_.output;
  expect_all(told(), spans_of(trace_));
}

TEST_F(OsRuntimeProgram, AlsoASignalThatCannotBeCaught) {
  run("killed");
  ASSERT_EQ(end_.how, ProgramEnd::How::signalled) << end_.output;
  expect_all(told(), spans_of(trace_));
}

TEST_F(OsRuntimeProgram, AProgramMayCloseAllFiles) {
  run("closes");
  ASSERT_TRUE(end_.succeeded()) << end_.output;
  expect_all(told(), spans_of(trace_));
}

TEST_F(OsRuntimeProgram, TheirTableInTraceSqliteIsAsNsightSystemsHasIt) {
  run("exits");
  const Spans noted = spans_of(trace_);
  (void)trace::make_program_case(trace_, {.case_id = "program/os_calls"});
  const std::filesystem::path file = folder_.path() / "trace.sqlite";
  trace::write_trace(file, trace_);
  const trace::Trace read = trace::read_trace(file, {.parts = {.system_calls = true}});
  std::size_t noted_calls = 0;
  for (const auto& [key, times] : noted) noted_calls += times.size();
  EXPECT_EQ(read.system_calls.size(), noted_calls);
  sqlite::Database database(file, sqlite::Mode::read);
  auto row = database.prepare(
      "SELECT count(*), min(eventClass), max(eventClass) FROM OSRT_API JOIN StringIds ON nameId = id "
      "WHERE value = 'pthread_cond_timedwait'");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), 2);
  EXPECT_EQ(row.integer(1), trace::nsys::system_call_class);
  EXPECT_EQ(row.integer(2), trace::nsys::system_call_class);
  auto captured = database.prepare(
      "SELECT value FROM META_DATA_CAPTURE WHERE name = 'OS_RUNTIME_OPTIONS:DURATION_THRESHOLD_NS'");
  ASSERT_TRUE(captured.step());
  EXPECT_EQ(captured.text(0), std::to_string(system_calls::threshold));
}

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

trace::Interval poll_for(int milliseconds) {
  const std::int64_t start = now();
  ::poll(nullptr, 0, milliseconds);
  return {start, now()};
}

/// In a process of its own, which the next test starts.
TEST(OsRuntimeOwn, CallsOfTheWindowAreAddedButForThoseOfPauses) {
  if (std::getenv(journal::folder_variable) == nullptr) GTEST_SKIP() << "the test below runs it";
  poll_for(2);
  const std::int64_t start = now();
  const trace::Interval first = poll_for(3);
  const trace::Interval pause = poll_for(3);
  const trace::Interval last = poll_for(3);
  const trace::Interval window{start, now()};
  poll_for(2);
  trace::Trace trace;
  os_runtime::add_own_calls(window, {pause}, trace);
  std::vector<trace::Interval> polls;
  for (const trace::Call& call : trace.system_calls) {
    if (trace.names[call.name] == "poll") polls.push_back(call.time);
  }
  ASSERT_EQ(polls.size(), 2U);
  EXPECT_TRUE(polls[0].start >= first.start && polls[0].end <= first.end);
  EXPECT_TRUE(polls[1].start >= last.start && polls[1].end <= last.end);
}

TEST_F(OsRuntimeProgram, AProcessReadsItsOwnCalls) {
  std::filesystem::create_directory(noted_);
  end_ = run_to_end(
      {.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "--gtest_filter=OsRuntimeOwn.*"},
       .variables = {{"LD_PRELOAD", MPROF_OS_RUNTIME_LIBRARY}, {journal::folder_variable, noted_.string()}},
       .time_limit = 600},
      steady_clock());
  EXPECT_TRUE(end_.succeeded()) << end_.output;
  EXPECT_THAT(end_.output, HasSubstr("[  PASSED  ] 1 test"));
}

#ifdef MPROF_OS_CALLS_ASAN_PROGRAM
TEST_F(OsRuntimeProgram, AProgramWithTheAddressSanitizerRunsAsItDoes) {
  run("exits", MPROF_OS_CALLS_ASAN_PROGRAM);
  ASSERT_TRUE(end_.succeeded()) << end_.output;
  expect_all(told(), spans_of(trace_));
}
#endif

#endif

}  // namespace
}  // namespace mprof
