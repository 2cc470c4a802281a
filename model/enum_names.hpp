// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

/// Enumerations that files hold as words.
namespace mprof {

template <class Enum, std::size_t n>
using EnumNames = std::array<std::pair<Enum, std::string_view>, n>;

/// "" for a value that is no enumerator.
template <class Enum, std::size_t n>
std::string_view name_of(const EnumNames<Enum, n>& names, Enum value) {
  const auto found = std::ranges::find(names, value, &std::pair<Enum, std::string_view>::first);
  return found == names.end() ? std::string_view() : found->second;
}

/// Whether `text` is one of the names; only then is `value` set.
template <class Enum, std::size_t n>
bool value_of(const EnumNames<Enum, n>& names, std::string_view text, Enum& value) {
  const auto found = std::ranges::find(names, text, &std::pair<Enum, std::string_view>::second);
  if (found == names.end()) return false;
  value = found->first;
  return true;
}

}  // namespace mprof
