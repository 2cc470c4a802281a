// SPDX-License-Identifier: MIT
#include "report/analysis/reasons/explanations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "report/analysis/reasons/derived_metrics.hpp"
#include "report/analysis/reasons/other_variants.hpp"

namespace mprof {
namespace {

/// An op of a variant and of its baseline, and the time of it that is to be explained.
struct OpComparison {
  OpReadings before;
  OpReadings after;
  double longer_time;
  double change;  ///< |ln(speed-up)|
};

// --- Clauses

/// nullopt when a side of it was not measured.
std::optional<double> looked_at(Look look, std::string_view metric, const OpComparison& sides) {
  const Value& before = sides.before.of(metric).value;
  const Value& after = sides.after.of(metric).value;
  if (!before || !after) return std::nullopt;
  switch (look) {
    case Look::before:
      return before->median;
    case Look::after:
      return after->median;
    case Look::ratio:
      return before->median > 0 ? std::optional(after->median / before->median) : std::nullopt;
    case Look::told_ratio:
      return is_change(judge(before, after).verdict) ? std::optional(after->median / before->median)
                                                     : std::nullopt;
    case Look::difference:
      return after->median - before->median;
    case Look::share_of_time:
      return (after->median - before->median) / sides.longer_time;
    case Look::share_of_change:
      return before->median > 0 && after->median > 0 && sides.change > 0
                 ? std::optional(std::log(after->median / before->median) / sides.change)
                 : std::nullopt;
  }
  return std::nullopt;
}

bool holds(const Clause& clause, const OpComparison& sides) {
  const std::optional<double> value = looked_at(clause.look, clause.metric, sides);
  if (!value) return false;
  return clause.relation == Relation::at_least ? *value >= clause.threshold : *value <= clause.threshold;
}

/// −ln(1 − share): what a part of the longer time makes as a ratio of times.
double of_share(double share) {
  constexpr double nearly_all = 0.99;
  return -std::log(1 - std::min(std::abs(share), nearly_all));
}

double plain_strength(const Strength& strength, const OpComparison& sides) {
  const auto look = [&](Look what) { return looked_at(what, strength.metric, sides).value_or(0); };
  switch (strength.weigh) {
    case Weigh::log_ratio: {
      const double ratio = look(Look::ratio);
      return ratio > 0 ? std::abs(std::log(ratio)) : of_share(1);
    }
    case Weigh::share_of_time:
      return of_share(look(Look::share_of_time));
    case Weigh::points:
      return of_share(look(Look::difference) / 100);
    case Weigh::share_after:
      return sides.change * look(Look::after) / 100;
    case Weigh::least:
      break;
  }
  return 0;
}

/// The longest kernel speaks for so much of the op.
double share_of_longest(const OpReadings& op) {
  const KernelCounters* longest = op.longest_kernel();
  const Value& others = op.of("side_kernel_time").value;
  if (longest == nullptr || !others || !(longest->time() > 0)) return 1;
  return longest->time() / (longest->time() + others->median);
}

/// By how much what a rule acts through changed in the direction of its effect; 0 when it went the other way.
std::optional<double> change_of(std::string_view through, Effect effect, const OpComparison& sides) {
  const std::optional<double> ratio = looked_at(Look::ratio, through, sides);
  if (!ratio || !(*ratio > 0)) return std::nullopt;
  const bool more_is_faster = through == "issue_rate";
  return std::max(0.0, more_is_faster == (effect == Effect::faster) ? std::log(*ratio) : -std::log(*ratio));
}

/// Less of the change than this is no cause of it.
constexpr double least_part = 0.1;

/// False where what the rule acts through moved by next to nothing, or the other way.
bool explains_a_part(const Rule& rule, const OpComparison& sides) {
  if (rule.strength.through.empty() || rule.effect == Effect::context) return true;
  const std::optional<double> most = change_of(rule.strength.through, rule.effect, sides);
  return !most || *most >= least_part * sides.change;
}

double strength_of(const Rule& rule, const OpComparison& sides) {
  if (rule.strength.weigh == Weigh::least) return rule.strength.weight;
  double strength = rule.strength.weight * plain_strength(rule.strength, sides);
  if (is_of_longest_kernel(rule.strength.metric))
    strength *= std::min(share_of_longest(sides.before), share_of_longest(sides.after));
  if (rule.strength.through.empty()) return strength;
  const std::optional<double> most = change_of(rule.strength.through, rule.effect, sides);
  if (!most) return strength;
  // Below what it acts through, and still in their own order where that leaves next to nothing.
  return 0.99 * std::min(strength, *most) + 1e-4 * strength;
}

// --- What a reason cites

std::vector<std::string> side_kernels(const OpReadings& op) {
  std::vector<std::string> names;
  const KernelCounters* longest = op.longest_kernel();
  for (const KernelCounters& kernel : op.kernels()) {
    if (&kernel != longest) names.push_back(kernel.kernel);
  }
  return names;
}

/// Occupancy is counted while a multiprocessor has a block: where the grid has fewer blocks than the GPU has
/// multiprocessors, it says nothing of those without one.
bool leaves_some_without_blocks(const OpReadings& op) {
  const Value &blocks = op.of("launch__grid_size").value, &units = op.of("multiprocessors").value;
  return blocks && units && blocks->median < units->median;
}

bool has_idle_multiprocessors(const Cited& cited, const OpComparison& sides) {
  return cited.metric == "sm__warps_active.avg.pct_of_peak_sustained_active" &&
         (leaves_some_without_blocks(sides.before) || leaves_some_without_blocks(sides.after));
}

bool is_known(const Cited& cited, const OpComparison& sides) {
  if (!sides.before.of(cited.metric).value || !sides.after.of(cited.metric).value) return false;
  if (cited.show == Show::bottleneck_before || cited.show == Show::bottleneck_after) {
    const KernelCounters* of =
        (cited.show == Show::bottleneck_before ? sides.before : sides.after).longest_kernel();
    return of != nullptr && bottleneck_of(*of).has_value();
  }
  if (cited.show != Show::limits) return true;
  const KernelCounters* kernel = sides.after.longest_kernel();
  return kernel != nullptr && !occupancy_limits_of(*kernel).empty();
}

bool is_number(const Cited& cited) {
  return cited.show == Show::change || cited.show == Show::pair || cited.show == Show::before ||
         cited.show == Show::after;
}

bool is_of_one_kernel(const Rule& rule) {
  return std::ranges::any_of(rule.cites,
                             [](const Cited& cited) { return is_of_longest_kernel(cited.metric); });
}

/// Where other numbers of the sentence are of the longest kernel alone, this one must say that it is not.
bool must_say_all_kernels(const Rule& rule, const Cited& cited, const OpComparison& sides) {
  return is_number(cited) && !is_of_longest_kernel(cited.metric) && is_of_one_kernel(rule) &&
         sides.before.kernels().size() + sides.after.kernels().size() > 2;
}

CitedReading read(const Rule& rule, const Cited& cited, const OpComparison& sides) {
  CitedReading reading{.before = sides.before.of(cited.metric).value->median,
                       .after = sides.after.of(cited.metric).value->median,
                       .of_all_kernels = must_say_all_kernels(rule, cited, sides),
                       .has_idle_multiprocessors = has_idle_multiprocessors(cited, sides)};
  switch (cited.show) {
    case Show::side_kernels:
      reading.kernels_before = side_kernels(sides.before);
      reading.kernels_after = side_kernels(sides.after);
      break;
    case Show::limits:
      reading.limits = occupancy_limits_of(*sides.after.longest_kernel());
      break;
    case Show::bottleneck_before:
      reading.bottleneck = bottleneck_of(*sides.before.longest_kernel());
      break;
    case Show::bottleneck_after:
      reading.bottleneck = bottleneck_of(*sides.after.longest_kernel());
      break;
    case Show::change:
    case Show::pair:
    case Show::before:
    case Show::after:
      break;
  }
  return reading;
}

// --- Rules

std::optional<Reason> fired(const Rule& rule, const OpComparison& sides) {
  const bool all_hold =
      std::ranges::all_of(rule.when, [&](const Clause& clause) { return holds(clause, sides); }) &&
      std::ranges::all_of(rule.cites, [&](const Cited& cited) { return is_known(cited, sides); });
  if (!all_hold) return std::nullopt;
  const double strength = strength_of(rule, sides);
  const double plain =
      rule.strength.weigh == Weigh::least ? 0 : rule.strength.weight * plain_strength(rule.strength, sides);
  Reason reason{&rule, strength, strength, plain, {}, is_of_one_kernel(rule)};
  for (const Cited& cited : rule.cites) reason.cited.push_back(read(rule, cited, sides));
  return reason;
}

void name_kernels(Explanation& explanation, const OpComparison& sides) {
  const KernelCounters* before = sides.before.longest_kernel();
  const KernelCounters* after = sides.after.longest_kernel();
  if (before == nullptr || after == nullptr) return;
  explanation.kernel_before = before->kernel;
  explanation.kernel_after = after->kernel;
  explanation.several_kernels = sides.before.kernels().size() + sides.after.kernels().size() > 2;
}

bool can_explain(const Rule& rule, const std::string& time, bool on_gpu) {
  switch (rule.explains) {
    case Explains::op_time:
      return time == "op_time";
    case Explains::group_time:
      return time == "group_time";
    case Explains::cpu_time:
      return time == "op_time" && !on_gpu;
    case Explains::with_host:
      return time == "group_time" || !on_gpu;
    case Explains::either:
      break;
  }
  return true;
}

void add(Explanation& explanation, Reason reason, double change) {
  const Effect effect = reason.rule->effect;
  if (effect == Effect::context) {
    explanation.context.push_back(std::move(reason));
  } else if (!is_change(explanation.change())) {
    explanation.reasons.push_back(std::move(reason));
  } else if ((effect == Effect::faster) == (explanation.change() == Verdict::faster)) {
    reason.strength = std::min(reason.strength, change);
    explanation.reasons.push_back(std::move(reason));
  } else {
    explanation.against.push_back(std::move(reason));
  }
}

/// Stable, so that the order of the table decides between equals.
void rank(std::vector<Reason>& reasons) {
  std::ranges::stable_sort(reasons, std::ranges::greater{}, &Reason::strength);
}

/// The kinds of evidence by the metric that stands for each.
std::vector<MissingEvidence> missing_evidence(const OpComparison& sides, bool on_gpu) {
  using Kind = std::pair<EvidenceKind, std::string_view>;
  const std::vector<Kind> kinds =
      on_gpu ? std::vector<Kind>{{EvidenceKind::hardware_counters, "gpu__time_duration.sum"},
                                 {EvidenceKind::trace, "gpu_time"}}
             : std::vector<Kind>{{EvidenceKind::cpu_counters, "instructions"}};
  std::vector<MissingEvidence> missing;
  for (const auto& [kind, metric] : kinds) {
    const Value& before = sides.before.of(metric).value;
    const Value& after = sides.after.of(metric).value;
    if (!before || !after) missing.push_back({kind, after ? before.absent : after.absent});
  }
  for (const OpReadings* side : {&sides.before, &sides.after}) {
    Why untold = why_dram_untold(side->kernels(), side->info(), side->family().speed_of_light.l2_capacity);
    if (untold.empty()) continue;
    missing.push_back({EvidenceKind::dram_bytes, std::move(untold), side->result().key.variant});
    break;
  }
  return missing;
}

// --- Ops and problems

const Value& time_of(const OpResult& op, const std::string& time) {
  return time == "group_time" ? op.group_time : op.op_time;
}

bool runs_on_gpu(const FamilyResult& family, const CaseResult& result) {
  const VariantResult* variant = family.find_variant(result.key.variant);
  return variant != nullptr && variant->info.device == "cuda";
}

Explanation explain_time(const FamilyResult& family, const CaseResult& baseline, const CaseResult& result,
                         const OpResult& op, const std::string& time) {
  const SpeedUp speed_up = judge(time_of(*baseline.find_op(op.info.name), time), time_of(op, time));
  return explain_change({&family, &baseline}, {&family, &result}, op.info.name, time, speed_up);
}

// --- What the variant's own sweep says to it

/// Below so much of what a cause would account for, it is gainsaid.
constexpr double next_to_nothing = 0.25;
/// A point has a cause as well when it has at least so much of it.
constexpr double as_much_of_it = 0.5;

/// The parameters in which a point of a sweep differs from another one.
Parameters apart_from(const CaseResult& other, const CaseResult& point) {
  Parameters own;
  for (const auto& [name, value] : point.key.parameters) {
    const auto same = other.key.parameters.find(name);
    if (same == other.key.parameters.end() || same->second != value) own.emplace(name, value);
  }
  return own;
}

const Reason* find_reason(const Explanation& explanation, const Rule* rule) {
  for (const auto* reasons : {&explanation.reasons, &explanation.against}) {
    const auto found = std::ranges::find(*reasons, rule, &Reason::rule);
    if (found != reasons->end()) return &*found;
  }
  return nullptr;
}

/// ln(speed-up) in the direction of the change that is explained.
double gain_of(const SpeedUp& speed_up, Verdict direction) {
  const double gain = std::log(*speed_up.factor);
  return direction == Verdict::faster ? gain : -gain;
}

/// Whether the point has the cause as well, and next to nothing of the change. A point that is much slower
/// has something of its own wrong, and says nothing of the cause.
bool gainsays(const Explanation& point, const Explanation& explanation, const Reason& reason) {
  // Nor can a point gainsay what acts through such a factor.
  if (is_factor_of_time(*reason.rule) || !reason.rule->strength.through.empty()) return false;
  const Reason* there = find_reason(point, reason.rule);
  if (there == nullptr || there->claimed < as_much_of_it * reason.claimed) return false;
  const double gain = gain_of(point.speed_up, explanation.change());
  return std::abs(gain) < next_to_nothing * there->claimed &&
         gain < next_to_nothing * gain_of(explanation.speed_up, explanation.change());
}

/// What a sweep's point is held against, and what is explained of the variant's case.
struct SweptCase {
  const FamilyResult& family;
  const CaseResult& baseline;
  const CaseResult& result;
};

/// What sets the case apart from a point of its sweep that gains next to nothing.
void add_reasons_over(Explanation& explanation, const SweptCase& swept, const CaseResult& point) {
  const OpResult* before = point.find_op(explanation.op);
  const OpResult* after = swept.result.find_op(explanation.op);
  const SpeedUp speed_up = judge(time_of(*before, explanation.time), time_of(*after, explanation.time));
  if (speed_up.verdict != explanation.change()) return;
  Explanation over = explain_change({&swept.family, &point}, {&swept.family, &swept.result}, explanation.op,
                                    explanation.time, speed_up);
  for (Reason& reason : over.reasons) {
    const bool known = std::ranges::any_of(explanation.reasons,
                                           [&](const Reason& other) { return other.rule == reason.rule; });
    if (known) continue;
    reason.over_point = apart_from(swept.result, point);
    explanation.reasons.push_back(std::move(reason));
  }
}

void weigh_by_sweep(Explanation& explanation, const SweptCase& swept) {
  const VariantResult* variant = swept.family.find_variant(swept.result.key.variant);
  if (!is_change(explanation.change()) || variant == nullptr) return;
  const auto places = variant->at.find(swept.result.key.problem);
  if (places == variant->at.end()) return;
  const CaseResult* most_telling = nullptr;
  for (const std::size_t place : places->second) {
    const CaseResult& point = variant->cases[place];
    const OpResult* op = point.find_op(explanation.op);
    if (&point == &swept.result || !point.ok() || op == nullptr) continue;
    const SpeedUp speed_up = judge(explanation.before, time_of(*op, explanation.time));
    if (!speed_up) continue;
    const Explanation there = explain_change({&swept.family, &swept.baseline}, {&swept.family, &point},
                                             explanation.op, explanation.time, speed_up);
    for (auto reason = explanation.reasons.begin(); reason != explanation.reasons.end();) {
      if (!gainsays(there, explanation, *reason)) {
        ++reason;
        continue;
      }
      reason->refuted_by = {apart_from(swept.result, point), {}, *speed_up.factor};
      explanation.little.push_back(std::move(*reason));
      reason = explanation.reasons.erase(reason);
      if (most_telling == nullptr) most_telling = &point;
    }
  }
  if (most_telling != nullptr) add_reasons_over(explanation, swept, *most_telling);
}

/// Whether a verdict holds where it is looked for in each op of each variant (Bonferroni).
bool holds_among(const FamilyResult& family, const SpeedUp& one) {
  const auto looks = static_cast<double>(family.variants.size() * family.ops.size());
  return one.p && *one.p * looks <= significance;
}

/// The compared time of each op, and the group time beside an op time that went the other way.
std::vector<Explanation> explain_case(const FamilyResult& family, const CaseResult& result) {
  std::vector<Explanation> explanations;
  const CaseResult* baseline = family.find(result.baseline);
  if (baseline == nullptr) return explanations;
  for (const OpResult& op : result.ops) {
    if (baseline->find_op(op.info.name) == nullptr) continue;
    explanations.push_back(explain_time(family, *baseline, result, op, op.compared_by));
    if (op.compared_by == "group_time") continue;
    const SpeedUp of_group = judge(baseline->find_op(op.info.name)->group_time, op.group_time);
    if (contradict(explanations.back().change(), of_group.verdict) && holds_among(family, of_group))
      explanations.push_back(explain_time(family, *baseline, result, op, "group_time"));
  }
  for (Explanation& explanation : explanations) {
    weigh_by_sweep(explanation, {family, *baseline, result});
    weigh_by_others(explanation, {&family, baseline}, {&family, &result});
  }
  return explanations;
}

bool is_of_launching(const Reason& reason) {
  return reason.rule->of_launching;
}

/// Whether an op at the smallest problem went another way than at the largest, or its launches matter.
bool tells_another_story(const Explanation& small, const std::vector<Explanation>& main) {
  const auto same = std::ranges::find_if(
      main, [&](const Explanation& large) { return large.op == small.op && large.time == small.time; });
  if (same == main.end()) return true;
  return contradict(small.change(), same->change()) || std::ranges::any_of(small.reasons, is_of_launching) ||
         std::ranges::any_of(small.against, is_of_launching);
}

const CaseResult* comparable_case(const VariantResult& variant, const Problem& problem) {
  const CaseResult* result = variant.representative(problem);
  return result != nullptr && result->ok() && !result->baseline.empty() ? result : nullptr;
}

/// The one of the Speed-of-Light section when the variant has counters there; otherwise the largest one.
const CaseResult* main_case(const FamilyResult& family, const VariantResult& variant) {
  const SpeedOfLight& sol = family.speed_of_light;
  const bool is_counted = std::ranges::any_of(
      sol.kernels, [&](const KernelResult& kernel) { return kernel.variant == &variant; });
  if (is_counted) {
    if (const CaseResult* result = comparable_case(variant, sol.problem)) return result;
  }
  for (auto problem = family.problems.rbegin(); problem != family.problems.rend(); ++problem) {
    if (const CaseResult* result = comparable_case(variant, *problem)) return result;
  }
  return nullptr;
}

/// Why no case of the variant can be compared.
Why why_none(const FamilyResult& family, const VariantResult& variant) {
  if (variant.info.baseline.empty()) return Because::is_baseline;
  for (auto problem = family.problems.rbegin(); problem != family.problems.rend(); ++problem) {
    const CaseResult* result = variant.representative(*problem);
    if (result != nullptr) return result->total_speed_up.absent;
  }
  return Because::not_run;
}

}  // namespace

Explanation explain_change(const ExplainedCase& before, const ExplainedCase& after, const std::string& op,
                           const std::string& time, SpeedUp speed_up) {
  Explanation explanation;
  explanation.problem = after.result->key.problem;
  explanation.op = op;
  explanation.time = time;
  explanation.before = time_of(*before.result->find_op(op), time);
  explanation.after = time_of(*after.result->find_op(op), time);
  explanation.speed_up = std::move(speed_up);
  if (!explanation.speed_up) return explanation;
  const OpComparison sides{{*before.family, *before.result, op},
                           {*after.family, *after.result, op},
                           std::max(explanation.before->median, explanation.after->median),
                           std::abs(std::log(*explanation.speed_up.factor))};
  const bool on_gpu = runs_on_gpu(*after.family, *after.result);
  name_kernels(explanation, sides);
  for (const Rule& rule : rules()) {
    if (!can_explain(rule, time, on_gpu)) continue;
    if (is_change(explanation.change()) && !explains_a_part(rule, sides)) continue;
    if (std::optional<Reason> reason = fired(rule, sides)) add(explanation, *std::move(reason), sides.change);
  }
  for (auto* reasons : {&explanation.reasons, &explanation.against, &explanation.context}) rank(*reasons);
  explanation.missing = missing_evidence(sides, on_gpu);
  return explanation;
}

Explanations explain(const FamilyResult& family, const VariantResult& variant) {
  const CaseResult* result = main_case(family, variant);
  if (result == nullptr) return {why_none(family, variant), {}};
  Explanations explanations{{}, explain_case(family, *result)};
  const CaseResult* smallest = comparable_case(variant, family.problems.front());
  if (smallest == nullptr || smallest == result) return explanations;
  const std::vector<Explanation> main = explanations.of_ops;
  for (Explanation& small : explain_case(family, *smallest)) {
    if (!tells_another_story(small, main)) continue;
    // What it is told for.
    std::stable_partition(small.against.begin(), small.against.end(), is_of_launching);
    explanations.of_ops.push_back(std::move(small));
  }
  return explanations;
}

}  // namespace mprof
