// SPDX-License-Identifier: MIT
#include "cli/values.hpp"

#include <cmath>

#include <fmt/format.h>

#include "system/error.hpp"
#include "system/numbers.hpp"

namespace mprof::cli {

std::optional<std::uint64_t> parse_whole(const std::string& text) {
  return parse_as<std::uint64_t>(text);
}

double parse_seconds(const std::string& option, const std::string& text) {
  const auto seconds = parse_as<double>(text);
  if (!seconds || !std::isfinite(*seconds) || *seconds <= 0)
    throw Error(ExitCode::usage, fmt::format("--{} {}: give a positive number of seconds.", option, text));
  return *seconds;
}

std::string duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::uint32_t parse_rounds(const std::string& text) {
  constexpr std::uint64_t most = 1000;
  const std::optional<std::uint64_t> rounds = parse_whole(text);
  if (!rounds || *rounds < 1 || *rounds > most)
    throw Error(ExitCode::usage, fmt::format("--rounds {}: give a whole number from 1 to {}.", text, most));
  return static_cast<std::uint32_t>(*rounds);
}

void require_folder(const std::string& out) {
  if (out == "-")
    throw Error(
        ExitCode::usage,
        "--out takes a folder, and '-' is not a folder. For an answer on standard output, use --json.");
}

}  // namespace mprof::cli
