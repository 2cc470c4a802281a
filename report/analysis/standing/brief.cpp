// SPDX-License-Identifier: MIT
#include "report/analysis/standing/brief.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

#include "model/precision.hpp"
#include "report/analysis/reasons/derived_metrics.hpp"
#include "report/analysis/reasons/explanations.hpp"
#include "report/analysis/reasons/other_variants.hpp"
#include "report/analysis/standing/standings.hpp"
#include "report/analysis/standing/synergy.hpp"

namespace mprof {
namespace {

/// A right output at the problem, with its time.
const CaseResult* measured_at(const VariantResult& variant, const Problem& problem) {
  const CaseResult* result = variant.representative(problem);
  return result == nullptr || !result->ok() || !result->total_time ? nullptr : result;
}

/// The first baseline of most of the variants that were measured, among those that were measured
/// themselves; of two with as many the one that stands first.
const VariantResult* common_baseline(const FamilyResult& family, const Problem& problem) {
  std::map<std::string, std::size_t> descendants;
  for (const VariantResult& variant : family.variants) {
    if (measured_at(variant, problem) != nullptr) ++descendants[first_baseline(family, variant.info.id)];
  }
  const VariantResult* common = nullptr;
  std::size_t most = 0;
  for (const VariantResult& variant : family.variants) {
    const auto found = descendants.find(variant.info.id);
    if (found == descendants.end() || found->second <= most || measured_at(variant, problem) == nullptr)
      continue;
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
        one.reasons.front().refuted_by)
      continue;
    const double change = std::abs(std::log(*one.speed_up.factor));
    if (change <= most) continue;
    most = change;
    found = &one;
  }
  return found;
}

/// The strongest reason; but a cause that is strong enough is told before a symptom. One that explains less
/// is a part of the matter, and would stand where a reader looks for the most of it.
const Reason& first_reason(const Explanation& one) {
  constexpr double strong = 0.25;  // of the whole change
  const double change = std::abs(std::log(*one.speed_up.factor));
  const auto cause = std::ranges::find_if(one.reasons, [&](const Reason& reason) {
    return !reason.refuted_by && !is_symptom(*reason.rule) && reason.strength >= strong * change;
  });
  return cause == one.reasons.end() ? one.reasons.front() : *cause;
}

/// Of the larger change first.
std::vector<FirstCause> first_causes(const FamilyResult& family, const VariantResult& variant) {
  const Explanations explanations = explain(family, variant);
  std::vector<const Explanation*> found;
  for (const Verdict direction : {Verdict::faster, Verdict::slower}) {
    if (const Explanation* one = telling(variant, explanations.of_ops, direction)) found.push_back(one);
  }
  std::ranges::stable_sort(found, std::greater{},
                           [](const Explanation* one) { return std::abs(std::log(*one->speed_up.factor)); });
  std::vector<FirstCause> causes;
  for (const Explanation* one : found) causes.push_back({one->op, first_reason(*one)});
  return causes;
}

/// nullptr where the case has no such time that stands for the work.
const Value* comparable(const CaseResult& result, const std::string& op) {
  if (op.empty()) return &result.total_time;
  const OpResult* found = result.find_op(op);
  return found == nullptr || found->flaw != OpTimeFlaw::none ? nullptr : &found->op_time;
}

/// One of the points of a variant that are right at the problem: a value of each of its parameters.
struct MeasuredPoint {
  const VariantResult* variant = nullptr;
  const CaseResult* result = nullptr;

  [[nodiscard]] bool is_of_library() const { return !variant->info.library.empty(); }
};

std::vector<MeasuredPoint> points_at(const FamilyResult& family, const Problem& problem) {
  std::vector<MeasuredPoint> points;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      if (result.key.problem == problem && result.ok() && result.total_time)
        points.push_back({&variant, &result});
    }
  }
  return points;
}

/// The fastest of those that are wanted and have such a time; nullptr where there is none.
template <class Wanted>
const MeasuredPoint* fastest(const std::vector<MeasuredPoint>& points, const std::string& op,
                             const Wanted& is_wanted) {
  const MeasuredPoint* best = nullptr;
  double least = 0;
  for (const MeasuredPoint& point : points) {
    const Value* time = comparable(*point.result, op);
    if (time == nullptr || !*time || !is_wanted(point)) continue;
    if (best != nullptr && (*time)->median >= least) continue;
    best = &point;
    least = (*time)->median;
  }
  return best;
}

bool keeps(const MeasuredPoint& point, const std::string& op, double tolerance) {
  return tolerance_of(*point.result, op).value_or(0) <= tolerance;
}

/// What the cases that say so call the numbers at a tolerance; empty where none does, or they do not agree.
std::string format_at(const FamilyResult& family, double tolerance) {
  std::string format;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      const std::string own = tolerance_of(result, "") == tolerance ? number_format_of(result) : "";
      if (own.empty() || own == format) continue;
      if (!format.empty()) return {};
      format = own;
    }
  }
  return format;
}

