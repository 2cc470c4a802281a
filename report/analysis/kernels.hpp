#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/estimate.hpp"

/// What a run knows of single kernels, and of an op by its kernels.
namespace mprof {

/// What the counters pass read of a kernel of an op: of its largest launch there, which speaks for the
/// others.
struct KernelCounters {
  std::string op;
  std::string kernel;
  std::optional<double> launches;  ///< in the op, by the trace; nullopt: there is no trace to say it
  std::map<std::string, Value, std::less<>> values;

  /// By metric; absent when it was not read.
  [[nodiscard]] Value value(std::string_view metric) const;
  /// B of a block, both kinds.
  [[nodiscard]] Value shared_memory() const;
  /// s, all its launches together; 0 when its duration was not read.
  [[nodiscard]] double time() const;
};

/// The kernels of a case's counters pass, in the order in which they were first launched.
[[nodiscard]] std::vector<KernelCounters> kernels_of(const Case& c);

/// Why the counters pass left nothing, or not this metric.
[[nodiscard]] std::string why_not_counted(const Case& c);

/// A value, and how it came about where that is not plain.
struct Reading {
  Value value;
  std::string evidence;  ///< "of matmul_tiled, the longest of 3 kernels"; empty: nothing to explain
  bool counted = false;  ///< one reading of a hardware counter or one trace, so it has no interval
};

/// Whether the values of several kernels make their sum; the name says it of metrics that the catalogue does
/// not list.
[[nodiscard]] bool adds_up(std::string_view metric);

/// Whether there is a measurement of the metric for some kernel of the op; of any op when `op` is empty.
[[nodiscard]] bool is_known_by_kernel(const Case& c, std::string_view metric, std::string_view op);

/// The op in which the kernel with the metric that took the longest was; empty when there is none.
[[nodiscard]] std::string op_of_longest_kernel(const Case& c, std::string_view metric);

/// The op (all ops when `op` is empty) by its kernels: their sum for what adds up, all launches counted;
/// otherwise the value of the kernel that took the longest.
[[nodiscard]] Reading value_over_kernels(const Case& c, std::string_view metric, std::string_view op);

}  // namespace mprof
