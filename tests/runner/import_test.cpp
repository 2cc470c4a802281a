// SPDX-License-Identifier: MIT
#include "runner/import.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/run_file.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/writer.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/inputs/expect_error.hpp"
#include "tests/support/fabricated_export.hpp"
#include "tests/support/real_file.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Counters of one launch a row: kernel, size of the grid, duration in µs.
struct Counted {
  std::string kernel;
  int grid = 4;
  double microseconds = 1;
};

std::string counters_of(const std::vector<Counted>& launches) {
  std::string text =
      "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Block Size\",\"Grid "
      "Size\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n";
  int id = 0;
  for (const Counted& one : launches)
    text += fmt::format("\"{}\",\"9\",\"prog\",\"{}\",\"(256, 1, 1)\",\"({}, 2, 1)\",\"{:.1f}\"\n", id++,
                        one.kernel, one.grid, one.microseconds);
  return text;
}

/// GoogleTest's fixtures have another Run.
using Record = Run;

class ImportTest : public ::testing::Test {
 protected:
  fs::path write_trace_file(const std::string& name) {
    test::write_export(folder.path() / name, {.version = "3.24.0"});
    return folder.path() / name;
  }
  [[nodiscard]] fs::path out() const { return folder.path() / "out"; }

  Record import(const std::vector<ProfileFile>& traces, const std::vector<ProfileFile>& counters) {
    (void)import_profiles(
        {.traces = traces,
         .counters = counters,
         .out = out(),
         .mode = fs::exists(out()) ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create});
    return read_run(out());
  }

