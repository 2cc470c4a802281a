// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/writer.hpp"
#include "report/trace/profile_cells.hpp"
#include "report/trace/profile_tables.hpp"
#include "report/trace/profile_text.hpp"
#include "report/trace/range_kernels.hpp"
#include "system/error.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using trace::Trace;

/// A row as `mprof stats --format csv` prints it.
std::vector<std::string> csv_rows(const ProfileTable& table) {
  std::vector<std::string> lines;
  const std::string text = render_profile(std::vector{table}, "csv");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> rows_of(std::string_view report, const Trace& profile,
                                 const ProfileScope& scope = {}) {
  std::vector<std::string> rows = csv_rows(profile_report(report).table(profile, scope));
  rows.erase(rows.begin());
  return rows;
}

template <class Function>
std::string refusal(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

class ProfileOfASample : public ::testing::Test {
 protected:
  ProfileOfASample() {
    const trace::Trace first = test::sample_trace_with_pause();
    trace::write_trace(file, first);
    trace::write_trace(file, test::moved(first, "conv/later@1000", 20'000));
  }

  [[nodiscard]] Trace first_case() const { return trace::read_trace(file, {.cases = {"conv/streams@1000"}}); }

  test::TemporaryDirectory directory;
  fs::path file = directory.path() / "trace.sqlite";
};

TEST(Spread, IsThatOfNsys) {
  std::vector<std::int64_t> odd{30, 10, 20}, even{40, 10, 20, 30}, one{7};
  const Spread three = spread_of(odd), four = spread_of(even), single = spread_of(one);
  EXPECT_EQ(three.total, 60);
  EXPECT_EQ(three.count, 3);
  EXPECT_EQ(three.median, 20);
  EXPECT_EQ(three.smallest, 10);
  EXPECT_EQ(three.largest, 30);
  EXPECT_DOUBLE_EQ(three.deviation, 10);  // over n - 1
  EXPECT_EQ(four.median, 25);
  EXPECT_DOUBLE_EQ(four.deviation, std::sqrt(500.0 / 3));
  EXPECT_EQ(single.deviation, 0);
}

TEST_F(ProfileOfASample, SumsKernelsByName) {
  EXPECT_EQ(rows_of("cuda_gpu_kern_sum", first_case()),
            (std::vector<std::string>{"81.0,2780,3,926.7,900.0,80,1800,860.3,void mprof::tiled<16>(float*)",
                                      "19.0,650,3,216.7,150.0,100,400,160.7,scale"}));
}

TEST_F(ProfileOfASample, SumsCallsUnderTheNamesOfNsys) {
  // The version of four digits goes, that of five stays; driver calls are listed beside the runtime's.
  EXPECT_EQ(
      rows_of("cudaapisum", first_case()),
      (std::vector<std::string>{
          "33.6,950,1,950.0,950.0,950,950,0.0,cudaStreamSynchronize",
          "29.3,830,2,415.0,415.0,190,640,318.2,cudaDeviceSynchronize",
          "17.7,500,1,500.0,500.0,500,500,0.0,cudaFree", "7.1,200,1,200.0,200.0,200,200,0.0,cudaMalloc",
          "4.2,120,3,40.0,40.0,30,50,10.0,cudaLaunchKernel", "3.9,110,2,55.0,55.0,40,70,21.2,cudaMemcpyAsync",
          "3.2,90,1,90.0,90.0,90,90,0.0,cudaGraphLaunch_v10000",
          "0.7,20,1,20.0,20.0,20,20,0.0,cuLaunchKernel", "0.4,10,1,10.0,10.0,10,10,0.0,cudaGetLastError"}));
}

TEST_F(ProfileOfASample, LeavesOutWhatMprofDoesInPausesUnlessAsked) {
  EXPECT_EQ(rows_of("gpumemtimesum", first_case()),
            (std::vector<std::string>{"50.0,400,1,400.0,400.0,400,400,0.0,[CUDA memcpy Device-to-Host]",
                                      "50.0,400,1,400.0,400.0,400,400,0.0,[CUDA memcpy Host-to-Device]"}));
  const Trace all = trace::read_trace(file, {.cases = {"conv/streams@1000"}, .with_pauses = true});
  EXPECT_EQ(rows_of("cuda_gpu_mem_time_sum", all).size(), 3U);
  EXPECT_EQ(rows_of("cuda_api_sum", all).size(), rows_of("cuda_api_sum", first_case()).size() + 1);
  EXPECT_EQ(rows_of("nvtx_pushpop_sum", all).size(), rows_of("nvtx_pushpop_sum", first_case()).size() + 1);
}

TEST_F(ProfileOfASample, SumsSizesInMegabytes) {
  const Trace all = trace::read_trace(file, {.with_pauses = true});
  EXPECT_EQ(
      csv_rows(profile_report("gpumemsizesum").table(all)),
      (std::vector<std::string>{"Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation",
                                "2.097,2,1.049,1.049,1.049,1.049,0.000,[CUDA memset]",
                                "0.008,2,0.004,0.004,0.004,0.004,0.000,[CUDA memcpy Host-to-Device]",
                                "0.004,2,0.002,0.002,0.002,0.002,0.000,[CUDA memcpy Device-to-Host]"}));
}

TEST_F(ProfileOfASample, TellsGridsAndBlocksApart) {
  trace::Trace other = test::moved(test::sample_trace(), "conv/other@1000", 40'000);
  other.kernels.change_all([](trace::Kernel& kernel) { kernel.grid = trace::Size{1, 2, 3}; });
  trace::write_trace(file, other);
  const std::vector<std::string> rows = rows_of("cuda_gpu_kern_gb_sum", trace::read_trace(file));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(
      rows[0],
      "54.0,5560,6,926.7,900.0,80,1800,769.5,  28   28  100,  16   16    1,void mprof::tiled<16>(float*)");
  EXPECT_EQ(
      rows[1],
      "27.0,2780,3,926.7,900.0,80,1800,860.3,   1    2    3,  16   16    1,void mprof::tiled<16>(float*)");
}

TEST_F(ProfileOfASample, FindsEveryRangeOfAKernelsLaunch) {
  const std::vector<std::string> rows = rows_of("nvtxkernsum", first_case());
  const std::set<std::string> found(rows.begin(), rows.end());
  EXPECT_EQ(found.size(), rows.size());
  // One kernel's call is lost: it is in no range, and not left out. One was launched by another thread, and
  // one by a call that has a driver call of the same id in it.
  EXPECT_TRUE(found.contains(",,,,0,1,100,100.0,100.0,100,100,0.0,scale")) << rows.front();
  EXPECT_TRUE(found.contains(":user work,PushPop,4242,1002,1,1,400,400.0,400.0,400,400,0.0,scale"));
  EXPECT_TRUE(found.contains(
      "mprof:op,PushPop,4242,1001,2,3,2780,926.7,900.0,80,1800,860.3,void mprof::tiled<16>(float*)"));
  EXPECT_TRUE(found.contains("mprof:layer2,PushPop,4242,1001,1,1,150,150.0,150.0,150,150,0.0,scale"));
  EXPECT_EQ(rows.size(), 9U);
}

TEST_F(ProfileOfASample, TracesWorkInOrder) {
  const std::vector<std::string> rows = rows_of("gputrace", first_case());
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_EQ(rows[0],
            "420,400,11,,,,,,,,,,0.004,10240.000,Pinned,Device,NVIDIA H200 (0),1,,7,[CUDA memcpy "
            "Host-to-Device]");
  EXPECT_EQ(rows[1],
            "1600,1800,13,28,28,100,16,16,1,32,0.002,0.000,,,,,NVIDIA H200 (0),1,,7,void "
            "mprof::tiled<16>(float*)");
}

TEST_F(ProfileOfASample, FollowsKernelsFromTheirLaunches) {
  const std::vector<std::string> rows = rows_of("cuda_kern_exec_trace", first_case());
  ASSERT_EQ(rows.size(), 5U);
  // Called from 1510 to 1560, began at 1600, ended at 3400.
  EXPECT_EQ(rows[0],
            "1510,50,1560,40,1600,1800,1890,4242,1001,0,cudaLaunchKernel,  28   28  100,  16   16    1,void "
            "mprof::tiled<16>(float*)");
  const std::vector<std::string> sums = rows_of("cuda_kern_exec_sum", first_case());
  ASSERT_EQ(sums.size(), 4U);
  EXPECT_EQ(sums[0],
            "4242,1001,0,2,2,1460.0,1460.0,1030,1890,608.1,40.0,40.0,30,50,14.1,70.0,70.0,40,100,42.4,1350.0,"
            "1350.0,900,1800,636.4,cudaLaunchKernel,void mprof::tiled<16>(float*)");
}

TEST_F(ProfileOfASample, SumsCallsKernelsAndCopiesTogether) {
  const std::vector<std::string> gpu = rows_of("cuda_gpu_sum", first_case());
  const std::vector<std::string> all = rows_of("cuda_api_gpu_sum", first_case());
  EXPECT_EQ(gpu.size(), rows_of("cuda_gpu_kern_sum", first_case()).size() +
                            rows_of("cuda_gpu_mem_time_sum", first_case()).size());
  EXPECT_EQ(all.size(), gpu.size() + rows_of("cuda_api_sum", first_case()).size());
  EXPECT_NE(gpu[0].find("CUDA_KERNEL,void mprof::tiled<16>(float*)"), std::string::npos) << gpu[0];
}

TEST_F(ProfileOfASample, ProjectsRangesOnTheGpu) {
  const std::vector<std::string> rows = rows_of("nvtx_gpu_proj_sum", first_case());
  const std::set<std::string> found(rows.begin(), rows.end());
  // The one kernel that was launched in it, on the other thread: 400 ns.
  const auto user = std::ranges::find_if(
      rows, [](const std::string& row) { return row.starts_with(":user work,PushPop,400,"); });
  ASSERT_NE(user, rows.end());
  EXPECT_NE(user->find(",1,400.0,400.0,400,400,0.0,1,1.0,0.0,0.0"), std::string::npos) << *user;
  const std::vector<std::string> nested = rows_of("nvtx_pushpop_trace", first_case());
  EXPECT_TRUE(std::ranges::any_of(nested, [](const std::string& row) {
    return row.ends_with(",:1,mprof:conv/streams@1000");
  })) << nested[0];
}

TEST(ProfileText, RoundsHalvesAwayFromZero) {
  const ProfileColumn tenths{"Avg", "ns", 1};
  EXPECT_EQ(cell_text(ProfileCell(3322.25), tenths), "3,322.3");
  EXPECT_EQ(cell_text(ProfileCell(0.25), tenths), "0.3");
  EXPECT_EQ(cell_text(ProfileCell(0.75), tenths), "0.8");
  EXPECT_EQ(cell_text(ProfileCell(-0.25), tenths), "−0.3");
}

TEST_F(ProfileOfASample, HasScopesForItsCases) {
  const Trace both = trace::read_trace(file);
  ASSERT_EQ(both.cases.size(), 2U);
  EXPECT_EQ(both.cases[0].counts.dropped, 3U);
  const auto cases = trace::case_indices(both);
  ASSERT_TRUE(cases.contains("conv/later@1000"));
  const trace::CaseIndex later = cases.at("conv/later@1000");
  for (const ProfileReport& report : profile_reports()) {
    if (report.name.ends_with("_trace") || report.name.starts_with("nvtx"))
      continue;  // times, ids, names differ
    EXPECT_EQ(rows_of(report.name, both, {later}), rows_of(report.name, first_case())) << report.name;
  }
  EXPECT_NE(
      refusal([&] { (void)trace::read_trace(file, {.cases = {"conv/none@1"}}); }).find("no case conv/none@1"),
      std::string::npos);
}

TEST_F(ProfileOfASample, ReadsOnlyWhatIsAskedFor) {
  const Trace calls = trace::read_trace(file, {.parts = profile_report("cuda_api_sum").reads});
  EXPECT_FALSE(calls.calls.empty());
  EXPECT_TRUE(calls.kernels.empty() && calls.transfers.empty() && calls.ranges.empty());
}

TEST_F(ProfileOfASample, LeadingRowsTakeMoreThanTheShare) {
  const Trace profile = first_case();
  const ProfileTable all = profile_report("cuda_gpu_kern_sum").table(profile);
  EXPECT_EQ(csv_rows(leading_rows(all, 0.8)).size(), 1 + 1U);
  const std::vector<std::string> rows = csv_rows(leading_rows(all, 0.9));
  ASSERT_EQ(rows.size(), 1 + 2U);
  EXPECT_TRUE(rows[0].starts_with("Time (%),Cumulative (%),Total Time (ns),")) << rows[0];
  EXPECT_TRUE(rows[1].starts_with("81.0,81.0,2780,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("19.0,100.0,650,")) << rows[2];
}

TEST_F(ProfileOfASample, BriefNamesStayDistinct) {
  Trace profile = first_case();
  const trace::NameIndex scale = profile.names.index("scale");
  const trace::NameIndex other = profile.names.index("void mprof::tiled<8>(float*)");
  profile.kernels.change_all(
      [&](trace::Kernel& kernel) { kernel.name = kernel.name == scale ? other : kernel.name; });
  const ProfileTable table = with_brief_kernel_names(profile_report("cuda_gpu_kern_sum").table(profile));
  EXPECT_TRUE(csv_rows(table)[1].ends_with(",tiled<16>"));
  EXPECT_TRUE(csv_rows(table)[2].ends_with(",tiled<8>"));
}

// --- Exports of Nsight Systems ---

class Export : public ::testing::Test {
 protected:
  void write(const std::string& sql) const {
    sqlite::Database database(file, sqlite::Mode::write);
    database.execute(sql);
  }

  test::TemporaryDirectory directory;
  fs::path file = directory.path() / "report.sqlite";
};

TEST_F(Export, MayLackTablesAndColumns) {
  write(
      "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, 'old');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, shortName INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 10, 1), (20, 50, 1), (60, 61, 9);");
  const Trace profile = trace::read_trace(file);
  EXPECT_EQ(rows_of("gpukernsum", profile), (std::vector<std::string>{"97.6,40,2,20.0,20.0,10,30,14.1,old",
                                                                      "2.4,1,1,1.0,1.0,1,1,0.0,string 9"}));
  EXPECT_EQ(rows_of("cuda_gpu_kern_gb_sum", profile)[0], "97.6,40,2,20.0,20.0,10,30,14.1,,,old");
  EXPECT_EQ(rows_of("cuda_gpu_trace", profile)[0], "0,10,0,,,,,,,,,,,,,,0,0,,0,old");
  for (const char* report : {"cuda_api_sum", "cuda_gpu_mem_time_sum", "nvtx_pushpop_sum", "osrt_sum"}) {
    EXPECT_TRUE(rows_of(report, profile).empty()) << report;
  }
  EXPECT_TRUE(trace::traced_cases(file).empty());
}

TEST_F(Export, KnowsMoreThanMprofTraces) {
  const std::string thread = std::to_string((std::int64_t{1} << 48) | (std::int64_t{77} << 24) | 78);
  const std::string process = std::to_string((std::int64_t{1} << 48) | (std::int64_t{77} << 24));
  write(
      "CREATE TABLE StringIds (id INTEGER, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'poll'), (2, 'forward'), (3, 'torch');"
      "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, nameId INTEGER);"
      "INSERT INTO OSRT_API VALUES (0, 10, 1);"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid "
      "INTEGER, "
      "textId INTEGER, domainId INTEGER);"
      "INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, " +
      process + ", 3, 1), (5, 25, 59, NULL, " + thread + ", 2, 1), (6, 16, 59, 'inner', " + thread +
      ", NULL, 0), (7, NULL, 59, 'open', " + thread + ", NULL, 0), (8, 9, 60, 'start and end', " + thread +
      ", NULL, 0), (9, NULL, 34, 'mark', " + thread +
      ", NULL, 0);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, bytes INTEGER, copyKind INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 10, 1000000, 1), (0, 10, 1, 99), (0, 10, 2, 42);"
      "CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, label TEXT);"
      "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (42, 'Sideways');");
  const Trace profile =
      trace::read_trace(file, {.parts = {.transfers = true, .system_calls = true, .ranges = true}});
  EXPECT_EQ(rows_of("osrtsum", profile), (std::vector<std::string>{"100.0,10,1,10.0,10.0,10,10,0.0,poll"}));
  EXPECT_EQ(rows_of("nvtx_pushpop_sum", profile),
            (std::vector<std::string>{"66.7,20,1,20.0,20.0,20,20,0.0,torch:forward",
                                      "33.3,10,1,10.0,10.0,10,10,0.0,:inner"}));
  EXPECT_EQ(rows_of("cuda_gpu_mem_size_sum", profile),
            (std::vector<std::string>{"1.000,1,1.000,1.000,1.000,1.000,0.000,[CUDA memcpy Host-to-Device]",
                                      "0.000,1,0.000,0.000,0.000,0.000,0.000,[CUDA memcpy Sideways]",
                                      "0.000,1,0.000,0.000,0.000,0.000,0.000,[CUDA memcpy Unknown]"}));
}

TEST_F(Export, HasTheNumbersOfNvidiasReports) {
  const std::string process = std::to_string((std::int64_t{1} << 48) | (std::int64_t{77} << 24));
  const std::string thread = process + " + 78";
  write(
      "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, 'k'), (2, 'launch');"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid "
      "INTEGER);"
      "INSERT INTO NVTX_EVENTS VALUES (0, 1, 34, 'mark', " +
      thread + "), (30, 40, 59, 'idle', " + thread + "), (10, 20, 59, 'busy', " + thread +
      "), (5, 50, 59, 'both', " + thread +
      ");"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (11, 12, 0, " +
      thread +
      ", 4, 2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, greenContextId, streamId, "
      "correlationId, globalPid, shortName);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (15, 19, 0, 1, 3, 7, 4, " +
      process + ", 1), (25, 29, 0, 1, 0, 7, 5, " + process + ", 1);");
  const Trace profile = trace::read_trace(file);
  const std::vector<std::string> ranges = rows_of("nvtx_pushpop_trace", profile);
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_NE(ranges[0].find(",0,2,4,,:4,"), std::string::npos) << "the range is the fourth row: " << ranges[0];
  EXPECT_NE(ranges[1].find(",1,0,3,4,:4:3,"), std::string::npos) << ranges[1];
  const std::vector<std::string> projected = rows_of("nvtx_gpu_proj_trace", profile);
  ASSERT_EQ(projected.size(), 2U) << "one range launched nothing";
  EXPECT_TRUE(projected[0].ends_with(",1,0,1,4,,:4")) << "its one child with work counts: " << projected[0];
  const std::vector<std::string> work = rows_of("cuda_gpu_trace", profile);
  EXPECT_TRUE(work[0].ends_with(",1,3,7,k")) << work[0];
  EXPECT_TRUE(work[1].ends_with(",1,,7,k")) << work[1];
}

TEST_F(Export, ThatIsNoneIsRefused) {
  const fs::path text =
      directory.write("text.sqlite", "this is no database, but it is long enough to look at");
  const fs::path empty = directory.write("empty.sqlite", "");
  EXPECT_NE(refusal([&] { (void)trace::read_trace(text); }).find("this is no SQLite database"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)trace::read_trace(empty); }).find("the file is empty"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)trace::read_trace(directory.path() / "none"); }).find("No such file"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)trace::read_trace(directory.path()); }).find("it is a directory"),
            std::string::npos);
  write("CREATE TABLE recipes (name TEXT)");
  EXPECT_NE(refusal([&] { (void)trace::read_trace(file); }).find("none of a trace's tables"),
            std::string::npos);
}

Trace with_ranges(int count, const std::function<std::string(int)>& name) {
  Trace trace;
  for (int i = 0; i < count; ++i)
    trace.ranges.push_back(
        {.time = {i * 100, i * 100 + 10 + i}, .thread = 5, .name = trace.names.index(name(i))});
  return trace;
}

ProfileTable folded(const Trace& trace, std::size_t most) {
  return profile_report("nvtx_pushpop_sum").table(trace, {.only = {}, .most_range_names = most});
}

TEST(FoldedRanges, NamesThatDifferInNumbersAreOneRowWhereThereAreTooMany) {
  const Trace trace =
      with_ranges(100, [](int i) { return fmt::format(":aten::mm, op_id = {}", 300000 + i); });
  EXPECT_EQ(folded(trace, 0).rows, 100U);
  EXPECT_EQ(folded(trace, 100).rows, 100U);
  const ProfileTable table = folded(trace, 99);
  ASSERT_EQ(table.rows, 1U);
  EXPECT_EQ(std::get<std::string>(cell_below(table, "Range", table.row(0))), ":aten::mm, op_id = #");
  EXPECT_EQ(std::get<std::int64_t>(cell_below(table, "Instances", table.row(0))), 100);
}

TEST(FoldedRanges, OfOtherNamesTheShortestAreOneRow) {
  const Trace trace =
      with_ranges(40, [](int i) { return ":" + std::string(static_cast<std::size_t>(i) + 1, 'x'); });
  const ProfileTable table = folded(trace, 10);
  ASSERT_EQ(table.rows, 10U);
  std::int64_t instances = 0;
  bool has_others = false;
  for (std::size_t i = 0; i < table.rows; ++i) {
    const ProfileRow row = table.row(i);
    instances += std::get<std::int64_t>(cell_below(table, "Instances", row));
    has_others = has_others || std::get<std::string>(cell_below(table, "Range", row)) == "31 other names";
  }
  EXPECT_EQ(instances, 40) << "each range counts once";
  EXPECT_TRUE(has_others);
}

// --- Names, formats, reasons ---

TEST(ProfileReports, HaveTheirOlderNames) {
  for (const ProfileReport& report : profile_reports()) {
    EXPECT_EQ(&profile_report(report.name), &report);
    EXPECT_EQ(&profile_report(report.older_name), &report);
  }
  EXPECT_NE(refusal([] { (void)profile_report("gpukernsm"); }).find("Did you mean gpukernsum"),
            std::string::npos);
}

TEST(ProfileFormats, QuoteAndGroup) {
  ProfileTable table{"t", "Title", "nothing", {{"Time", "%", 1}, {"Count"}, {"Name", "", 0, true}}, 1, {}};
  table.row = [](std::size_t) { return ProfileRow{12.34, std::int64_t{1234567}, "a,\"b\""}; };
  EXPECT_EQ(render_profile(std::vector{table}, "csv"), "Time (%),Count,Name\n12.3,1234567,\"a,\"\"b\"\"\"\n");
  EXPECT_EQ(
      render_profile(std::vector{table}, "table"),
      "Title (t)\n\nTime (%)      Count  Name\n--------  ---------  ----\n    12.3  1,234,567  a,\"b\"\n");
  EXPECT_EQ(render_profile(std::vector{table}, "json"),
            "{\n  \"schema\": \"mprof.stats/1\",\n  \"tables\": {\n    \"t\": [\n      {\"Time "
            "(%)\":12.3,\"Count\":1234567,\"Name\":\"a,\\\"b\\\"\"}\n    ]\n  }\n}\n");
  table.rows = 0;
  EXPECT_EQ(render_profile(std::vector{table}, "table"), "Title (t)\n\nNothing.\n");
  EXPECT_EQ(render_profile(std::vector{table}, "json"),
            "{\n  \"schema\": \"mprof.stats/1\",\n  \"tables\": {\n    \"t\": []\n  }\n}\n");
  EXPECT_NE(refusal([&] { (void)render_profile(std::vector{table}, "cvs"); }).find("Did you mean csv?"),
            std::string::npos);
}

}  // namespace
}  // namespace mprof
