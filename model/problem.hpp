// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mprof {

/// A whole number on one axis of a family.
struct Coordinate {
  std::string axis{};
  std::uint64_t value = 0;
  bool operator==(const Coordinate&) const = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated comparison with 0 for a pointer
  auto operator<=>(const Coordinate&) const = default;
};

/// A point on a family's own axes, which stand in the family's order: batch=10000, or size=8192,iterations=5.
/// So problems of one family sort by their first axis, then by the second.
struct Problem {
  std::vector<Coordinate> coordinates{};
  bool operator==(const Problem&) const = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated comparison with 0 for a pointer
  auto operator<=>(const Problem&) const = default;
  [[nodiscard]] bool empty() const { return coordinates.empty(); }
};

/// The value on an axis; nullopt when the problem has none of this name.
[[nodiscard]] std::optional<std::uint64_t> value_on(const Problem& problem, std::string_view axis);

/// As ids of cases and --problem write it: the bare value on a single axis ("10000"), otherwise
/// "size=8192,iterations=5".
[[nodiscard]] std::string problem_id(const Problem& problem);

}  // namespace mprof
