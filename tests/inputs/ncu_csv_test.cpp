// SPDX-License-Identifier: MIT
#include "inputs/ncu_csv.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/inputs/expect_error.hpp"
#include "tests/support/real_file.hpp"

namespace mprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string details_head =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
    "Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
    "Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"\n";

std::string details_row(const std::string& id, const std::string& section, const std::string& label,
                        const std::string& unit, const std::string& value) {
  return "\"" + id +
         "\",\"7\",\"prog\",\"host\",\"scale(float *, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(4, 2, 1)\"," +
         "\"0\",\"9.0\",\"" + section + "\",\"" + label + "\",\"" + unit + "\",\"" + value + "\",\n";
}

std::string one_value(const std::string& value) {
  return details_head + details_row("0", "", "sm__cycles_active.avg", "cycle", value);
}

double value_of(const NcuLaunch& launch, const std::string& metric) {
  for (const NcuValue& value : launch.values) {
    if (value.metric == metric) return value.value.value_or(-1);
  }
  ADD_FAILURE() << "no " << metric;
  return 0;
}

TEST(NcuCsvTest, DetailsAreReadAmongTheOutputOfNcuAndOfTheProgram) {
  const NcuReport report = parse_ncu_csv(
      "==PROF== Connected to process 7 (/bin/prog)\n\"hello\"\n12 13\n" + details_head +
          details_row("0", "GPU Speed Of Light Throughput", "Duration", "usecond", "12.50") +
          "==PROF== Disconnected from process 7\n" +
          details_row("0", "GPU Speed Of Light Throughput", "Memory Throughput", "%", "21.68") +
          details_row("0", "Memory Workload Analysis", "Memory Throughput", "Gbyte/second", "1,234.5") +
          "\"0\",\"7\",\"prog\",\"host\",\"scale(float *, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(4, 2, "
          "1)\",\"0\","
          "\"9.0\",\"SpeedOfLight\",\"\",\"\",\"\",\"SOLBottleneck\",\"OPT\",\"low, and\nlower\"\n" +
          details_row("0", "Launch Statistics", "Function Cache Configuration", "", "CachePreferNone") +
          details_row("0", "Somewhere", "New Figure", "", "5") + "done\n",
      "log");
  ASSERT_EQ(report.launches.size(), 1U);
  const NcuLaunch& launch = report.launches[0];
  EXPECT_EQ(launch.kernel, "scale(float *, int)");
  EXPECT_EQ(launch.program, "prog");
  EXPECT_EQ(launch.process, 7);
  EXPECT_EQ(launch.block, (std::array<std::uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{4, 2, 1}));
  ASSERT_EQ(launch.values.size(), 3U);
  EXPECT_DOUBLE_EQ(value_of(launch, "gpu__time_duration.sum"), 12.5e-6);
  EXPECT_DOUBLE_EQ(value_of(launch, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"),
                   21.68);
  EXPECT_DOUBLE_EQ(value_of(launch, "dram__bytes.sum.per_second"), 1234.5e9);
  EXPECT_EQ(report.compute_capability, "9.0");
  EXPECT_THAT(report.unknown, ElementsAre("New Figure"));
}

TEST(NcuCsvTest, HeadsUntil2021HaveAKernelTimeInPlaceOfSizes) {
  const NcuReport report = parse_ncu_csv(
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel "
      "Time\",\"Context\",\"Stream\","
      "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"0\",\"7\",\"p\",\"h\",\"scale\",\"2020-Jan-01 10:00:00\",\"1\",\"7\",\"GPU Speed Of Light\",\"SOL "
      "SM\",\"%\","
      "\"50.5\"\n",
      "log");
  ASSERT_EQ(report.launches.size(), 1U);
  EXPECT_FALSE(report.launches[0].grid);
  EXPECT_EQ(value_of(report.launches[0], "sm__throughput.avg.pct_of_peak_sustained_elapsed"), 50.5);
}

TEST(NcuCsvTest, WhatNeedsAUnitIsLeftOutWithoutTheRowOfUnits) {
  const NcuReport report = parse_ncu_csv(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"dram__bytes.sum\","
      "\"sm__throughput.avg.pct_of_peak_sustained_elapsed\",\"launch__registers_per_thread\"\n"
      "\"0\",\"9\",\"a\",\"12.10\",\"3.35\",\"61.5\",\"16\"\n",
      "raw");
  ASSERT_EQ(report.launches.size(), 1U);
  ASSERT_EQ(report.launches[0].values.size(), 2U);
  EXPECT_EQ(value_of(report.launches[0], "sm__throughput.avg.pct_of_peak_sustained_elapsed"), 61.5);
  EXPECT_EQ(value_of(report.launches[0], "launch__registers_per_thread"), 16);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes[0],
              testing::HasSubstr("They were left out: dram__bytes.sum, gpu__time_duration.sum"));
}

