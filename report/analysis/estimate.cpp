#include "report/analysis/estimate.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

std::string why_not_recorded(const Case& c) {
  const Status status = case_status(c);
  if (status == Status::ok) return "not recorded";
  const std::string reason = case_reason(c);
  return reason.empty() ? std::string(to_string(status)) : fmt::format("{}: {}", to_string(status), reason);
}

bool overlap(const Interval& a, const Interval& b) {
  return a.low <= b.high && b.low <= a.high;
}

bool within(const Interval& interval, double middle, double relative) {
  const double reach = std::abs(middle) * relative;
  return interval.low >= middle - reach && interval.high <= middle + reach;
}

}  // namespace

Value absent_value(std::string reason) {
  return {std::nullopt, std::move(reason)};
}

Value derived_value(double value) {
  return {Estimate{value, std::nullopt, 0, Source::measured}, {}};
}

Value value_of(const Case& c, std::string_view metric, std::string_view op) {
  const Measurement* measurement = find_measurement(c, metric, op);
  const bool without_reason =
      measurement != nullptr && measurement->samples.empty() && measurement->absent.empty();
  if (measurement == nullptr || without_reason) return absent_value(why_not_recorded(c));
  return value_of(*measurement);
}

Value value_of(const Measurement& measurement) {
  const auto& samples = measurement.samples;
  if (samples.empty()) return absent_value(measurement.absent.empty() ? "not recorded" : measurement.absent);
  return {Estimate{median(samples), median_interval(samples), samples.size(), measurement.source}, {}};
}

std::optional<double> relative_half_width(const Estimate& estimate) {
  if (!estimate.interval || estimate.median == 0) return std::nullopt;
  return (estimate.interval->high - estimate.interval->low) / 2 / std::abs(estimate.median);
}

SpeedUp speed_up(const Value& before, const Value& after) {
  if (!before) return {std::nullopt, std::nullopt, before.absent};
  if (!after) return {std::nullopt, std::nullopt, after.absent};
  if (!(after->median > 0) || !(before->median > 0)) {
    return {std::nullopt, std::nullopt, "a time of 0 has no ratio to another"};
  }
  SpeedUp result{before->median / after->median, std::nullopt, {}};
  if (before->interval && after->interval && after->interval->low > 0) {
    result.interval = Interval{before->interval->low / after->interval->high,
                               before->interval->high / after->interval->low};
  }
  return result;
}

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

std::string no_interval(std::size_t samples) {
  return fmt::format("{}: too few for a 95 % interval (6 do)", format::plural(samples, "sample"));
}

Judgement judge(const Estimate& before, const Estimate& after, double threshold) {
  if (!before.interval || !after.interval) {
    return {Verdict::inconclusive, no_interval(std::min(before.samples, after.samples))};
  }
  if (!(before.median > 0)) return {Verdict::inconclusive, "a time of 0 has no ratio to another"};
  const double change = after.median / before.median - 1;
  if (!overlap(*before.interval, *after.interval) && std::abs(change) > threshold) {
    return {change < 0 ? Verdict::faster : Verdict::slower, {}};
  }
  if (within(*before.interval, before.median, threshold) &&
      within(*after.interval, before.median, threshold)) {
    return {Verdict::same, {}};
  }
  return {Verdict::inconclusive,
          overlap(*before.interval, *after.interval)
              ? "the 95 % intervals of the medians overlap"
              : "the medians differ by less than the threshold, but an interval reaches beyond it"};
}

bool is_share_of_answers(std::string_view metric) {
  return metric == "accuracy" || metric == "prediction_agreement";
}

Verdict verdict_of(const SpeedUp& speed_up) {
  if (!speed_up.interval) return Verdict::inconclusive;
  if (speed_up.interval->low > 1) return Verdict::faster;
  return speed_up.interval->high < 1 ? Verdict::slower : Verdict::inconclusive;
}

std::string_view comparable_time(const Case& c, std::string_view op) {
  const Value op_time = value_of(c, "op_time", op);
  const Value gpu_time = value_of(c, "gpu_time", op);
  if (op_time && gpu_time) return gpu_time->median > 2 * op_time->median ? "layer_time" : "op_time";
  // Without a trace: nothing moves an op's bytes at many times the memory's bandwidth, caches included.
  constexpr double beyond_any_cache = 1000;  // %
  const Value throughput = value_of(c, "memory_throughput", op);
  return throughput && throughput->median > beyond_any_cache ? "layer_time" : "op_time";
}

}  // namespace mprof
