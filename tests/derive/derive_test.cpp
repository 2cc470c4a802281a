// SPDX-License-Identifier: MIT
#include "model/derive/derive.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/trace/writer.hpp"
#include "system/error.hpp"
#include "tests/support/measurements.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using test::row_of;

/// A case that was timed and traced, with its trace beside it.
class DeriveTest : public ::testing::Test {
 protected:
  DeriveTest() {
    trace::Recording recording = test::sample_recording();
    trace::attribute(recording);
    trace::write_trace(directory.path() / "trace.sqlite", recording.trace);
    run.variants.push_back({.id = "family/variant", .device = "cpu"});
    run.ceilings = {{"fp32_flop_rate", "cpu", 10'000.0, "", ""}};
    Case& subject = run.cases.emplace_back();
    subject.id = recording.trace.cases[0].id;
    subject.key.variant = "family/variant";
    subject.ops = {{.name = "layer1", .flops = 1000, .bytes = 64}};
    subject.passes = {{.pass = Pass::timing, .status = Status::ok},
                      {.pass = Pass::trace, .status = Status::ok}};
    timing().measurements = {{"op_time", "layer1", "", Source::measured, {0.5}, ""},
                             {"group_time", "layer1", "", Source::measured, {1e-6}, ""}};
  }

  [[nodiscard]] PassResult& timing() { return run.cases[0].passes[0]; }
  [[nodiscard]] PassResult& traced() { return run.cases[0].passes[1]; }

  test::TemporaryDirectory directory;
  mprof::Run run;
};

TEST_F(DeriveTest, AddsWhatFollowsToThePassThatItFollowsFrom) {
  derive(run, directory.path());
  EXPECT_EQ(row_of(timing().measurements, "flop_rate", "layer1").samples.at(0), 2000);
  EXPECT_EQ(row_of(timing().measurements, "compute_throughput", "layer1").samples.at(0), 20);
  EXPECT_NEAR(row_of(traced().measurements, "gpu_time", "layer1").samples.at(0), 1800e-9, 1e-15);
  EXPECT_NEAR(row_of(traced().measurements, "trace_overhead").samples.at(0), 5.19, 1e-9);
  EXPECT_EQ(row_of(traced().measurements, "dropped_records").samples.at(0), 3);
}

TEST_F(DeriveTest, WhatWasCountedWithoutADurationIsOfNoWholeLaunch) {
  const auto counted = [](const char* kernel, const char* metric, std::vector<double> samples,
                          const char* absent = "") {
    return Measurement{metric, "layer1", kernel, Source::measured, std::move(samples), absent};
  };
  PassResult& counters = run.cases[0].passes.emplace_back();
  counters = {.pass = Pass::counters, .status = Status::ok};
  counters.measurements = {counted("whole", "gpu__time_duration.sum", {1e-3}),
                           counted("whole", "sm__cycles_active.avg", {9}),
                           counted("torn", "gpu__time_duration.sum", {},
                                   "the hardware gave no number: nothing of the kind happened"),
                           counted("torn", "sm__cycles_active.avg", {7}),
                           counted("torn", "launch__grid_size", {80}),
                           counted("unasked", "gpu__time_duration.sum", {}, "it was launched too seldom"),
                           counted("unasked", "sm__cycles_active.avg", {5})};
  derive(run, directory.path());
  std::vector<std::size_t> samples;
  for (const Measurement& m : run.cases[0].passes[2].measurements) samples.push_back(m.samples.size());
  EXPECT_EQ(samples, (std::vector<std::size_t>{1, 1, 0, 0, 1, 0, 1}));
  EXPECT_NE(run.cases[0].passes[2].measurements[3].absent.find("no"), std::string::npos);
}

TEST_F(DeriveTest, ATraceThatALinkTakesFromElsewhereIsRefused) {
  const test::TemporaryDirectory other;
  fs::rename(directory.path() / "trace.sqlite", other.path() / "trace.sqlite");
  fs::create_symlink(other.path() / "trace.sqlite", directory.path() / "trace.sqlite");
  try {
    derive(run, directory.path());
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("trace.sqlite leads out of"), std::string::npos) << error.what();
  }
}

TEST_F(DeriveTest, TwiceIsAsGoodAsOnce) {
  derive(run, directory.path());
  const mprof::Run once = run;
  derive(run, directory.path());
  EXPECT_EQ(run, once);
}

TEST_F(DeriveTest, ReplacesWhatAnEarlierVersionStored) {
  timing().measurements.push_back({"flop_rate", "layer1", "", Source::modelled, {1}, ""});
  traced().measurements = {{"gpu_time", "layer1", "", Source::measured, {1}, ""},
                           {"kernel_time", "layer1", "tiled", Source::measured, {1}, ""}};
  derive(run, directory.path());
  EXPECT_EQ(row_of(timing().measurements, "flop_rate", "layer1").samples.at(0), 2000);
  EXPECT_NEAR(row_of(traced().measurements, "gpu_time", "layer1").samples.at(0), 1800e-9, 1e-15);
  EXPECT_NEAR(traced().measurements[1].samples.at(0), 2700e-9, 1e-15);
}

TEST_F(DeriveTest, KeepsWhatItCannotCompute) {
  fs::remove(directory.path() / "trace.sqlite");
  run.ceilings.clear();
  timing().measurements.push_back({"compute_throughput", "layer1", "", Source::modelled, {7}, ""});
  traced().measurements = {{"gpu_time", "layer1", "", Source::measured, {1}, ""}};
  derive(run, directory.path());
  EXPECT_EQ(row_of(timing().measurements, "compute_throughput", "layer1").samples.at(0), 7);
  EXPECT_EQ(traced().measurements.size(), 1U);
  EXPECT_EQ(row_of(traced().measurements, "gpu_time", "layer1").samples.at(0), 1);
}

TEST_F(DeriveTest, TakesNothingFromTheTraceOfAPassThatDidNotEndWell) {
  for (const Status status : {Status::crashed, Status::pending, Status::interrupted}) {
    traced().status = status;
    derive(run, directory.path());
    EXPECT_TRUE(traced().measurements.empty()) << to_string(status);
  }
}

TEST_F(DeriveTest, LeavesACaseAloneThatTheTraceDoesNotHave) {
  run.cases[0].id = "family/variant@another";
  derive(run, directory.path());
  EXPECT_TRUE(traced().measurements.empty());
}

TEST_F(DeriveTest, RefusesATraceThatIsNoneByItsName) {
  directory.write("trace.sqlite", "no database");
  try {
    derive(run, directory.path());
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("trace.sqlite"), std::string::npos) << error.what();
  }
}

