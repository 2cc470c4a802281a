#include "collectors/cuda/injected_counters.hpp"

#include <driver_types.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/metric_presets.hpp"

namespace mprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MetricGroups, TheDefaultMetricsAreInGroupsOfOnePassAndOneOfSeveral) {
  std::vector<std::string> metrics;
  for (const std::string& id : preset_metrics("default")) {
    if (!is_launch_metric(id)) metrics.push_back(id);
  }
  metrics.emplace_back("no__such_metric.sum");
  std::vector<std::string> unknown;
  const std::vector<journal::MetricGroup> groups = metric_groups("GH100", metrics, unknown);
  EXPECT_THAT(unknown, ElementsAre("no__such_metric.sum"));
  std::size_t counted = 0;
  std::uint32_t passes = 0;
  for (const journal::MetricGroup& group : groups) {
    EXPECT_EQ(group.passes == 1, &group != &groups.back());
    EXPECT_FALSE(group.config.empty());
    counted += group.metrics.size();
    passes += group.passes;
  }
  EXPECT_EQ(counted + 1, metrics.size());
  EXPECT_LE(passes, 30U);
  RecordProperty("launches", static_cast<int>(passes));
}

constexpr const char* single_pass = "sm__cycles_active.avg";
constexpr const char* several_passes = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

class InjectedCounters : public testing::Test {
 protected:
  InjectedCounters() {
    selection.chip = request.chip = "GH100";
    selection.metrics = selection.counted = {single_pass, several_passes};
    request.groups = {{1, {single_pass}, ""}, {8, {several_passes}, ""}};
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

  InjectedPass read() const {
    const auto evaluate = [](const journal::MetricGroup& group, std::string_view image) {
      return std::vector<double>(group.metrics.size(), std::stod(std::string(image)));
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
  journal.counted.push_back({{.kernel = 0, .group = 0}, "12.5"});
  const InjectedPass pass = read();
  EXPECT_THAT(row(pass, single_pass, "triad").samples, ElementsAre(12.5));
  EXPECT_EQ(row(pass, single_pass, "triad").op, "step");
  EXPECT_THAT(row(pass, several_passes, "triad").absent,
              HasSubstr("launched 3 times, and all metrics need 9 launches"));
}

TEST_F(InjectedCounters, AnotherProcessFillsWhatTheFirstOneLacks) {
  launch(process(7), 0, 4, 20);
  journals[0].counted.push_back({{.kernel = 0, .group = 0}, "1"});
  launch(process(8), 5, 4, 20);
  journals[1].counted.push_back({{.kernel = 5, .group = 0}, "2"});
  journals[1].counted.push_back({{.kernel = 5, .group = 1}, "60"});
  const InjectedPass pass = read();
  EXPECT_THAT(row(pass, single_pass, "triad").samples, ElementsAre(1));
  EXPECT_THAT(row(pass, several_passes, "triad").samples, ElementsAre(60));
}

TEST_F(InjectedCounters, TheShapeThatIsLaunchedMostHasTheNameAlone) {
  journal::Journal& journal = process(7);
  launch(journal, 0, 4, 3);
  launch(journal, 1, 8, 30);
  journal.counted.push_back({{.kernel = 1, .group = 0}, "8"});
  journal.counted.push_back({{.kernel = 0, .group = 0}, "4"});
  const InjectedPass pass = read();
  EXPECT_THAT(row(pass, single_pass, "triad").samples, ElementsAre(8));
  EXPECT_THAT(row(pass, single_pass, "triad, grid 4 x 1 x 1, block 256 x 1 x 1").samples, ElementsAre(4));
}

TEST_F(InjectedCounters, ReasonsAreTheProcessesOwnAndNumbersOfNothingAreLeftOut) {
  journal::Journal& journal = process(7);
  launch(journal, 0, 4, 20, 0);
  journal.uncounted.push_back({{.kernel = 0}, "it waits for the host"});
  journal.uncounted.push_back({{.kernel = 99}, "nobody"});
  journal.counted.push_back({{.kernel = 99, .group = 0}, "1"});
  journal.counted.push_back({{.kernel = 0, .group = 77}, "1"});
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
  journal.uncounted.push_back({{.kernel = 0}, "--kernels leaves it out"});
  EXPECT_TRUE(read().measurements.empty());
}

}  // namespace
}  // namespace mprof