bool counts_half(const FamilyResult& family, const CaseResult& result) {
  return !result.ops.empty() && std::ranges::all_of(result.ops, [&](const OpResult& op) {
    const OpReadings readings(family, result, op.info.name);
    return std::ranges::any_of(
        readings.kernels(), [&](const KernelCounters& kernel) { return computes_in_half(kernel, op.info); });
  });
}

Precision precision_of(const FamilyResult& family, const CaseResult* common, const CaseResult& result) {
  Precision precision{number_format_of(result), tolerance_of(result, "")};
  if (!precision.format.empty() || !precision.tolerance) return precision;
  const auto of_common = common == nullptr ? std::nullopt : tolerance_of(*common, "");
  if (precision.tolerance == of_common)
    precision.format = format_at(family, *of_common);
  else if (counts_half(family, result))
    precision.format = "fp16";
  if (precision.format.empty()) precision.format = format_of_tolerance(*precision.tolerance).value_or("");
  return precision;
}

/// Why the op is faster than in the common baseline.
std::optional<Reason> cause_over(const FamilyResult& family, const CaseResult& common, const Best& best,
                                 const SpeedUp& over) {
  if (best.op.empty() || over.verdict != Verdict::faster) return std::nullopt;
  Explanation one = explain_change({&family, &common}, {&family, best.fastest}, best.op, "op_time", over);
  weigh_by_others(one, {&family, &common}, {&family, best.fastest});
  if (one.reasons.empty() || one.reasons.front().refuted_by) return std::nullopt;
  return first_reason(one);
}

std::vector<Leader> leaders_of(const FamilyResult& family, const Brief& brief,
                               const std::vector<MeasuredPoint>& points) {
  std::vector<Leader> leaders;
  const CaseResult* common = brief.common == nullptr ? nullptr : brief.common->representative(*brief.problem);
  for (const Best& best : family.best) {
    if (best.fastest == nullptr || best.problem != *brief.problem) continue;
    Leader leader{.best = &best,
                  .over = no_speed_up(Because::common_baseline_lacks_time),
                  .precision = precision_of(family, common, *best.fastest)};
    const Value* before = common == nullptr || !common->ok() ? nullptr : comparable(*common, best.op);
    const Value* after = comparable(*best.fastest, best.op);
    if (best.fastest == common) {
      leader.over = no_speed_up(Because::is_common_baseline);
    } else if (before != nullptr && after != nullptr) {
      leader.over = judge(*before, *after);
      if (leader.over) leader.cause = cause_over(family, *common, best, leader.over);
    }
    const auto tolerance = common == nullptr ? std::nullopt : tolerance_of(*common, best.op);
    if (tolerance && tolerance_of(*best.fastest, best.op).value_or(0) > *tolerance) {
      const MeasuredPoint* tight =
          fastest(points, best.op, [&](const MeasuredPoint& one) { return keeps(one, best.op, *tolerance); });
      if (tight != nullptr) {
        leader.as_tight = tight->result;
        leader.tight = precision_of(family, common, *tight->result);
        leader.as_tight_over = tight->result == common || before == nullptr
                                   ? no_speed_up(Because::is_common_baseline)
                                   : judge(*before, *comparable(*tight->result, best.op));
      }
    }
    leaders.push_back(std::move(leader));
  }
  return leaders;
}

/// How own code stands to libraries in an op.
class Rivalry {
 public:
  Rivalry(const std::vector<MeasuredPoint>& points, const std::string& op) : points_(points), op_(op) {}

  /// The fastest of own code first, then, of an op, the fastest of each other kind that libraries have too.
  [[nodiscard]] std::vector<RivalStep> steps() const {
    const MeasuredPoint* const own =
        fastest(points_, op_, [](const MeasuredPoint& one) { return !one.is_of_library(); });
    const MeasuredPoint* const any =
        fastest(points_, op_, [](const MeasuredPoint& one) { return one.is_of_library(); });
    if (own == nullptr || any == nullptr) return {};
    const MeasuredPoint* const like = fastest_like(*own, true);
    const MeasuredPoint& rival = like == nullptr ? *any : *like;
    std::vector<RivalStep> steps{step(*own, rival)};
    steps.front().over_fastest = over(*own, *any);
    steps.front().fastest_library = any->variant->info.library;
    add_as_tight(steps.front());
    if (op_.empty()) return steps;  // libraries are in little of a whole
    std::vector<const MeasuredPoint*> told{&rival};
    while (const MeasuredPoint* const other = fastest(points_, op_, [&](const MeasuredPoint& one) {
             return one.is_of_library() && std::ranges::none_of(told, [&](const MeasuredPoint* before) {
                      return is_like(*one.result, *before->result, op_);
                    });
           })) {
      told.push_back(other);
      const MeasuredPoint* const likewise = fastest_like(*other, false);
      if (likewise == nullptr || likewise == own) continue;
      steps.push_back(step(*likewise, *other));
      steps.back().is_of_other_kind = true;
    }
    return steps;
  }

