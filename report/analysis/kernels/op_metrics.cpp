// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/op_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "model/metric.hpp"

namespace mprof {
namespace {

double combined(Combine how, const std::vector<double>& values) {
  if (how == Combine::max) return *std::max_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return how == Combine::mean ? sum / static_cast<double>(values.size()) : sum;
}

/// Adds up times as if all of them were slow in the same process: the cautious case.
void add_variation(Estimate& sum, const std::vector<Estimate>& times) {
  double deviation = 0;
  sum.rounds = times.front().rounds;
  sum.between.dof = times.front().between.dof;
  sum.gpu = times.front().gpu;
  for (const Estimate& time : times) {
    deviation += time.median / sum.median * std::sqrt(time.between.value);
    sum.between.dof = std::min(sum.between.dof, time.between.dof);
    sum.rounds = std::min(sum.rounds, time.rounds);
    sum.clock = std::max(sum.clock, time.clock);
    sum.sm_clock.step = std::max(sum.sm_clock.step, time.sm_clock.step);
    if (sum.disturbed.empty()) sum.disturbed = time.disturbed;  // all are of one pass
    if (!time.lengthened)
      sum.lengthened.reset();
    else if (sum.lengthened)
      sum.lengthened = std::max(*sum.lengthened, *time.lengthened);
  }
  sum.between.value = deviation * deviation;
  sum.interval = next_run_interval(rounds_of(sum));
}

/// All ops of a case as one value. The ends of the intervals combine like the medians: a cautious interval.
Value combined_over_ops(const Case& c, const Metric& metric) {
  std::vector<double> medians, lows, highs;
  std::vector<Estimate> times;
  for (const OpInfo& op : c.ops) {
    if (is_printed_of_others(c, metric.id, op.name)) continue;
    const Value value = value_of(c, metric.id, op.name);
    if (!value) return value;
    medians.push_back(value->median);
    if (value->clock != ClockSource::none) times.push_back(*value);
    if (value->interval) {
      lows.push_back(value->interval->low);
      highs.push_back(value->interval->high);
    }
  }
  Value result = derived_value(combined(metric.combine, medians));
  if (metric.combine == Combine::sum && times.size() == medians.size()) {
    add_variation(*result.estimate, times);
  } else if (lows.size() == medians.size()) {
    result.estimate->interval = Interval{combined(metric.combine, lows), combined(metric.combine, highs)};
  }
  return result;
}

}  // namespace

bool is_of_kernels(std::string_view metric) {
  return metric.find("__") != std::string_view::npos;
}

Reading reading_for(const CaseResult& result, const std::string& metric, const std::string& op) {
  const Case& c = *result.source;
  const Value direct = value_of(c, metric, op);
  if (direct) return {direct, {}, false};
  if (is_of_kernels(metric) || is_known_by_kernel(c, metric, op)) return value_over_kernels(c, metric, op);
  const Metric* row = find_metric(metric);
  const bool of_ops = op.empty() && row != nullptr && row->combine != Combine::never && !result.ops.empty();
  return {of_ops ? combined_over_ops(c, *row) : direct, {}, false};
}

}  // namespace mprof
