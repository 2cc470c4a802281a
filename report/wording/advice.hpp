// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/analysis/advice/advice.hpp"

/// What is said of what to do next.
namespace mprof {

/// "its kernels (the run had no counters pass)".
[[nodiscard]] std::string not_judged_text(const NotJudged& missing);

}  // namespace mprof
