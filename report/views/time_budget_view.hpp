// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis/standing/time_budget.hpp"
#include "report/views/views.hpp"

namespace mprof {

/// Where the time of the family's first baseline and of its best variant goes: { anchor, absent, in_short,
/// sentences: [text], charts: [chart], table }; `absent` is the reason where it is missing.
[[nodiscard]] nlohmann::json time_budget_view(const FamilyResult& family, const Evidence& evidence,
                                              PagePlan& plan);

/// The largest parts of a budget with their shares, the largest first: "copies in 46.0 %".
[[nodiscard]] std::vector<std::string> largest_parts(const TimeBudget& budget, std::size_t most);

/// Why the GPU was idle, the longest cause first: "host code 74.4 %, CUDA calls 5.5 %". `parts`: of a budget,
/// or of one of its GPUs.
[[nodiscard]] std::string idle_causes(const std::array<std::int64_t, budget_parts>& parts,
                                      std::int64_t window);

}  // namespace mprof
