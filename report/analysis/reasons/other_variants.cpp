// SPDX-License-Identifier: MIT
#include "report/analysis/reasons/other_variants.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/analysis/reasons/derived_metrics.hpp"

namespace mprof {
namespace {

/// How far what a rule is measured by went, with its sign; nullopt where a side was not read.
std::optional<double> moved(const Rule& rule, const OpReadings& before, const OpReadings& after) {
  if (rule.strength.weigh == Weigh::least) return std::nullopt;
  const Value& was = before.of(rule.strength.metric).value;
  const Value& is = after.of(rule.strength.metric).value;
  if (!was || !is) return std::nullopt;
  if (rule.strength.weigh != Weigh::log_ratio) return is->median - was->median;
  if (!(was->median > 0) || !(is->median > 0)) return std::nullopt;
  return std::log(is->median / was->median);
}

bool as_far(double one, double other) {
  return one * other > 0 && std::abs(one) >= std::abs(other);
}

const Value& explained_time(const OpResult& op, const std::string& time) {
  return time == "group_time" ? op.group_time : op.op_time;
}

/// Whether all that speaks for the other direction, taken together, claims less than the reason, so that it
/// cannot hide the gain.
bool hides_no_gain(const Explanation& there, const Reason& reason, Effect effect) {
  double against = 0;
  for (const auto* reasons : {&there.reasons, &there.against}) {
    for (const Reason& one : *reasons) {
      const Effect its = one.rule->effect;
      if (its != Effect::context && its != effect) against += one.plain;
    }
  }
  return against < reason.claimed;
}

/// A case of another variant that is held against the same baseline.
struct OtherCase {
  const CaseResult* result = nullptr;
  OpReadings readings;
  SpeedUp speed_up;
};

/// Those whose time did not change in this direction, beyond doubt.
std::vector<OtherCase> others_that_did_not(const Explanation& explanation, const ExplainedCase& before,
                                           const ExplainedCase& after) {
  std::vector<OtherCase> others;
  for (const VariantResult& variant : after.family->variants) {
    if (variant.info.id == after.result->key.variant) continue;
    const CaseResult* result = variant.representative(explanation.problem);
    if (result == nullptr || !result->ok() || result->baseline != before.result->id) continue;
    const OpResult* op = result->find_op(explanation.op);
    if (op == nullptr || (explanation.time == "op_time" && op->flaw != OpTimeFlaw::none)) continue;
    SpeedUp speed_up = judge(explanation.before, explained_time(*op, explanation.time));
    if (speed_up.verdict == Verdict::inconclusive || speed_up.verdict == explanation.change()) continue;
    others.push_back({result, OpReadings(*after.family, *result, explanation.op), std::move(speed_up)});
  }
  return others;
}

}  // namespace

void weigh_by_others(Explanation& explanation, const ExplainedCase& before, const ExplainedCase& after) {
  if (!is_change(explanation.change())) return;
  const Effect effect = explanation.change() == Verdict::faster ? Effect::faster : Effect::slower;
  const OpReadings was(*before.family, *before.result, explanation.op),
      is(*after.family, *after.result, explanation.op);
  for (const OtherCase& other : others_that_did_not(explanation, before, after)) {
    std::optional<Explanation> there;
    for (Reason& reason : explanation.reasons) {
      if (reason.refuted_by || !reason.over_point.empty() || is_factor_of_time(*reason.rule)) continue;
      const auto here = moved(*reason.rule, was, is), elsewhere = moved(*reason.rule, was, other.readings);
      if (!here || !elsewhere || !as_far(*elsewhere, *here)) continue;
      if (!there)
        there = explain_change(before, {after.family, other.result}, explanation.op, explanation.time,
                               other.speed_up);
      if (there->missing.size() > explanation.missing.size() || !hides_no_gain(*there, reason, effect))
        continue;
      reason.refuted_by = {{}, other.result->configuration, *other.speed_up.factor};
    }
  }
  std::stable_partition(explanation.reasons.begin(), explanation.reasons.end(),
                        [](const Reason& reason) { return !reason.refuted_by; });
}

}  // namespace mprof
