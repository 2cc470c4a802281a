// SPDX-License-Identifier: MIT
#include "collectors/cuda/injected_counters.hpp"

#include <limits>
#include <sstream>

#include <driver_types.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/metric_presets.hpp"

namespace mprof {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CounterRequest, TheDefaultMetricsAreCountedTogetherAndThoseOfSeveralPassesAreNamed) {
  std::vector<std::string> metrics;
  for (const std::string& id : preset_metrics("default")) {
    if (!is_launch_metric(id)) metrics.push_back(id);
  }
  const std::size_t known = metrics.size();
  metrics.emplace_back("no__such_metric.sum");
  std::vector<std::string> unknown;
  const journal::CounterRequest request = request_for("GH100", metrics, unknown);
  EXPECT_THAT(unknown, ElementsAre("no__such_metric.sum"));
  EXPECT_EQ(request.metrics.size(), known);
  EXPECT_THAT(request.several, Contains("sm__throughput.avg.pct_of_peak_sustained_elapsed"));
  EXPECT_THAT(request.several, Not(Contains("gpu__time_duration.sum")));
  EXPECT_FALSE(request.config.empty());
  EXPECT_GT(request.passes, 8U);
  EXPECT_LE(request.passes, 30U);
  RecordProperty("passes", static_cast<int>(request.passes));
}

constexpr const char* single_pass = "sm__cycles_active.avg";
constexpr const char* several_passes = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

class InjectedCounters : public testing::Test {
 protected:
  InjectedCounters() {
    selection.chip = request.chip = "GH100";
    selection.metrics = selection.counted = {single_pass, several_passes};
    request.metrics = selection.counted;
    request.several = {several_passes};
    request.passes = 9;
  }

  journal::Journal& process(std::uint32_t id) {
    journal::Journal& journal = journals.emplace_back();
    journal.head.process = id;
    journal.has_ended = true;
    journal.texts = {{1, "_Z5triadPf"}, {2, "step"}};
    return journal;
  }

  static void launch(journal::Journal& journal, std::uint64_t number, std::uint32_t blocks,
                     std::uint64_t launches, std::uint64_t op = 2) {
    journal.kernels.push_back(
        {.number = number, .symbol = 1, .op = op, .grid = {blocks, 1, 1}, .block = {256, 1, 1}});
    journal.launches[number] = {.kernel = number, .launches = launches};
  }

  /// `values`: of the single-pass metric and the other one, in range 1 of an image.
  static void counted(journal::Journal& journal, std::uint64_t kernel, std::uint64_t passes,
                      const std::string& values) {
    const std::uint64_t number = journal.counts.size();
    journal.counts[number] = values;
    journal.counted.push_back({.kernel = kernel, .counts = number, .range = 1, .passes = passes});
  }

  InjectedPass read() const {
    const auto evaluate = [](std::string_view image, std::size_t range) {
      EXPECT_EQ(range, 1U);
      double single = 0, several = 0;
      std::istringstream(std::string(image)) >> single >> several;
      if (several == 0) several = std::numeric_limits<double>::quiet_NaN();
      return std::vector{single, several};
    };
    return read_injected_counters(journals, request, selection, evaluate, cudaDeviceProp{});
  }

  static const Measurement& row(const InjectedPass& pass, const std::string& metric,
                                const std::string& kernel) {
    for (const Measurement& m : pass.measurements) {
      if (m.metric == metric && m.kernel == kernel) return m;
    }
    throw std::logic_error("no row of " + metric + " for " + kernel);
  }

  std::vector<journal::Journal> journals;
  journal::CounterRequest request;
  CounterSelection selection;
};

TEST_F(InjectedCounters, WhatWasGatheredIsThereAndTheRestSaysHowOftenTheKernelWasLaunched) {
  journal::Journal& journal = process(7);
  launch(journal, 0, 4, 3);
  counted(journal, 0, 2, "12.5 0");
  const InjectedPass pass = read();
  EXPECT_THAT(row(pass, single_pass, "triad").samples, ElementsAre(12.5));
  EXPECT_EQ(row(pass, single_pass, "triad").op, "step");
  EXPECT_THAT(row(pass, several_passes, "triad").absent,
              HasSubstr("launched 3 times, too seldom or too irregularly for all 9 passes"));
  EXPECT_THAT(pass.lacking, ElementsAre("_Z5triadPf"));
}

