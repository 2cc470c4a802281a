// SPDX-License-Identifier: MIT
#include "report/wording/time_budget.hpp"

#include <array>
#include <cstddef>

namespace mprof {
namespace {

/// In the order of BudgetPart.
constexpr std::array<std::string_view, budget_parts> part_names{
    "kernels",        "kernels and copies", "copies in",         "copies out",         "copies both ways",
    "other GPU work", "idle: tracing",      "idle: waits",       "idle: allocation",   "idle: CUDA calls",
    "idle: OS calls", "idle: host code",    "idle: before CUDA", "idle: CUDA's start",
};

constexpr std::array<std::string_view, budget_parts> part_phrases{
    "kernels alone",
    "kernels beside copies",
    "copies in",
    "copies out",
    "copies both ways at once",
    "other work of the GPU",
    "the cost of tracing",
    "the GPU idle while the host waited",
    "the GPU idle while the host allocated or freed memory",
    "the GPU idle while the host was in CUDA calls",
    "the GPU idle while the host was in calls of the operating system",
    "the GPU idle while the host ran its own code",
    "the time before CUDA",
    "CUDA coming up",
};

/// Of the idle parts, in their order.
constexpr std::array<std::string_view, 8> idle_causes{
    "tracing", "waits", "allocation", "CUDA calls", "OS calls", "host code", "before CUDA", "CUDA's start",
};
constexpr auto first_idle = static_cast<std::size_t>(BudgetPart::idle_tracing);
static_assert(first_idle + idle_causes.size() == budget_parts);

}  // namespace

std::string_view idle_cause(BudgetPart part) {
  return idle_causes.at(static_cast<std::size_t>(part) - first_idle);
}

std::string_view part_name(BudgetPart part) {
  return part_names.at(static_cast<std::size_t>(part));
}

std::string_view part_phrase(BudgetPart part) {
  return part_phrases.at(static_cast<std::size_t>(part));
}

}  // namespace mprof
