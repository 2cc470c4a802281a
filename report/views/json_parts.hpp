// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "model/problem.hpp"
#include "report/analysis/judgement/estimate.hpp"

/// What the data of several verbs is made of, so that a program reads one value everywhere alike.
namespace mprof {

/// { median, samples, rounds, interval } or { median: null, absent: the reason }; `interval` only where there
/// is one.
[[nodiscard]] nlohmann::ordered_json value_json(const Value& value);
/// The number, or null.
[[nodiscard]] nlohmann::ordered_json optional_json(const std::optional<double>& value);
/// [low, high], or null.
[[nodiscard]] nlohmann::ordered_json interval_json(const std::optional<Interval>& interval);
/// { axis: value }, in the problem's order.
[[nodiscard]] nlohmann::ordered_json problem_json(const Problem& problem);

}  // namespace mprof