  /// The message of an import that must be refused and leave nothing.
  std::string refusal(const std::vector<ProfileFile>& traces, const std::vector<ProfileFile>& counters) {
    try {
      (void)import_profiles({.traces = traces, .counters = counters, .out = out()});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_FALSE(fs::exists(out()));
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }

  static std::vector<double> samples(const Case& c, const std::string& metric, const std::string& op,
                                     const std::string& kernel = "") {
    for (const PassResult& pass : c.passes) {
      for (const Measurement& m : pass.measurements) {
        if (m.metric == metric && m.op == op && m.kernel == kernel) return m.samples;
      }
    }
    ADD_FAILURE() << "no " << metric << " of " << op << ' ' << kernel;
    return {};
  }

  test::TemporaryDirectory folder;
};

TEST_F(ImportTest, ATraceMakesARunThatReadsLikeAnyOther) {
  const Record run = import({{"", write_trace_file("first.sqlite")}}, {});
  EXPECT_EQ(run.state, RunState::complete);
  EXPECT_EQ(run.started, "2023-11-14T22:13:20Z");
  ASSERT_EQ(run.cases.size(), 1U);
  const Case& c = run.cases[0];
  EXPECT_EQ(c.id, "program/first");
  EXPECT_EQ(case_status(c), Status::ok);
  ASSERT_EQ(c.ops.size(), 3U);
  EXPECT_EQ(c.ops[1].name, "step");
  // 100 and 200: 30 + 50 ns each, which do not overlap.
  EXPECT_DOUBLE_EQ(samples(c, "gpu_time", "step").at(0), 160e-9);
  EXPECT_DOUBLE_EQ(samples(c, "kernel_instances", "step", "scale").at(0), 2);
  EXPECT_DOUBLE_EQ(samples(c, "copy_in_bytes", "load").at(0), 8192);
  EXPECT_DOUBLE_EQ(samples(c, "unattributed_records", "").at(0), 0);
  EXPECT_TRUE(run.variants[0].is_imported());
  EXPECT_THAT(run.variants[0].title, "rank100");
  EXPECT_EQ(find_pass(c, Pass::timing), nullptr);
  ASSERT_EQ(run.inputs.size(), 1U);
  EXPECT_THAT(run.inputs[0].checksum, HasSubstr("sha256:"));
  EXPECT_EQ(std::get<std::string>(*find_fact(run.environment, "gpu", "name")), "NVIDIA H200");
}

TEST_F(ImportTest, CountersGoToTheKernelsOfTheTraceThatAreCalledAlike) {
  const fs::path trace = write_trace_file("first.sqlite");
  // As many launches as the trace has: each is of the op that launched it.
  const fs::path all = folder.write("all.csv", counters_of({{"scale(float *)", 4, 1},
                                                            {"scale(float *)", 4, 2},
                                                            {"scale(float *)", 4, 3},
                                                            {"scale(float *)", 4, 4},
                                                            {"tile", 4, 9}}));
  const Record run = import({{"", trace}}, {{"", all}});
  const Case& c = run.cases[0];
  EXPECT_THAT(samples(c, "gpu__time_duration.sum", "step", "scale"), ElementsAre(1e-6, 3e-6));
  EXPECT_THAT(samples(c, "gpu__time_duration.sum", "outside", "scale"), ElementsAre(2e-6, 4e-6));
  EXPECT_THAT(samples(c, "gpu__time_duration.sum", "step", "tile"), ElementsAre(9e-6));
}

TEST_F(ImportTest, LaunchesOfOtherSizesAndKernelsOfTheirOwnAreKernelsOfTheCase) {
  const fs::path trace = write_trace_file("first.sqlite");
  const fs::path some = folder.write(
      "some.csv",
      counters_of({{"tile", 4, 1}, {"tile", 8, 5}, {"tile", 8, 7}, {"void ns::other<3>(int)", 1, 2}}));
  const Imported imported =
      import_profiles({.traces = {{"", trace}}, .counters = {{"", some}}, .out = out()});
  ASSERT_EQ(imported.notes.size(), 1U);
  EXPECT_THAT(imported.notes[0], HasSubstr("counted, and not in the trace: other"));
  const Record run = read_run(out());
  const Case& c = run.cases[0];
  EXPECT_THAT(samples(c, "gpu__time_duration.sum", "step", "tile (4×2 blocks of 256)"), ElementsAre(1e-6));
  EXPECT_THAT(samples(c, "gpu__time_duration.sum", "step", "tile (8×2 blocks of 256)"),
              ElementsAre(5e-6, 7e-6));
  EXPECT_THAT(samples(c, "gpu__time_duration.sum", "outside", "other"), ElementsAre(2e-6));
}

TEST_F(ImportTest, CountersAloneAreOfTheWholeProgram) {
  const Record run =
      import({}, {{"", folder.write("alone.csv", counters_of({{"a<1>(int)"}, {"a<2>(int)"}, {"b"}}))}});
  ASSERT_EQ(run.cases[0].ops.size(), 1U);
  EXPECT_EQ(run.cases[0].ops[0].name, "program");
  EXPECT_EQ(case_status(run.cases[0]), Status::ok);
  for (const char* kernel : {"a<1>", "a<2>", "b"})
    EXPECT_THAT(samples(run.cases[0], "gpu__time_duration.sum", "program", kernel), ElementsAre(1e-6));
}

TEST_F(ImportTest, SeveralProgramsHaveTheFirstForABaseline) {
  const Record run =
      import({{"before", write_trace_file("a.sqlite")}, {"after", write_trace_file("b.sqlite")}},
             {{"after", folder.write("c.csv", counters_of({{"tile"}}))}});
  ASSERT_EQ(run.variants.size(), 2U);
  EXPECT_EQ(run.variants[0].baseline, "");
  EXPECT_EQ(run.variants[1].baseline, "program/before");
  EXPECT_EQ(find_pass(run.cases[0], Pass::counters)->status, Status::skipped);
  EXPECT_EQ(find_pass(run.cases[1], Pass::counters)->status, Status::ok);
}

/// All rows of all tables of a file, in the order in which it has them.
std::map<std::string, std::vector<std::vector<std::string>>> rows_of(const fs::path& file) {
  sqlite::Database database(file, sqlite::Mode::read);
  std::vector<std::string> names;
  sqlite::Statement tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'");
  while (tables.step()) names.push_back(tables.text(0));
  std::map<std::string, std::vector<std::vector<std::string>>> rows;
  for (const std::string& name : names) {
    sqlite::Statement columns = database.prepare("SELECT name FROM pragma_table_info('" + name + "')");
    int count = 0;
    while (columns.step()) ++count;
    sqlite::Statement all = database.prepare("SELECT * FROM " + name);
    while (all.step()) {
      std::vector<std::string>& row = rows[name].emplace_back();
      for (int i = 0; i < count; ++i) row.push_back(all.text(i));
    }
  }
  return rows;
}

TEST_F(ImportTest, TheOrderOfRowsMakesNoDifference) {
  const fs::path trace = write_trace_file("first.sqlite");
  Record before = import({{"", trace}}, {});
  const auto rows = rows_of(out() / "trace.sqlite");
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_OVERHEAD", "PROFILER_OVERHEAD",
                            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "OSRT_API", "NVTX_EVENTS", "ThreadNames"})
    EXPECT_TRUE(rows.contains(table)) << table;
  test::shuffle_rows(trace);
  Record after = import({{"", trace}}, {});
  before.inputs.clear();
  after.inputs.clear();
  EXPECT_EQ(before, after);
  EXPECT_EQ(rows, rows_of(out() / "trace.sqlite"));
}

