// SPDX-License-Identifier: MIT
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "messages.hpp"
#include "model/json_archive.hpp"
#include "sample_run.hpp"

namespace mprof {
namespace {

using json::Json;
using test::counter;
using test::expect_contains;
using test::message_of;
using Measurements = std::vector<Measurement>;

Measurements read_back(const Json& list) {
  Measurements measurements;
  Allowance allowance;
  const std::string text = json::print(list);
  json::read(json::Document(text, "list", allowance).root(), json::Place("list", allowance), measurements);
  return measurements;
}

Json written(const Measurements& measurements) {
  const Json list = json::to_json(measurements);
  EXPECT_EQ(read_back(list), measurements) << list;
  return list;
}

bool is_table(const Json& element) {
  return element.contains("columns");
}

TEST(MeasurementTable, HasTheNamesOnceAndTheValuesInColumns) {
  const Json list =
      written({counter("dram__bytes.sum", "layer1", "pack", 1), counter("cycles", "layer1", "pack", 2),
               counter("dram__bytes.sum", "layer1", "conv", 3), counter("cycles", "layer1", "conv", 4),
               counter("dram__bytes.sum", "layer2", "conv", 5), counter("cycles", "layer2", "conv", 6)});
  EXPECT_EQ(list, Json::parse(R"([{
    "kernels": {"op": ["layer1", "layer1", "layer2"], "kernel": ["pack", "conv", "conv"]},
    "columns": {"dram__bytes.sum": [1.0, 3.0, 5.0], "cycles": [2.0, 4.0, 6.0]}}])"));
}

TEST(MeasurementTable, AReasonStandsInThePlaceOfItsValueAndNullWhereNothingWasRecorded) {
  Measurement absent = counter("cycles", "layer1", "conv", 0);
  absent.samples.clear();
  absent.absent = "it overflowed";
  const Json list =
      written({counter("bytes", "layer1", "pack", 1), counter("cycles", "layer1", "pack", 2),
               counter("time", "layer1", "pack", 3), absent, counter("time", "layer1", "conv", 4)});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0]["columns"]["bytes"], Json::parse("[1.0, null]"));
  EXPECT_EQ(list[0]["columns"]["cycles"], Json::parse(R"([2.0, "it overflowed"])"));
  EXPECT_EQ(list[0]["columns"]["time"], Json::parse("[3.0, 4.0]"));
}

TEST(MeasurementTable, WhatIsNoCellIsARow) {
  Measurement several = counter("bytes", "layer1", "conv", 1);
  several.samples = {1, 2, 3};
  Measurement modelled = counter("bytes", "layer1", "conv", 1);
  modelled.source = Source::modelled;
  Measurement empty = counter("bytes", "layer1", "conv", 1);
  empty.samples.clear();
  Measurement both = counter("bytes", "layer1", "conv", 1);
  both.absent = "and a reason";
  const Measurement of_op = counter("bytes", "layer1", "", 1);
  const Measurement alone = counter("bytes", "layer1", "conv", 1);
  for (const Measurement& m : {several, modelled, empty, both, of_op, alone}) {
    const Json list = written({m});
    ASSERT_EQ(list.size(), 1U);
    EXPECT_FALSE(is_table(list[0])) << list;
  }
}

/// The trace pass has the kernels of an op among the rows of the op.
TEST(MeasurementTable, KeepsItsPlaceAmongTheRows) {
  const Json list = written(
      {counter("gpu_time", "layer1", "", 1), counter("kernel_time", "layer1", "conv", 2),
       counter("kernel_instances", "layer1", "conv", 3), counter("overlap", "layer1", "", 4),
       counter("kernel_time", "layer2", "conv", 5), counter("kernel_instances", "layer2", "conv", 6)});
  ASSERT_EQ(list.size(), 4U);
  EXPECT_FALSE(is_table(list[0]));
  EXPECT_TRUE(is_table(list[1]));
  EXPECT_FALSE(is_table(list[2]));
  EXPECT_TRUE(is_table(list[3]));
}

