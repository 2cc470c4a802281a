// SPDX-License-Identifier: MIT
#include "model/trace/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/writer.hpp"
#include "tests/support/fabricated_export.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using ::testing::ElementsAre;
using trace::Trace;

constexpr trace::Parts every_part{.kernels = true,
                                  .kernel_details = true,
                                  .transfers = true,
                                  .calls = true,
                                  .system_calls = true,
                                  .ranges = true,
                                  .synchronizations = true,
                                  .overheads = true,
                                  .allocations = true};

struct MadeCase {
  Trace trace;
  std::vector<std::string> ops;
};

MadeCase made_of(const std::filesystem::path& file, const std::string& ops = "") {
  MadeCase made{trace::read_trace(file, {.parts = every_part}), {}};
  made.ops = trace::make_program_case(made.trace, {.case_id = "program/x", .ops = ops});
  return made;
}

std::string op_of(const Trace& trace, trace::PlaceIndex place) {
  return trace.places.at(place).op;
}

/// What is the same whatever order the file's rows have.
std::string text_of(const Trace& trace) {
  std::string text;
  for (const trace::Kernel& k : trace.kernels)
    text += fmt::format("k {} {} {} {} {} {}\n", k.time.start, k.time.end, k.correlation, k.process,
                        trace.names[k.name], op_of(trace, k.place));
  for (const trace::Transfer& t : trace.transfers)
    text += fmt::format("t {} {} {} {} {}\n", t.time.start, t.correlation, t.process, t.bytes,
                        op_of(trace, t.place));
  for (const trace::Call& c : trace.calls)
    text += fmt::format("c {} {} {} {} {}\n", c.time.start, c.correlation, c.thread, trace.names[c.name],
                        op_of(trace, c.place));
  for (const trace::Range& r : trace.ranges)
    text += fmt::format("r {} {} {} {} {}\n", r.time.start, r.time.end, r.thread, trace.names[r.name],
                        static_cast<int>(r.style));
  for (const trace::ProcessInfo& p : trace.processes) text += fmt::format("p {} {}\n", p.id, p.name);
  return text;
}

class ProgramCaseTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const test::ExportSchema& schema, const std::string& name = "export.sqlite") {
    test::write_export(folder.path() / name, schema);
    return folder.path() / name;
  }
  test::TemporaryDirectory folder;
};

TEST_F(ProgramCaseTest, EverySchemaVersionGivesTheSameCase) {
  std::string first;
  for (const test::ExportSchema& schema : test::export_schemas()) {
    const MadeCase made = made_of(write(schema, "v" + schema.version + ".sqlite"));
    EXPECT_THAT(made.ops, ElementsAre("load", "step", "outside")) << schema.version;
    ASSERT_EQ(made.trace.kernels.size(), 6U) << schema.version;
    EXPECT_EQ(made.trace.schema_version, schema.version);
    std::string text = text_of(made.trace);
    text.erase(text.find("p "));  // the oldest does not name processes
    if (first.empty()) first = text;
    EXPECT_EQ(text, first) << schema.version;
  }
}

TEST_F(ProgramCaseTest, TheOrderOfRowsMakesNoDifference) {
  for (const test::ExportSchema& schema : test::export_schemas()) {
    const auto file = write(schema, "s" + schema.version + ".sqlite");
    const std::string before = text_of(made_of(file).trace);
    test::shuffle_rows(file);
    EXPECT_EQ(text_of(made_of(file).trace), before) << schema.version;
  }
}

TEST_F(ProgramCaseTest, OpsAreTheOutermostRangesOfTheDefaultDomain) {
  const MadeCase made = made_of(write({.version = "3.24.0"}));
  std::vector<std::string> ops;
  for (const trace::Kernel& kernel : made.trace.kernels) ops.push_back(op_of(made.trace, kernel.place));
  EXPECT_THAT(ops, ElementsAre("step", "step", "outside", "step", "step", "outside"));
  for (const trace::Transfer& transfer : made.trace.transfers)
    EXPECT_EQ(op_of(made.trace, transfer.place), "load");
}

