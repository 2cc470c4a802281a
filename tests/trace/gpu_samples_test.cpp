// SPDX-License-Identifier: MIT
#include "model/trace/gpu_samples.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace/joiner.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/program.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/tallies.hpp"
#include "model/trace/writer.hpp"
#include "tests/support/fabricated_export.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string sm_name(info_of(GpuMetric::sm_active).name);
const std::string dram_name(info_of(GpuMetric::dram_read).name);
constexpr const char* training = "program/train";

GpuSamples ending_at(std::initializer_list<std::int64_t> ends) {
  GpuSamples samples;
  samples.curves.push_back({.name = sm_name});
  for (const std::int64_t end : ends) {
    samples.times.push_back({end, end});
    samples.curves.front().values.push_back(static_cast<float>(end));
  }
  find_beginnings(samples);
  return samples;
}

TEST(GpuSamples, ASampleBeginsWhereTheOneBeforeItEnded) {
  const GpuSamples samples = ending_at({100, 200, 301, 400});
  EXPECT_EQ(samples.interval, 100);
  EXPECT_THAT(samples.times,
              ElementsAre(Interval{0, 100}, Interval{100, 200}, Interval{200, 301}, Interval{301, 400}));
}

TEST(GpuSamples, AfterAGapItIsAsLongAsOthers) {
  EXPECT_THAT(ending_at({100, 200, 300, 700, 800}).times,
              ElementsAre(Interval{0, 100}, Interval{100, 200}, Interval{200, 300}, Interval{600, 700},
                          Interval{700, 800}));
}

TEST(GpuSamples, WhatTheClockOrdersWronglyIsLeftOut) {
  const GpuSamples samples = ending_at({100, 200, 150, 200, 300});
  EXPECT_THAT(samples.times, ElementsAre(Interval{0, 100}, Interval{100, 200}, Interval{200, 300}));
  EXPECT_THAT(samples.curves.front().values, ElementsAre(100.F, 200.F, 300.F));
}

TEST(GpuSamples, OfAPartThoseThatLieWhollyInItAreKept) {
  GpuSamples samples = ending_at({100, 200, 300, 400, 500});
  keep_within(samples, {150, 400});
  EXPECT_THAT(samples.times, ElementsAre(Interval{200, 300}, Interval{300, 400}));
  EXPECT_THAT(samples.curves.front().values, ElementsAre(300.F, 400.F));
  keep_within(samples, {1000, 2000});
  EXPECT_THAT(samples.times, IsEmpty());
}

TEST(GpuSamples, EachMetricHasOneRow) {
  std::set<std::string_view> names, keys;
  for (const GpuMetricInfo& one : gpu_metrics()) {
    EXPECT_TRUE(names.insert(one.name).second && keys.insert(one.key).second) << one.key;
    EXPECT_EQ(gpu_metric_named(one.name), &one);
    EXPECT_EQ(&info_of(one.id), &one);
  }
  EXPECT_EQ(gpu_metric_named("SMs Active"), nullptr);
}

/// A case of two seconds with four samples of each of its GPUs.
Trace sampled(const std::string& case_id, std::uint32_t pid, const std::vector<std::string>& uuids,
              float value) {
  Trace trace;
  trace.epoch = 1'700'000'000'000'000'000 + pid;
  trace.cases = {{.id = case_id, .process = nsys::global_process(pid), .window = {0, 1000}}};
  for (std::uint32_t gpu = 0; gpu < uuids.size(); ++gpu) {
    trace.kernels.push_back({.time = {10, 20},
                             .correlation = 1 + gpu,
                             .process = nsys::global_process(pid),
                             .name = trace.names.index("k"),
                             .in_case = 0,
                             .queue = {.device = gpu, .context = 1 + gpu, .stream = 7}});
    trace.gpus.push_back({.id = gpu, .name = "NVIDIA H200", .uuid = "GPU-" + uuids[gpu]});
    GpuSamples samples = ending_at({100, 200, 300, 700});
    samples.device = gpu;
    samples.curves.front().values = {value, value + 1, std::nanf(""), value + static_cast<float>(gpu)};
    samples.curves.push_back({.name = dram_name, .values = {1, 2, 3, 4}});
    trace.gpu_samples.push_back(samples);
  }
  return trace;
}