/// Whatever is recorded of whatever kernels in whatever order reads back as it was.
TEST(MeasurementTable, AnyOrderReadsBack) {
  const std::vector<std::string> metrics{"a", "b", "c"};
  const std::vector<std::string> kernels{"k", "l", ""};
  std::uint32_t state = 1;
  const auto random = [&](std::size_t bound) {
    state = state * 1664525U + 1013904223U;
    return (state >> 16) % bound;
  };
  std::size_t tables = 0;
  for (int round = 0; round < 2000; ++round) {
    Measurements measurements;
    for (std::size_t i = random(12); i > 0; --i) {
      measurements.push_back(counter(metrics[random(3)], random(2) == 0 ? "op" : "", kernels[random(3)],
                                     static_cast<double>(i)));
      if (random(5) == 0) {
        measurements.back().samples.clear();
        measurements.back().absent = "none";
      }
    }
    for (const Json& element : written(measurements)) tables += is_table(element) ? 1U : 0U;
  }
  EXPECT_GT(tables, 1000U);
}

TEST(MeasurementTable, KeepsEveryBit) {
  const std::vector<double> values{
      0.1, -0.0, 5e-324, 1e300, 3.0000000000000004, 9007199254740993.0, std::numeric_limits<double>::max()};
  Measurements measurements;
  for (const double value : values)
    measurements.push_back(counter("bytes", "op", "k" + std::to_string(value), value));
  const Measurements back = read_back(json::to_json(measurements));
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back[i].samples[0]), std::bit_cast<std::uint64_t>(values[i]));
}

TEST(MeasurementTable, IsRefusedByFieldAndValue) {
  const auto refusal = [](const std::string& text) {
    return message_of([&] { static_cast<void>(read_back(Json::parse(text))); });
  };
  const std::string kernels = R"("kernels": {"op": ["a", "b"], "kernel": ["k", "k"]})";
  expect_contains(refusal(R"([{"columns": {}}])"), "list[0]: the field \"kernels\" is missing");
  expect_contains(refusal(R"([{"kernels": {"op": ["a"]}, "columns": {}}])"),
                  "list[0].kernels: the field \"kernel\" is missing");
  expect_contains(refusal(R"([{"kernels": {"op": ["a"], "kernel": []}, "columns": {}}])"),
                  "list[0].kernels.op: expected 0 names, one a kernel");
  expect_contains(refusal("[{" + kernels + R"(, "columns": []}])"), "list[0].columns: expected an object");
  expect_contains(refusal("[{" + kernels + R"(, "columns": {"m": [1]}}])"),
                  "list[0].columns.m: expected 2 cells, one a kernel, found [1]");
  expect_contains(refusal("[{" + kernels + R"(, "columns": {"m": [1, true]}}])"),
                  "list[0].columns.m[1]: expected a number, the reason of its absence, or null, found true");
  expect_contains(refusal(R"([7])"), "list[0]: expected an object, found 7");
}

/// As many metrics as kernels.
std::string square_table(std::size_t names, const std::string& metric) {
  std::string kernels, cells, columns;
  for (std::size_t i = 0; i < names; ++i) {
    kernels += i == 0 ? "\"\"" : ",\"\"";
    cells += i == 0 ? "0" : ",0";
  }
  for (std::size_t i = 0; i < names; ++i)
    columns += fmt::format("{}\"{}{}\":[{}]", i == 0 ? "" : ",", metric, i, cells);
  return fmt::format(R"([{{"kernels":{{"op":[{0}],"kernel":[{0}]}},"columns":{{{1}}}}}])", kernels, columns);
}

/// A cell of two bytes becomes a measurement of hundreds.
TEST(MeasurementTable, OfMoreThanItsFileMayTakeIsRefused) {
  const std::string text = square_table(1500, "m");
  Allowance allowance;
  Measurements measurements;
  expect_contains(
      message_of([&] {
        json::read(json::Document(text, "case.json", allowance).root(), json::Place("case.json", allowance),
                   measurements);
      }),
      "case.json[0]: reading it takes more memory than 256 MiB and three times the size of its files");
}

/// A name of a hundred kilobytes for ten thousand cells was a gigabyte once.
TEST(MeasurementTable, KeepsANameOnce) {
  const std::string text = square_table(100, std::string(100'000, 'm'));
  Allowance allowance;
  Measurements measurements;
  json::read(json::Document(text, "case.json", allowance).root(), json::Place("case.json", allowance),
             measurements);
  ASSERT_EQ(measurements.size(), 10'000U);
  EXPECT_EQ(&measurements[0].metric.text(), &measurements[100].metric.text());
}

}  // namespace
}  // namespace mprof
