// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/in_turns.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "model/rounds.hpp"
#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// Executions of each round, without the verified one.
std::vector<std::size_t> executions_of(const Case& c) {
  const PassResult* const timing = find_pass(c, Pass::timing);
  std::vector<std::size_t> counts;
  if (timing == nullptr) return counts;
  for (const Sampling& round : timing->rounds) counts.push_back(round.samples);
  if (counts.empty() && timing->sampling) counts.push_back(timing->sampling->samples);
  return counts;
}

bool all_positive(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return value > 0; });
}

}  // namespace

std::optional<Difference> difference_in_turns(const Case& before, const Case& after, std::string_view metric,
                                              std::string_view op) {
  const Measurement* const of_a = find_measurement(before, metric, op);
  const Measurement* const of_b = find_measurement(after, metric, op);
  if (of_a == nullptr || of_b == nullptr) return std::nullopt;
  const auto a = samples_by_round(*of_a), b = samples_by_round(*of_b);
  const std::vector<std::size_t> executions_a = executions_of(before), executions_b = executions_of(after);
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(a.size(), b.size()); ++round) {
    if (a[round].empty() || b[round].empty()) continue;
    if (!all_positive(a[round]) || !all_positive(b[round])) return std::nullopt;
    const bool is_one_each = round < executions_a.size() && round < executions_b.size() &&
                             a[round].size() == executions_a[round] && b[round].size() == executions_b[round];
    ratios.push_back(is_one_each ? ratio_of_pairs(a[round], b[round]) : median(b[round]) / median(a[round]));
  }
  const Difference difference = difference_of(ratios);
  if (difference.rounds < fewest_rounds_in_turns) return std::nullopt;
  return difference;
}

void moderate(std::span<TimeDifference> differences) {
  using Key = std::tuple<bool, std::string, std::string>;
  const auto key_of = [](const TimeDifference& one) { return Key(one.is_of_device, one.metric, one.op); };
  std::map<Key, std::vector<Variance>> own;
  for (const TimeDifference& one : differences) own[key_of(one)].push_back(one.difference.between);
  std::map<Key, VariancePrior> priors;
  for (const auto& [key, variances] : own)
    priors[key] = variance_prior(variances, {0, 0, std::numeric_limits<double>::infinity()});
  for (TimeDifference& one : differences)
    one.difference.between = moderated(one.difference.between, priors.at(key_of(one)));
}

}  // namespace mprof
