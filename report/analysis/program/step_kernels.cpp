// SPDX-License-Identifier: MIT
#include "report/analysis/program/step_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "model/kernel_name.hpp"
#include "model/statistics/median.hpp"
#include "report/analysis/program/kernel_kinds.hpp"

namespace mprof {
namespace {

using SlowWhat = SlowCause::What;

double blocks_of(const trace::Kernel& kernel) {
  double blocks = 1;
  for (const std::int32_t axis : kernel.grid.value_or(trace::Size{1, 1, 1})) blocks *= axis;
  return blocks;
}

std::string short_name(std::string_view whole) {
  return std::string(function_name(kernel_name_of_demangled(whole).templated));
}

/// The median over the steps that launched it.
template <class Value>
double usual(const std::vector<StepLaunches>& steps, const Value& value) {
  std::vector<double> values;
  for (const StepLaunches& one : steps) {
    if (!one.times.empty()) values.push_back(value(one));
  }
  return median(values);
}
double usual_count(const std::vector<StepLaunches>& steps) {
  std::vector<double> counts;
  for (const StepLaunches& one : steps) counts.push_back(one.count());
  return median(counts);
}
double mean_time(const StepLaunches& one) {
  return one.time / one.count();
}
double mean_blocks(const StepLaunches& one) {
  return one.blocks / one.count();
}
double own_excess(const StepLaunches& one) {
  return excess_of_mean(mean_time(one), median(one.times));
}

}  // namespace

StepKernels::StepKernels(const trace::Trace& trace, trace::CaseIndex index, const Steps& steps)
    : trace_(trace) {
  for (const trace::KernelRow& row : trace::of_case(trace.kernels.rows(), index)) {
    const auto place = steps.place_in_steady(row.time.end);
    if (!place) continue;
    const trace::Kernel& kernel = trace.kernels.shared(row);
    std::vector<StepLaunches>& all = kernels_[kernel.name];
    all.resize(steps.steady_steps());
    StepLaunches& launches = all[*place];
    const auto time = static_cast<double>(row.time.length());
    launches.times.push_back(time);
    launches.time += time;
    launches.blocks += blocks_of(kernel);
  }
}

SlowCause StepKernels::cause(std::size_t step, std::int64_t more) const {
  const auto all = static_cast<double>(more);
  SlowCause cause{.what = SlowWhat::kernels, .more = more};
  if (explains_more_launches(step, all, cause) || explains_larger_grids(step, all, cause)) return cause;
  std::vector<SlowerKernel> compared;
  std::vector<trace::NameIndex> names;
  for (const auto& [name, steps] : kernels_) {
    if (const auto one = compare(steps, step)) {
      compared.push_back(*one);
      compared.back().name = trace_.names[name];
      names.push_back(name);
    }
  }
  const std::optional<Slowness> slowness = slowness_of(compared, all);
  if (!slowness) return cause;
  cause.factor = slowness->factor;
  switch (slowness->of) {
    case Slowness::Of::some_launches:
      cause.what = SlowWhat::some_launches;
      count_outliers(names, step, cause);
      cause.name = short_name(std::ranges::max_element(compared, {}, &SlowerKernel::more_by_some)->name);
      break;
    case Slowness::Of::all_kernels:
      cause.what = SlowWhat::all_kernels;
      break;
    case Slowness::Of::one_kernel:
      cause.what = SlowWhat::one_kernel;
      cause.name = short_name(slowness->kernel);
      break;
  }
  return cause;
}

std::optional<SlowerKernel> StepKernels::compare(const OfSteps& steps, std::size_t step) {
  const StepLaunches& own = steps[step];
  if (own.times.empty() || usual_count(steps) == 0) return std::nullopt;
  const double usual_time = usual(steps, mean_time);
  if (usual_time <= 0) return std::nullopt;
  SlowerKernel one;
  one.factor = mean_time(own) / usual_time;
  one.time = own.time;
  one.more = own.time - own.count() * usual_time;
  one.more_by_some = own.count() * (own_excess(own) - usual(steps, own_excess));
  return one;
}

bool StepKernels::explains_more_launches(std::size_t step, double more, SlowCause& cause) const {
  double explained = 0, most = 0, count = 0;
  std::string_view name;
  for (const auto& [index, steps] : kernels_) {
    const double beyond = steps[step].count() - usual_count(steps);
    if (beyond < 0) {  // another kernel may have taken its place
      count += beyond;
      explained += beyond * usual(steps, mean_time);
    }
    if (beyond <= 0) continue;
    const double time = beyond * mean_time(steps[step]);
    explained += time;
    count += beyond;
    if (time > most) {
      most = time;
      name = trace_.names[index];
    }
  }
  if (count < 0.5 || 2 * explained < more) return false;
  cause.what = SlowWhat::more_kernels;
  cause.count = static_cast<std::uint64_t>(std::llround(count));
  cause.name = short_name(name);
  return true;
}

bool StepKernels::explains_larger_grids(std::size_t step, double more, SlowCause& cause) const {
  constexpr double larger = 1.05;
  double explained = 0, most = 0;
  std::string_view name;
  for (const auto& [index, steps] : kernels_) {
    const auto one = compare(steps, step);
    if (!one || one->more <= 0) continue;
    if (mean_blocks(steps[step]) < larger * usual(steps, mean_blocks)) continue;
    explained += one->more;
    if (one->more > most) {
      most = one->more;
      name = trace_.names[index];
    }
  }
  if (2 * explained < more) return false;
  cause.what = SlowWhat::larger_grids;
  cause.name = short_name(name);
  return true;
}

void StepKernels::count_outliers(const std::vector<trace::NameIndex>& names, std::size_t step,
                                 SlowCause& cause) const {
  for (const trace::NameIndex name : names) {
    const StepLaunches& own = kernels_.at(name)[step];
    const double middle = median(own.times);
    cause.count += static_cast<std::uint64_t>(
        std::ranges::count_if(own.times, [&](double time) { return time > 2 * middle; }));
  }
}

}  // namespace mprof
