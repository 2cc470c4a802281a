// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/trace/steps.hpp"
#include "model/trace/trace.hpp"
#include "report/analysis/standing/time_budget.hpp"

/// What slow steps have more of than the others.
namespace mprof {

/// A slow step against the medians of all steady ones. Times in ns.
struct SlowStep {
  std::size_t step = 0;
  std::int64_t pace = 0;
  std::int64_t more = 0;                               ///< than the median pace
  std::array<std::int64_t, budget_parts> more_idle{};  ///< idle time by its cause
  std::int64_t more_kernels = 0;                       ///< in which a kernel ran
  std::int64_t more_copies = 0;                        ///< in which only a copy or a memset ran
  std::int64_t more_launches = 0;                      ///< their number
};

/// Of Steps::slow(), at most `most`, the slowest first.
[[nodiscard]] std::vector<SlowStep> slow_steps_of(const trace::Trace& trace, trace::CaseIndex index,
                                                  const Steps& steps, std::size_t most);

}  // namespace mprof
