#include "report/analysis/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/text/format.hpp"

namespace mprof {
namespace {

bool overlap(const Interval& a, const Interval& b) {
  return a.low <= b.high && b.low <= a.high;
}

bool within(const Interval& interval, double middle, double relative) {
  const double reach = std::abs(middle) * relative;
  return interval.low >= middle - reach && interval.high <= middle + reach;
}

/// Sets the verdict and its reason on a ratio that exists.
void decide(SpeedUp& result, const Estimate& before, const Estimate& after, double threshold) {
  if (!before.interval || !after.interval) {
    result.reason = no_interval(std::min(before.samples, after.samples));
    return;
  }
  const double change = after.median / before.median - 1;
  const bool apart = !overlap(*before.interval, *after.interval);
  if (apart && std::abs(change) > threshold) {
    result.verdict = change < 0 ? Verdict::faster : Verdict::slower;
  } else if (within(*before.interval, before.median, threshold) &&
             within(*after.interval, before.median, threshold)) {
    result.verdict = Verdict::same;
  } else {
    result.reason = apart ? "the medians differ by less than the threshold, but an interval reaches beyond it"
                          : "the 95 % intervals of the medians overlap";
  }
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::same:
      return "same";
    case Verdict::inconclusive:
      break;
  }
  return "inconclusive";
}

bool is_change(Verdict verdict) {
  return verdict == Verdict::faster || verdict == Verdict::slower;
}

bool contradict(Verdict a, Verdict b) {
  return is_change(a) && is_change(b) && a != b;
}

SpeedUp no_speed_up(std::string reason) {
  SpeedUp result;
  result.reason = result.absent = std::move(reason);
  return result;
}

SpeedUp judge(const Value& before, const Value& after, double threshold) {
  if (!before) return no_speed_up(before.absent);
  if (!after) return no_speed_up(after.absent);
  if (!(after->median > 0) || !(before->median > 0))
    return no_speed_up("a time of 0 has no ratio to another");
  SpeedUp result;
  result.factor = before->median / after->median;
  if (before->interval && after->interval && after->interval->low > 0) {
    result.interval = Interval{before->interval->low / after->interval->high,
                               before->interval->high / after->interval->low};
  }
  decide(result, *before, *after, threshold);
  return result;
}

bool is_level(const Value& time, const Value& best) {
  return time && best && time->interval && best->interval && judge(time, best).verdict != Verdict::faster;
}

bool is_loss(const QualityInfo& quality, double change) {
  switch (quality.better) {
    case Better::higher:
      return change < -quality.tolerance;
    case Better::lower:
      return change > quality.tolerance;
    case Better::neither:
      break;
  }
  return std::abs(change) > quality.tolerance;
}

std::string threshold_text(double threshold) {
  return format::about(100 * threshold, Unit::percent);
}

}  // namespace mprof
