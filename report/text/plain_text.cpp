// SPDX-License-Identifier: MIT
#include "report/text/plain_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mprof::format {
namespace {

/// No-break, figure, punctuation and narrow no-break spaces, and the minus sign.
constexpr std::array<std::pair<std::string_view, char>, 5> plain_signs{
    {{"\u00a0", ' '}, {"\u2007", ' '}, {"\u2008", ' '}, {"\u202f", ' '}, {"\u2212", '-'}}};

}  // namespace

std::string plain_text(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const auto* const sign =
        std::ranges::find_if(plain_signs, [&](const auto& one) { return text.starts_with(one.first); });
    const bool is_found = sign != plain_signs.end();
    plain += is_found ? sign->second : text.front();
    text.remove_prefix(is_found ? sign->first.size() : 1);
  }
  return plain;
}

}  // namespace mprof::format