TEST_F(InjectedCounters, WhatTheHardwareHasNoNumberForIsNoMatterOfLaunches) {
  journal::Journal& journal = process(7);
  launch(journal, 0, 4, 30);
  counted(journal, 0, 9, "12.5 0");
  const InjectedPass pass = read();
  EXPECT_THAT(row(pass, several_passes, "triad").absent, HasSubstr("the hardware gave no number"));
  EXPECT_TRUE(pass.lacking.empty());
}

TEST_F(InjectedCounters, OfSeveralSessionsTheOneWithTheMostPassesCounts) {
  journal::Journal& journal = process(7);
  launch(journal, 0, 4, 30);
  counted(journal, 0, 2, "1 0");
  counted(journal, 0, 9, "2 50");
  counted(journal, 0, 1, "3 0");
  const InjectedPass pass = read();
  EXPECT_THAT(row(pass, single_pass, "triad").samples, ElementsAre(2));
  EXPECT_THAT(row(pass, several_passes, "triad").samples, ElementsAre(50));
}

TEST_F(InjectedCounters, AnotherProcessFillsWhatTheFirstOneLacks) {
  launch(process(7), 0, 4, 20);
  counted(journals[0], 0, 1, "1 0");
  launch(process(8), 5, 4, 20);
  counted(journals[1], 5, 9, "2 60");
  const InjectedPass pass = read();
  EXPECT_THAT(row(pass, single_pass, "triad").samples, ElementsAre(2));
  EXPECT_THAT(row(pass, several_passes, "triad").samples, ElementsAre(60));
}

TEST_F(InjectedCounters, OfAKernelThatWaitsForOtherProcessesSinglePassesCount) {
  journal::Journal& journal = process(7);
  journal.texts[1] = "_Z27ncclDevKernel_AllReduce_SumPf";
  launch(journal, 0, 4, 20);
  counted(journal, 0, 9, "7 60");
  const InjectedPass pass = read();
  ASSERT_EQ(pass.measurements.size(), 2U);
  EXPECT_THAT(pass.measurements[0].samples, ElementsAre(7));
  EXPECT_THAT(pass.measurements[1].absent, HasSubstr("waits for other processes"));
}

TEST_F(InjectedCounters, TheShapeThatIsLaunchedMostHasTheNameAlone) {
  journal::Journal& journal = process(7);
  launch(journal, 0, 4, 3);
  launch(journal, 1, 8, 30);
  counted(journal, 1, 9, "8 1");
  counted(journal, 0, 9, "4 1");
  const InjectedPass pass = read();
  EXPECT_THAT(row(pass, single_pass, "triad").samples, ElementsAre(8));
  EXPECT_THAT(row(pass, single_pass, "triad, grid 4 x 1 x 1, block 256 x 1 x 1").samples, ElementsAre(4));
}

TEST_F(InjectedCounters, ReasonsAreTheProcessesOwnAndNumbersOfNothingAreLeftOut) {
  journal::Journal& journal = process(7);
  launch(journal, 0, 4, 20, 0);
  journal.uncounted.push_back({{.kernel = 0}, "it waits for the host"});
  journal.uncounted.push_back({{.kernel = 99}, "nobody"});
  counted(journal, 99, 9, "1 1");
  journal.counted.push_back({.kernel = 0, .counts = 77, .range = 1, .passes = 9});
  journal.stopped = {0, 99};
  journal.has_ended = false;
  const InjectedPass pass = read();
  EXPECT_EQ(row(pass, single_pass, "triad").absent, "it waits for the host");
  EXPECT_EQ(row(pass, single_pass, "triad").op, "program");
  EXPECT_THAT(pass.stopped_by, ElementsAre("_Z5triadPf"));
  EXPECT_THAT(pass.notes, ElementsAre(HasSubstr("what was counted until then is kept")));
}

TEST_F(InjectedCounters, KernelsThatWereNotAskedForHaveNoRows) {
  journal::Journal& journal = process(7);
  launch(journal, 0, 4, 20);
  journal.uncounted.push_back({{.kernel = 0, .is_chosen = 0}, "--kernels leaves it out"});
  EXPECT_TRUE(read().measurements.empty());
}

}  // namespace
}  // namespace mprof
