// SPDX-License-Identifier: MIT
#include "inputs/toml_text.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof {
namespace {

/// Each level of names with dots, as of brackets, costs toml++ some of its stack; it counts the brackets.
void require_shallow_names(std::string_view text, const std::string& name) {
  constexpr std::size_t deepest = 100;
  std::size_t dots = 0, line = 1;
  for (const char c : text) {
    const bool is_of_a_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                              std::string_view("_- \t\"'.").find(c) != std::string_view::npos;
    dots = !is_of_a_name ? 0 : dots + (c == '.' ? 1 : 0);
    line += c == '\n' ? 1 : 0;
    if (dots > deepest) {
      throw Error(ExitCode::usage,
                  fmt::format("{}:{}: a name with more than {} dots nests too deep: shorten it.", name, line,
                              deepest));
    }
  }
}

/// The line that toml++ stops at without a place: the last of the shortest text that it is unsure of.
std::size_t unsure_line(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    ends.push_back(at + 1);
  const auto is_read = [&](std::size_t end) {
    try {
      static_cast<void>(toml::parse(text.substr(0, end)));
    } catch (const toml::parse_error&) {
    } catch (const TomlIsUnsure&) {
      return false;
    }
    return true;
  };
  return 1 + static_cast<std::size_t>(std::ranges::partition_point(ends, is_read) - ends.begin());
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  require_shallow_names(text, name);
  try {
    return toml::parse(text, std::string_view(name));
  } catch (const toml::parse_error& error) {
    const auto place = error.source().begin;
    throw Error(ExitCode::usage, fmt::format("{}:{}: this is no TOML, at column {}: {}", name, place.line,
                                             place.column, error.description()));
  } catch (const TomlIsUnsure&) {
    throw Error(ExitCode::usage,
                fmt::format("{}:{}: this is no TOML: a bracket, brace or comma stands where a "
                            "name or a value belongs.",
                            name, unsure_line(text)));
  }
}

}  // namespace mprof
