// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/judgement/estimate.hpp"

/// What a run knows of single kernels, and of an op by its kernels.
namespace mprof {

/// What the counters pass read of a kernel of an op: of its largest launch there, which speaks for the
/// others.
struct KernelCounters {
  std::string op;
  std::string kernel;
  std::optional<double> launches;  ///< in the op, by the trace; nullopt: there is no trace to say it
  std::optional<double> traced;    ///< s, all its launches together, by the trace; nullopt: no trace
  std::map<std::string, Value, std::less<>> values;

  /// By metric; absent when it was not read.
  [[nodiscard]] Value value(std::string_view metric) const;
  /// B of a block, both kinds.
  [[nodiscard]] Value shared_memory() const;
  /// s, all its launches together, as the counted one; 0 when its duration was not read.
  [[nodiscard]] double time() const;
  /// The same as traced, where it was: launches differ, and the counted one is the largest.
  [[nodiscard]] double busy() const { return traced.value_or(time()); }
};

/// The kernels of a case's counters pass, or of one op of it, in the order in which they were first launched.
[[nodiscard]] std::vector<KernelCounters> kernels_of(const Case& c,
                                                     std::optional<std::string_view> op = std::nullopt);

/// Why the counters pass left nothing, or not this metric.
[[nodiscard]] Why why_not_counted(const Case& c);

/// A kernel, and how many of its launches a sum holds.
struct SummedKernel {
  std::string kernel;
  double launches = 1;
};

/// How a value came about.
struct Origin {
  enum class How {
    plainly,    ///< there is nothing to explain
    sum,        ///< over `kernels`
    longest,    ///< of one kernel, the first of `kernels`
    group_time  ///< the op's time with its copies, for the op time of one of two says little
  };
  How how = How::plainly;
  std::vector<SummedKernel> kernels{};
  bool all_launches = true;  ///< otherwise one launch of each: no trace says how many there were
  std::string op{};          ///< in which the longest kernel was, of all ops; otherwise empty
  std::size_t among = 0;     ///< kernels
};

/// A value, and where it is from.
struct Reading {
  Value value;
  Origin origin{};
  bool counted = false;  ///< one reading of a hardware counter or one trace, so it has no interval
};

/// Whether the values of several kernels make their sum; the name says it of metrics that the catalogue does
/// not list.
[[nodiscard]] bool adds_up(std::string_view metric);

/// Whether there is a measurement of the metric for some kernel of the op; of any op when `op` is empty.
[[nodiscard]] bool is_known_by_kernel(const Case& c, std::string_view metric, std::string_view op);

/// The op in which the kernel with the metric that took the longest was; empty when no kernel has it.
[[nodiscard]] std::string op_of_longest_kernel(const Case& c, std::string_view metric);

/// The op (all ops when `op` is empty) by its kernels: their sum for what adds up, all launches counted;
/// otherwise the value of the kernel that took the longest.
[[nodiscard]] Reading value_over_kernels(const Case& c, std::string_view metric, std::string_view op);

}  // namespace mprof
