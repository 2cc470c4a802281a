// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "model/metric.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/kernels/op_metrics.hpp"

/// Expectations: what a variant's author said would change, against what did.
namespace mprof {
namespace {

/// A hardware counter is read once, so it has no interval: what differs by less is taken for the same.
constexpr double unsure_reading = 0.02;

bool op_time_says_little(const CaseResult& result, const std::string& op) {
  return std::any_of(result.ops.begin(), result.ops.end(), [&](const OpResult& found) {
    return found.flaw != OpTimeFlaw::none && (op.empty() || found.info.name == op);
  });
}

bool prints_op_time(const CaseResult& result) {
  const PassResult* timing = find_pass(*result.source, Pass::timing);
  return timing != nullptr && std::ranges::any_of(timing->measurements, [](const Measurement& m) {
           return m.metric == "op_time" && m.source == Source::printed;
         });
}

/// The op time of a variant that works elsewhere would meet any expectation, one that holds copies none. Of
/// what a program prints of itself its author expects something.
bool needs_group_time(const Expectation& expectation, const CaseResult& before, const CaseResult& after) {
  return expectation.metric == "op_time" && !prints_op_time(after) &&
         (op_time_says_little(before, expectation.op) || op_time_says_little(after, expectation.op));
}

/// What is next to nothing however large a part of the baseline's next to nothing it is: a hundredth of a
/// cycle of stalls, a tenth of a percentage point.
double negligible(std::string_view metric) {
  const Metric* row = find_metric(metric);
  if (row == nullptr) return 0;
  return row->unit == Unit::ratio ? 0.01 : row->unit == Unit::percent ? 0.1 : 0;
}

bool readings_differ(std::string_view metric, const Estimate& a, const Estimate& b) {
  return std::abs(b.median - a.median) > std::max(unsure_reading * std::abs(a.median), negligible(metric));
}

/// What is known of a change.
struct Change {
  bool is_certain = false;  ///< there is one
  Why open{};               ///< why it cannot be told whether there is one; nothing: it can
  SpeedUp speed_up{};       ///< of a time
};

/// Of a time what the verdict on it says; of anything else that has intervals, that they do not overlap.
Change change_of(std::string_view metric, const Estimate& before, const Estimate& after, bool counted) {
  if (counted) return {readings_differ(metric, before, after), {}};
  if (!before.interval || !after.interval) return {before.median != after.median, {}};
  const Metric* row = find_metric(metric);
  if (row != nullptr && row->unit == Unit::second) {
    const SpeedUp speed_up = judge({before, {}}, {after, {}});
    return {is_change(speed_up.verdict), speed_up.reason, speed_up};
  }
  if (after.interval->high < before.interval->low || before.interval->high < after.interval->low)
    return {true, {}};
  return {false, before.median == after.median ? Because::nothing : Because::intervals_overlap};
}

bool hardly_changed(const Estimate& before, const Estimate& after, const QualityInfo* quality) {
  const double change = after.median - before.median;
  if (quality != nullptr) return std::abs(change) <= quality->tolerance;
  return std::abs(change) <= noticeable_change * std::abs(before.median);
}

struct Judged {
  Outcome outcome = Outcome::met;
  Why reason{};  ///< nothing where it was met
};

Judged judge_unchanged(const Change& change, const Estimate& before, const Estimate& after,
                       const QualityInfo* quality) {
  const bool is_disturbed = !before.disturbed.empty() || !after.disturbed.empty();
  if (hardly_changed(before, after, quality) && !is_disturbed) return {};
  if (!change.open.empty()) return {Outcome::not_told, change.open};
  return change.is_certain ? Judged{Outcome::not_met, Because::changed} : Judged{};
}

/// Why there is no change where it can be told.
Why why_none(const Estimate& before, const Estimate& after, bool counted) {
  if (counted && before.median != after.median) return Because::unchanged_for_a_counter;
  if (before.median != after.median && before.interval && after.interval)
    return {Because::unchanged_within, {}, {Thresholds{}.of(before, after)}};
  return Because::unchanged;
}

Judged judge_change(const Expectation& expectation, const Change& change, const Estimate& before,
                    const Estimate& after, bool counted) {
  if (!change.open.empty()) return {Outcome::not_told, change.open};
  if (!change.is_certain) return {Outcome::not_met, why_none(before, after, counted)};
  const bool should_fall = expectation.direction == Direction::decreases;
  if ((after.median < before.median) != should_fall)
    return {Outcome::not_met, should_fall ? Because::rose : Because::fell};
  const double smaller = std::min(before.median, after.median);
  if (!expectation.factor || !(smaller > 0)) return {};
  if (const auto least = change.speed_up.at_least(); least && !change.speed_up.disturbed.empty()) {
    if (*least >= *expectation.factor) return {};
    return {Outcome::not_told,
            {Because::disturbance_hides, {}, {}, {why_disturbed({{before, {}}, {after, {}}})}}};
  }
  const double factor = std::max(before.median, after.median) / smaller;
  if (factor >= *expectation.factor) return {};
  return {Outcome::not_met, {Because::changed_too_little, {}, {factor, *expectation.factor}}};
}

/// What does not add up is a value of one kernel: the longest of the baseline's, and its op on both sides.
std::string op_to_compare(const std::string& op, const std::string& metric, const CaseResult& baseline) {
  const bool of_one_kernel = op.empty() && is_of_kernels(metric) && !adds_up(metric);
  return of_one_kernel ? op_of_longest_kernel(*baseline.source, metric) : op;
}

ExpectationAt judge_at(const Expectation& expectation, const CaseResult& result, const FamilyResult& family) {
  ExpectationAt judged;
  judged.problem = result.key.problem;
  const CaseResult* baseline = family.find(result.baseline);
  if (baseline == nullptr) {
    judged.reason = result.total_speed_up.absent;
    return judged;
  }
  const bool by_group_time = needs_group_time(expectation, *baseline, result);
  const std::string metric = by_group_time ? "group_time" : expectation.metric;
  const std::string op = op_to_compare(expectation.op, metric, *baseline);
  judged.op = op;
  const Reading before = reading_for(*baseline, metric, op);
  const Reading after = reading_for(result, metric, op);
  judged.before = before.value;
  judged.after = after.value;
  const Origin grouped{.how = Origin::How::group_time};
  judged.before_origin = by_group_time ? grouped : before.origin;
  judged.after_origin = by_group_time ? grouped : after.origin;
  if (!judged.before || !judged.after) {
    judged.reason = judged.after ? judged.before.absent : judged.after.absent;
    return judged;
  }
  if (judged.before->median == 0 && judged.after->median == 0 &&
      expectation.direction == Direction::decreases) {
    judged.reason = Because::was_zero_before;
    return judged;
  }
  const bool counted = before.counted || after.counted;
  const Change change = change_of(metric, *judged.before, *judged.after, counted);
  const auto [outcome, reason] =
      expectation.direction == Direction::unchanged
          ? judge_unchanged(change, *judged.before, *judged.after, find_quality(family.info, metric))
          : judge_change(expectation, change, *judged.before, *judged.after, counted);
  judged.outcome = outcome;
  judged.reason = reason;
  return judged;
}

}  // namespace

const ExpectationAt* ExpectationResult::deciding() const {
  if (at.empty()) return nullptr;
  const auto measurable = std::ranges::find_if(at.rbegin(), at.rend(), [](const ExpectationAt& judged) {
    return judged.outcome != Outcome::not_measurable;
  });
  return measurable == at.rend() ? &at.back() : &*measurable;
}

std::vector<ExpectationResult> judge_expectations(const VariantResult& variant, const FamilyResult& family) {
  std::vector<ExpectationResult> results;
  for (const Expectation& expectation : variant.info.expectations) {
    ExpectationResult result{expectation, {}};
    for (const Problem& problem : family.problems) {
      const CaseResult* representative = variant.representative(problem);
      if (representative != nullptr) result.at.push_back(judge_at(expectation, *representative, family));
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace mprof
