// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>

#include "model/derive/subjects.hpp"
#include "model/kernel_name.hpp"
#include "model/trace/interval_set.hpp"
#include "model/trace/steps.hpp"

namespace mprof {
namespace {

/// Of a part of the time, from 0 to 1.
double share_with_kernels(const trace::Trace& trace, trace::CaseIndex index, const trace::Interval& part) {
  std::vector<trace::Interval> times;
  for (const trace::KernelRow& kernel : trace::of_case(trace.kernels.rows(), index))
    times.push_back(kernel.time);
  for (const trace::GraphExecution& graph : trace::of_case(trace.graphs, index)) times.push_back(graph.time);
  const trace::IntervalSet busy = trace::IntervalSet(std::move(times)) & trace::IntervalSet({part});
  return static_cast<double>(busy.length()) / static_cast<double>(std::max<std::int64_t>(part.length(), 1));
}

}  // namespace

std::vector<Measurement> step_times(const trace::Trace& trace, trace::CaseIndex index) {
  constexpr std::size_t most = 1000;
  constexpr double seconds_in_ns = 1e-9;
  const std::optional<Steps> steps = steps_of(trace, index);
  if (!steps) return {};
  Measurement row{.metric = "step_time", .source = Source::measured};
  std::vector<std::string>& step = row.derived.own().step;
  step = steps->names;
  if (steps->mark == StepMark::launches) step = {kernel_name_of_demangled(steps->names.front()).brief};
  const std::size_t steady = steps->steady_steps(), kept = std::min(steady, most);
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t place = steps->steady + i * steady / kept;
    row.samples.push_back(seconds_in_ns * static_cast<double>(steps->all[place].pace));
  }
  const double share = share_with_kernels(trace, index, steps->steady_time());
  return {std::move(row), {.metric = "step_gpu_share", .source = Source::measured, .samples = {share}}};
}

}  // namespace mprof
