// SPDX-License-Identifier: MIT
#include "model/run.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "model/metric_presets.hpp"
#include "sample_run.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

Case with_passes(const std::vector<std::pair<Pass, Status>>& passes) {
  Case c;
  for (const auto& [pass, status] : passes) {
    PassResult result;
    result.pass = pass;
    result.status = status;
    result.reason = std::string(to_string(pass)) + " " + std::string(to_string(status));
    c.passes.push_back(result);
  }
  return c;
}

TEST(Metrics, ThatNoCatalogueHasTellTheirUnitByTheirNames) {
  const std::map<std::string, std::string> units{
      {"dram__cycles_elapsed.sum", "count"},
      {"dram__cycles_elapsed.max.per_second", "Hz"},
      {"dram__bytes_read.sum.pct_of_peak_sustained_elapsed", "%"},
      {"l1tex__m_xbar2l1tex_read_bytes.sum", "B"},
      {"lts__t_bytes.sum.per_second", "B/s"},
      {"sm__maximum_warps_avg_per_active_cycle", "count"},
      {"sm__inst_executed.avg.per_cycle_active", "1"},
      {"launch__shared_mem_config_size", "B"},
      {"launch__shared_mem_per_block_driver", "B"},
      {"launch__occupancy_limit_barriers", "count"},
      {"launch__sm_count", "count"},
      {"launch__thread_count", "count"},
      {"launch__cluster_size", "count"},
  };
  for (const auto& [metric, unit] : units) {
    const auto known = unit_of_metric(metric);
    ASSERT_TRUE(known) << metric;
    EXPECT_EQ(unit_symbol(*known), unit) << metric;
  }
  for (const char* none : {"launch__context_id", "error", "sm__ctas_launched"})
    EXPECT_FALSE(unit_of_metric(none));
}

TEST(CaseStatus, TheTimingPassDecides) {
  EXPECT_EQ(case_status(with_passes({{Pass::timing, Status::wrong}, {Pass::counters, Status::ok}})),
            Status::wrong);
  EXPECT_EQ(case_status(with_passes({{Pass::timing, Status::ok}, {Pass::trace, Status::skipped}})),
            Status::ok);
}

TEST(CaseStatus, WithoutTimingTheWorstDecides) {
  EXPECT_EQ(case_status(with_passes({{Pass::trace, Status::ok}, {Pass::counters, Status::crashed}})),
            Status::crashed);
  EXPECT_EQ(case_status(with_passes({{Pass::trace, Status::skipped}, {Pass::counters, Status::ok}})),
            Status::ok);
  EXPECT_EQ(case_reason(with_passes({{Pass::trace, Status::ok}, {Pass::counters, Status::crashed}})),
            "counters crashed");
  EXPECT_EQ(case_status(Case{}), Status::pending);
}

TEST(CaseId, LeavesDefaultsOut) {
  const VariantInfo variant = test::full_run().variants[0];
  const Problem problem{{{"batch", 100}}};
  EXPECT_EQ(case_id({"conv/b", {{"tile", "8"}}, problem}, variant), "conv/b[tile=8]@100");
  EXPECT_EQ(case_id({"conv/b", {{"tile", "16"}}, problem}, variant), "conv/b@100");
}

TEST(CaseId, NamesTheAxesWhereThereAreSeveral) {
  const Problem problem{{{"size", 8192}, {"iterations", 5}}};
  EXPECT_EQ(case_id({"conv/b", {}, problem}, test::full_variant()), "conv/b@size=8192,iterations=5");
}

TEST(Names, EachReadsBack) {
  for (int i = 0; i < 8; ++i) {
    const auto status = static_cast<Status>(i);
    Status back{};
    ASSERT_TRUE(from_string(to_string(status), back));
    EXPECT_EQ(back, status);
  }
  Pass pass{};
  EXPECT_FALSE(from_string("tming", pass));
}

TEST(MetricCatalogue, HasEachIdOnceWithAMeaning) {
  std::set<std::string_view> ids;
  for (const Metric& metric : metric_catalogue()) {
    EXPECT_TRUE(ids.insert(metric.id).second) << metric.id;
    EXPECT_GT(metric.meaning.size(), 20U) << metric.id;
    EXPECT_EQ(find_metric(metric.id), &metric);
  }
  EXPECT_EQ(find_metric("no_such_metric"), nullptr);
  for (const Metric& metric : hardware_metrics()) EXPECT_EQ(unit_of_metric(metric.id), metric.unit);
}

TEST(Suggest, NamesTheNearest) {
  const std::vector<std::string> known{"conv/cpu_naive", "conv/cpu_threads", "conv/cpu_onednn"};
  EXPECT_EQ(did_you_mean("conv/cpu_naiv", known), " Did you mean conv/cpu_naive?");
  EXPECT_EQ(did_you_mean("cpu_thread", known), " Did you mean conv/cpu_threads?");
  EXPECT_EQ(did_you_mean("entirely_else", known), "");
  const std::vector<std::string> short_names{"table", "csv", "json"};
  EXPECT_EQ(did_you_mean("cvs", short_names), " Did you mean csv?") << "two neighbours were exchanged";
  EXPECT_EQ(did_you_mean("cxx", short_names), "") << "two other letters make any other word of it";
}

}  // namespace
}  // namespace mprof