TEST_F(ProgramCaseTest, AGlobChoosesOtherRanges) {
  const MadeCase made = made_of(write({.version = "3.24.0"}), "in*");
  EXPECT_THAT(made.ops, ElementsAre("inner", "outside"));
  EXPECT_THAT(made_of(write({.version = "3.24.0"}, "other.sqlite"), "none*").ops, ElementsAre("program"))
      << "no range qualifies";
}

TEST_F(ProgramCaseTest, CorrelationIdsOfTwoProcessesAreToldApart) {
  const MadeCase made = made_of(write({.version = "3.24.0"}));
  std::set<std::int64_t> ids;
  for (const trace::Call& call : made.trace.calls) ids.insert(call.correlation);
  EXPECT_EQ(ids.size(), 10U);
  for (const trace::Kernel& kernel : made.trace.kernels) EXPECT_TRUE(ids.contains(kernel.correlation));
  ASSERT_EQ(made.trace.processes.size(), 2U);
  EXPECT_EQ(made.trace.processes[0].name, "/bin/rank100");
}

TEST_F(ProgramCaseTest, WrittenAndReadBackItIsTheSame) {
  MadeCase made = made_of(write({.version = "3.24.0"}));
  const auto file = folder.path() / "trace.sqlite";
  trace::write_trace(file, made.trace);
  Trace back = trace::read_trace(file, {.parts = every_part});
  ASSERT_EQ(back.cases.size(), 1U);
  EXPECT_EQ(back.cases[0].id, "program/x");
  EXPECT_EQ(back.kernels.size(), made.trace.kernels.size());
  EXPECT_EQ(back.system_calls.size(), 2U);
  EXPECT_EQ(back.system_calls[0].in_case, 0U);
  EXPECT_EQ(back.processes.size(), 2U);
  std::size_t extents = 0, ranges = 0;
  for (const trace::Range& range : back.ranges) {
    EXPECT_EQ(range.in_case, 0U) << back.names[range.name];
    (range.style == trace::RangeStyle::extent ? extents : ranges) += 1;
  }
  EXPECT_EQ(ranges, 6U) << "of both processes";
  EXPECT_GE(extents, 5U);
  trace::write_trace(file, made.trace);
  EXPECT_EQ(trace::read_trace(file, {.parts = every_part}).ranges.size(), back.ranges.size()) << "replaced";
}

TEST_F(ProgramCaseTest, OfAPartTheCaseLastsAsLongAsThatAndKeepsCapturesFromBefore) {
  Trace all;
  const std::int64_t thread = trace::nsys::global_thread(trace::nsys::global_process(7), 7);
  const auto range = [&](const std::string& name, trace::Interval time) {
    all.ranges.push_back({.time = time,
                          .thread = thread,
                          .end_thread = thread,
                          .name = all.names.index(":" + name),
                          .domain = 0});
  };
  range("train", {100, 9000});
  range("capture", {200, 300});
  range("other", {400, 450});
  range("step", {1000, 2000});
  range("step", {2000, 3000});
  all.graph_nodes.push_back({.time = {250, 250}, .thread = thread, .id = 5});
  all.calls.push_back(
      {.time = {2100, 2200}, .correlation = 1, .thread = thread, .name = all.names.index("cudaGraphLaunch")});
  all.kernels.push_back(trace::Kernel{.time = {2300, 2400},
                                      .correlation = 1,
                                      .process = trace::nsys::process_of(thread),
                                      .name = all.names.index("k"),
                                      .graph_node = 5});
  const trace::Interval part{2000, 3000};
  const std::vector<std::string> ops =
      trace::make_program_case(all, {.case_id = "program/x", .cuda_starts = {{50, 90}}, .part = part});
  EXPECT_THAT(ops, ElementsAre("train"));
  const auto file = folder.path() / "part.sqlite";
  trace::write_trace(file, all);
  const Trace back = trace::read_trace(file, {.parts = trace::every_part});
  EXPECT_EQ(back.cases.at(0).window.length(), part.length());
  std::vector<std::string> of_case, of_none;
  for (const trace::Range& one : back.ranges) {
    if (one.style == trace::RangeStyle::extent) continue;
    (one.in_case == 0 ? of_case : of_none).push_back(std::string(back.text_of(one)));
  }
  EXPECT_THAT(of_case, ElementsAre("train", "step")) << "the first step ends where the part begins";
  EXPECT_THAT(of_none, ElementsAre("train", "capture")) << "what a graph was captured in, as it was";
  ASSERT_EQ(back.graph_nodes.size(), 1U);
  EXPECT_EQ(back.graph_nodes[0].in_case, trace::no_case);
}