TEST_F(ImportTest, WhatTheProfilerItselfTookIsTakenOver) {
  const fs::path trace = write_trace_file("first.sqlite");
  const Record run = import({{"", trace}}, {});
  trace::Query query;
  query.parts.overheads = true;
  const trace::Trace made = trace::read_trace(out() / "trace.sqlite", query);
  ASSERT_EQ(made.cases.size(), 1U);
  const auto own = [&](trace::CaseIndex in_case) {
    return std::ranges::count_if(made.overheads, [in_case](const trace::Overhead& one) {
      return trace::nsys::is_of_profiler(one.kind) && one.in_case == in_case;
    });
  };
  EXPECT_EQ(own(0), 3);
  EXPECT_EQ(own(trace::no_case), 1) << "the profiler's start is no part of the program's time";
}

TEST_F(ImportTest, WhatCannotBeReadIsRefusedAndLeavesNothing) {
  const fs::path good = write_trace_file("good.sqlite");
  EXPECT_THAT(refusal({{"", folder.path() / "none.sqlite"}}, {}), HasSubstr("No such file"));
  EXPECT_THAT(refusal({{"", folder.write("empty.sqlite", "")}}, {}), HasSubstr("the file is empty"));
  EXPECT_THAT(
      refusal({{"", folder.write("pointer.sqlite", "version https://git-lfs.github.com/spec/v1\noid ab\n")}},
              {}),
      HasSubstr("`git lfs pull`"));
  EXPECT_THAT(refusal({{"", folder.write("page.sqlite", "\n<!DOCTYPE HTML><title>404</title>")}}, {}),
              HasSubstr("this is a web page"));
  EXPECT_THAT(refusal({{"", folder.write("t.json", "{\"schemaVersion\": 1, \"traceEvents\": []}")}}, {}),
              HasSubstr("--torch"));
  EXPECT_THAT(refusal({{"", folder.write("counters.csv", counters_of({{"k"}}))}}, {}), HasSubstr("--ncu"));
  EXPECT_THAT(refusal({{"", folder.write("x.nsys-rep", "abc")}}, {}), HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(refusal({{"", good}}, {{"", folder.write("bad.csv", "a,b\n")}}),
              HasSubstr("no table of Nsight"));
  EXPECT_THAT(refusal({{"", good}, {"", good}}, {}), HasSubstr("of the program good already"));
  EXPECT_THAT(refusal({{"a/b", good}}, {}), HasSubstr("'a/b' is no name of a program"));
  EXPECT_THAT(refusal({{"a", good}, {"b", good}}, {{"", folder.write("c.csv", counters_of({{"k"}}))}}),
              HasSubstr("any of the programs a, b"));
  const fs::path foreign = folder.path() / "foreign.sqlite";
  sqlite::Database(foreign, sqlite::Mode::write).execute("CREATE TABLE songs (title)");
  EXPECT_THAT(refusal({{"", foreign}}, {}), HasSubstr("none of a trace's tables"));
  const fs::path bare = folder.path() / "bare.sqlite";
  sqlite::Database(bare, sqlite::Mode::write).execute("CREATE TABLE NVTX_EVENTS (start, end, eventType)");
  EXPECT_THAT(refusal({{"", bare}}, {}), HasSubstr("nothing was traced"));
  const fs::path untraced = folder.path() / "untraced.sqlite";
  sqlite::Database(untraced, sqlite::Mode::write)
      .execute("CREATE TABLE META_DATA_EXPORT (name, value); CREATE TABLE TARGET_INFO_GPU (id, name)");
  EXPECT_THAT(refusal({{"", untraced}}, {}), HasSubstr("nothing was traced"));
  const fs::path views = folder.path() / "views.sqlite";
  sqlite::Database(views, sqlite::Mode::write)
      .execute("CREATE TABLE k (start, end); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM k");
  EXPECT_THAT(refusal({{"", views}}, {}), HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL is a view"));
  std::string bytes = read_file(good);
  EXPECT_THAT(refusal({{"", folder.write("cut.sqlite", bytes.substr(0, bytes.size() * 6 / 10))}}, {}),
              ::testing::AllOf(HasSubstr("the file was cut off"), ::testing::Not(HasSubstr("SELECT"))));
  for (std::size_t i = 5000; i < bytes.size(); i += 3) bytes[i] = static_cast<char>(i);
  EXPECT_THAT(refusal({{"", folder.write("broken.sqlite", bytes)}}, {}), HasSubstr("broken.sqlite"));
}

TEST_F(ImportTest, ATraceOfPyTorchMakesARunOfItsAnnotations) {
  const auto event = [](const char* category, const char* name, int thread, int start, int length,
                        int correlation) {
    return fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, )"
        R"("args": {{"device": 0, "context": 1, "stream": 7, "correlation": {}}}}},)",
        category, name, thread == 7 ? 0 : 4242, thread, start, length, correlation);
  };
  std::string events;
  for (int i = 0; i < 20; ++i) {
    const int at = 1000 * (i + 1);
    const std::string name = fmt::format("ProfilerStep#{}", i);
    events += event("user_annotation", name.c_str(), 4242, at, 500, 0);
    events += event("cuda_runtime", "cudaLaunchKernel", 4242, at + 10, 5, i + 1);
    // Autograd's thread opens no annotation.
    events += event("cuda_runtime", "cudaLaunchKernel", 4300, at + 20, 5, 100 + i);
    events += event("kernel", "void forward<1>(float*)", 7, at + 30, 40, i + 1);
    events += event("kernel", "void backward<1>(float*)", 7, at + 80, 60, 100 + i);
  }
  events.back() = ' ';
  const fs::path file =
      folder.write("trace.json", fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}]}})", events));
  (void)import_profiles({.torch = {{"", file}}, .out = out()});
  const Record run = read_run(out());
  ASSERT_EQ(run.cases.size(), 1U);
  const Case& c = run.cases[0];
  EXPECT_EQ(c.id, "program/trace");
  ASSERT_EQ(c.ops.size(), 1U) << "20 steps are one op";
  EXPECT_EQ(c.ops[0].name, "ProfilerStep#");
  EXPECT_DOUBLE_EQ(samples(c, "kernel_instances", c.ops[0].name, "forward").at(0), 20);
  EXPECT_DOUBLE_EQ(samples(c, "kernel_time", c.ops[0].name, "backward").at(0), 20 * 60e-6);
  EXPECT_THAT(run.inputs.at(0).name, "trace (torch)");
  EXPECT_THAT(run.variants.at(0).idea, HasSubstr("traced by PyTorch's profiler"));
}

