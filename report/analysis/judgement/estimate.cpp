// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "model/rounds.hpp"
#include "report/analysis/judgement/lengthened.hpp"

namespace mprof {
namespace {

Why why_not_recorded(const Case& c) {
  const Status status = case_status(c);
  if (status == Status::ok) return Because::not_recorded;
  return {Because::case_ended, {std::string(to_string(status)), case_reason(c)}};
}

}  // namespace

Value absent_value(Why reason) {
  return {std::nullopt, std::move(reason)};
}

Value derived_value(double value) {
  return {Estimate{.median = value}, {}};
}

Value value_of(const Case& c, std::string_view metric, std::string_view op) {
  const Measurement* measurement = find_measurement(c, metric, op);
  const bool without_reason =
      measurement != nullptr && measurement->samples.empty() && measurement->absent.empty();
  if (measurement == nullptr || without_reason) return absent_value(why_not_recorded(c));
  Value value = value_of(*measurement);
  if (!value || value->disturbed.empty()) return value;
  const PassResult* const timing = find_pass(c, Pass::timing);
  if (timing != nullptr) value.estimate->lengthened = most_lengthened(*timing, *measurement);
  return value;
}

bool is_printed_of_others(const Case& c, std::string_view metric, std::string_view op) {
  if (find_measurement(c, metric, op) != nullptr) return false;
  return std::ranges::any_of(c.ops, [&](const OpInfo& other) {
    const Measurement* const row = find_measurement(c, metric, other.name);
    return row != nullptr && row->source == Source::printed;
  });
}

Value value_of(const Measurement& measurement) {
  const auto& samples = measurement.samples;
  if (samples.empty())
    return absent_value(measurement.absent.empty() ? Because::not_recorded : said(measurement.absent));
  Estimate estimate{.samples = samples.size(), .source = measurement.source};
  const DerivedTime& derived = *measurement.derived;
  if (derived.clock == ClockSource::none) {
    estimate.median = median(samples);
    estimate.interval = median_interval(samples);
    return {estimate, {}};
  }
  const std::vector<double> medians = round_medians(measurement);
  estimate.median = geometric_mean(medians);
  estimate.rounds = medians.size();
  estimate.between = derived.between;
  estimate.common = derived.common;
  estimate.clock = derived.clock;
  estimate.sm_clock = derived.sm_clock;
  estimate.gpu = derived.gpu;
  estimate.disturbed = disturbed_in(derived.disturbed);
  if (!estimate.disturbed.empty()) estimate.lengthened.reset();
  if (estimate.rounds == 1) estimate.within = variance_of_median(samples);
  estimate.interval = next_run_interval(rounds_of(estimate));
  return {estimate, {}};
}

namespace {

void borrow_variation(Estimate& time, const Estimate& other) {
  if (time.rounds != 1 || other.rounds < 2 || time.clock == ClockSource::none || time.clock != other.clock)
    return;
  if (other.between.dof / 2 < time.between.dof) return;  // it knows less than what is assumed
  time.between = {other.between.value + time.within, other.between.dof / 2};
  time.common = {other.common.value, other.common.dof / 2};
  time.borrowed = true;
  time.interval = next_run_interval(rounds_of(time));
}

}  // namespace

void borrow_variations(Estimate& before, Estimate& after) {
  const Estimate known_before = before;
  borrow_variation(before, after);
  borrow_variation(after, known_before);
}

Rounds rounds_of(const Estimate& time) {
  return {time.median,        static_cast<double>(time.rounds),
          time.between,       time.common,
          time.sm_clock.step, time.lengthened.value_or(std::numeric_limits<double>::infinity())};
}

std::optional<double> relative_half_width(const Estimate& estimate) {
  if (!estimate.interval || estimate.median == 0) return std::nullopt;
  return (estimate.interval->high - estimate.interval->low) / 2 / std::abs(estimate.median);
}

namespace {

/// Whether an op's copies, by the trace, are in the op time that a program prints of itself: what its grouped
/// time has beside it could not hold them.
bool holds_printed_copies(const Case& c, std::string_view op) {
  constexpr double noticeable_copies = 0.05, good_part = 0.5;
  const Value printed = value_of(c, "op_time", op), grouped = value_of(c, "group_time", op);
  const Value in = value_of(c, "copy_in_time", op), out = value_of(c, "copy_out_time", op);
  if (!printed || !grouped || !in || !out) return false;
  const double copying = std::max(in->median, out->median);
  return copying > noticeable_copies * printed->median &&
         grouped->median - printed->median < good_part * copying;
}

/// s, of the kernel of an op that takes the longest, one launch; 0: no trace says.
double longest_kernel(const Case& c, std::string_view op) {
  const PassResult* const trace = find_pass(c, Pass::trace);
  if (trace == nullptr) return 0;
  std::map<std::string_view, double> seconds, launches;
  for (const Measurement& row : trace->measurements) {
    if (row.op != op || row.samples.empty()) continue;
    if (row.metric == "kernel_time") seconds[row.kernel] = median(row.samples);
    if (row.metric == "kernel_instances") launches[row.kernel] = median(row.samples);
  }
  double longest = 0;
  for (const auto& [kernel, time] : seconds)
    longest = std::max(longest, time / std::max(1.0, launches[kernel]));
  return longest;
}

bool is_too_short(const Case& c, std::string_view op) {
  constexpr double empty_kernel = 5e-6, trace_allowance = 5e-6, least_share = 1e-3;
  const Value printed = value_of(c, "op_time", op), grouped = value_of(c, "group_time", op);
  if (!printed) return false;
  const double time = printed->median;
  if (time <= 0 || longest_kernel(c, op) > 2 * time + trace_allowance) return true;
  return grouped && time <= empty_kernel && time < least_share * grouped->median;
}

}  // namespace

OpTimeFlaw op_time_flaw(const Case& c, std::string_view op) {
  using enum OpTimeFlaw;
  constexpr double noticeable_copies = 0.05;
  const Measurement* const told = find_measurement(c, "op_time", op);
  if (told != nullptr && told->source == Source::printed)  // what it holds beside, its program knows
    return is_too_short(c, op)           ? OpTimeFlaw::prints_too_little
           : holds_printed_copies(c, op) ? OpTimeFlaw::prints_copies
                                         : none;
  const Value op_time = value_of(c, "op_time", op);
  const Value gpu_time = value_of(c, "gpu_time", op);
  const Value copying = value_of(c, "forward_copy_time", op);
  if (op_time && copying && copying->median > noticeable_copies * op_time->median) return copies_in_forward;
  if (op_time && !copying && told->derived->holds_copies) return copies_in_forward;
  if (op_time && gpu_time) return gpu_time->median > 2 * op_time->median ? works_elsewhere : none;
  // Without a trace: nothing moves an op's bytes at many times the memory's bandwidth, caches included.
  constexpr double beyond_any_cache = 1000;  // %
  const Value throughput = value_of(c, "memory_throughput", op);
  return throughput && throughput->median > beyond_any_cache ? works_elsewhere : none;
}

Why why_of(OpTimeFlaw flaw) {
  switch (flaw) {
    case OpTimeFlaw::none:
      break;
    case OpTimeFlaw::copies_in_forward:
      return Because::copies_in_forward;
    case OpTimeFlaw::prints_copies:
      return Because::prints_copies;
    case OpTimeFlaw::prints_too_little:
      return Because::prints_too_little;
    case OpTimeFlaw::works_elsewhere:
      return Because::works_elsewhere;
  }
  return {};
}

std::string_view comparable_time(const Case& c, std::string_view op) {
  return op_time_flaw(c, op) == OpTimeFlaw::none ? "op_time" : "group_time";
}

std::string_view comparable_time(const Case& a, const Case& b, std::string_view op) {
  const std::string_view of_a = comparable_time(a, op);
  return of_a == "group_time" ? of_a : comparable_time(b, op);
}

std::string_view sm_clock_metric(const Case& c) {
  return value_of(c, "gpu_measured_sm_clock") ? "gpu_measured_sm_clock" : "gpu_sm_clock";
}

bool holds_copies(const Case& c, std::string_view op) {
  constexpr double noticeably = 1.05;
  const Value alone = value_of(c, "op_time", op), grouped = value_of(c, "group_time", op);
  return alone && grouped && grouped->median > noticeably * alone->median;
}

}  // namespace mprof
