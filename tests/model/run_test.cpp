// SPDX-License-Identifier: MIT
#include "model/run.hpp"

#include <set>

#include <gtest/gtest.h>

#include "model/metric.hpp"
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
