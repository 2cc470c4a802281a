#include "model/trace/trace_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/trace_attribution.hpp"
#include "model/trace/profile.hpp"
#include "model/trace/sqlite.hpp"
#include "system/error.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/trace_reader.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
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

/// Places are numbered as they are met; a trace that was read can have others.
std::vector<trace::Place> places_of_work(const Trace& trace) {
  std::vector<trace::Place> places;
  for (const trace::Kernel& kernel : trace.kernels) places.push_back(trace.places.at(kernel.work.place));
  for (const trace::Copy& copy : trace.copies) places.push_back(trace.places.at(copy.work.place));
  for (const trace::Set& set : trace.sets) places.push_back(trace.places.at(set.work.place));
  for (const trace::ApiCall& call : trace.calls) places.push_back(trace.places.at(call.place));
  for (const auto& row : trace.synchronizations) places.push_back(trace.places.at(row.place));
  return places;
}

/// The ranges with their places in the open, mprof's own first.
std::vector<std::tuple<std::uint64_t, std::int64_t, std::int64_t, std::string, std::string, std::uint32_t,
                       std::string, std::string>>
ranges_of(const Trace& trace) {
  decltype(ranges_of(trace)) ranges;
  for (const bool own : {true, false}) {
    for (const trace::Range& range : trace.ranges) {
      if ((range.id != 0) != own) continue;
      const trace::Place& place = trace.places.at(range.place);
      ranges.emplace_back(range.id, range.time.start, range.time.end, range.name, range.domain, range.thread,
                          place.op, place.part);
    }
  }
  return ranges;
}

/// The rows without their places.
template <class Row>
std::vector<Row> unplaced(std::vector<Row> rows) {
  for (Row& row : rows) {
    if constexpr (requires { row.work; }) {
      row.work.place = trace::nowhere;
    } else {
      row.place = trace::nowhere;
    }
  }
  return rows;
}

class TraceFile : public ::testing::Test {
 protected:
  TraceFile() { trace::attribute(sample); }

  [[nodiscard]] Trace read(const std::string& case_id) const {
    const auto found = test::read_trace(file, case_id);
    EXPECT_TRUE(found.has_value()) << case_id;
    return found.value_or(Trace{});
  }

  static void expect_same(const Trace& read, const Trace& written) {
    EXPECT_EQ(read.case_id, written.case_id);
    EXPECT_EQ(read.process, written.process);
    EXPECT_EQ(read.window, written.window);
    EXPECT_EQ(read.counts, written.counts);
    EXPECT_EQ(read.symbols, written.symbols);
    EXPECT_EQ(read.gpus, written.gpus);
    EXPECT_EQ(unplaced(read.kernels), unplaced(written.kernels));
    EXPECT_EQ(unplaced(read.copies), unplaced(written.copies));
    EXPECT_EQ(unplaced(read.sets), unplaced(written.sets));
    EXPECT_EQ(unplaced(read.calls), unplaced(written.calls));
    EXPECT_EQ(unplaced(read.synchronizations), unplaced(written.synchronizations));
    EXPECT_EQ(read.overheads, written.overheads);
    EXPECT_EQ(ranges_of(read), ranges_of(written));
    EXPECT_EQ(places_of_work(read), places_of_work(written));
  }

  /// The sample as another case, so much later.
  [[nodiscard]] Trace another(const std::string& case_id, std::int64_t later) const {
    return test::moved(sample, case_id, later);
  }

  test::TemporaryDirectory directory;
  fs::path file = directory.path() / "trace.sqlite";
  Trace sample = test::sample_trace();
};

TEST_F(TraceFile, ReadsWhatWasWritten) {
  trace::write_trace(file, sample);
  EXPECT_EQ(trace::profiled_cases(file), std::vector<std::string>{sample.case_id});
  expect_same(read(sample.case_id), sample);
  EXPECT_FALSE(test::read_trace(file, "another").has_value());
}

TEST_F(TraceFile, HoldsManyCasesWhoseCorrelationIdsDiffer) {
  const Trace second = another("conv/second@1000", 20'000);  // of the same process, with the same ids
  trace::write_trace(file, sample);
  trace::write_trace(file, second);
  expect_same(read(sample.case_id), sample);
  expect_same(read(second.case_id), second);
  EXPECT_EQ(count(file,
                  "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r "
                  "USING (correlationId) WHERE r.eventClass = 0"),
            10);  // five kernels of each case have a call
}

TEST_F(TraceFile, ACaseThatIsTracedAgainReplacesItself) {
  const Trace second = another("conv/second@1000", 20'000);
  Trace again = another(sample.case_id, 40'000);
  again.kernels.resize(1);
  again.symbols.resize(1);
  again.copies.clear();
  trace::write_trace(file, sample);
  trace::write_trace(file, second);
  trace::write_trace(file, again);
  expect_same(read(second.case_id), second);
  expect_same(read(sample.case_id), again);
  EXPECT_EQ(trace::profiled_cases(file), (std::vector<std::string>{second.case_id, sample.case_id}));
  EXPECT_EQ(count(file, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), 6 + 1);
  EXPECT_EQ(count(file, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"), 2);
  EXPECT_EQ(count(file, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType != 75"), 2 * 12);
  EXPECT_EQ(count(file, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 75"), 2);
}

TEST_F(TraceFile, TablesExistOnlyWhenTheyHaveRows) {
  trace::write_trace(file, sample);
  EXPECT_EQ(count(file, "SELECT count(*) FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_MEMSET'"), 1);
  sample.sets.clear();
  trace::write_trace(file, sample);
  EXPECT_EQ(count(file, "SELECT count(*) FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_MEMSET'"), 0);
  expect_same(read(sample.case_id), sample);
  EXPECT_EQ(count(file, "SELECT count(*) FROM sqlite_master WHERE name = 'OSRT_API'"), 0);
}

TEST_F(TraceFile, OfAnEmptyTraceHasTheCase) {
  Trace empty;
  empty.case_id = "conv/empty@1";
  empty.window = test::at(0, 10);
  trace::write_trace(file, empty);
  expect_same(read(empty.case_id), empty);
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
    EXPECT_EQ(csv(file, "PRAGMA integrity_check"), "integrity_check\nok\n");
    expect_same(read(sample.case_id), sample);
    for (const std::string& id : trace::profiled_cases(file)) {
      if (id == larger.case_id) {
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
  EXPECT_THROW((void)test::read_trace(directory.path() / "none.sqlite", "a"), Error);
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

}  // namespace
}  // namespace mprof
