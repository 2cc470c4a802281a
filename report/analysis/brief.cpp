#include "report/analysis/brief.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "report/analysis/explanations.hpp"
#include "report/analysis/standings.hpp"
#include "report/analysis/synergy.hpp"

namespace mprof {
namespace {

/// The first baseline of most variants; of two with as many the one that stands first.
const VariantResult* common_baseline(const FamilyResult& family) {
  std::map<std::string, std::size_t> descendants;
  for (const VariantResult& variant : family.variants) ++descendants[first_baseline(family, variant.info.id)];
  const VariantResult* common = nullptr;
  std::size_t most = 0;
  for (const VariantResult& variant : family.variants) {
    const auto found = descendants.find(variant.info.id);
    if (found == descendants.end() || found->second <= most) continue;
    most = found->second;
    common = &variant;
  }
  return common;
}

/// The time that the op's verdict is about.
std::string_view compared_by(const VariantResult& variant, const Explanation& one) {
  const CaseResult* result = variant.representative(one.problem);
  const OpResult* op = result == nullptr ? nullptr : result->find_op(one.op);
  return op == nullptr ? "" : std::string_view(op->compared_by);
}

/// The explanation of the op that changed most in the direction: nullptr where none did and has a reason that
/// no other variant contradicts. The explanations of the largest problem come first.
const Explanation* telling(const VariantResult& variant, const std::vector<Explanation>& explanations,
                           Verdict direction) {
  const Explanation* found = nullptr;
  double most = 0;
  for (const Explanation& one : explanations) {
    if (one.problem != explanations.front().problem) break;
    // Reasons that another variant contradicts come last: where the first one is, all are.
    if (one.time != compared_by(variant, one) || one.change() != direction || one.reasons.empty() ||
        !one.reasons.front().refuted_by.empty())
      continue;
    const double change = std::abs(std::log(*one.speed_up.factor));
    if (change <= most) continue;
    most = change;
    found = &one;
  }
  return found;
}

/// That of the larger change first.
std::vector<FirstCause> first_causes(const FamilyResult& family, const VariantResult& variant) {
  const Explanations explanations = explain(family, variant);
  std::vector<const Explanation*> found;
  for (const Verdict direction : {Verdict::faster, Verdict::slower}) {
    if (const Explanation* one = telling(variant, explanations.of_ops, direction)) found.push_back(one);
  }
  std::ranges::stable_sort(found, std::greater{},
                           [](const Explanation* one) { return std::abs(std::log(*one->speed_up.factor)); });
  std::vector<FirstCause> causes;
  for (const Explanation* one : found) causes.push_back({one->op, one->reasons.front().sentence});
  return causes;
}

/// nullptr where the case has no such time that stands for the work.
const Value* comparable(const CaseResult& result, const std::string& op) {
  if (op.empty()) return &result.total_time;
  const OpResult* found = result.find_op(op);
  return found == nullptr || !found->flaw.empty() ? nullptr : &found->op_time;
}

/// The fastest of the rows that are, or are not, of a library, and keep the tolerance.
const BriefRow* fastest(const std::vector<BriefRow>& rows, const std::string& op, bool of_library,
                        double tolerance = std::numeric_limits<double>::infinity()) {
  const BriefRow* best = nullptr;
  double least = 0;
  for (const BriefRow& row : rows) {
    const Value* time = comparable(*row.result, op);
    if (row.variant->info.library.empty() == of_library || time == nullptr || !*time) continue;
    if (best != nullptr && (*time)->median >= least) continue;
    if (tolerance_of(*row.result, op).value_or(0) > tolerance) continue;
    best = &row;
    least = (*time)->median;
  }
  return best;
}

std::vector<Leader> leaders_of(const FamilyResult& family, const Brief& brief) {
  std::vector<Leader> leaders;
  const CaseResult* common = brief.common == nullptr ? nullptr : brief.common->representative(*brief.problem);
  for (const Best& best : family.best) {
    if (best.fastest == nullptr || best.problem != *brief.problem) continue;
    Leader leader{&best, no_speed_up("the common baseline has no such time")};
    const Value* before = common == nullptr || !common->ok() ? nullptr : comparable(*common, best.op);
    const Value* after = comparable(*best.fastest, best.op);
    if (best.fastest == common) {
      leader.over = no_speed_up("it is the common baseline");
    } else if (before != nullptr && after != nullptr) {
      leader.over = judge(*before, *after);
    }
    const auto tolerance = common == nullptr ? std::nullopt : tolerance_of(*common, best.op);
    if (tolerance && tolerance_of(*best.fastest, best.op).value_or(0) > *tolerance) {
      const BriefRow* tight = nullptr;
      for (const bool of_library : {false, true}) {
        const BriefRow* row = fastest(brief.rows, best.op, of_library, *tolerance);
        const auto time = [&](const BriefRow& one) { return (*comparable(*one.result, best.op))->median; };
        if (row != nullptr && (tight == nullptr || time(*row) < time(*tight))) tight = row;
      }
      leader.as_tight = tight == nullptr ? nullptr : tight->result;
    }
    leaders.push_back(std::move(leader));
  }
  return leaders;
}

std::vector<RivalStep> rivals_of(const FamilyResult& family, const std::vector<BriefRow>& rows) {
  std::vector<RivalStep> steps;
  const auto add = [&](const std::string& op) {
    const BriefRow *own = fastest(rows, op, false), *rival = fastest(rows, op, true);
    if (own == nullptr || rival == nullptr) return;
    const auto over_rival = [&](const BriefRow& row) {
      return judge(*comparable(*rival->result, op), *comparable(*row.result, op));
    };
    RivalStep step{op, own->result, rival->result, rival->variant->info.library, over_rival(*own), {}};
    for (const BriefRow& row : rows) {
      if (row.result == rival->result || row.variant->info.library.empty() || !comparable(*row.result, op))
        continue;
      if (const SpeedUp over = over_rival(row); over && !is_change(over.verdict))
        step.level.push_back(row.result);
    }
    const auto tolerance = tolerance_of(*rival->result, op);
    if (tolerance && tolerance_of(*own->result, op).value_or(0) > *tolerance) {
      if (const BriefRow* row = fastest(rows, op, false, *tolerance)) {
        step.as_tight = row->result;
        step.as_tight_speed_up = over_rival(*row);
      }
    }
    steps.push_back(std::move(step));
  };
  for (const OpInfo& op : family.ops) add(op.name);
  add("");
  return steps;
}

}  // namespace

std::optional<double> tolerance_of(const CaseResult& result, const std::string& op) {
  std::optional<double> loosest;
  for (const OpResult& one : result.ops) {
    if ((op.empty() || one.info.name == op) && one.verification)
      loosest = std::max(loosest.value_or(0), one.verification->tolerance);
  }
  return loosest;
}

Brief brief_of(const FamilyResult& family) {
  Brief brief{largest_measured(family), common_baseline(family), {}, {}, {}};
  if (brief.problem == nullptr) return brief;
  std::optional<double> common;
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result = variant.representative(*brief.problem);
    if (result == nullptr || !result->ok() || !result->total_time) continue;
    BriefRow row{&variant, result, ops_time(*result), std::nullopt, first_causes(family, variant)};
    if (&variant == brief.common) common = row.ops_time;
    brief.rows.push_back(std::move(row));
  }
  for (BriefRow& row : brief.rows) {
    if (common && row.ops_time) row.over = *common / *row.ops_time;
  }
  std::ranges::stable_sort(brief.rows, {}, [](const BriefRow& row) {
    return std::tuple(!row.ops_time, row.ops_time.value_or(row.result->total_time->median));
  });
  brief.leaders = leaders_of(family, brief);
  brief.rivals = rivals_of(family, brief.rows);
  return brief;
}

}  // namespace mprof