class StoredGpuSamples : public ::testing::Test {
 protected:
  /// Of a case: "GPU's UUID: values of the SMs".
  static std::vector<std::string> texts(const std::filesystem::path& file, const std::string& case_id) {
    const Trace read = read_trace(file, {.parts = every_part, .cases = {case_id}});
    std::vector<std::string> all;
    for (const GpuSamples& samples : read.gpu_samples) {
      const auto gpu = std::ranges::find(read.gpus, samples.device, &Gpu::id);
      all.push_back(fmt::format("{}: {}", gpu == read.gpus.end() ? "?" : nsys::bare_uuid(gpu->uuid),
                                fmt::join(samples.curves.front().values, " ")));
    }
    return all;
  }

  test::TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "trace.sqlite";
};

TEST_F(StoredGpuSamples, AreReadAsTheyWereWritten) {
  const Trace trace = sampled("program/a", 100, {"aa", "bb"}, 50);
  write_trace(file, trace);
  const Trace read = read_trace(file, {.parts = every_part});
  ASSERT_EQ(read.gpu_samples.size(), 2);
  const GpuSamples& of_first = read.gpu_samples.front();
  EXPECT_EQ(of_first.interval, 100);
  EXPECT_THAT(of_first.times,
              ElementsAre(Interval{0, 100}, Interval{100, 200}, Interval{200, 300}, Interval{600, 700}));
  EXPECT_EQ(of_first.curves.at(1), trace.gpu_samples.front().curves.at(1));
  EXPECT_TRUE(std::isnan(of_first.curves.front().values.at(2)));
  EXPECT_THAT(texts(file, "program/a"), ElementsAre("aa: 50 51 nan 50", "bb: 50 51 nan 51"));
  const sqlite::Database database(file, sqlite::Mode::read);
  EXPECT_EQ(database.number("SELECT rawTimestamp FROM GPU_METRICS ORDER BY timestamp LIMIT 1"),
            trace.epoch + 100)
      << "ns since 1970";
  EXPECT_EQ(database.number("SELECT count(*) FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING (typeId, "
                            "metricId) WHERE metricName LIKE 'SMs Active%' AND typeId & 255 = 1"),
            3);
  EXPECT_TRUE(read_trace(file, {.parts = shown_parts}).gpu_samples.empty()) << "nobody asked for them";
}

TEST_F(StoredGpuSamples, AnotherExecutionOfACaseReplacesItsOwnAlone) {
  write_trace(file, sampled("program/a", 100, {"aa"}, 10));
  write_trace(file, sampled("program/b", 200, {"bb"}, 20));
  write_trace(file, sampled("program/a", 300, {"aa"}, 30));
  EXPECT_THAT(texts(file, "program/a"), ElementsAre("aa: 30 31 nan 30"));
  EXPECT_THAT(texts(file, "program/b"), ElementsAre("bb: 20 21 nan 20"));
  Trace without = sampled("program/a", 400, {"aa"}, 40);
  without.gpu_samples.clear();
  write_trace(file, without);
  EXPECT_THAT(texts(file, "program/a"), IsEmpty());
  EXPECT_THAT(texts(file, "program/b"), ElementsAre("bb: 20 21 nan 20"));
}

TEST_F(StoredGpuSamples, JoinedFilesKeepWhoseTheyAre) {
  const std::filesystem::path other = folder.path() / "other.sqlite";
  write_trace(file, sampled("program/a", 100, {"aa"}, 10));
  write_trace(other, sampled("program/b", 200, {"bb", "aa"}, 20));
  add_cases({other}, file);
  EXPECT_THAT(texts(file, "program/a"), ElementsAre("aa: 10 11 nan 10"));
  EXPECT_THAT(texts(file, "program/b"),
              ::testing::UnorderedElementsAre("bb: 20 21 nan 20", "aa: 20 21 nan 21"));
}

