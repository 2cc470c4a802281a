// SPDX-License-Identifier: MIT
#include "report/wording/slow_steps.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/wording/time_budget.hpp"

namespace mprof {
std::string slow_step_text(const SlowStep& slow) {
  constexpr double notable = 0.25;
  std::vector<std::pair<std::int64_t, std::string_view>> parts{
      {slow.more_kernels, "kernels"}, {slow.more_copies, "copies and memsets alone"}};
  for (std::size_t i = 0; i < budget_parts; ++i) {
    if (is_idle(static_cast<BudgetPart>(i)))
      parts.emplace_back(slow.more_idle.at(i), part_phrase(static_cast<BudgetPart>(i)));
  }
  std::ranges::stable_sort(parts, std::ranges::greater{}, [](const auto& part) { return part.first; });
  std::vector<std::string> named;
  for (const auto& [time, what] : parts) {
    if (static_cast<double>(time) >= notable * static_cast<double>(slow.more))
      named.push_back(fmt::format("{} (+{})", what, format::nanoseconds(time)));
  }
  std::string text = fmt::format("Step {} took {}, {} more than the median. ", slow.step + 1,
                                 format::nanoseconds(slow.pace), format::nanoseconds(slow.more));
  text +=
      named.empty() ? "No part of it stands out." : fmt::format("It has more of: {}.", format::list(named));
  if (slow.more_launches > 0)
    text += fmt::format(" It has {} more launches than the median.",
                        format::count(static_cast<std::uint64_t>(slow.more_launches)));
  return text;
}

}  // namespace mprof
