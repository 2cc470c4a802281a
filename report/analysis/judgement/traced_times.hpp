// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "model/run.hpp"

/// How two cases compare that were not both timed without a profiler, as an imported profile never is: by
/// what the traces and the counters of both know.
namespace mprof {

struct TimeComparison;

/// A count, an amount of bytes or a counter that both sides have.
struct TracedFigure {
  std::string metric;
  std::string op;
  std::string kernel;  ///< empty: the whole op
  double a = 0;        ///< the median of its samples
  double b = 0;

  /// By more than a hundredth of the larger one.
  [[nodiscard]] bool differs() const;
};

[[nodiscard]] bool are_compared_by_traces(const Case& a, const Case& b);

/// Of each op that both have: its GPU time, and how long each launch of its kernels ran, by the trace or else
/// as counted. Kernels that take less than 0.5 % of the op's kernel time on both sides are left out. One
/// execution on each side is all that there is, so that a change counts only where it exceeds what is assumed
/// between two of them.
[[nodiscard]] std::vector<TimeComparison> traced_times(const Case& a, const Case& b);

/// In the order of A.
[[nodiscard]] std::vector<TracedFigure> traced_figures(const Case& a, const Case& b);

/// Whether a time is one of traced_times().
[[nodiscard]] bool is_traced(const TimeComparison& time);

}  // namespace mprof
