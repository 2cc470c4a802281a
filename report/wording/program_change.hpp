// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/judgement/compare.hpp"
#include "report/wording/program.hpp"

/// What is said of a program in two runs.
namespace mprof {

/// What became of a step, where it changed, its launches, and what bounds it on either side. `c` has a
/// program. What did not change has no line, but for the step itself.
[[nodiscard]] std::vector<LedText> program_change_lines(const CaseComparison& c);

/// The same of two programs of one run, each of which was traced once: without a verdict.
[[nodiscard]] std::vector<LedText> traced_change_lines(const ProgramChange& change);

/// "backward", "in no range".
[[nodiscard]] std::string range_text(const RangeChange& range);

}  // namespace mprof
