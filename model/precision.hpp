// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "model/run.hpp"

/// How exact an output is that is right in a number format, by the tolerance that it meets.
namespace mprof {

/// A number format of an op's factors, and the relative L2 error of an item that still counts as right in it.
struct FormatTolerance {
  std::string_view format{};
  double tolerance = 0;
};

/// FP16 and TF32 round alike, to 11 significant bits. With sums in FP16 an output is less exact, and may be
/// as exact as one of factors in BF16.
inline constexpr FormatTolerance half_or_tf32{"fp16/tf32", 2e-3};
inline constexpr FormatTolerance half_sums{"fp16/bf16", 5e-3};
inline constexpr FormatTolerance bfloat{"bf16", 1.6e-2};

/// The format that an output of this tolerance is as exact as; nullopt for any other tolerance.
[[nodiscard]] constexpr std::optional<std::string_view> format_of_tolerance(double tolerance) {
  for (const FormatTolerance& one : {half_or_tf32, half_sums, bfloat}) {
    if (one.tolerance == tolerance) return one.format;
  }
  return std::nullopt;
}

/// The number format in which an output is verified: the declared one, or else the lower one that was found
/// or that its tolerance stands for, such as "fp16/tf32". Empty: it must meet its family's own tolerance.
[[nodiscard]] inline std::string_view number_format(const Verification& verification) {
  if (!verification.declared_precision.empty()) return verification.declared_precision;
  if (!verification.precision.empty()) return verification.precision;
  return format_of_tolerance(verification.tolerance).value_or("");
}

/// Whether two of number_format() may be one: "fp16" and "fp16/tf32" may. Empty stands for FP32.
[[nodiscard]] bool may_be_one_format(std::string_view a, std::string_view b);

/// The precisions that a user can declare.
inline constexpr std::array<std::string_view, 4> precisions{"fp32", "tf32", "bf16", "fp16"};

/// The parameter by which a variant says in what format it computes.
inline constexpr std::string_view precision_parameter = "precision";

}  // namespace mprof
