// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/trace/steps.hpp"
#include "model/trace/trace.hpp"
#include "report/analysis/kernels/slower_kernels.hpp"
#include "report/analysis/program/slow_steps.hpp"

/// Why the kernels of one step took longer than the kernels of the others.
namespace mprof {

/// The launches of one kernel in one step. Times in ns.
struct StepLaunches {
  std::vector<double> times{};
  double time = 0;
  double blocks = 0;
  [[nodiscard]] double count() const { return static_cast<double>(times.size()); }
};

/// Kernels of the steady steps, by name.
class StepKernels {
 public:
  StepKernels(const trace::Trace& trace, trace::CaseIndex index, const Steps& steps);

  /// Why kernels of a steady step, by its place among these, ran `more` ns longer.
  [[nodiscard]] SlowCause cause(std::size_t step, std::int64_t more) const;

 private:
  /// Of one kernel, each steady step.
  using OfSteps = std::vector<StepLaunches>;

  /// nullopt where this step, or no other one, has it.
  static std::optional<SlowerKernel> compare(const OfSteps& steps, std::size_t step);
  /// Whether what the step launched beyond the usual number explains half of it.
  bool explains_more_launches(std::size_t step, double more, SlowCause& cause) const;
  /// Whether kernels that had more blocks, and took longer, explain half of it.
  bool explains_larger_grids(std::size_t step, double more, SlowCause& cause) const;
  /// Launches that took twice the median of their kernel in this step.
  void count_outliers(const std::vector<trace::NameIndex>& names, std::size_t step, SlowCause& cause) const;

  const trace::Trace& trace_;
  std::map<trace::NameIndex, OfSteps> kernels_;
};

}  // namespace mprof