TEST_F(ImportTest, LaunchesWithoutAKernelAreNoIdleGpu) {
  const fs::path file = write_trace_file("wsl.sqlite");
  sqlite::Database(file, sqlite::Mode::write)
      .execute(
          "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY; "
          "DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET");
  const Imported imported = import_profiles({.traces = {{"", file}}, .out = out()});
  ASSERT_EQ(imported.notes.size(), 1U);
  EXPECT_THAT(imported.notes[0], HasSubstr("wsl: The trace has 6 kernel launches and no kernel"));
  const Record run = read_run(out());
  const Case& c = run.cases[0];
  for (const char* metric : {"gpu_time", "kernel_count", "gpu_kernel_time", "gpu_idle_host_time"}) {
    EXPECT_TRUE(samples(c, metric, "step").empty()) << metric;
    EXPECT_THAT(find_measurement(c, metric, "step")->absent, HasSubstr("the trace has none")) << metric;
  }
  ASSERT_TRUE(find_pass(c, Pass::trace)->outcome);
  EXPECT_THAT(find_pass(c, Pass::trace)->outcome->notes, ElementsAre(HasSubstr("WSL")));
}

TEST_F(ImportTest, TablesOfNewerNamesAndRangesWithoutAnEndAreSaid) {
  const fs::path file = write_trace_file("newer.sqlite");
  sqlite::Database(file, sqlite::Mode::write)
      .execute(
          "CREATE TABLE NVTX_EVENTS_V2 AS SELECT * FROM NVTX_EVENTS; UPDATE NVTX_EVENTS SET end = NULL WHERE "
          "eventType = 59; CREATE TABLE NVTX_EVENTS_V3 (start)");
  const Imported imported = import_profiles({.traces = {{"", file}}, .out = out()});
  EXPECT_THAT(imported.notes, ElementsAre(HasSubstr("does not know the table NVTX_EVENTS_V2, and"),
                                          HasSubstr("want of an end: 6 NVTX ranges")));
}