TEST_F(ProgramCaseTest, ACaseLastsAsLongAsItsProgramAndKnowsWhenCudaCameUp) {
  const MadeCase narrow = made_of(write({.version = "3.24.0"}));
  const trace::Interval work = narrow.trace.cases[0].window;
  Trace all = trace::read_trace(write({.version = "3.24.0"}, "all.sqlite"), {.parts = every_part});
  const trace::Interval life{work.start - 5000, work.end + 700}, start{work.start - 2000, work.start + 10};
  const std::vector<std::string> ops =
      trace::make_program_case(all, {.case_id = "program/x", .life = life, .cuda_starts = {start}});
  EXPECT_EQ(all.cases[0].window, life);
  EXPECT_EQ(ops, narrow.ops);
  const auto file = folder.path() / "whole.sqlite";
  trace::write_trace(file, all);
  const Trace back = trace::read_trace(file, {.parts = every_part});
  std::vector<trace::Interval> starts;
  for (const trace::Range& range : back.ranges) {
    if (back.text_of(range) == trace::cuda_start) starts.push_back(range.time);
    const std::string& op = back.places[range.place].op;
    if (!op.empty()) {
      EXPECT_GE(range.time.start - back.cases[0].window.start, 5000) << op;
    }
  }
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].length(), start.length());
  EXPECT_EQ(starts[0].start - back.cases[0].window.start, 3000);
}

TEST_F(ProgramCaseTest, WhatTheOperatingSystemDidBeforeAndAfterIsInNoOpsTime) {
  MadeCase narrow = made_of(write({.version = "3.24.0"}));
  Trace more = trace::read_trace(write({.version = "3.24.0"}, "more.sqlite"), {.parts = every_part});
  trace::Call early = more.system_calls.at(0);
  early.time = {narrow.trace.cases[0].window.start - 5000, narrow.trace.cases[0].window.start - 1000};
  more.system_calls.push_back(early);
  (void)trace::make_program_case(more, {.case_id = "program/x"});
  EXPECT_EQ(more.cases[0].window, narrow.trace.cases[0].window);
  const auto file = folder.path() / "trace.sqlite";
  trace::write_trace(file, more);
  const Trace back = trace::read_trace(file, {.parts = every_part, .cases = {"program/x"}});
  EXPECT_EQ(back.system_calls.size(), narrow.trace.system_calls.size() + 1) << "and in the case";
  EXPECT_EQ(
      std::ranges::min(back.system_calls, {}, [](const trace::Call& c) { return c.time.start; }).time.start,
      0)
      << "no time is negative";
}

TEST_F(ProgramCaseTest, ExportedItIsAFileOfNsightSystemsAgain) {
  MadeCase made = made_of(write({.version = "3.24.0"}));
  const auto file = folder.path() / "sub" / "one.sqlite";
  trace::write_export(file, made.trace);
  EXPECT_TRUE(trace::traced_cases(file).empty());
  const Trace back = trace::read_trace(file, {.parts = every_part});
  EXPECT_EQ(back.kernels.size(), made.trace.kernels.size());
  EXPECT_EQ(back.system_calls.size(), made.trace.system_calls.size());
  EXPECT_EQ(std::ranges::min(back.ranges, {}, [](const trace::Range& r) { return r.time.start; }).time.start,
            0);
  EXPECT_EQ(made_of(file).ops, made.ops);
}

TEST_F(ProgramCaseTest, RecordsThatCannotBeUsedAreCounted) {
  Trace trace;
  for (const trace::Interval time : {trace::Interval{10, 20}, {0, 0}, {30, 20}, {-5000, 20}})
    trace.kernels.push_back({.time = time});
  EXPECT_THAT(trace::make_program_case(trace, {.case_id = "program/x"}), ElementsAre("program"));
  EXPECT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.cases[0].counts.zero_time, 2U);
  EXPECT_EQ(trace.cases[0].counts.reversed, 1U);
}