TEST(NcuCsvTest, RawPagesHaveARowOfUnits) {
  const NcuReport report = parse_ncu_csv(
      "Result: x\n\"ID\",\"Process ID\",\"Kernel Name\",\"Id:Domain:Push/Pop_Range:PL_Type\",\"Block "
      "Size\",\"Grid "
      "Size\",\"device__attribute_display_name\",\"device__attribute_confidential\",\"dram__bytes.sum\","
      "\"gpu__time_duration.sum\",\"l1tex__t_sector_hit_rate.pct\",\"launch__func_cache_config\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"us\",\"%\",\"\"\n"
      "\"1\",\"9\",\"b\",\"\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"NVIDIA "
      "H200\",\"No-CC\",\"2.5\",\"3\",\"n/a\",\"CachePreferNone\"\n"
      "\"0\",\"9\",\"a\",\"\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"NVIDIA "
      "H200\",\"No-CC\",\"1,500.25\",\"4\",\"5.5\",\"CachePreferNone\"\n",
      "raw");
  ASSERT_EQ(report.launches.size(), 2U);
  EXPECT_EQ(report.launches[0].kernel, "a") << "by their numbers";
  EXPECT_DOUBLE_EQ(value_of(report.launches[0], "dram__bytes.sum"), 1500.25e6);
  EXPECT_DOUBLE_EQ(value_of(report.launches[1], "gpu__time_duration.sum"), 3e-6);
  ASSERT_EQ(report.launches[1].values.size(), 3U) << "words are no values";
  EXPECT_EQ(report.launches[1].values[2], (NcuValue{"l1tex__t_sector_hit_rate.pct", std::nullopt}));
  EXPECT_EQ(report.device.at("display_name"), "NVIDIA H200");
}

TEST(NcuCsvTest, SummariesHaveAverages) {
  const NcuReport report = parse_ncu_csv(
      "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid "
      "Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric "
      "Unit\",\"Minimum\",\"Maximum\",\"Average\"\n"
      "\"7\",\"p\",\"h\",\"b\",\"(32, 1, 1)\",\"(2, 1, 1)\",\"0\",\"9.0\",\"14\",\"Occupancy\",\"Achieved "
      "Occupancy\",\"%\",\"10.5\",\"30.5\",\"20.5\"\n"
      "\"7\",\"p\",\"h\",\"b\",\"(64, 1, 1)\",\"(2, 1, 1)\",\"0\",\"9.0\",\"1\",\"Occupancy\",\"Achieved "
      "Occupancy\",\"%\",\"40.5\",\"40.5\",\"40.5\"\n",
      "summary");
  ASSERT_EQ(report.launches.size(), 2U) << "a row of each size";
  EXPECT_EQ(report.launches[0].invocations, 14U);
  EXPECT_EQ(value_of(report.launches[0], "sm__warps_active.avg.pct_of_peak_sustained_active"), 20.5);
}

TEST(NcuCsvTest, NumbersAreReadInTheLanguageOfTheirFile) {
  const auto read = [](const std::string& value, const std::string& another) {
    const NcuReport report = parse_ncu_csv(
        one_value(value) + details_row("1", "", "sm__cycles_active.avg", "cycle", another), "log");
    return value_of(report.launches[0], "sm__cycles_active.avg");
  };
  EXPECT_EQ(read("1,234.5", "1"), 1234.5);
  EXPECT_EQ(read("1234.5", "1"), 1234.5);
  EXPECT_EQ(read("27.595.520", "65,77"), 27595520);
  EXPECT_EQ(read("65,77", "1.234"), 65.77);
  EXPECT_EQ(read("1.234", "65,77"), 1234) << "another number tells";
  EXPECT_EQ(read("1,234", "65.77"), 1234);
  EXPECT_EQ(read("1,234", "7"), 1234) << "as ncu prints without a language";
  EXPECT_EQ(read("0,125", "7"), 0.125) << "no thousands begin with 0";
  EXPECT_EQ(read("1234,125", "7"), 1234.125);
  EXPECT_EQ(read("-1,234,567.5", "7"), -1234567.5);
  EXPECT_EQ(read("1.5e+3", "7"), 1500);
  EXPECT_EQ(read("12\u00a0345,5", "7"), 12345.5);
}

TEST(NcuCsvTest, NumbersOfTwoLanguagesAreRefused) {
  const std::string message = test::usage_error([] {
    (void)parse_ncu_csv(one_value("1,234.5") + details_row("1", "", "sm__cycles_active.avg", "", "65,77"),
                        "log");
  });
  EXPECT_THAT(message, HasSubstr("log: line 3: 65,77 and 1,234.5 (line 2)"));
}

