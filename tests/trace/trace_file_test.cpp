// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/trace/attribution.hpp"
#include "model/trace/joiner.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/tables.hpp"
#include "model/trace/writer.hpp"
#include "system/error.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/trace_reader.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using trace::Interval;
using trace::Trace;

const fs::path golden = fs::path(MPROF_SOURCE_DIR) / "tests/golden/trace";

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// A query's rows as CSV, with a header; NULL is empty.
std::string csv(const fs::path& file, const std::string& sql) {
  const sqlite::Database database(file, sqlite::Mode::read);
  sqlite::Statement rows = database.prepare(sql);
  std::string text;
  const auto field = [&](int column, const std::string& value) {
    const bool quoted = value.find_first_of(",\"\n") != std::string::npos;
    if (column > 0) text += ',';
    text += quoted ? '"' + value + '"' : value;
  };
  for (int c = 0; c < rows.columns(); ++c) field(c, rows.name(c));
  text += '\n';
  while (rows.step()) {
    for (int c = 0; c < rows.columns(); ++c) field(c, rows.text(c));
    text += '\n';
  }
  return text;
}

std::int64_t count(const fs::path& file, const std::string& sql) {
  const sqlite::Database database(file, sqlite::Mode::read);
  sqlite::Statement row = database.prepare(sql);
  return row.step() ? row.integer(0) : -1;
}

/// A trace with the numbers that another one has for its names and places, and its rows in order of time.
Trace numbered_like(Trace trace, const Trace& other) {
  const trace::Names names = std::exchange(trace.names, other.names);
  const std::vector<trace::Place> places = std::exchange(trace.places, other.places);
  const auto rename = [&](auto&... indices) { ((indices = trace.names.index(names[indices])), ...); };
  const auto order = [&](auto& rows) {
    for (auto& row : rows) {
      if constexpr (requires { row.place; }) row.place = trace.index_of(places.at(row.place));
    }
    std::ranges::stable_sort(rows, {},
                             [](const auto& row) { return std::pair(row.time.start, row.time.end); });
  };
  trace.kernels.change_all(
      [&](trace::Kernel& kernel) { rename(kernel.name, kernel.short_name, kernel.mangled); });
  for (trace::Call& call : trace.calls) rename(call.name, call.versioned_name);
  for (trace::Range& range : trace.ranges) rename(range.name, range.domain);
  order(trace.kernels.rows());
  order(trace.transfers);
  order(trace.calls);
  order(trace.ranges);
  order(trace.synchronizations);
  order(trace.overheads);
  order(trace.allocations);
  return trace;
}

class TraceFile : public ::testing::Test {
 protected:
  static Trace attributed_sample() {
    trace::Recording recording = test::sample_recording();
    trace::attribute(recording);
    return std::move(recording.trace);
  }

  [[nodiscard]] Trace read(const std::string& case_id) const {
    const auto found = test::read_by_sql(file, case_id);
    EXPECT_TRUE(found.has_value()) << case_id;
    return found.value_or(Trace{});
  }

  static void expect_same_rows(const Trace& read, const Trace& written) {
    EXPECT_EQ(read.cases, written.cases);
    EXPECT_EQ(read.gpus, written.gpus);
    EXPECT_EQ(read.kernels, written.kernels);
    EXPECT_EQ(read.transfers, written.transfers);
    EXPECT_EQ(read.calls, written.calls);
    EXPECT_EQ(read.ranges, written.ranges);
    EXPECT_EQ(read.synchronizations, written.synchronizations);
    EXPECT_EQ(read.overheads, written.overheads);
  }
  static void expect_same(const Trace& read, const Trace& written) {
    expect_same_rows(numbered_like(read, written), numbered_like(written, written));
  }

  /// The sample as another case, so much later.
  [[nodiscard]] Trace another(const std::string& case_id, std::int64_t later) const {
    return test::moved(sample, case_id, later);
  }

  test::TemporaryDirectory directory;
  fs::path file = directory.path() / "trace.sqlite";
  Trace sample = attributed_sample();
};

