// SPDX-License-Identifier: MIT
#include "inputs/printed_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "system/suggest.hpp"

namespace mprof {
namespace {

constexpr double kibi = 1024;
/// What stands further back in a line is not looked at.
constexpr std::size_t longest_line = 4096;

constexpr std::array<std::pair<std::string_view, PrintedUnit>, 24> units{
    {{"", {Unit::ratio, 1}},
     {"ratio", {Unit::ratio, 1}},
     {"count", {Unit::count, 1}},
     {"%", {Unit::percent, 1}},
     {"s", {Unit::second, 1}},
     {"ms", {Unit::second, 1e-3}},
     {"us", {Unit::second, 1e-6}},
     {"ns", {Unit::second, 1e-9}},
     {"B", {Unit::byte, 1}},
     {"KB", {Unit::byte, 1e3}},
     {"MB", {Unit::byte, 1e6}},
     {"GB", {Unit::byte, 1e9}},
     {"KiB", {Unit::byte, kibi}},
     {"MiB", {Unit::byte, kibi* kibi}},
     {"GiB", {Unit::byte, kibi* kibi* kibi}},
     {"B/s", {Unit::byte_per_second, 1}},
     {"MB/s", {Unit::byte_per_second, 1e6}},
     {"GB/s", {Unit::byte_per_second, 1e9}},
     {"FLOP/s", {Unit::flop_per_second, 1}},
     {"GFLOP/s", {Unit::flop_per_second, 1e9}},
     {"TFLOP/s", {Unit::flop_per_second, 1e12}},
     {"1/s", {Unit::per_second, 1}},
     {"W", {Unit::watt, 1}},
     {"Hz", {Unit::hertz, 1}}}};

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// The number that `line` begins with, be it "nan" or "inf", and how long it is.
std::optional<std::pair<double, std::size_t>> number_at(std::string_view line) {
  const std::size_t sign = line.starts_with('+') ? 1 : 0;
  double value = 0;
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data() + sign, end, value);
  if (error != std::errc()) return std::nullopt;
  return std::pair(value, static_cast<std::size_t>(rest - line.data()));
}

/// Where a pattern has its number.
constexpr char number_here = '\0';

/// A number of a line and its place, or where one must be.
struct Place {
  double value = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Where a line begins as the pattern says. `*` takes as little as it can: where what follows it does not
/// fit, it takes more.
std::optional<Place> read_at(std::string_view pattern, std::string_view line) {
  std::size_t p = 0, at = 0;
  Place place;
  std::optional<std::pair<std::size_t, std::size_t>> star;  // what follows it, and where that was tried last
  while (p < pattern.size()) {
    const auto number = pattern[p] == number_here ? number_at(line.substr(at)) : std::nullopt;
    if (number) {
      place = {number->first, at, at + number->second};
      ++p, at += number->second;
    } else if (pattern[p] == '*') {
      star = {++p, at};
    } else if (pattern[p] == ' ' && at < line.size() && is_blank(line[at])) {
      while (at < line.size() && is_blank(line[at])) ++at;
      while (p < pattern.size() && pattern[p] == ' ') ++p;
    } else if (at < line.size() && pattern[p] == line[at]) {
      ++p, ++at;
    } else if (star && star->second < line.size()) {
      p = star->first;
      at = ++star->second;
    } else {
      return std::nullopt;
    }
  }
  if (place.end == 0) place.begin = place.end = at;
  return place;
}

/// What stands at the beginning of a line, up to where a reader has seen enough.
std::string excerpt(std::string_view line) {
  constexpr std::size_t enough = 40;
  line = line.substr(0, enough);
  return std::string(line.substr(0, line.find_last_not_of(" \t") + 1));
}

}  // namespace

NumberPattern::NumberPattern(std::string_view text) : text_(text) {
  const std::size_t open = text.find('{'), close = text.find('}');
  const bool has_one = open != std::string_view::npos && close != std::string_view::npos && open < close &&
                       text.find_first_of("{}", close + 1) == std::string_view::npos &&
                       text.find('{', open + 1) == std::string_view::npos;
  if (!has_one)
    throw std::invalid_argument(
        "write the text of the line with the unit of its number in braces, once, as in \"Time: {ms} ms\"");
  const std::string_view word = text.substr(open + 1, close - open - 1);
  const auto found = std::ranges::find(units, word, [](const auto& row) { return row.first; });
  if (found == units.end())
    throw std::invalid_argument(fmt::format("{{{}}} is no unit.{} There are {}, and {{}} for none", word,
                                            did_you_mean(word, printed_units()),
                                            fmt::join(printed_units(), ", ")));
  unit_ = found->second;
  unit_word_ = word;
  pattern_ = fmt::format("{}{}{}", text.substr(0, open), number_here, text.substr(close + 1));
  if (pattern_.find_first_not_of(std::string_view(" *\0", 3)) == std::string::npos)
    throw std::invalid_argument("beside the number it needs some text, by which its line is known");
}

std::optional<PrintedNumber> NumberPattern::find(std::string_view line) const {
  line = line.substr(0, longest_line);
  std::optional<PrintedNumber> not_finite;
  for (std::size_t start = 0; start < line.size(); ++start) {
    const std::string_view rest = line.substr(start);
    const auto place = read_at(pattern_, rest);
    if (!place) continue;
    PrintedNumber found{.text = std::string(rest.substr(place->begin, place->end - place->begin)),
                        .fits = true};
    const double value = place->value * unit_.scale;
    if (std::isfinite(value)) found.value = value;
    if (found.value) return found;
    if (!not_finite) not_finite = std::move(found);
  }
  if (not_finite) return not_finite;
  const std::string before = pattern_.substr(0, pattern_.find(number_here));
  if (before.find_first_not_of(" *") == std::string::npos) return std::nullopt;
  for (std::size_t start = 0; start < line.size(); ++start) {
    if (const auto place = read_at(before, line.substr(start)))
      return PrintedNumber{.text = excerpt(line.substr(start + place->end))};
  }
  return std::nullopt;
}

std::vector<std::string> printed_units() {
  std::vector<std::string> names;
  for (const auto& [name, unit] : units) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

}  // namespace mprof