TEST(NcuCsvTest, Utf16IsReadWithAndWithoutAMark) {
  const std::string text = one_value("65.77");
  const NcuReport plain = parse_ncu_csv(text, "log");
  std::string little, big;
  for (const char c : text) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  EXPECT_EQ(parse_ncu_csv("\xEF\xBB\xBF" + text, "log"), plain);
  EXPECT_EQ(parse_ncu_csv("\xFF\xFE" + little, "log"), plain);
  EXPECT_EQ(parse_ncu_csv("\xFE\xFF" + big, "log"), plain);
  EXPECT_EQ(parse_ncu_csv(little, "log"), plain);
}

TEST(NcuCsvTest, LinesMayEndAsOnWindowsAndFieldsStandWithoutQuotes) {
  const NcuReport report = parse_ncu_csv(
      "ID,Process ID,Kernel Name,Metric Name,Metric Unit,Metric Value\r\n0,7,scale,Duration,ms,2.5\r\n",
      "log");
  ASSERT_EQ(report.launches.size(), 1U);
  EXPECT_DOUBLE_EQ(value_of(report.launches[0], "gpu__time_duration.sum"), 2.5e-3);
}

TEST(NcuCsvTest, WhatIsNoTableIsRefusedWithTheLine) {
  const auto why = [](const std::string& text) {
    return test::usage_error([&] { (void)parse_ncu_csv(text, "log"); });
  };
  EXPECT_THAT(why(""), HasSubstr("log: the file is empty"));
  EXPECT_THAT(why("a,b\n1,2\n"), HasSubstr("no table of Nsight Compute"));
  EXPECT_THAT(why(std::string("NVR\0abc", 7)), HasSubstr("ncu --import log --csv"));
  EXPECT_THAT(why(details_head), HasSubstr("no launch"));
  const std::string whole = one_value("5.5");
  EXPECT_THAT(why(whole.substr(0, whole.size() - 6)), HasSubstr("no whole row: the file was cut off"));
  EXPECT_THAT(why(details_head + "\"0\",\"7\nand\nmore\n"),
              HasSubstr("line 2: the row has quotes that never"));
  EXPECT_THAT(why(details_head + "\"0\",\"7\",\"prog\"\n"), HasSubstr("line 2: 3 columns, expected 15"));
  EXPECT_THAT(why("\"ID\",\"Kernel Name\",\"Metric Name\"\n\"0\",\"a\",\"b\"\n"), HasSubstr("Metric Value"));
}

TEST(NcuCsvTest, OtherFilesAreCalledWhatTheyAre) {
  const auto why = [](const std::string& text, const std::string& name) {
    return test::usage_error([&] { (void)parse_ncu_csv(text, name); });
  };
  EXPECT_THAT(
      why("==PROF== Connected to process 11 (a.out)\n[11] a.out@127.0.0.1\n  k(float *) (64, 1, 1)x(256, "
          "1, 1), Context 1, Stream 7, Device 0, CC 9.0\n    Section: GPU Speed Of Light Throughput\n"
          "    Metric Name             Metric Unit Metric Value\n    Duration   us   12.35\n",
          "log"),
      HasSubstr("log: this is the text that ncu prints for people"));
  EXPECT_THAT(why(std::string("SQLite format 3\0more", 20), "a.db"), HasSubstr("--nsys a.db"));
  EXPECT_THAT(
      why("==PROF== Connected to process 77 (a.out)\n==ERROR== ERR_NVGPUCTRPERM - The user does not have "
          "permission to access NVIDIA GPU Performance Counters on the target device 0.\n==WARNING== No "
          "kernels were profiled.\n",
          "log"),
      ::testing::AllOf(HasSubstr("ncu said: ==ERROR== ERR_NVGPUCTRPERM - The user does not"),
                       HasSubstr("Run ncu as root")));
}

TEST(NcuCsvTest, AFileThatWasCutOffIsReadUpToThere) {
  const std::string whole = one_value("5.5") + details_row("1", "", "sm__cycles_active.avg", "cycle", "6.5");
  for (const std::size_t missing : {4UL, 12UL, 60UL}) {
    const NcuReport report = parse_ncu_csv(whole.substr(0, whole.size() - missing), "log");
    ASSERT_EQ(report.launches.size(), 1U) << missing;
    EXPECT_EQ(value_of(report.launches[0], "sm__cycles_active.avg"), 5.5);
    ASSERT_EQ(report.notes.size(), 1U) << missing;
    EXPECT_THAT(report.notes[0], HasSubstr("cut off in line 3"));
  }
  const NcuReport without_end_of_line = parse_ncu_csv(whole.substr(0, whole.size() - 1), "log");
  EXPECT_EQ(without_end_of_line.launches.size(), 2U);
  EXPECT_THAT(without_end_of_line.notes, ElementsAre());
}

