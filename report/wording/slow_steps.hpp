// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/analysis/program/slow_steps.hpp"

namespace mprof {

/// "Step 9 took 96.10 ms, 44.14 ms more than the median. What it has more of: idle time while the host ran
/// its own code, 40.20 ms." What explains less than a quarter of it is not named.
[[nodiscard]] std::string slow_step_text(const SlowStep& slow);

}  // namespace mprof