// --- A run of the first schema version, which stored what is derived now ---

const fs::path recorded = fs::path(MPROF_SOURCE_DIR) / "tests/golden/v1/whole";

std::string as_today(const std::string& metric) {
  const std::map<std::string, std::string> renamed{{"layer_time", "group_time"},
                                                   {"traced_layer_time", "traced_group_time"}};
  const auto found = renamed.find(metric);
  return found == renamed.end() ? metric : found->second;
}

template <class Enumeration>
Enumeration named(const nlohmann::json& text) {
  Enumeration value{};
  EXPECT_TRUE(from_string(text.get<std::string>(), value)) << text;
  return value;
}

/// What derive() looks at, read without the code that migrates records.
Run recorded_run() {
  const nlohmann::json record = nlohmann::json::parse(std::ifstream(recorded / "run.json"));
  mprof::Run run;
  for (const auto& row : record.at("variants"))
    run.variants.push_back({.id = row.at("id"), .device = row.at("device")});
  for (const auto& row : record.at("ceilings")) {
    Ceiling& ceiling = run.ceilings.emplace_back(Ceiling{row.at("id"), row.at("device"), {}, "", ""});
    if (row.contains("value")) ceiling.value = row.at("value").get<double>();
  }
  for (const auto& row : record.at("cases")) {
    Case& subject = run.cases.emplace_back();
    subject.id = row.at("id");
    subject.key.variant = row.at("key").at("variant");
    for (const auto& op : row.at("ops"))
      subject.ops.push_back({.name = op.at("name"), .flops = op.at("flops"), .bytes = op.at("bytes")});
    for (const auto& pass : row.at("passes")) {
      PassResult& result = subject.passes.emplace_back();
      result.pass = named<Pass>(pass.at("pass"));
      result.status = named<Status>(pass.at("status"));
      for (const auto& m : pass.at("measurements")) {
        result.measurements.push_back({as_today(m.at("metric")), m.value("op", ""), m.value("kernel", ""),
                                       named<Source>(m.at("source")),
                                       m.value("samples", std::vector<double>{}), m.value("absent", "")});
      }
    }
  }
  return run;
}

