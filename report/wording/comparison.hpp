// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/judgement/compare.hpp"

/// What is said of the cases of two runs.
namespace mprof {

/// As a table has it: "second", "GPU time of second", "a launch of gemm in second", "total".
[[nodiscard]] std::string compared_time(const Words& words, const TimeComparison& time);

/// In a sentence: "second", "second (stage time)", "total time".
[[nodiscard]] std::string named_time(const Words& words, const TimeComparison& time);

/// What must be said beside a step time that was taken in one traced execution.
[[nodiscard]] std::string_view one_traced_execution();

/// "CPU cores: 64 in A, 16 in B (host times)"
[[nodiscard]] std::string unlike_text(const Unlike& unlike);

/// "op slower by 12 %", "was ok, is wrong".
[[nodiscard]] std::string regression_text(const Words& words, const CaseComparison& c,
                                          const Regression& regression);

/// "map +268.5 %, no change above 4.2×: B was disturbed: other processes used the CPUs".
[[nodiscard]] std::string undecided_text(const Words& words, const TimeComparison& time);

}  // namespace mprof
