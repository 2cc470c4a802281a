// SPDX-License-Identifier: MIT
#include "cuda/profiler_host.hpp"

#include <algorithm>
#include <iterator>

#include <gtest/gtest.h>

#include "cuda/cupti.hpp"
#include "model/metric_presets.hpp"

namespace mprof::cuda {
namespace {

using Names = std::vector<std::string>;

/// CUPTI's own word on GH100, for which it needs no GPU.
class ProfilerHostTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = cupti_unavailable()) GTEST_SKIP() << *reason;
  }

  static Names counted(const Names& metrics) {
    Names names;
    std::ranges::copy_if(metrics, std::back_inserter(names),
                         [](const std::string& id) { return !is_launch_metric(id); });
    return names;
  }

  /// The 19 reasons alone.
  static Names reasons(Names stalls) {
    std::erase_if(stalls, [](const std::string& id) { return id.find("_stalled_") == std::string::npos; });
    return stalls;
  }

  static std::size_t passes_of(const Names& metrics) {
    ProfilerHost host(default_chip);
    EXPECT_TRUE(host.add(metrics));
    return number_of_passes(host.config_image());
  }
};

TEST_F(ProfilerHostTest, HasEveryMetricOfThePresets) {
  EXPECT_EQ(unknown_metrics(default_chip, counted(preset_metrics("all"))), Names{});
}

TEST_F(ProfilerHostTest, HasNotWhatMprofComputes) {
  for (const std::string& id : preset_metrics("all")) {
    if (!is_launch_metric(id)) continue;
    EXPECT_EQ(unknown_metrics(default_chip, Names{id}), Names{id});
  }
}

TEST_F(ProfilerHostTest, AgreesOnUnits) {
  const ProfilerHost host(default_chip);
  for (const Metric& metric : hardware_metrics()) {
    if (is_launch_metric(metric.id)) continue;
    const std::string dimension = host.dimension(std::string(metric.id));
    EXPECT_EQ(metric.unit == Unit::percent, dimension == "percent") << metric.id;
    EXPECT_EQ(metric.unit == Unit::second, dimension == "nanosecond") << metric.id;
    EXPECT_EQ(metric.unit == Unit::byte_per_second, dimension == "byte/second") << metric.id;
    EXPECT_EQ(metric.unit == Unit::hertz, dimension.ends_with("_cycle/second")) << metric.id;
    EXPECT_EQ(metric.unit == Unit::byte, dimension == "byte" || dimension == "byte/l2_sector") << metric.id;
  }
}

TEST_F(ProfilerHostTest, NeedsAsManyPassesAsMeasured) {
  EXPECT_EQ(passes_of(preset_metrics("sol")), 9U);
  EXPECT_EQ(passes_of(counted(preset_metrics("occupancy"))), 1U);
  EXPECT_EQ(passes_of(preset_metrics("memory")), 9U);
  EXPECT_EQ(passes_of(preset_metrics("stalls")), 7U);
  EXPECT_EQ(passes_of(reasons(preset_metrics("stalls"))), 6U);
  EXPECT_EQ(passes_of(preset_metrics("roofline")), 2U);
  EXPECT_EQ(passes_of(preset_metrics("scheduler")), 1U);
  Names four = preset_metrics("sol");
  for (const char* preset : {"occupancy", "stalls", "roofline"}) {
    std::ranges::copy(counted(preset_metrics(preset)), std::back_inserter(four));
  }
  EXPECT_EQ(passes_of(four), 16U);
  EXPECT_EQ(passes_of(counted(preset_metrics("default"))), 20U);
}

TEST_F(ProfilerHostTest, NeedsOnePassForARangeWithoutReplay) {
  EXPECT_EQ(passes_of({"gpu__time_duration.sum", "gpc__cycles_elapsed.max", "sm__cycles_active.avg",
                       "sm__warps_active.avg.pct_of_peak_sustained_active", "dram__bytes_read.sum",
                       "dram__bytes_write.sum", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                       "sm__inst_executed.sum", "smsp__issue_active.avg.pct_of_peak_sustained_active",
                       "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                       "l1tex__t_sector_hit_rate.pct", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
                       "lts__t_sectors.sum", "sm__cycles_elapsed.avg.per_second",
                       "dram__cycles_elapsed.avg.per_second"}),
            1U);
}

TEST_F(ProfilerHostTest, NamesWhatItDoesNotHave) {
  const Names metrics{"dram__bytes.sum",
                      "dram__bites.sum",
                      "dram__bytes",
                      "sm__throughput",
                      "gpu__time_duration.sum",
                      "dram__bytes.sum.per_fortnight",
                      ""};
  EXPECT_EQ(unknown_metrics(default_chip, metrics),
            (Names{"dram__bites.sum", "dram__bytes", "sm__throughput", "dram__bytes.sum.per_fortnight", ""}));
}

TEST_F(ProfilerHostTest, AddsToWhatWasAdded) {
  ProfilerHost host(default_chip);
  EXPECT_TRUE(host.add(preset_metrics("roofline")));
  EXPECT_TRUE(host.add(preset_metrics("sol")));
  EXPECT_EQ(number_of_passes(host.config_image()), 11U);
  EXPECT_FALSE(host.add(Names{"no_such_metric"}));
}

TEST_F(ProfilerHostTest, RefusesAnUnknownChip) {
  EXPECT_ANY_THROW(ProfilerHost("GH200X"));
}

TEST(SiFactor, IsByNumeratorAndDenominator) {
  EXPECT_DOUBLE_EQ(si_factor("nanosecond"), 1e-9);
  EXPECT_DOUBLE_EQ(si_factor("byte/nanosecond"), 1e9);
  EXPECT_DOUBLE_EQ(si_factor("nanosecond/sys_cycle"), 1e-9);
  EXPECT_DOUBLE_EQ(si_factor("kilobyte"), 1024);
  EXPECT_DOUBLE_EQ(si_factor("byte/second"), 1);
  EXPECT_DOUBLE_EQ(si_factor("gpc_cycle/second"), 1);
  EXPECT_DOUBLE_EQ(si_factor("percent"), 1);
  EXPECT_DOUBLE_EQ(si_factor(""), 1);
}

}  // namespace
}  // namespace mprof::cuda
