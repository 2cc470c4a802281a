// SPDX-License-Identifier: MIT
#include "model/problem.hpp"

#include <algorithm>

namespace mprof {

std::optional<std::uint64_t> value_on(const Problem& problem, std::string_view axis) {
  const auto found = std::ranges::find(problem.coordinates, axis, &Coordinate::axis);
  return found == problem.coordinates.end() ? std::nullopt : std::optional(found->value);
}

std::string problem_id(const Problem& problem) {
  if (problem.coordinates.size() == 1) return std::to_string(problem.coordinates.front().value);
  std::string id;
  for (const Coordinate& c : problem.coordinates) {
    id += (id.empty() ? "" : ",") + c.axis + "=" + std::to_string(c.value);
  }
  return id;
}

}  // namespace mprof