using RowKey = std::tuple<std::string, std::string, std::string>;

RowKey key_of(const Measurement& row) {
  return {row.metric, row.op, row.kernel};
}

bool is_derived(const PassResult& pass, const Measurement& row) {
  static const std::set<std::string> modelled{
      "flops", "bytes", "flop_rate", "byte_rate", "compute_throughput", "memory_throughput"};
  return pass.pass == Pass::trace || (pass.pass == Pass::timing && modelled.contains(row.metric));
}

bool is_close(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) > 1e-9 * std::max(std::abs(a[i]), std::abs(b[i]))) return false;
  }
  return true;
}

TEST(DeriveOfARecordedRun, GivesWhatTheRunStored) {
  const mprof::Run stored = recorded_run();
  mprof::Run again = stored;
  std::size_t taken_out = 0;
  for (Case& subject : again.cases) {
    for (PassResult& pass : subject.passes)
      taken_out += std::erase_if(pass.measurements, [&](const auto& row) { return is_derived(pass, row); });
  }
  EXPECT_GT(taken_out, 5000U);
  derive(again, recorded);
  ASSERT_EQ(again.cases.size(), stored.cases.size());
  for (std::size_t c = 0; c < stored.cases.size(); ++c) {
    for (std::size_t p = 0; p < stored.cases[c].passes.size(); ++p) {
      std::map<RowKey, Measurement> derived;
      for (const Measurement& row : again.cases[c].passes[p].measurements) {
        if (row.metric == "gpu_kernel_alone_time" || row.metric == "forward_copy_time" ||
            row.metric == "gpu_memory")
          continue;  // younger
        EXPECT_TRUE(derived.emplace(key_of(row), row).second)
            << stored.cases[c].id << " " << row.metric.text();
      }
      EXPECT_EQ(derived.size(), stored.cases[c].passes[p].measurements.size()) << stored.cases[c].id;
      for (const Measurement& row : stored.cases[c].passes[p].measurements) {
        const auto found = derived.find(key_of(row));
        ASSERT_NE(found, derived.end()) << stored.cases[c].id << " " << row.metric.text() << " "
                                        << row.op.text() << " " << row.kernel.text();
        EXPECT_TRUE(is_close(found->second.samples, row.samples))
            << stored.cases[c].id << " " << row.metric.text() << " " << row.op.text() << " "
            << row.kernel.text() << ": " << testing::PrintToString(found->second.samples) << " and not "
            << testing::PrintToString(row.samples);
        EXPECT_EQ(found->second.absent, row.absent) << stored.cases[c].id << " " << row.metric.text();
        EXPECT_EQ(found->second.source, row.source) << stored.cases[c].id << " " << row.metric.text();
      }
    }
  }
}

/// Looked at as if their executions had been compared: of what libraries, FP16 and tensor cores do nothing is
/// said. conv/streams worked outside forward() when that was recorded.
TEST(DeriveOfARecordedRun, FindsOneTimeOnlyThatIsNotOfItsWork) {
  mprof::Run run = recorded_run();
  for (Case& subject : run.cases) {
    for (PassResult& pass : subject.passes) {
      if (pass.pass == Pass::timing) pass.scrutiny = Scrutiny{.executions = 7, .orders = 8, .unseen = 1};
    }
  }
  derive(run, recorded);
  std::set<std::string> suspects;
  for (const Case& subject : run.cases) {
    const PassResult& timing = *find_pass(subject, Pass::timing);
    if (timing.status == Status::suspect)
      suspects.insert(subject.key.variant + ": " + timing.reason.substr(0, 27));
  }
  EXPECT_EQ(suspects, std::set<std::string>{"conv/streams: in the trace the GPU works "});
}

}  // namespace
}  // namespace mprof
