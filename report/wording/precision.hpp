// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/analysis.hpp"

/// Words for the precision in which outputs are right.
namespace mprof {

/// "FP16" of "fp16"; "FP16/TF32" of "fp16/tf32".
[[nodiscard]] std::string precision_name(std::string_view format);

/// "right in FP16 or TF32": of a right output that met the tolerance of a lower precision; empty of others.
[[nodiscard]] std::string right_in(const Verification& verification);

/// The same with the largest error: "right in FP16 or TF32: relative L2 error 6.7e-4 (op1), tolerance
/// 2.0e-3", of the least exact output of a right case.
[[nodiscard]] std::string precision_note(const CaseResult& result);

}  // namespace mprof
