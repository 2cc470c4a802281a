// SPDX-License-Identifier: MIT
#include "runner/shards.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "model/case_index.hpp"
#include "runner/coordinator.hpp"

namespace mprof {
namespace {

/// A line through what cases of recorded runs took on an H200 with all passes and repeats, from 3 s at the
/// smallest problem to 8.5 at the largest. Workers, inputs and kernels are loaded, and a kernel is counted in
/// many passes, whatever a case computes. Shares hang on the ratio of the two alone.
constexpr double start_seconds = 2.5;
constexpr double work_rate = 2e10;  ///< operations and bytes a second

double seconds_of(const Case& c) {
  double seconds = 0;
  for (const PassResult& pass : c.passes) seconds += pass.seconds;
  return seconds;
}

}  // namespace

std::vector<double> expected_costs(const std::vector<Case>& cases, const Run* earlier) {
  std::vector<double> costs;
  for (const Case& c : cases) costs.push_back(start_seconds + work_of(c) / work_rate);
  if (earlier == nullptr) return costs;
  const CaseIndex index(*earlier);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto known = index.find(cases[i].key);
    const double seconds = known ? seconds_of(earlier->cases[*known]) : 0;
    if (seconds > 0) costs[i] = seconds;
  }
  return costs;
}

std::vector<std::uint32_t> assign_shards(std::span<const double> costs, std::uint32_t count) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  std::vector<double> loads(count, 0);
  std::vector<std::uint32_t> shards(costs.size(), 0);
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(loads);  // the first of equals
    *least += costs[i];
    shards[i] = static_cast<std::uint32_t>(least - loads.begin()) + 1;
  }
  return shards;
}

std::vector<std::uint32_t> assign_problems(const Run& run, std::uint32_t count, const Run* earlier) {
  using FamilyProblem = std::pair<std::string, Problem>;
  std::map<FamilyProblem, std::size_t> places;
  std::vector<double> costs;
  std::vector<std::size_t> place_of;
  const std::vector<double> each = expected_costs(run.cases, earlier);
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const CaseKey& key = run.cases[i].key;
    const VariantInfo* variant = find_variant(run, key.variant);
    const FamilyProblem compared{variant == nullptr ? "" : variant->family, key.problem};
    const auto [place, is_new] = places.emplace(compared, costs.size());
    if (is_new) costs.push_back(0);
    costs[place->second] += each[i];
    place_of.push_back(place->second);
  }
  const std::vector<std::uint32_t> of_places = assign_shards(costs, count);
  std::vector<std::uint32_t> shards;
  for (const std::size_t place : place_of) shards.push_back(of_places[place]);
  return shards;
}

std::vector<Case> cases_of_shard(std::vector<Case> cases, const Shard& shard, const Run* earlier) {
  const std::vector<std::uint32_t> shards = assign_shards(expected_costs(cases, earlier), shard.count);
  std::vector<Case> own;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (shards[i] == shard.index) own.push_back(std::move(cases[i]));
  }
  return own;
}

}  // namespace mprof
