// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "report/analysis/standing/time_budget.hpp"

/// The parts of a time budget in words.
namespace mprof {

/// In a table about the GPU: "kernels", "idle: waits".
[[nodiscard]] std::string_view part_name(BudgetPart part);

/// Of an idle part, where it is said to be one: "waits".
[[nodiscard]] std::string_view idle_cause(BudgetPart part);

/// The same where no table says that it is about the GPU: "the GPU idle while the host waited".
[[nodiscard]] std::string_view part_phrase(BudgetPart part);

}  // namespace mprof
