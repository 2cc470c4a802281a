#include "cli/values.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof::cli {

std::optional<std::uint64_t> parse_whole(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double parse_seconds(const std::string& option, const std::string& text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(seconds) || seconds <= 0) {
    throw Error(ExitCode::usage, fmt::format("--{} {}: give a positive number of seconds.", option, text));
  }
  return seconds;
}

}  // namespace mprof::cli