TEST_F(ImportTest, OpsThatMatchNoRangeAreRefusedWithTheNames) {
  const fs::path file = write_trace_file("first.sqlite");
  const auto refused = [&](const std::string& ops) {
    return test::usage_error([&] {
      (void)import_profiles({.traces = {{"", file}}, .ops = ops, .out = out()});
    });
  };
  EXPECT_THAT(refused("nothing*"), HasSubstr("no NVTX range of"));
  EXPECT_THAT(refused("nothing*"), HasSubstr("inner, load, step"));
  EXPECT_FALSE(fs::exists(out()));
  sqlite::Database(file, sqlite::Mode::write).execute("DROP TABLE NVTX_EVENTS");
  EXPECT_THAT(refused("nothing*"), HasSubstr("has no NVTX range"));
}

TEST_F(ImportTest, LaunchesIntoAGraphHaveTheirKernelsWhereItIsLaunched) {
  const fs::path file = folder.path() / "graph.sqlite";
  sqlite::Database database(file, sqlite::Mode::write);
  const std::int64_t process = trace::nsys::global_process(100),
                     thread = trace::nsys::global_thread(process, 101);
  database.execute(
      "CREATE TABLE StringIds (id, value); CREATE TABLE NVTX_EVENTS (start, end, eventType, text, "
      "globalTid); "
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId, returnValue); "
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, "
      "globalPid, "
      "demangledName, graphNodeId); INSERT INTO StringIds VALUES (1, 'cudaStreamBeginCapture_v10000'), "
      "(2, 'cudaLaunchKernel_v7000'), (3, 'cudaStreamEndCapture_v10000'), (4, 'cudaGraphLaunch_v10000'), (5, "
      "'k()')");
  const auto call = [&](int name, int at, int id) {
    database.execute(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, {}, {}, {}, 0)", at,
                                 at + 5, thread, id, name));
  };
  database.execute(fmt::format(
      "INSERT INTO NVTX_EVENTS VALUES (100, 200, 59, 'layer', {0}), (300, 900, 59, 'epoch', {0})", thread));
  call(1, 110, 1);
  call(2, 120, 2);
  call(2, 130, 3);
  call(3, 140, 4);
  for (int i = 0; i < 5; ++i) {
    call(4, 310 + 100 * i, 10 + i);
    for (int k = 0; k < 2; ++k)
      database.execute(
          fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 1, 7, {}, {}, 5, {})",
                      330 + 100 * i + 20 * k, 345 + 100 * i + 20 * k, 10 + i, process, k + 1));
  }
  const Imported imported = import_profiles({.traces = {{"", file}}, .out = out()});
  EXPECT_THAT(imported.notes, ElementsAre());
  const Record run = read_run(out());
  const Case& c = run.cases[0];
  EXPECT_THAT(samples(c, "kernel_count", "epoch"), ElementsAre(10));
  EXPECT_THAT(find_measurement(c, "gpu_time", "layer")->absent,
              HasSubstr("its 2 launches were captured in a graph"));
}

TEST_F(ImportTest, NodesOfGraphsAreKeptAsNsightSystemsHasThem) {
  const fs::path file = folder.path() / "nodes.sqlite";
  const std::int64_t process = trace::nsys::global_process(100),
                     thread = trace::nsys::global_thread(process, 101);
  sqlite::Database database(file, sqlite::Mode::write);
  database.execute(fmt::format(
      "CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (4, 'cudaGraphLaunch_v10000'), (5, "
      "'k()'), (6, 'Graph Node Creation'); "
      "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid); "
      "INSERT INTO NVTX_EVENTS VALUES (100, 200, 59, 'layer', {0}), (300, 900, 59, 'epoch', {0}); "
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId, returnValue); "
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (310, 315, {0}, 10, 4, 0); "
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, "
      "globalPid, demangledName, graphNodeId); "
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (330, 345, 0, 1, 7, 10, {1}, 5, 8589934593); "
      "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start, end, eventClass, globalTid, nameId, graphNodeId, "
      "originalGraphNodeId); "
      "INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (150, 150, 77, {0}, 6, 4294967297, NULL), "
      "(250, 250, 77, {0}, 6, 8589934593, 4294967297)",
      thread, process));
  static_cast<void>(import_profiles({.traces = {{"", file}}, .out = out()}));
  const trace::Trace kept = trace::read_trace(out() / "trace.sqlite", {.parts = trace::every_part});
  ASSERT_EQ(kept.graph_nodes.size(), 2U);
  EXPECT_EQ(kept.graph_nodes[0].original, 0U);
  EXPECT_EQ(kept.graph_nodes[1].original, kept.graph_nodes[0].id);
  EXPECT_EQ(kept.kernels[0].graph_node, kept.graph_nodes[1].id);
  // Written again, as an export, they are what they were.
  const fs::path again = folder.path() / "again.sqlite";
  trace::write_export(again, kept);
  const trace::Trace back = trace::read_trace(again, {.parts = trace::every_part});
  ASSERT_EQ(back.graph_nodes.size(), 2U);
  EXPECT_EQ(back.graph_nodes[1].original, kept.graph_nodes[0].id);
  EXPECT_EQ(back.graph_nodes[1].time.start - back.graph_nodes[0].time.start, 100);
}

