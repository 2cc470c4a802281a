#include "report/analysis/standings.hpp"

#include <algorithm>

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

/// s, of all ops; nullopt where one is missing or works outside forward().
std::optional<double> ops_time(const CaseResult& result) {
  double sum = 0;
  for (const OpResult& op : result.ops) {
    if (!op.op_time || op.outside_forward) return std::nullopt;
    sum += op.op_time->median;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

}  // namespace

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
  return fastest;
}

const Problem* largest_measured(const FamilyResult& family) {
  const Problem* largest = nullptr;
  for (const Best& best : family.best) {
    if (best.fastest != nullptr && (largest == nullptr || *largest < best.problem)) largest = &best.problem;
  }
  return largest;
}

}  // namespace mprof