TEST_F(TraceFile, ReadsWhatWasWritten) {
  trace::write_trace(file, sample);
  EXPECT_EQ(trace::traced_cases(file), std::vector<std::string>{sample.cases[0].id});
  expect_same(read(sample.cases[0].id), sample);
  EXPECT_FALSE(test::read_by_sql(file, "another").has_value());
}

/// With times from the first case's start, and correlation ids that are new in the file.
TEST_F(TraceFile, IsReadAsTheModelThatItWasWrittenFrom) {
  trace::write_trace(file, another("conv/first@1", -50'000));
  trace::write_trace(file, sample);
  Trace read = trace::read_trace(file, {.parts = {.kernels = true,
                                                  .kernel_details = true,
                                                  .transfers = true,
                                                  .calls = true,
                                                  .ranges = true,
                                                  .synchronizations = true,
                                                  .overheads = true},
                                        .cases = {sample.cases[0].id},
                                        .with_pauses = true});
  const std::int64_t first = read.kernels.at(0).correlation - sample.kernels[0].correlation;
  EXPECT_GT(first, 0);
  const auto move = [&](auto& rows) {
    for (auto& row : rows) {
      row.time = {row.time.start + read.epoch, row.time.end + read.epoch};
      if constexpr (requires { row.correlation; }) row.correlation -= row.correlation != 0 ? first : 0;
    }
  };
  read.kernels.change_all([&](trace::Kernel& kernel) {
    kernel.time = {kernel.time.start + read.epoch, kernel.time.end + read.epoch};
    kernel.correlation -= first;
  });
  move(read.transfers);
  move(read.calls);
  move(read.ranges);
  move(read.synchronizations);
  move(read.overheads);
  Interval& window = read.cases.at(0).window;
  window = {window.start + read.epoch, window.end + read.epoch};
  EXPECT_EQ(std::exchange(read.gpus.at(0).chip, ""), "GH100") << "by its compute capability";
  std::erase_if(sample.ranges,
                [](const trace::Range& range) { return range.style == trace::RangeStyle::mark; });
  expect_same(read, sample);
  EXPECT_EQ(trace::read_trace(file).cases.size(), 2U);
}

/// In the table of Nsight Systems, which has them where it was asked for memory usage.
TEST_F(TraceFile, KeepsWhatWasAllocated) {
  ASSERT_FALSE(sample.calls.empty());
  const std::int64_t correlation = sample.calls[0].correlation;
  const trace::PlaceIndex place = sample.calls[0].place;
  const std::int64_t moment = sample.calls[0].time.start;
  const auto allocation = [&](std::int64_t later, std::uint64_t bytes, trace::MemoryKind kind, bool release) {
    return trace::Allocation{.time = {moment + later, moment + later},
                             .correlation = correlation,
                             .process = sample.cases[0].process,
                             .address = 0x7f00'0000'0000,
                             .bytes = bytes,
                             .place = place,
                             .queue = {0, 1, 7},
                             .kind = kind,
                             .is_release = release};
  };
  sample.allocations = {allocation(0, 4096, trace::MemoryKind::device, false),
                        allocation(10, 64, trace::MemoryKind::pinned, false),
                        allocation(20, 4096, trace::MemoryKind::device, true)};
  trace::write_trace(file, sample);
  Trace read = trace::read_trace(file, {.parts = {.allocations = true}});
  for (trace::Allocation& row : read.allocations) {
    row.time = {row.time.start + read.epoch, row.time.end + read.epoch};
    row.correlation = correlation;
    EXPECT_EQ(read.places.at(row.place), sample.places.at(place));
    row.place = place;
  }
  EXPECT_EQ(read.allocations, sample.allocations);
  EXPECT_EQ(csv(file,
                "SELECT o.label operation, k.label kind, bytes FROM CUDA_GPU_MEMORY_USAGE_EVENTS e JOIN "
                "ENUM_CUDA_DEV_MEM_EVENT_OPER o ON o.id = e.memoryOperationType JOIN ENUM_CUDA_MEM_KIND k ON "
                "k.id = e.memKind ORDER BY start"),
            "operation,kind,bytes\nAllocation,Device,4096\nAllocation,Pinned,64\nDeallocation,Device,4096\n");
  EXPECT_TRUE(trace::read_trace(file).allocations.empty()) << "nobody asked for them";
}

TEST_F(TraceFile, KnowsThePausesThatItLeavesOut) {
  trace::write_trace(file, sample);
  const Trace without = trace::read_trace(file);
  const Trace with = trace::read_trace(file, {.with_pauses = true});
  ASSERT_EQ(without.pauses.size(), 1U);
  EXPECT_EQ(without.pauses[0].time.length(), 300);
  EXPECT_EQ(without.pauses[0].in_case, 0U);
  EXPECT_EQ(without.pauses, with.pauses);
  EXPECT_LT(without.ranges.size(), with.ranges.size());
}

TEST_F(TraceFile, HoldsManyCasesWhoseCorrelationIdsDiffer) {
  const Trace second = another("conv/second@1000", 20'000);  // of the same process, with the same ids
  trace::write_trace(file, sample);
  trace::write_trace(file, second);
  expect_same(read(sample.cases[0].id), sample);
  expect_same(read(second.cases[0].id), second);
  EXPECT_EQ(count(file,
                  "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r "
                  "USING (correlationId) WHERE r.eventClass = 0"),
            10);  // five kernels of each case have a call
}

TEST_F(TraceFile, ACaseThatIsTracedAgainReplacesItself) {
  const Trace second = another("conv/second@1000", 20'000);
  Trace again = another(sample.cases[0].id, 40'000);
  again.kernels.resize(1);
  std::erase_if(again.transfers, [](const trace::Transfer& row) { return !row.is_set(); });
  trace::write_trace(file, sample);
  trace::write_trace(file, second);
  trace::write_trace(file, again);
  expect_same(read(second.cases[0].id), second);
  expect_same(read(sample.cases[0].id), again);
  EXPECT_EQ(trace::traced_cases(file), (std::vector<std::string>{second.cases[0].id, sample.cases[0].id}));
  EXPECT_EQ(count(file, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), 6 + 1);
  EXPECT_EQ(count(file, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"), 2);
  EXPECT_EQ(count(file, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType != 75"), 2 * 12);
  EXPECT_EQ(count(file, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 75"), 2);
}

/// Of another machine, whose clock, processes and numbers know nothing of this file's.
TEST_F(TraceFile, TakesCasesOfAnotherFile) {
  const fs::path other = directory.path() / "other.sqlite", copy = directory.path() / "copy.sqlite";
  const Trace second = another("conv/second@1000", -70'000), third = another("conv/third@1000", 90'000);
  Trace fourth = another("conv/fourth@1000", 20'000);
  fourth.ranges.resize(fourth.ranges.size() - 3);
  const trace::NameIndex other_name = fourth.names.index("void a_kernel_that_no_other_has()");
  fourth.kernels.change(0, [&](trace::Kernel& kernel) { kernel.name = other_name; });
  trace::write_trace(file, sample);
  trace::write_trace(other, third);
  trace::write_trace(other, second);
  trace::write_trace(other, fourth);
  trace::add_cases({other}, copy);
  trace::add_cases({other}, file);
  for (const Trace& written : {second, third, fourth}) {
    expect_same(read(written.cases[0].id), written);
    expect_same(*test::read_by_sql(copy, written.cases[0].id), written);
  }
  expect_same(read(sample.cases[0].id), sample);
  EXPECT_EQ(csv(file, "SELECT globalTid, text FROM NVTX_EVENTS WHERE eventType = 75 ORDER BY 1, 2"),
            csv(other, "SELECT globalTid, text FROM NVTX_EVENTS WHERE eventType = 75 ORDER BY 1, 2"));
  EXPECT_EQ(csv(file, "SELECT duration FROM ANALYSIS_DETAILS"),
            csv(file, "SELECT max(end) - min(start) duration FROM MPROF_CASE"));
  EXPECT_EQ(csv(file, "SELECT * FROM ENUM_CUDA_MEM_KIND"), csv(other, "SELECT * FROM ENUM_CUDA_MEM_KIND"));
  EXPECT_EQ(count(file, "SELECT count(*) FROM StringIds"),
            count(file, "SELECT count(DISTINCT value) FROM StringIds"));
}

/// What a stack has, for each call in the order of the file.
std::vector<std::string> stacks_of(const Trace& trace) {
  std::vector<std::string> all;
  for (const trace::Call& call : trace.calls) {
    std::string& text = all.emplace_back();
    for (const trace::StackFrame& frame : trace.stacks[call.stack])
      text += fmt::format("{} {} {}:{} {:#x}, ", trace.names[frame.function], trace.names[frame.module],
                          trace.names[frame.file], frame.line, frame.address);
  }
  return all;
}

TEST_F(TraceFile, KeepsTheStacksOfCallsAlsoOfSeveralCasesAndFiles) {
  Trace written = attributed_sample();
  ASSERT_GT(written.calls.size(), 3U);
  const auto name = [&](const char* text) { return written.names.index(text); };
  const trace::StackFrame python{.function = name("train"), .file = name("/a/train.py"), .line = 7},
      native{.function = name("gemm"),
             .module = name("/b/libx.so"),
             .file = name("x.cu"),
             .line = 9,
             .address = 64},
      bare{.module = name("/b/libx.so"), .address = 99};
  written.calls[0].stack = written.calls[1].stack = written.stacks.index({native, bare, python});
  written.calls[2].stack = written.stacks.index({python, python});
  trace::write_trace(file, written);
  const trace::Query query{.parts = trace::every_part, .with_pauses = true};
  const std::vector<std::string> stacks = stacks_of(trace::read_trace(file, query));
  const std::string first = "gemm /b/libx.so x.cu:9 0x40,  /b/libx.so :0 0x63, train  /a/train.py:7 0x0, ";
  EXPECT_EQ(stacks[0], first);
  EXPECT_EQ(stacks[1], first);
  EXPECT_EQ(stacks[2], "train  /a/train.py:7 0x0, train  /a/train.py:7 0x0, ");
  EXPECT_EQ(stacks[3], "");
  const std::string frames = "SELECT count(*) FROM CUDA_CALLCHAINS";
  EXPECT_EQ(count(file, frames), 5);
  trace::write_trace(file, written);
  EXPECT_EQ(count(file, frames), 5) << "a case that is traced again replaces its stacks";
  // A case with other stacks, in a file of its own, and then in the same one.
  Trace other = written;
  other.cases[0].id = "another";
  other.calls[3].stack = std::exchange(other.calls[2].stack, trace::no_stack);
  const fs::path further = directory.path() / "further.sqlite";
  trace::write_trace(further, other);
  trace::add_cases({further}, file);
  EXPECT_EQ(count(file, frames), 10);
  const std::vector<std::string> both = stacks_of(trace::read_trace(file, query));
  ASSERT_EQ(both.size(), 2 * stacks.size());
  EXPECT_EQ(std::vector(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(stacks.size())), stacks);
  EXPECT_EQ(both[stacks.size()], first);
  EXPECT_EQ(both[stacks.size() + 2], "");
  EXPECT_EQ(both[stacks.size() + 3], stacks[2]);
  // Whoever does not ask for stacks gets none.
  for (const trace::Call& call : trace::read_trace(file).calls) EXPECT_EQ(call.stack, trace::no_stack);
}

TEST_F(TraceFile, KeepsTheCasesThatItHasAlready) {
  const fs::path other = directory.path() / "other.sqlite";
  Trace again = another(sample.cases[0].id, 300);
  again.kernels.resize(1);
  const Trace second = another("conv/second@1000", 40'000);
  trace::write_trace(file, sample);
  trace::write_trace(other, again);
  trace::write_trace(other, second);
  trace::add_cases({other}, file);
  trace::add_cases({other}, file);
  EXPECT_EQ(trace::traced_cases(file), (std::vector<std::string>{sample.cases[0].id, second.cases[0].id}));
  expect_same(read(sample.cases[0].id), sample);
  expect_same(read(second.cases[0].id), second);
  EXPECT_EQ(count(file, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType != 75"), 2 * 12);
  const fs::path text =
      directory.write("text.sqlite", "this is no database, but it is long enough to look at");
  EXPECT_THROW(trace::add_cases({text}, file), Error);
}

/// Steps of SQLite's virtual machine, on all connections that are opened while it lives.
class StepCounter {
 public:
  StepCounter() {
    taken = 0;
    sqlite3_auto_extension(entry());
  }
  ~StepCounter() { sqlite3_cancel_auto_extension(entry()); }
  StepCounter(const StepCounter&) = delete;
  StepCounter& operator=(const StepCounter&) = delete;
  [[nodiscard]] static std::int64_t steps() { return taken; }

 private:
  using Entry = void (*)();
  static int count_step(void* /*unused*/) {
    ++taken;
    return 0;
  }
  static int watch(sqlite3* database, char** /*error*/, const sqlite3_api_routines* /*routines*/) {
    sqlite3_progress_handler(database, 1, count_step, nullptr);
    return SQLITE_OK;
  }
  static Entry entry() { return reinterpret_cast<Entry>(watch); }  // as SQLite's interface wants it
  static inline std::int64_t taken = 0;
};

TEST_F(TraceFile, TakesOneMoreFileForTheSameWorkHoweverManyItHas) {
  constexpr int few = 4, many = 32;
  std::vector<fs::path> files;
  for (int i = 0; i < many; ++i) {
    files.push_back(directory.path() / fmt::format("{}.sqlite", i));
    trace::write_trace(files.back(), another(fmt::format("conv/case@{}", i), 70'000 * i));
  }
  const auto steps = [&](int count) {
    const StepCounter counter;
    const fs::path joined = directory.path() / fmt::format("of {}.sqlite", count);
    trace::add_cases({files.begin(), files.begin() + count}, joined);
    EXPECT_EQ(trace::traced_cases(joined).size(), static_cast<std::size_t>(count));
    return StepCounter::steps();
  };
  const std::int64_t of_few = steps(few), of_many = steps(many);
  EXPECT_GT(of_few, 0);
  EXPECT_LE(of_many / many, of_few / few) << "for each file";
  EXPECT_EQ(count(directory.path() / fmt::format("of {}.sqlite", many),
                  "SELECT count(*) FROM sqlite_master WHERE name LIKE 'mprof_joining%'"),
            0);
}

TEST_F(TraceFile, TellsReadersOfExportsOfMachineDevicesAndProcesses) {
  Trace trace = sample;
  trace.gpus.front().uuid = "GPU-0123";
  trace.gpus.front().chip = "GH100";
  trace.system = {{"Hostname", "box"}, {"Unknown", "left out"}};
  trace.processes = {{trace.cases[0].process, "program", 0}};
  trace.threads = {{test::TraceBuilder::thread(test::TraceBuilder::main_thread), "main"}};
  trace::write_trace(file, trace);
  trace::write_trace(file, trace);  // replaces what it wrote
  const auto value = [&](const char* sql) { return csv(file, sql); };
  EXPECT_EQ(value("SELECT vmId, uuid, chipName FROM TARGET_INFO_GPU"),
            "vmId,uuid,chipName\n281474976710656,0123,GH100\n");
  EXPECT_EQ(value("SELECT cudaId, pid, uuid FROM TARGET_INFO_CUDA_DEVICE"), "cudaId,pid,uuid\n0,4242,0123\n");
  EXPECT_EQ(value("SELECT contextId, processId FROM TARGET_INFO_CUDA_CONTEXT_INFO"),
            "contextId,processId\n1,4242\n");
  EXPECT_EQ(value("SELECT count(*) n FROM TARGET_INFO_CUDA_STREAM s JOIN ENUM_CUPTI_STREAM_TYPE t ON t.id = "
                  "s.flag WHERE s.streamId = 7 AND t.label = 'Null stream'"),
            "n\n1\n");
  EXPECT_EQ(value("SELECT name, nameEnum, value FROM TARGET_INFO_SYSTEM_ENV"),
            "name,nameEnum,value\nHostname,619,box\n");
  EXPECT_EQ(value("SELECT pid, name FROM PROCESSES"), "pid,name\n4242,program\n");
  EXPECT_EQ(value("SELECT s.value name FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId"),
            "name\nmain\n");
  EXPECT_EQ(value("SELECT count(*) n, stopTime - startTime = duration whole FROM ANALYSIS_DETAILS"),
            "n,whole\n1,1\n");
  EXPECT_EQ(value("SELECT count(*) n FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId WHERE e.text != "
                  "s.value"),
            "n\n0\n");
  EXPECT_EQ(value("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'"),
            "value\n3.24.14\n");
}

TEST_F(TraceFile, TablesExistOnlyWhenTheyHaveRows) {
  trace::write_trace(file, sample);
  EXPECT_EQ(count(file, "SELECT count(*) FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_MEMSET'"), 1);
  std::erase_if(sample.transfers, [](const trace::Transfer& row) { return row.is_set(); });
  trace::write_trace(file, sample);
  EXPECT_EQ(count(file, "SELECT count(*) FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_MEMSET'"), 0);
  expect_same(read(sample.cases[0].id), sample);
  EXPECT_EQ(count(file, "SELECT count(*) FROM sqlite_master WHERE name = 'OSRT_API'"), 0);
}

TEST_F(TraceFile, OfAnEmptyTraceHasTheCase) {
  Trace empty;
  empty.cases.push_back(
      {.id = "conv/empty@1", .process = sample.cases[0].process, .window = test::at(0, 10)});
  trace::write_trace(file, empty);
  expect_same(read(empty.cases[0].id), empty);
}

/// Writes without end until it is killed, at some moment or other.
void write_until_killed(const fs::path& file, const std::vector<Trace>& traces) {
  for (std::size_t i = 0;; ++i) trace::write_trace(file, traces[i % traces.size()]);
}

TEST_F(TraceFile, IsWholeWhenItsWriterIsKilled) {
  trace::write_trace(file, sample);
  Trace larger = another("conv/large@1", 20'000);
  for (int i = 0; i < 2000; ++i) larger.kernels.push_back(larger.kernels[static_cast<std::size_t>(i % 5)]);
  for (int attempt = 0; attempt < 8; ++attempt) {
    const pid_t writer = ::fork();
    if (writer == 0) {
      write_until_killed(file, {larger, another("conv/third@1", 40'000)});
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(3000 + 2500 * attempt));
    ::kill(writer, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    trace::recover_trace(file);
    EXPECT_EQ(csv(file, "PRAGMA integrity_check"), "integrity_check\nok\n");
    expect_same(read(sample.cases[0].id), sample);
    for (const std::string& id : trace::traced_cases(file)) {
      if (id == larger.cases[0].id) {
        EXPECT_EQ(read(id).kernels.size(), larger.kernels.size());
      }
    }
  }
}

TEST_F(TraceFile, ThatCannotBeWrittenIsNamedWithTheNextStep) {
  try {
    trace::write_trace(directory.path() / "missing/trace.sqlite", sample);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find("missing/trace.sqlite: unable to open database file"),
              std::string::npos)
        << error.what();
  }
  const fs::path text =
      directory.write("text.sqlite", "this is no database, but it is long enough to look at");
  EXPECT_THROW(trace::write_trace(text, sample), Error);
  EXPECT_THROW((void)test::read_by_sql(directory.path() / "none.sqlite", "a"), Error);
}

/// Queries as people have them for exports of Nsight Systems: tests/golden/trace/NAME.sql, and their results.
/// MPROF_UPDATE_GOLDEN=1 approves what they give now.
void expect_golden_queries(const fs::path& file, const fs::path& results) {
  std::set<fs::path> queries;
  for (const auto& entry : fs::directory_iterator(golden)) {
    if (entry.path().extension() == ".sql") queries.insert(entry.path());
  }
  EXPECT_FALSE(queries.empty());
  for (const fs::path& query : queries) {
    const std::string rows = csv(file, contents(query));
    const fs::path approved = results / query.filename().replace_extension(".csv");
    const char* const update = std::getenv("MPROF_UPDATE_GOLDEN");
    if (update != nullptr && std::string(update) == "1" && contents(approved) != rows) {
      fs::create_directories(results);
      std::ofstream(approved, std::ios::binary) << rows;
    }
    EXPECT_EQ(contents(approved), rows) << approved;
  }
}

TEST_F(TraceFile, TheProfilersOverheadIsNotAmongCudas) {
  sample.overheads = {
      {.time = test::at(5000, 5200), .thread = sample.cases[0].process, .kind = 3},
      {.time = test::at(5300, 5400), .correlation = 1, .thread = sample.cases[0].process, .kind = 7}};
  trace::write_trace(file, sample);
  EXPECT_EQ(count(file, "SELECT overheadType FROM PROFILER_OVERHEAD"), 3);
  EXPECT_EQ(count(file, "SELECT overheadType FROM CUPTI_ACTIVITY_KIND_OVERHEAD"), 7);
  const Trace back = trace::read_trace(file, {.parts = {.overheads = true}, .cases = {sample.cases[0].id}});
  EXPECT_EQ(back.overheads.size(), 2U) << "both are the case's";
  trace::write_trace(file, sample);
  EXPECT_EQ(count(file, "SELECT count(*) FROM PROFILER_OVERHEAD"), 1) << "replaced";
}

TEST_F(TraceFile, AContextIsAsCuptiTellsOfIt) {
  const trace::Queue queue = sample.kernels.at(0).queue;
  sample.contexts = {{.process = sample.cases[0].process,
                      .device = queue.device,
                      .id = queue.context,
                      .parent = 9,
                      .null_stream = 13,
                      .is_green = true,
                      .multiprocessors = 16}};
  trace::write_trace(file, sample);
  const std::string of_context =
      " FROM TARGET_INFO_CUDA_CONTEXT_INFO WHERE contextId = " + std::to_string(queue.context);
  EXPECT_EQ(count(file, "SELECT isGreenContext" + of_context), 1);
  EXPECT_EQ(count(file, "SELECT parentContextId" + of_context), 9);
  EXPECT_EQ(count(file, "SELECT numMultiprocessors" + of_context), 16);
  EXPECT_EQ(count(file, "SELECT nullStreamId" + of_context), 13);
  const Trace read = trace::read_trace(file);
  EXPECT_EQ(read.contexts, sample.contexts);
  EXPECT_EQ(read.kernels.at(0).queue.green_context, queue.context) << "by its context";
}

TEST_F(TraceFile, AnswersQueriesForExportsOfNsightSystems) {
  trace::write_trace(file, sample);
  trace::write_trace(file, another("conv/second@1000", 20'000));
  expect_golden_queries(file, golden / "fabricated");
}

TEST(RecordedTrace, AnswersQueriesForExportsOfNsightSystems) {
  const fs::path recorded = golden / "recorded.sqlite";
  if (!fs::exists(recorded)) GTEST_SKIP() << recorded << " is not there: no trace was recorded yet";
  expect_golden_queries(recorded, golden / "recorded");
}

TEST(TraceTables, OfMprofAreWhatTheDocumentShows) {
  const fs::path file = fs::path(MPROF_SOURCE_DIR) / "docs/formats/run-record.md";
  const std::string document = contents(file), begin = "<!-- made from model/trace/tables.cpp -->\n",
                    end = "<!-- end -->\n";
  const std::size_t from = document.find(begin), to = document.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::string expected = document.substr(0, from + begin.size()) + "\n" +
                               trace::tables::own_tables_as_markdown() + document.substr(to);
  const char* const update = std::getenv("MPROF_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1" && expected != document) {
    std::ofstream(file, std::ios::binary) << expected;
    return;
  }
  EXPECT_EQ(document, expected) << "approve the new tables with MPROF_UPDATE_GOLDEN=1";
}

}  // namespace
}  // namespace mprof
