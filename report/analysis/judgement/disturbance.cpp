// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/disturbance.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace mprof {
namespace {

constexpr std::string_view between = "; ", before_detail = ": ";

/// Takes a whole number and what follows it off the front of a text; nullopt where it begins otherwise.
std::optional<std::size_t> take_number(std::string_view& text, std::string_view follows) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(follows)) return std::nullopt;
  text.remove_prefix(follows.size());
  return number;
}

}  // namespace

std::string to_text(const Disturbances& disturbances) {
  std::string text;
  for (const auto& [cause, detail] : disturbances) {
    if (!text.empty()) text += between;
    text += cause;
    if (!detail.empty()) text.append(before_detail).append(detail);
  }
  return text;
}

Disturbances disturbances_in(std::string_view text) {
  Disturbances found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(between), text.size());
    const std::string_view one = text.substr(0, end);
    const std::size_t colon = std::min(one.find(before_detail), one.size());
    found.push_back({std::string(one.substr(0, colon)),
                     std::string(one.substr(std::min(colon + before_detail.size(), one.size())))});
    text.remove_prefix(std::min(end + between.size(), text.size()));
  }
  return found;
}

Disturbed disturbed_in(std::string_view text) {
  constexpr std::string_view head = " (in ";
  const std::size_t at = text.rfind(head);
  if (at != std::string_view::npos) {
    std::string_view rest = text.substr(at + head.size());
    const auto rounds = take_number(rest, " of ");
    const auto all = rounds ? take_number(rest, " rounds)") : std::nullopt;
    if (all && rest.empty()) return {disturbances_in(text.substr(0, at)), *rounds, *all};
  }
  return {.by = disturbances_in(text)};
}

}  // namespace mprof
