// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/op_changes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "report/analysis/kernels/kernels.hpp"
#include "report/analysis/reasons/derived_metrics.hpp"

namespace mprof {
namespace {

/// What a sentence calls a metric.
struct Figure {
  std::string_view metric;
  std::string_view label;
  Unit unit;
};

constexpr std::array figures_of_op{
    Figure{"gpu_time", "GPU time", Unit::second},
    Figure{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "SM throughput", Unit::percent},
    Figure{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "memory throughput",
           Unit::percent},
    Figure{"dram__bytes.sum", "DRAM bytes", Unit::byte}};

/// What a launch is made of: another value makes another launch.
constexpr std::array figures_of_launch{
    Figure{"launch__grid_size", "grid", Unit::count}, Figure{"launch__block_size", "block", Unit::count},
    Figure{"launch__registers_per_thread", "registers a thread", Unit::count},
    Figure{"shared_memory", "shared memory a block", Unit::byte},
    Figure{"sm__maximum_warps_per_active_cycle_pct", "theoretical occupancy", Unit::percent}};

/// What follows from it, and varies by itself: of a changed kernel, when it changed by a point.
constexpr Figure achieved{"sm__warps_active.avg.pct_of_peak_sustained_active", "achieved occupancy",
                          Unit::percent};
constexpr double noticeable_points = 1;

constexpr Figure kernel_launches{"kernel_instances", "launches", Unit::count};

/// A kernel of an op as the trace or the counters pass saw it.
struct SeenKernel {
  std::string name;
  std::optional<double> launches;
  const KernelCounters* counters = nullptr;
};

/// The kernels of one side. `counted` must outlive them.
std::vector<SeenKernel> seen_kernels(const Case& c, const std::string& op,
                                     std::span<const KernelCounters> counted) {
  std::vector<SeenKernel> kernels;
  if (const PassResult* trace = find_pass(c, Pass::trace)) {
    for (const Measurement& m : trace->measurements) {
      if (m.metric == kernel_launches.metric && m.op == op && !m.samples.empty())
        kernels.push_back({m.kernel, median(m.samples), nullptr});
    }
  }
  const bool traced = !kernels.empty();
  for (const KernelCounters& kernel : counted) {
    const auto known = std::ranges::find(kernels, kernel.kernel, &SeenKernel::name);
    if (known != kernels.end()) {
      known->counters = &kernel;
    } else if (!traced) {
      kernels.push_back({kernel.kernel, std::nullopt, &kernel});
    }
  }
  return kernels;
}

std::optional<double> number(const Value& value) {
  return value ? std::optional(value->median) : std::nullopt;
}

std::optional<double> number(const SeenKernel* kernel, const Figure& figure) {
  if (kernel == nullptr) return std::nullopt;
  if (figure.metric == kernel_launches.metric) return kernel->launches;
  if (kernel->counters == nullptr) return std::nullopt;
  return number(figure.metric == "shared_memory" ? kernel->counters->shared_memory()
                                                 : kernel->counters->value(figure.metric));
}

FigureChange figure_change(const Figure& figure, std::optional<double> before, std::optional<double> after) {
  return {figure.metric, figure.label, figure.unit, before, after};
}

/// nullptr: that side has no such kernel.
KernelChange kernel_change(const SeenKernel* before, const SeenKernel* after) {
  KernelChange change{before == nullptr  ? KernelFate::added
                      : after == nullptr ? KernelFate::removed
                                         : KernelFate::changed,
                      before == nullptr ? "" : before->name,
                      after == nullptr ? "" : after->name,
                      {}};
  const auto add = [&](const Figure& figure, double least) {
    const std::optional<double> was = number(before, figure), is = number(after, figure);
    const bool both = before != nullptr && after != nullptr;
    const bool differs = was && is && std::abs(*is - *was) > least;
    if (both ? differs : was.has_value() || is.has_value())
      change.figures.push_back(figure_change(figure, was, is));
  };
  add(kernel_launches, 0);
  for (const Figure& figure : figures_of_launch) add(figure, 1e-9);
  if (change.fate != KernelFate::changed || !change.figures.empty()) add(achieved, noticeable_points);
  return change;
}

/// "tiled" of "tiled<16>".
std::string_view without_arguments(std::string_view name) {
  return name.substr(0, name.find('<'));
}

/// The kernel that is the same one: of its name, or the only one left of it but for template arguments.
const SeenKernel* same_kernel(const SeenKernel& kernel, const std::vector<SeenKernel>& own,
                              const std::vector<SeenKernel>& others) {
  const auto named = std::ranges::find(others, kernel.name, &SeenKernel::name);
  if (named != others.end()) return &*named;
  const auto alike = [&](const SeenKernel& other) {
    return without_arguments(other.name) == without_arguments(kernel.name);
  };
  if (std::ranges::count_if(own, alike) != 1 || std::ranges::count_if(others, alike) != 1) return nullptr;
  return &*std::ranges::find_if(others, alike);
}

/// None where one side knows nothing of its kernels.
std::vector<KernelChange> kernel_changes(const OpReadings& before, const OpReadings& after) {
  const auto was = seen_kernels(*before.result().source, before.info().name, before.kernels());
  const auto is = seen_kernels(*after.result().source, after.info().name, after.kernels());
  std::vector<KernelChange> changes;
  if (was.empty() || is.empty()) return changes;
  for (const SeenKernel& kernel : is) {
    const SeenKernel* same = same_kernel(kernel, is, was);
    KernelChange change = kernel_change(same, &kernel);
    if (same == nullptr || same->name != kernel.name || !change.figures.empty())
      changes.push_back(std::move(change));
  }
  for (const SeenKernel& kernel : was) {
    if (same_kernel(kernel, was, is) == nullptr) changes.push_back(kernel_change(&kernel, nullptr));
  }
  return changes;
}

std::vector<FigureChange> op_figures(const OpReadings& before, const OpReadings& after) {
  std::vector<FigureChange> figures;
  for (const Figure& figure : figures_of_op) {
    const std::optional<double> was = number(before.of(figure.metric).value);
    const std::optional<double> is = number(after.of(figure.metric).value);
    if (was && is) figures.push_back(figure_change(figure, was, is));
  }
  return figures;
}

}  // namespace

std::string_view to_string(KernelFate fate) {
  switch (fate) {
    case KernelFate::added:
      return "added";
    case KernelFate::removed:
      return "removed";
    case KernelFate::changed:
      break;
  }
  return "changed";
}

std::vector<OpChange> op_changes(const ExplainedCase& before, const ExplainedCase& after,
                                 const std::vector<ChangedTime>& times) {
  std::vector<OpChange> changes;
  for (const OpResult& op : before.result->ops) {
    if (after.result->find_op(op.info.name) == nullptr) continue;
    OpChange change{op.info.name, {}, {}, {}};
    for (const ChangedTime& time : times) {
      if (time.op == change.op)
        change.explanations.push_back(explain_change(before, after, time.op, time.metric, time.speed_up));
    }
    const OpReadings was(*before.family, *before.result, change.op);
    const OpReadings is(*after.family, *after.result, change.op);
    change.kernels = kernel_changes(was, is);
    if (change.explanations.empty() && change.kernels.empty()) continue;
    change.figures = op_figures(was, is);
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace mprof
