// SPDX-License-Identifier: MIT
#include "report/analysis/standing/standings.hpp"

#include <algorithm>
#include <set>

namespace mprof {
namespace {

/// Whether the variant is slower than its baseline in an op at every problem at which that is known.
bool is_always_slower(const FamilyResult& family, const VariantResult& variant, const std::string& op) {
  bool known = false;
  for (const Problem& problem : family.problems) {
    const CaseResult* result = variant.representative(problem);
    const OpResult* found = result == nullptr || !result->ok() ? nullptr : result->find_op(op);
    if (found == nullptr || !found->speed_up) continue;
    if (found->speed_up.verdict != Verdict::slower) return false;
    known = true;
  }
  return known;
}

std::optional<QualityRange> range_at(const FamilyResult& family, std::size_t quality,
                                     const Problem& problem) {
  QualityRange range;
  range.problem = problem;
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result = variant.representative(problem);
    if (result == nullptr || !result->ok() || !result->qualities[quality].value) continue;
    const QualityResult& found = result->qualities[quality];
    const double value = found.value->median;
    range.info = found.info;
    range.lowest = range.variants == 0 ? value : std::min(range.lowest, value);
    range.highest = range.variants == 0 ? value : std::max(range.highest, value);
    range.kept = range.kept && !found.lost();
    ++range.variants;
  }
  return range.variants == 0 ? std::nullopt : std::optional(range);
}

/// The ends of the intervals of all ops' times together; the medians where there is none.
Interval ops_interval(const CaseResult& result) {
  Interval sum{0, 0};
  for (const OpResult& op : result.ops) {
    const double median = op.op_time->median;
    sum.low += op.op_time->interval ? op.op_time->interval->low : median;
    sum.high += op.op_time->interval ? op.op_time->interval->high : median;
  }
  return sum;
}

}  // namespace

std::optional<double> ops_time(const CaseResult& result) {
  double sum = 0;
  for (const OpResult& op : result.ops) {
    if (!op.op_time || op.flaw != OpTimeFlaw::none) return std::nullopt;
    sum += op.op_time->median;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

Answers answers_for(const FamilyResult& family, const std::string& op) {
  Answers answers;
  for (const Best& best : family.best) {
    if (best.op != op || best.fastest == nullptr) continue;
    answers.best.push_back(&best);
    const std::string& name = best.fastest->configuration;
    const auto known = std::ranges::find(answers.winners, name, &Winner::configuration);
    Winner& winner = known == answers.winners.end() ? answers.winners.emplace_back() : *known;
    winner.configuration = name;
    winner.problems.push_back(best.problem);
  }
  return answers;
}

NotPaid what_did_not_pay(const FamilyResult& family) {
  NotPaid result;
  for (const OpInfo& op : family.ops) result.in_op.push_back({op.name, {}});
  for (const VariantResult& variant : family.variants) {
    std::vector<bool> slower;
    for (const OpInfo& op : family.ops) slower.push_back(is_always_slower(family, variant, op.name));
    if (!slower.empty() && std::ranges::find(slower, false) == slower.end()) {
      result.everywhere.push_back(&variant);
      continue;
    }
    for (std::size_t i = 0; i < slower.size(); ++i) {
      if (slower[i]) result.in_op[i].second.push_back(&variant);
    }
  }
  std::erase_if(result.in_op, [](const auto& op) { return op.second.empty(); });
  return result;
}

std::vector<QualityRange> quality_ranges(const FamilyResult& family) {
  std::vector<QualityRange> ranges;
  for (std::size_t i = 0; i < family.info.qualities.size(); ++i) {
    for (auto problem = family.problems.rbegin(); problem != family.problems.rend(); ++problem) {
      auto range = range_at(family, i, *problem);
      if (!range) continue;
      ranges.push_back(*std::move(range));
      break;
    }
  }
  return ranges;
}

std::optional<FastestOps> fastest_ops(const FamilyResult& family) {
  FastestOps fastest;
  if (family.problems.empty()) return std::nullopt;
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result = variant.representative(family.problems.back());
    if (result == nullptr || !result->ok() || !result->total_time) continue;
    const std::optional<double> time = ops_time(*result);
    if (time && (fastest.result == nullptr || *time < fastest.time)) {
      fastest.result = result;
      fastest.time = *time;
    }
  }
  if (fastest.result == nullptr || !(fastest.time < fastest.result->total_time->median)) return std::nullopt;
  fastest.share = fastest.time / fastest.result->total_time->median;
  if (family.ops.size() == 1) {
    const auto best = std::ranges::find_if(
        family.best, [&](const Best& one) { return !one.op.empty() && one.fastest == fastest.result; });
    if (best != family.best.end()) {
      fastest.level = best->level.size();
      return fastest;
    }
  }
  for (const VariantResult& variant : family.variants) {
    const CaseResult* other = variant.representative(family.problems.back());
    if (other == nullptr || other == fastest.result || !other->ok()) continue;
    const std::optional<double> time = ops_time(*other);
    const bool is_near = time && *time <= (1 + Thresholds{}.device) * fastest.time;
    if (time && (is_near || ops_interval(*other).low <= ops_interval(*fastest.result).high)) ++fastest.level;
  }
  return fastest;
}

std::vector<Unswept> unswept(const FamilyResult& family) {
  std::vector<Unswept> list;
  for (const VariantResult& variant : family.variants) {
    if (!std::ranges::any_of(variant.cases, &CaseResult::ok)) continue;
    Unswept found{&variant, {}, true};
    for (const ParameterInfo& parameter : variant.info.parameters) {
      if (parameter.values.size() < 2) continue;
      std::set<std::string> values;
      for (const CaseResult& result : variant.cases) {
        const auto set = result.key.parameters.find(parameter.name);
        values.insert(set == result.key.parameters.end() ? parameter.default_value : set->second);
      }
      if (values.size() > 1) continue;
      found.parameters.emplace_back(parameter.name, *values.begin());
      found.at_defaults = found.at_defaults && *values.begin() == parameter.default_value;
    }
    if (!found.parameters.empty()) list.push_back(std::move(found));
  }
  // What a rival was held to is asked first.
  std::stable_partition(list.begin(), list.end(),
                        [](const Unswept& one) { return !one.variant->info.library.empty(); });
  return list;
}

const Problem* largest_measured(const FamilyResult& family) {
  const Problem* largest = nullptr;
  for (const Best& best : family.best) {
    if (best.fastest != nullptr && (largest == nullptr || *largest < best.problem)) largest = &best.problem;
  }
  return largest;
}

}  // namespace mprof
