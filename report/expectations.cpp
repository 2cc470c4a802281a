#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/analysis.hpp"
#include "report/format.hpp"

/// Expectations: what a variant's author said would change, against what did.
namespace mprof {
namespace {

/// A change below this is none, for metrics other than shares of correct answers.
constexpr double unchanged_within = 0.05;

double combined(Combine how, const std::vector<double>& values) {
  if (how == Combine::max) return *std::max_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return how == Combine::mean ? sum / static_cast<double>(values.size()) : sum;
}

/// All ops of a case as one value. The ends of the intervals combine like the medians: a cautious interval.
Value combined_over_ops(const Case& c, const Metric& metric) {
  std::vector<double> medians, lows, highs;
  for (const OpInfo& op : c.ops) {
    const Value value = value_of(c, metric.id, op.name);
    if (!value) return value;
    medians.push_back(value->median);
    if (value->interval) {
      lows.push_back(value->interval->low);
      highs.push_back(value->interval->high);
    }
  }
  Value result = derived_value(combined(metric.combine, medians));
  if (lows.size() == medians.size()) {
    result.estimate->interval = Interval{combined(metric.combine, lows), combined(metric.combine, highs)};
  }
  return result;
}

Value value_for(const CaseResult& result, const Expectation& expectation) {
  const Value direct = value_of(*result.source, expectation.metric, expectation.op);
  if (direct || !expectation.op.empty()) return direct;
  const Metric* metric = find_metric(expectation.metric);
  const bool of_ops = metric != nullptr && metric->combine != Combine::never && !result.ops.empty();
  return of_ops ? combined_over_ops(*result.source, *metric) : direct;
}

bool certainly_different(const Estimate& a, const Estimate& b) {
  if (!a.interval || !b.interval) return a.median != b.median;
  return a.interval->high < b.interval->low || b.interval->high < a.interval->low;
}

bool hardly_changed(const Expectation& expectation, const Estimate& before, const Estimate& after) {
  const Metric* metric = find_metric(expectation.metric);
  const double change = std::abs(after.median - before.median);
  if (metric != nullptr && metric->unit == Unit::ratio) return change <= tolerated_accuracy_loss;
  return change <= unchanged_within * std::abs(before.median);
}

/// Why the expectation is not met; empty when it is.
std::string shortfall(const Expectation& expectation, const Estimate& before, const Estimate& after) {
  if (expectation.direction == Direction::unchanged) {
    return hardly_changed(expectation, before, after) || !certainly_different(before, after) ? ""
                                                                                             : "it changed";
  }
  const bool should_fall = expectation.direction == Direction::decreases;
  if (!certainly_different(before, after))
    return before.interval ? "the 95 % intervals overlap" : "it did not change";
  if ((after.median < before.median) != should_fall) return should_fall ? "it rose" : "it fell";
  const double smaller = std::min(before.median, after.median);
  if (!expectation.factor || !(smaller > 0)) return "";
  const double factor = std::max(before.median, after.median) / smaller;
  if (factor >= *expectation.factor) return "";
  return fmt::format("it changed by {}, not by {}", format::times(factor),
                     format::plain_times(*expectation.factor));
}

ExpectationCheck check_at(const Expectation& expectation, const CaseResult& result,
                          const FamilyResult& family) {
  ExpectationCheck check;
  check.batch = result.key.batch;
  const CaseResult* baseline = family.find(result.baseline);
  if (baseline == nullptr) {
    check.reason = result.total_speed_up.absent;
    return check;
  }
  check.before = value_for(*baseline, expectation);
  check.after = value_for(result, expectation);
  if (!check.before || !check.after) {
    check.reason = check.after ? check.before.absent : check.after.absent;
    return check;
  }
  check.reason = shortfall(expectation, *check.before, *check.after);
  check.outcome = check.reason.empty() ? Outcome::met : Outcome::not_met;
  return check;
}

}  // namespace

std::vector<ExpectationResult> check_expectations(const VariantResult& variant, const FamilyResult& family) {
  std::vector<ExpectationResult> results;
  for (const Expectation& expectation : variant.info.expectations) {
    ExpectationResult result{expectation, {}};
    for (const std::uint64_t batch : family.batches) {
      const CaseResult* representative = variant.representative(batch);
      if (representative != nullptr) result.checks.push_back(check_at(expectation, *representative, family));
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace mprof
