// SPDX-License-Identifier: MIT
#include "model/metric_presets.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace mprof {
namespace {

TEST(HardwareMetrics, AreInTheCatalogueOnceEachWithAMeaning) {
  std::set<std::string_view> ids;
  for (const Metric& metric : hardware_metrics()) {
    EXPECT_TRUE(ids.insert(metric.id).second) << metric.id;
    EXPECT_FALSE(metric.label.empty()) << metric.id;
    EXPECT_GT(metric.meaning.size(), 12U) << metric.id;
    const bool adds_up = metric.id.ends_with(".sum") || metric.id == "gpc__cycles_elapsed.max" ||
                         metric.id == "sm__cycles_active.avg";
    EXPECT_EQ(metric.combine, adds_up ? Combine::sum : Combine::never) << metric.id;
    EXPECT_EQ(find_metric(metric.id), &metric);
  }
  for (const Metric& metric : metric_catalogue()) EXPECT_FALSE(ids.contains(metric.id)) << metric.id;
}

TEST(MetricPresets, HoldMetricsOfTheCatalogueAndAllOfThem) {
  std::set<std::string_view> in_presets;
  for (const MetricPreset& preset : metric_presets()) {
    const std::set<std::string_view> own(preset.metrics.begin(), preset.metrics.end());
    EXPECT_EQ(own.size(), preset.metrics.size()) << preset.name;
    for (const std::string_view id : own) EXPECT_NE(find_metric(id), nullptr) << id;
    in_presets.insert(own.begin(), own.end());
  }
  EXPECT_EQ(in_presets.size(), hardware_metrics().size());
  EXPECT_EQ(preset_metrics("all").size(), hardware_metrics().size());
}

TEST(MetricPresets, DefaultIsAllOfThemEachMetricOnce) {
  const std::vector<std::string> found = preset_metrics("default");
  EXPECT_EQ(found, preset_metrics("all"));
  EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
  EXPECT_EQ(found.front(), "sm__throughput.avg.pct_of_peak_sustained_elapsed");
}

TEST(MetricPresets, HaveTheNineteenStallReasons) {
  const std::vector<std::string> stalls = preset_metrics("stalls");
  EXPECT_EQ(std::ranges::count_if(
                stalls, [](const std::string& id) { return id.find("issue_stalled_") != std::string::npos; }),
            19);
}

TEST(MetricPresets, OtherNamesAreNone) {
  EXPECT_TRUE(preset_metrics("soll").empty());
  EXPECT_TRUE(preset_metrics("").empty());
  for (const std::string& name : preset_names()) EXPECT_FALSE(preset_metrics(name).empty()) << name;
}

TEST(MetricPresets, TellWhatIsNotInTheCatalogue) {
  const std::vector<std::string> names{"dram__bytes.sum", "dram__bites.sum", "launch__grid_size", "op_time"};
  EXPECT_EQ(not_in_catalogue(names), (std::vector<std::string>{"dram__bites.sum", "op_time"}));
}

}  // namespace
}  // namespace mprof
