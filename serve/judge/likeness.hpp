// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Sources that are near-identical in their structure, whatever their names, comments and layout are.
///
/// S. Schleimer, D. S. Wilkerson and A. Aiken, Winnowing: local algorithms for document fingerprinting,
/// SIGMOD 2003, 76-85.
namespace mprof {

/// Tokens of C++: each identifier is "name", each number "0" and each text "\"\"". Comments, blanks and
/// `#include` lines are left out.
[[nodiscard]] std::vector<std::string> structure_of(std::string_view source);

/// Two sources by their places, and how much of the smaller one the other one has, from 0 to 1.
struct AlikePair {
  std::size_t first = 0;
  std::size_t second = 0;
  double share = 0;
};

/// From this share on a pair is worth a look.
inline constexpr double alike_from = 0.6;

/// The pairs of at least `least`, the most alike first. What `starter` has as well does not count, nor what
/// most of many sources have. Each passage of 19 tokens that two sources share is found. Very short sources
/// are compared with none.
[[nodiscard]] std::vector<AlikePair> alike_pairs(std::span<const std::string> sources,
                                                 std::string_view starter, double least = alike_from);

}  // namespace mprof
