// SPDX-License-Identifier: MIT
#include "report/wording/slow_steps.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

std::string slow_time(std::int64_t ns) {
  constexpr double slow_s_of_ns = 1e-9;
  return format::quantity(static_cast<double>(ns) * slow_s_of_ns, Unit::second);
}

std::string_view idle_while(BudgetPart cause) {
  switch (cause) {
    case BudgetPart::idle_tracing:
      return "idle time while the trace was recorded or code was loaded";
    case BudgetPart::idle_waiting:
      return "idle time while the host waited in a call";
    case BudgetPart::idle_allocation:
      return "idle time while memory was allocated or freed";
    case BudgetPart::idle_calls:
      return "idle time during launches and other CUDA calls";
    case BudgetPart::idle_system:
      return "idle time while the host was in calls of the operating system";
    case BudgetPart::idle_host:
      return "idle time while the host ran its own code";
    default:
      return "";
  }
}

}  // namespace

std::string slow_step_text(const SlowStep& slow) {
  constexpr double notable = 0.25;
  std::vector<std::pair<std::int64_t, std::string_view>> parts{
      {slow.more_kernels, "time in which kernels ran"}, {slow.more_copies, "time in which it only copied"}};
  for (std::size_t i = 0; i < budget_parts; ++i) {
    if (is_idle(static_cast<BudgetPart>(i)))
      parts.emplace_back(slow.more_idle.at(i), idle_while(static_cast<BudgetPart>(i)));
  }
  std::ranges::stable_sort(parts, std::ranges::greater{}, [](const auto& part) { return part.first; });
  std::vector<std::string> named;
  for (const auto& [time, what] : parts) {
    if (static_cast<double>(time) >= notable * static_cast<double>(slow.more))
      named.push_back(fmt::format("{} (+{})", what, slow_time(time)));
  }
  std::string text = fmt::format("Step {} took {}, {} more than the median. ", slow.step + 1,
                                 slow_time(slow.pace), slow_time(slow.more));
  text += named.empty() ? "No part of it stands out." : fmt::format("It has more {}.", format::list(named));
  if (slow.more_launches > 0)
    text += fmt::format(" It has {} more launches than the median.",
                        format::count(static_cast<std::uint64_t>(slow.more_launches)));
  return text;
}

}  // namespace mprof