/// Kernels of one stream, 300 ns each, every 400 ns.
Trace in_one_stream(int kernels) {
  Trace trace;
  for (int i = 1; i <= kernels; ++i) {
    const std::int64_t at = 1000 + 400 * i;
    trace.calls.push_back(
        {.time = {at, at + 5}, .correlation = i, .thread = 5, .name = trace.names.index("cudaLaunchKernel")});
    trace.kernels.push_back({.time = {at + 10, at + 310}, .correlation = i});
  }
  return trace;
}

TEST_F(ProgramCaseTest, WorkThatRunsOnBeyondLaterWorkOfItsStreamIsCountedAndLeftOut) {
  Trace trace = in_one_stream(50);
  trace.kernels.rows()[10].time.end += 1'600'000;
  trace::Trace beside = in_one_stream(50);
  beside.kernels.rows()[10].time.end += 1'600'000;
  beside.kernels.change(10, [](trace::Kernel& kernel) { kernel.queue.stream = 13; });
  trace::Trace next = in_one_stream(50);
  next.kernels.rows()[10].time.end += 300;  // as with programmatic dependent launches
  for (Trace* one : {&trace, &beside, &next}) (void)trace::make_program_case(*one, {.case_id = "program/x"});
  EXPECT_EQ(trace.cases[0].counts.overlapping, 1U);
  EXPECT_EQ(trace.kernels.size(), 49U);
  EXPECT_EQ(beside.cases[0].counts.overlapping, 0U) << "another stream may run beside";
  EXPECT_EQ(next.cases[0].counts.overlapping, 0U);
}

TEST_F(ProgramCaseTest, BranchesOfAGraphMayOverlapInOneStream) {
  Trace trace = in_one_stream(50);
  trace.kernels.rows()[10].time.end += 1'600'000;
  trace.kernels.change_all([](trace::Kernel& kernel) { kernel.graph_node = 7; });
  (void)trace::make_program_case(trace, {.case_id = "program/x"});
  EXPECT_EQ(trace.cases[0].counts.overlapping, 0U);
}

TEST_F(ProgramCaseTest, WorkBeforeItsLaunchIsCountedAndKept) {
  Trace trace = in_one_stream(3);
  trace.calls[1].time = {400'000, 400'005};
  trace.calls[2].time.start += 20;  // clocks differ by less than 10 µs all the time
  (void)trace::make_program_case(trace, {.case_id = "program/x"});
  EXPECT_EQ(trace.cases[0].counts.early, 1U);
  EXPECT_EQ(trace.kernels.size(), 3U);
}

TEST_F(ProgramCaseTest, ManyRangesThatDifferInNumbersAreOneOp) {
  Trace trace;
  for (int i = 0; i < 40; ++i) {
    const std::string name = i % 2 == 0 ? fmt::format(":step {}", i) : ":sync";
    trace.ranges.push_back({.time = {i * 10, i * 10 + 9}, .thread = 5, .name = trace.names.index(name)});
  }
  EXPECT_THAT(trace::make_program_case(trace, {.case_id = "program/x"}), ElementsAre("step #", "sync"));
}

TEST_F(ProgramCaseTest, OfTooManyRangesTheShortestAreOneOp) {
  Trace trace;
  for (int i = 0; i < 40; ++i) {
    const std::string name = fmt::format(":range {}", std::string(static_cast<std::size_t>(i) + 1, 'x'));
    trace.ranges.push_back(
        {.time = {i * 1000, i * 1000 + 10 + i}, .thread = 5, .name = trace.names.index(name)});
  }
  const auto ops = trace::make_program_case(trace, {.case_id = "program/x"});
  EXPECT_EQ(ops.size(), trace::most_program_ops);
  EXPECT_EQ(ops.front(), trace::other_ranges);
}

TEST_F(ProgramCaseTest, AnEmptyTraceHasNoOp) {
  Trace trace;
  EXPECT_TRUE(trace::make_program_case(trace, {.case_id = "program/x"}).empty());
}

}  // namespace
}  // namespace mprof