 private:
  [[nodiscard]] const MeasuredPoint* fastest_like(const MeasuredPoint& other, bool of_library) const {
    return fastest(points_, op_, [&](const MeasuredPoint& one) {
      return one.is_of_library() == of_library && is_like(*one.result, *other.result, op_);
    });
  }

  [[nodiscard]] SpeedUp over(const MeasuredPoint& own, const MeasuredPoint& rival) const {
    return judge(*comparable(*rival.result, op_), *comparable(*own.result, op_));
  }

  [[nodiscard]] RivalStep step(const MeasuredPoint& own, const MeasuredPoint& rival) const {
    RivalStep step{op_, own.result, rival.result, rival.variant->info.library, over(own, rival), {}};
    const auto is_of_a_kind = [&](const MeasuredPoint& one) {
      return is_like(*one.result, *rival.result, op_);
    };
    step.is_like = is_of_a_kind(own) && !std::ranges::all_of(points_, is_of_a_kind);
    std::vector<const VariantResult*> seen{rival.variant};
    for (const MeasuredPoint& point : points_) {
      if (!point.is_of_library() || std::ranges::find(seen, point.variant) != seen.end()) continue;
      seen.push_back(point.variant);
      const MeasuredPoint* const best = fastest(points_, op_, [&](const MeasuredPoint& one) {
        return one.variant == point.variant && is_of_a_kind(one);
      });
      if (best != nullptr && is_level(*comparable(*best->result, op_), *comparable(*rival.result, op_)))
        step.level.push_back(best->result);
    }
    return step;
  }

  void add_as_tight(RivalStep& step) const {
    const auto tolerance = tolerance_of(*step.rival, op_);
    if (!tolerance || tolerance_of(*step.own, op_).value_or(0) <= *tolerance) return;
    const MeasuredPoint* const point = fastest(points_, op_, [&](const MeasuredPoint& one) {
      return !one.is_of_library() && keeps(one, op_, *tolerance);
    });
    if (point == nullptr) return;
    step.as_tight = point->result;
    step.as_tight_speed_up = judge(*comparable(*step.rival, op_), *comparable(*point->result, op_));
  }

  const std::vector<MeasuredPoint>& points_;
  const std::string& op_;
};

std::vector<RivalStep> rivals_of(const FamilyResult& family, const std::vector<MeasuredPoint>& points) {
  std::vector<RivalStep> all;
  const auto add = [&](const std::string& op) {
    for (RivalStep& step : Rivalry(points, op).steps()) all.push_back(std::move(step));
  };
  for (const OpInfo& op : family.ops) add(op.name);
  add("");
  return all;
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

std::string number_format_of(const CaseResult& result) {
  static constexpr std::array<std::string_view, 8> formats{"fp64", "fp32", "tf32", "bf16",
                                                           "fp16", "fp8",  "int8", "int4"};
  for (const auto& [name, value] : result.key.parameters) {
    if (std::ranges::find(formats, value) != formats.end()) return value;
  }
  return {};
}

bool is_like(const CaseResult& a, const CaseResult& b, const std::string& op) {
  const std::string format_of_a = number_format_of(a), format_of_b = number_format_of(b);
  if (!format_of_a.empty() && !format_of_b.empty()) return format_of_a == format_of_b;
  return tolerance_of(a, op) == tolerance_of(b, op);
}

namespace {

bool has_op_times(const BriefRow& row) {
  return std::ranges::any_of(row.result->ops, [](const OpResult& op) { return op.op_time || op.group_time; });
}

}  // namespace

Brief brief_of(const FamilyResult& family) {
  Brief brief{.problem = largest_measured(family)};
  if (brief.problem == nullptr) return brief;
  brief.common = common_baseline(family, *brief.problem);
  const CaseResult* const baseline =
      brief.common == nullptr ? nullptr : brief.common->representative(*brief.problem);
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result = measured_at(variant, *brief.problem);
    if (result == nullptr) continue;
    BriefRow row{.variant = &variant,
                 .result = result,
                 .ops_time = ops_time(*result),
                 .causes = first_causes(family, variant),
                 .precision = precision_of(family, baseline, *result)};
    brief.rows.push_back(std::move(row));
  }
  brief.compares_wholes = std::ranges::none_of(brief.rows, has_op_times);
  std::optional<double> common;
  for (BriefRow& row : brief.rows) {
    if (brief.compares_wholes) row.ops_time = row.result->total_time->median;
    if (row.variant == brief.common) common = row.ops_time;
  }
  for (BriefRow& row : brief.rows) {
    if (common && row.ops_time) row.over = *common / *row.ops_time;
  }
  std::ranges::stable_sort(brief.rows, {}, [](const BriefRow& row) {
    return std::tuple(!row.ops_time, row.ops_time.value_or(row.result->total_time->median));
  });
  const std::vector<MeasuredPoint> points = points_at(family, *brief.problem);
  brief.leaders = leaders_of(family, brief, points);
  brief.rivals = rivals_of(family, points);
  return brief;
}

}  // namespace mprof