TEST(NcuCsvTest, TablesThatASpreadsheetSavedAreRead) {
  const auto saved = [](const std::string& separator) {
    std::string text =
        "ID|Process ID|Process Name|Kernel Name|CC|Section Name|Metric Name|Metric Unit|Metric Value";
    for (const char* row :
         {"Duration|us|1.234,50", "DRAM Throughput|%|65,77", "Elapsed Cycles|cycle|27.595.520"})
      text += std::string("\r\n0|9|a.exe|scale(int, float *)|8,6|GPU Speed Of Light Throughput|") + row;
    std::string out;
    for (const char c : text + "\r\n") out += c == '|' ? separator : std::string(1, c);
    return out;
  };
  for (const std::string& text : {saved(";"), saved("\t"), "\xEF\xBB\xBFsep=;\r\n" + saved(";")}) {
    const NcuReport report = parse_ncu_csv(text, "table");
    ASSERT_EQ(report.launches.size(), 1U) << text;
    EXPECT_EQ(report.launches[0].kernel, "scale(int, float *)");
    EXPECT_DOUBLE_EQ(value_of(report.launches[0], "gpu__time_duration.sum"), 1234.5e-6);
    EXPECT_DOUBLE_EQ(value_of(report.launches[0], "gpc__cycles_elapsed.max"), 27595520);
    EXPECT_EQ(report.compute_capability, "8.6");
  }
}

TEST(NcuCsvTest, TwoExecutionsInOneFileKeepTheirLaunches) {
  const NcuReport report = parse_ncu_csv(one_value("5.5") + "==PROF== Connected\n" + one_value("7.5"), "log");
  ASSERT_EQ(report.launches.size(), 2U);
  EXPECT_EQ(value_of(report.launches[0], "sm__cycles_active.avg"), 5.5);
  EXPECT_EQ(value_of(report.launches[1], "sm__cycles_active.avg"), 7.5);
}

TEST(NcuCsvTest, UnitsBecomeBaseUnits) {
  const std::pair<const char*, double> units[] = {{"", 1},
                                                  {"%", 1},
                                                  {"second", 1},
                                                  {"usecond", 1e-6},
                                                  {"us", 1e-6},
                                                  {"msecond", 1e-3},
                                                  {"ns", 1e-9},
                                                  {"byte", 1},
                                                  {"Kbyte", 1e3},
                                                  {"Mbyte", 1e6},
                                                  {"Gbyte/second", 1e9},
                                                  {"hz", 1},
                                                  {"Ghz", 1e9},
                                                  {"cycle/nsecond", 1e9},
                                                  {"cycle/second", 1},
                                                  {"register/thread", 1},
                                                  {"Kbyte/block", 1e3},
                                                  {"Minst", 1e6},
                                                  {"inst/cycle", 1}};
  for (const auto& [unit, factor] : units) EXPECT_DOUBLE_EQ(ncu_unit(unit), factor) << unit;
}

TEST(NcuCsvTest, RealFilesAreRead) {
  const auto details = test::real_file(MPROF_SOURCE_DIR, "ncu-details-sm100.log"),
             raw = test::real_file(MPROF_SOURCE_DIR, "ncu-raw-h200.csv");
  if (details.empty() || raw.empty())
    GTEST_SKIP() << "neither MPROF_FIXTURES nor ../shared/fixtures has ncu-details-sm100.log and "
                    "ncu-raw-h200.csv";
  const NcuReport of_details = read_ncu_csv(details);
  ASSERT_EQ(of_details.launches.size(), 1U);
  EXPECT_DOUBLE_EQ(value_of(of_details.launches[0], "gpu__time_duration.sum"), 406240e-9);
  EXPECT_DOUBLE_EQ(value_of(of_details.launches[0], "gpc__cycles_elapsed.avg.per_second"), 1239496049.13);
  EXPECT_EQ(of_details.compute_capability, "10.0");
  const NcuReport of_raw = read_ncu_csv(raw);
  EXPECT_EQ(of_raw.device.at("display_name"), "NVIDIA H200");
  ASSERT_FALSE(of_raw.launches.empty());
  EXPECT_DOUBLE_EQ(value_of(of_raw.launches[0], "gpu__time_duration.sum"), 61856e-9);
  EXPECT_DOUBLE_EQ(value_of(of_raw.launches[0], "sm__throughput.avg.pct_of_peak_sustained_elapsed"), 68.52);
}

}  // namespace
}  // namespace mprof
