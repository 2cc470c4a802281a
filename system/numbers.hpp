// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace mprof {

/// The number that the whole of a text is, in C's notation without leading blanks or a plus sign. nullopt for
/// any other text, and for a number that the type cannot hold.
template <class Number>
[[nodiscard]] std::optional<Number> parse_as(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace mprof