TEST_F(StoredGpuSamples, AnExportIsReadAsOneOfNsightSystems) {
  write_export(file, sampled("program/a", 100, {"aa"}, 10));
  Trace read = read_trace(file, {.parts = every_part});
  ASSERT_EQ(read.gpu_samples.size(), 1);
  EXPECT_EQ(read.gpu_samples.front().interval, 100);
  EXPECT_EQ(read.gpu_samples.front().in_case, no_case);
  ASSERT_FALSE(make_program_case(read, {.case_id = "program/c"}).empty());
  EXPECT_THAT(read.gpu_samples, IsEmpty()) << "none lies in the 10 ns of its work";
}

TEST_F(StoredGpuSamples, RowsOfNsightSystemsMayComeMetricByMetric) {
  test::write_export(file, test::export_schemas().back());
  {
    sqlite::Database database(file, sqlite::Mode::write);
    database.execute(
        "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId, metricName)");
    database.execute(
        "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 1, 'GH100', 4, 'SMs Active [Throughput %]'), (256, "
        "1, "
        "'GH100', 5, 'DRAM Read Bandwidth [Throughput %]')");
    database.execute("CREATE TABLE GPU_METRICS (rawTimestamp, timestamp, typeId, metricId, value)");
    database.execute(
        "INSERT INTO GPU_METRICS VALUES (0, 1120, 256, 4, 2), (0, 1110, 256, 4, 1), (0, 1130, 256, 4, 3), "
        "(0, "
        "1120, 256, 5, 20), (0, 1130, 256, 5, 30), (0, 1140, 256, 6, 9)");
  }
  const Trace read = read_trace(file, {.parts = every_part});
  ASSERT_EQ(read.gpu_samples.size(), 1);
  const GpuSamples& samples = read.gpu_samples.front();
  EXPECT_THAT(samples.times, ElementsAre(Interval{1100, 1110}, Interval{1110, 1120}, Interval{1120, 1130},
                                         Interval{1130, 1140}));
  ASSERT_EQ(samples.curves.size(), 3);
  EXPECT_EQ(find_curve(samples, GpuMetric::sm_active)->values.at(1), 2);
  EXPECT_EQ(find_curve(samples, GpuMetric::dram_read)->values.at(2), 30);
  EXPECT_TRUE(std::isnan(find_curve(samples, GpuMetric::dram_read)->values.at(0)));
  EXPECT_EQ(samples.curves.back().name, "metric 6");
}

TEST_F(StoredGpuSamples, MetricsOfFewSamplesTakeNoMoreMemoryThanTheFile) {
  test::write_export(file, test::export_schemas().back());
  {
    sqlite::Database database(file, sqlite::Mode::write);
    database.execute("CREATE TABLE GPU_METRICS (rawTimestamp, timestamp, typeId, metricId, value)");
    database.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO "
        "GPU_METRICS "
        "SELECT 0, i, 256, i % 200, 1 FROM n");
  }
  const Trace read = read_trace(file, {.parts = every_part});
  ASSERT_EQ(read.gpu_samples.size(), 1);
  const GpuSamples& samples = read.gpu_samples.front();
  EXPECT_LE(samples.curves.size() * samples.times.size(), 8 * 20'000 + 65'536);
  EXPECT_GE(samples.curves.size(), 8);
}

TEST_F(StoredGpuSamples, AreTalliedByTheOpThatWasOpen) {
  Trace trace = sampled("program/a", 100, {"aa"}, 10);
  const std::int64_t thread = nsys::global_thread(nsys::global_process(100), 1);
  const NameIndex name = trace.names.index(":step");
  trace.ranges.push_back({.time = {0, 150}, .thread = thread, .end_thread = thread, .name = name});
  trace.cases.clear();
  trace.kernels.rows().front().in_case = no_case;
  static_cast<void>(make_program_case(trace, {.case_id = training, .life = Interval{0, 1000}}));
  add_sample_tallies(trace);
  std::vector<std::string> texts;
  for (const Tally& tally : trace.tallies)
    texts.push_back(
        fmt::format("{} {}: {} of {}", tally.op, tally.name.substr(0, 3), tally.amount, tally.measured));
  EXPECT_THAT(texts, ::testing::UnorderedElementsAre("step SMs: 21 of 2", "step DRA: 3 of 2",
                                                     "outside SMs: 10 of 1", "outside DRA: 7 of 2"));
}

}  // namespace
}  // namespace mprof::trace