TEST_F(ImportTest, WhatAFileOfCountersLacksIsSaid) {
  const std::string whole = counters_of({{"a"}, {"b"}});
  const fs::path cut = folder.write("cut.csv", whole.substr(0, whole.size() - 3));
  const Imported imported = import_profiles({.counters = {{"", cut}}, .out = out()});
  ASSERT_EQ(imported.notes.size(), 1U);
  EXPECT_THAT(imported.notes[0], HasSubstr("cut.csv: the file was cut off in line 4"));
}

TEST_F(ImportTest, ARunOfMprofIsNoExport) {
  const fs::path trace = write_trace_file("first.sqlite");
  (void)import({{"", trace}}, {});
  const fs::path made = folder.path() / "made.sqlite";
  fs::rename(out() / "trace.sqlite", made);
  fs::remove_all(out());
  EXPECT_THAT(refusal({{"", made}}, {}), HasSubstr("trace of a run of mprof"));
}

TEST_F(ImportTest, OtherTablesAreSummedByOpAndStayInTheRun) {
  const fs::path trace = write_trace_file("first.sqlite");
  const std::int64_t thread = trace::nsys::global_thread(trace::nsys::global_process(100), 101);
  sqlite::Database(trace, sqlite::Mode::write)
      .execute(fmt::format("CREATE TABLE MPI_OTHER_EVENTS (start, end, globalTid); INSERT INTO "
                           "MPI_OTHER_EVENTS VALUES (1010, 1030, {0}), (1110, 1120, {0})",
                           thread));
  const Imported imported =
      import_profiles({.traces = {{"", trace}}, .out = out(), .mode = ResultDirectory::Mode::create});
  ASSERT_EQ(imported.tallies.size(), 1U);
  std::vector<std::string> found;
  for (const trace::Tally& one : imported.tallies[0]) {
    if (one.kind == trace::TallyKind::mpi)
      found.push_back(fmt::format("{} {} {} ns", one.op, one.count, one.time));
  }
  EXPECT_THAT(found, ElementsAre("load 1 20 ns", "step 1 10 ns"));
  const trace::Trace kept = trace::read_trace(out() / "trace.sqlite", {.parts = trace::every_part});
  EXPECT_EQ(kept.tallies.size(), 2U);
}

TEST_F(ImportTest, RealExportsAreReadWhateverTheOrderOfTheirRows) {
  for (const char* name : {"nsys-2025.5.2.sqlite", "nsys-2026.1.1.sqlite"}) {
    const fs::path real = test::real_file(MPROF_SOURCE_DIR, name);
    if (real.empty()) GTEST_SKIP() << "neither MPROF_FIXTURES nor ../shared/fixtures has " << name;
    const fs::path copy = folder.path() / name;
    fs::copy_file(real, copy);
    fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add);
    Record before = import({{"", copy}}, {});
    EXPECT_GT(samples(before.cases.at(0), "kernel_count", "program").at(0), 0) << name;
    const auto rows = rows_of(out() / "trace.sqlite");
    EXPECT_TRUE(rows.contains("PROFILER_OVERHEAD")) << name;
    test::shuffle_rows(copy);
    Record after = import({{"", copy}}, {});
    before.inputs.clear();
    after.inputs.clear();
    EXPECT_EQ(before, after) << name;
    EXPECT_EQ(rows, rows_of(out() / "trace.sqlite")) << name;
  }
}

}  // namespace
}  // namespace mprof
