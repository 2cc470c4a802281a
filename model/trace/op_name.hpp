// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Names of the ops that are found in a program.
namespace mprof::trace {

/// The op of a program without NVTX ranges.
inline constexpr const char* whole_program = "program";
/// The op of what a program with NVTX ranges gave the GPU outside of them.
inline constexpr const char* outside_of_ranges = "outside";
/// The op of the ranges that are left where there are too many different ones.
inline constexpr const char* other_ranges = "other ranges";

/// A name with # for each of its numbers: "step 12" becomes "step #".
[[nodiscard]] std::string without_numbers(std::string_view name);
/// "aten::mm" of "aten::mm, seq = 12, op_id = 3", as PyTorch's emit_nvtx calls the range of an operation.
[[nodiscard]] std::string_view without_operation_ids(std::string_view name);

/// 12 of "aten::mm, seq = 12, op_id = 3". PyTorch gives an operation and its backward pass the same number.
/// nullopt without one.
[[nodiscard]] std::optional<std::uint64_t> sequence_number(std::string_view name);

/// Whether a range is of an operation's backward pass, by PyTorch's name for it.
[[nodiscard]] bool is_backward_pass(std::string_view name);

}  // namespace mprof::trace
