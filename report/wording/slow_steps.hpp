// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/program/slow_steps.hpp"

namespace mprof {

/// "Step 9 took 96.10 ms, 44.14 ms more than the median. What differs: garbage collection in the range gc,
/// 40.20 ms longer." What explains less than a quarter of it is not named.
[[nodiscard]] std::string slow_step_text(const SlowStep& slow);

/// "garbage collection": what explains the most of it, in a few words; empty where nothing does.
[[nodiscard]] std::string_view slow_step_cause(const SlowStep& slow);

}  // namespace mprof
