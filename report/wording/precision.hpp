// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/analysis/analysis.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "report/analysis/judgement/unlike_formats.hpp"

/// Words for the precision in which outputs are right.
namespace mprof {

/// "FP16" of "fp16"; "FP16/TF32" of "fp16/tf32".
[[nodiscard]] std::string precision_name(std::string_view format);

/// "FP16 or TF32" of "fp16/tf32"; "FP32" of "", the format of a family's own tolerance.
[[nodiscard]] std::string format_words(std::string_view format);

/// "; --precision fp16 or tf32 declares which": of a right output whose lower precision was found, and of
/// which none was declared; empty of others.
[[nodiscard]] std::string declare_hint(const Verification& verification);

/// ", in FP16 against FP32": of a time whose two sides compute in different number formats; empty of others.
[[nodiscard]] std::string unlike_formats(const TimeComparison& time);
[[nodiscard]] std::string unlike_formats(const std::optional<UnlikeFormats>& formats);

/// "right in FP16 or TF32": of a right output that was declared to be in a lower precision, or met the
/// tolerance of one; empty of others.
[[nodiscard]] std::string right_in(const Verification& verification);

/// The same with the largest error: "right in FP16 or TF32: relative L2 error 6.7e-4 (op1), tolerance
/// 2.0e-3", of the least exact output of a right case.
[[nodiscard]] std::string precision_note(const CaseResult& result);

}  // namespace mprof
