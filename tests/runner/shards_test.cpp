// SPDX-License-Identifier: MIT
#include "runner/shards.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "fake_workload.hpp"
#include "model/run_file.hpp"

namespace mprof {
namespace {

std::vector<Case> cases_with_work(const std::vector<double>& flops) {
  std::vector<Case> cases;
  for (std::size_t i = 0; i < flops.size(); ++i) {
    Case& c = cases.emplace_back();
    c.key = {"fake/right", {}, test::size_of(i + 1)};
    c.id = "fake/right@" + std::to_string(i + 1);
    c.ops = {{.name = "op1", .flops = flops[i]}};
  }
  return cases;
}

std::map<std::uint32_t, double> loads_of(const std::vector<double>& costs, std::uint32_t count) {
  const std::vector<std::uint32_t> shards = assign_shards(costs, count);
  std::map<std::uint32_t, double> loads;
  for (std::size_t i = 0; i < costs.size(); ++i) loads[shards[i]] += costs[i];
  return loads;
}

TEST(Shards, AreTheCasesOfThePlanEachOnceInItsOrder) {
  const std::vector<Case> cases = cases_with_work({1e12, 1, 5e11, 3e11, 1, 2e12, 7e11});
  for (const std::uint32_t count : {1U, 2U, 3U, 7U, 9U}) {
    std::multiset<std::string> seen;
    for (std::uint32_t i = 1; i <= count; ++i) {
      const std::vector<Case> own = cases_of_shard(cases, {i, count}, nullptr);
      EXPECT_TRUE(std::ranges::is_sorted(own, {}, &Case::id)) << "in plan order";
      for (const Case& c : own) seen.insert(c.id);
      EXPECT_TRUE(count <= cases.size() || own.size() <= 1) << own.size();
    }
    EXPECT_EQ(seen.size(), cases.size()) << count;
    for (const Case& c : cases) {
      EXPECT_EQ(seen.count(c.id), 1U) << c.id << " in " << count << " shards";
    }
  }
}

TEST(Shards, AreAboutAsLongAsEachOther) {
  EXPECT_EQ(loads_of({7, 6, 5, 4, 3, 2, 1}, 2), (std::map<std::uint32_t, double>{{1, 14}, {2, 14}}));
  std::mt19937_64 random(1);
  std::vector<double> costs;
  for (int i = 0; i < 200; ++i) costs.push_back(1 + static_cast<double>(random() % 1000) / 100);
  const auto loads = loads_of(costs, 8);
  const auto [least, most] =
      std::ranges::minmax_element(loads, {}, [](const auto& load) { return load.second; });
  ASSERT_EQ(loads.size(), 8U);
  EXPECT_LT(most->second, 1.02 * least->second);
}

TEST(Shards, WithoutWorkShareTheNumberOfCases) {
  const std::vector<double> costs = expected_costs(cases_with_work(std::vector<double>(12, 0)), nullptr);
  const auto loads = loads_of(costs, 4);
  for (const auto& [shard, load] : loads) {
    EXPECT_DOUBLE_EQ(load, 3 * costs[0]) << shard;
  }
}

TEST(Shards, AreDividedByTheTimesOfAnEarlierRun) {
  const std::vector<Case> cases = cases_with_work({1, 1, 1, 1});
  mprof::Run earlier;
  earlier.cases = {cases[0], cases[2]};
  earlier.cases[0].passes = {{.pass = Pass::timing, .status = Status::ok, .seconds = 40},
                             {.pass = Pass::trace, .status = Status::ok, .seconds = 20}};
  earlier.cases[1].passes = {{.pass = Pass::timing, .status = Status::pending}};
  const std::vector<double> costs = expected_costs(cases, &earlier), without = expected_costs(cases, nullptr);
  EXPECT_EQ(costs, (std::vector<double>{60, without[1], without[2], without[3]}));
  EXPECT_EQ(cases_of_shard(cases, {1, 2}, &earlier).size(), 1U) << "the long one alone";
  EXPECT_EQ(cases_of_shard(cases, {2, 2}, &earlier).size(), 3U);
}

/// A line through the times of all cases stands for those that nobody has measured yet.
TEST(Shards, OfAnUnknownRunTakeAboutAsLongAsEachOther) {
  const mprof::Run run = read_record(std::filesystem::path(MPROF_SOURCE_DIR) / "results/all");
  double between = 0;  // what the cases' own seconds do not hold
  for (const PassTime& spent : run.spent)
    between += (spent.seconds - spent.measuring) / static_cast<double>(run.cases.size());
  const std::vector<std::uint32_t> owners = assign_problems(run, 2, nullptr);
  std::map<std::uint32_t, double> loads;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    loads[owners[i]] += between;
    for (const PassResult& pass : run.cases[i].passes) loads[owners[i]] += pass.seconds;
  }
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_LT(std::max(loads[1], loads[2]), 1.1 * std::min(loads[1], loads[2]));
}

}  // namespace
}  // namespace mprof
