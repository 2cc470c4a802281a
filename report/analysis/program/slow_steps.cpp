// SPDX-License-Identifier: MIT
#include "report/analysis/program/slow_steps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/statistics/median.hpp"
#include "model/trace/interval_set.hpp"

namespace mprof {
namespace {

/// How much of a set of moments lies in each of the steady steps.
std::vector<std::int64_t> lengths_in_steps(const trace::IntervalSet& moments, const Steps& steps) {
  std::vector<std::int64_t> lengths(steps.steady_steps());
  const std::vector<trace::Interval>& all = moments.intervals();
  std::size_t at = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const ProgramStep& step = steps.all[steps.steady + i];
    const trace::Interval own{step.done - step.pace, step.done};
    while (at < all.size() && all[at].end <= own.start) ++at;
    for (std::size_t j = at; j < all.size() && all[j].start < own.end; ++j)
      lengths[i] += std::min(all[j].end, own.end) - std::max(all[j].start, own.start);
  }
  return lengths;
}

std::int64_t middle_step_value(const std::vector<std::int64_t>& values) {
  std::vector<double> numbers(values.begin(), values.end());
  return std::llround(median(numbers));
}

/// By how much the value of each chosen step is above the median of all.
template <class Give>
void for_each_excess(const std::vector<std::int64_t>& values, const Steps& steps, std::vector<SlowStep>& slow,
                     const Give& give) {
  const std::int64_t middle = middle_step_value(values);
  for (SlowStep& one : slow) give(one) = values[one.step - steps.steady] - middle;
}

}  // namespace

std::vector<SlowStep> slow_steps_of(const trace::Trace& trace, trace::CaseIndex index, const Steps& steps,
                                    std::size_t most) {
  std::vector<SlowStep> slow;
  for (const std::size_t step : steps.slow()) {
    if (slow.size() < most) slow.push_back({.step = step, .pace = steps.all[step].pace});
  }
  if (slow.empty()) return slow;
  const trace::Interval whole = steps.steady_time();
  const auto moments = [&](const auto& rows) {
    std::vector<trace::Interval> times;
    for (const auto& row : rows) times.push_back(row.time);
    return trace::IntervalSet(std::move(times)) & trace::IntervalSet({whole});
  };
  const trace::IntervalSet kernels =
      moments(trace::of_case(trace.kernels.rows(), index)) | moments(trace::of_case(trace.graphs, index));
  const trace::IntervalSet copies = moments(trace::of_case(trace.transfers, index)) - kernels;
  const auto idle = idle_moments(trace, index, whole);
  std::vector<std::int64_t> paces, launches;
  for (std::size_t i = steps.steady; i < steps.all.size(); ++i) {
    paces.push_back(steps.all[i].pace);
    launches.push_back(static_cast<std::int64_t>(steps.all[i].launches));
  }
  for_each_excess(
      paces, steps, slow, [](SlowStep & one) -> auto& { return one.more; });
  for_each_excess(
      launches, steps, slow, [](SlowStep & one) -> auto& { return one.more_launches; });
  for_each_excess(
      lengths_in_steps(kernels, steps), steps, slow,
      [](SlowStep & one) -> auto& { return one.more_kernels; });
  for_each_excess(
      lengths_in_steps(copies, steps), steps, slow, [](SlowStep & one) -> auto& { return one.more_copies; });
  for (std::size_t part = 0; part < budget_parts; ++part)
    for_each_excess(
        lengths_in_steps(idle.at(part), steps), steps,
        slow, [part](SlowStep & one) -> auto& { return one.more_idle.at(part); });
  return slow;
}

}  // namespace mprof
