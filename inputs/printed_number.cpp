// SPDX-License-Identifier: MIT
#include "inputs/printed_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "system/suggest.hpp"

namespace mprof {
namespace {

constexpr double kibi = 1024;
constexpr std::hash<std::string_view> hash_of{};
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

bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_decimal_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Other words for units of time, as programs print them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 22> spelled_units{{
    {"sec", "s"},           {"secs", "s"},          {"second", "s"},     {"seconds", "s"},
    {"msec", "ms"},         {"msecs", "ms"},        {"millis", "ms"},    {"millisecond", "ms"},
    {"milliseconds", "ms"}, {"\u00b5s", "us"},      {"\u03bcs", "us"},   {"usec", "us"},
    {"usecs", "us"},        {"\u00b5sec", "us"},    {"\u03bcsec", "us"}, {"micros", "us"},
    {"microsecond", "us"},  {"microseconds", "us"}, {"nsec", "ns"},      {"nsecs", "ns"},
    {"nanosecond", "ns"},   {"nanoseconds", "ns"},
}};

/// Each of those above is shorter.
constexpr std::size_t longest_unit = 16;

bool is_same_in_lower_case(char a, char b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return lower(a) == lower(b);
}

/// The unit that this word is.
std::optional<PrintedUnit> unit_of(std::string_view word) {
  const auto of = [](std::string_view name) {
    return std::ranges::find(units, name, [](const auto& row) { return row.first; });
  };
  if (word.empty()) return std::nullopt;
  if (const auto unit = of(word); unit != units.end()) return unit->second;
  const auto spelled = std::ranges::find_if(spelled_units, [&](const auto& row) {
    return std::ranges::equal(row.first, word, is_same_in_lower_case);
  });
  return spelled == spelled_units.end() ? std::nullopt : std::optional(of(spelled->second)->second);
}

/// The unit that `text` begins with as a word of its own, and how long the word is: "GB/s", and "ms" of
/// "ms/image".
std::optional<std::pair<PrintedUnit, std::size_t>> unit_at(std::string_view text) {
  const auto is_part = [](char c) { return is_word(c) || (c & '\x80') != 0; };
  const auto is_of_rate = [&](char c) { return is_part(c) || c == '/'; };
  text = text.substr(0, longest_unit + 1);  // a longer word is no unit
  std::size_t length = text.starts_with('%') ? 1 : 0;
  while (length < text.size() && is_of_rate(text[length])) ++length;
  if (const auto unit = unit_of(text.substr(0, length))) return std::pair(*unit, length);
  length = 0;
  while (length < text.size() && is_part(text[length])) ++length;
  const auto unit = unit_of(text.substr(0, length));
  return unit ? std::optional(std::pair(*unit, length)) : std::nullopt;
}

/// What stands between groups of three digits and is nothing else: an apostrophe, or a blank at which no line
/// is broken. The length of the one that `text` begins with.
std::size_t length_of_separator(std::string_view text) {
  for (const std::string_view separator : {"'", "\u2019", "\u00a0", "\u202f", "\u2009", "_"}) {
    if (text.starts_with(separator)) return separator.size();
  }
  return 0;
}

/// How a number was printed: "1,234" may be 1234 or 1.234.
enum class Reading { number, ambiguous, none };

/// How the digits of a number may be separated at a place of a pattern.
struct Separating {
  bool takes_blanks = false;
  char end = '\0';          ///< what separates fields there, and ends a number; '\0': nothing does
  bool is_bounded = false;  ///< the number ends where the pattern's text goes on
};

struct NumberText {
  Reading reading = Reading::none;
  double value = 0;
  std::size_t length = 0;
};

/// The digits that `line` begins with, and what separates them. The last point or comma is the decimal one,
/// unless there are two of it. What stands before it separates groups of three digits. A single comma with
/// three digits behind it may be either. "3.125,64" may be two numbers where nothing says that it is one.
class DigitGroups {
 public:
  DigitGroups(std::string_view line, const Separating& separating) : line_(line), separating_(separating) {
    read();
  }

  [[nodiscard]] std::size_t length() const { return at_; }
  /// As std::from_chars reads it; empty where the separators make no number.
  [[nodiscard]] const std::string& plain() const { return plain_; }
  [[nodiscard]] bool is_ambiguous() const { return is_ambiguous_; }

 private:
  struct Group {
    std::string separator;
    std::string digits;
  };

  void read() {
    constexpr std::size_t most_groups = 16;  // more than any number has
    std::vector<Group> groups{{"", digits()}};
    while (const std::size_t length = separator_length()) {
      if (groups.size() == most_groups) return;
      std::string separator(line_.substr(at_, length));
      at_ += length;
      groups.push_back({std::move(separator), digits()});
    }
    decide(groups);
  }

  std::string digits() {
    const std::size_t begin = at_;
    while (at_ < line_.size() && is_decimal_digit(line_[at_])) ++at_;
    return std::string(line_.substr(begin, at_ - begin));
  }

  /// 0: no digit follows, so that what stands here ends a sentence or a word.
  [[nodiscard]] std::size_t separator_length() const {
    const std::string_view rest = line_.substr(at_);
    if (separating_.end != '\0' && rest.starts_with(separating_.end)) return 0;
    std::size_t length = length_of_separator(rest);
    if (rest.starts_with(',') || (separating_.takes_blanks && rest.starts_with(' '))) length = 1;
    if (rest.starts_with('.')) length = 1;
    return length > 0 && length < rest.size() && is_decimal_digit(rest[length]) ? length : 0;
  }

  void decide(const std::vector<Group>& groups) {
    const std::string& last = groups.back().separator;
    const bool is_decimal =
        (last == "." || last == ",") && std::ranges::count(groups, last, &Group::separator) == 1;
    const std::size_t whole = is_decimal ? groups.size() - 1 : groups.size();
    const bool may_be_list = whole == 2 && groups[1].separator == "." && !separating_.is_bounded;
    is_ambiguous_ = is_decimal && last == "," && ((whole == 1 && are_thousands(groups, 2)) || may_be_list);
    const bool is_number = whole == 1 || are_thousands(groups, whole);
    if (!is_number) return;
    for (std::size_t i = 0; i < whole; ++i) plain_ += groups[i].digits;
    if (is_decimal) plain_ += "." + groups.back().digits;
  }

  static bool are_thousands(const std::vector<Group>& groups, std::size_t count) {
    const std::string& first = groups.front().digits;
    if (first.empty() || first.size() > 3 || first.front() == '0') return false;
    return std::all_of(groups.begin() + 1, groups.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](const Group& group) {
                         return group.digits.size() == 3 && group.separator == groups[1].separator;
                       });
  }

  std::string_view line_;
  Separating separating_;
  std::size_t at_ = 0;
  std::string plain_;
  bool is_ambiguous_ = false;
};

/// How long the exponent is that `text` begins with: "e+03", or Fortran's "D+03".
std::size_t length_of_exponent(std::string_view text) {
  if (text.empty() || std::string_view("eEdD").find(text.front()) == std::string_view::npos) return 0;
  std::size_t at = text.size() > 1 && (text[1] == '+' || text[1] == '-') ? 2 : 1;
  const std::size_t begin = at;
  while (at < text.size() && is_decimal_digit(text[at])) ++at;
  return at > begin ? at : 0;
}

double value_of(const std::string& text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : std::numeric_limits<double>::infinity();
}

/// The number that `line` begins with, be it "nan" or "inf".
NumberText number_at(std::string_view line, const Separating& separating) {
  const bool has_sign = !line.empty() && (line.front() == '+' || line.front() == '-');
  const double sign = has_sign && line.front() == '-' ? -1 : 1;
  const std::string_view text = line.substr(has_sign ? 1 : 0);
  const std::size_t before = line.size() - text.size();
  if (text.empty() || text.front() == '+' || text.front() == '-') return {};
  if (!is_decimal_digit(text.front()) && text.front() != '.') {  // nan and inf
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return {};
    return {Reading::number, sign * value, before + static_cast<std::size_t>(rest - text.data())};
  }
  if (text.starts_with("0x") || text.starts_with("0X")) return {};
  const DigitGroups digits(text, separating);
  if (digits.plain().find_first_of("0123456789") == std::string::npos) return {};
  std::size_t length = digits.length();
  const bool has_point_alone = digits.plain().find('.') == std::string::npos &&
                               text.substr(length).starts_with('.') &&
                               length_of_exponent(text.substr(length + 1)) > 0;  // "1.e-05"
  if (has_point_alone) ++length;
  const std::size_t exponent = length_of_exponent(text.substr(length));
  std::string plain = digits.plain() + std::string(text.substr(length, exponent));
  std::ranges::replace(plain, 'd', 'e');
  std::ranges::replace(plain, 'D', 'e');
  return {digits.is_ambiguous() ? Reading::ambiguous : Reading::number, sign * value_of(plain),
          before + length + exponent};
}

/// Where a pattern has its number, the unit that is printed with it, and, at its end, one that may be.
constexpr char number_here = '\0', unit_here = '\1', unit_may_follow = '\2';

/// A number of a line and its place, or where one must be.
struct Place {
  NumberText number;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::optional<PrintedUnit> unit{};  ///< that the line has behind it
  std::string_view unit_word{};
};

std::size_t blanks_at(std::string_view line) {
  const std::size_t end = line.find_first_not_of(" \t");
  return end == std::string_view::npos ? line.size() : end;
}

/// A line before a pattern.
class Matching {
 public:
  Matching(std::string_view pattern, std::string_view line, Unit unit, const Separating& separating)
      : pattern_(pattern), line_(line), unit_(unit), separating_(separating) {}

  /// Where the line fits from `at` on. `*` takes as little as it can: where what follows it does not fit, it
  /// takes more.
  std::optional<Place> from(std::size_t at) {
    p_ = 0, at_ = at;
    place_ = {};
    std::optional<std::pair<std::size_t, std::size_t>>
        star;  // what follows it, and where that was tried last
    while (p_ < pattern_.size()) {
      if (pattern_[p_] == '*') {
        star = {++p_, at_};
      } else if (!takes_next()) {
        is_hopeless_ = star.has_value();
        if (!star || star->second >= line_.size()) return std::nullopt;
        p_ = star->first;
        at_ = ++star->second;
      }
    }
    if (place_.end == 0) place_.begin = place_.end = at_;
    return place_;
  }
  /// Whether what did not fit does not fit further on in the line either: `*` tried all that follows.
  [[nodiscard]] bool is_hopeless() const { return is_hopeless_; }

 private:
  bool takes_next() {
    switch (pattern_[p_]) {
      case number_here:
        return takes_number();
      case unit_here:
        return takes_unit();
      case unit_may_follow:
        takes_unit();
        ++p_;
        return true;
      default:
        return takes_text();
    }
  }

  bool takes_text() {
    if (at_ >= line_.size()) return false;
    if (pattern_[p_] == ' ' && is_blank(line_[at_])) {
      at_ += blanks_at(line_.substr(at_));
      while (p_ < pattern_.size() && pattern_[p_] == ' ') ++p_;
      return true;
    }
    if (pattern_[p_] != line_[at_]) return false;
    ++p_, ++at_;
    return true;
  }

  /// No rest of a longer number is one.
  bool takes_number() {
    const bool is_free = p_ == 0 || pattern_[p_ - 1] == '*';
    if (is_free && at_ > 0 && std::string_view("0123456789.,'_").find(line_[at_ - 1]) != line_.npos)
      return false;
    const bool is_text_next =
        p_ + 1 < pattern_.size() && pattern_[p_ + 1] != unit_may_follow && pattern_[p_ + 1] != '*';
    separating_.is_bounded = is_text_next;
    const NumberText number = number_at(line_.substr(at_), separating_);
    if (number.reading == Reading::none) return false;
    place_ = {number, at_, at_ + number.length};
    ++p_, at_ += number.length;
    const bool is_point_next = p_ < pattern_.size() && pattern_[p_] == '.';
    if (line_.substr(at_).starts_with('.') && !is_point_next) ++at_;  // "5." is a number
    return true;
  }

  bool takes_unit() {
    const std::size_t begin = at_ + blanks_at(line_.substr(at_));
    const auto unit = unit_at(line_.substr(begin));
    if (!unit || unit->first.unit != unit_) return false;
    place_.unit = unit->first;
    place_.unit_word = line_.substr(begin, unit->second);
    at_ = begin + unit->second;
    if (pattern_[p_] == unit_here) ++p_;
    return true;
  }

  std::string_view pattern_;
  std::string_view line_;
  Unit unit_;
  Separating separating_;
  bool is_hopeless_ = false;
  std::size_t p_ = 0;
  std::size_t at_ = 0;
  Place place_;
};

/// What stands behind a pattern's number, with one character for the unit that it begins with.
std::string with_unit_slot(std::string_view behind, Unit unit) {
  if (unit == Unit::second && behind.empty()) return {unit_may_follow};
  const std::size_t begin = blanks_at(behind);
  const auto found = unit_at(behind.substr(begin));
  if (!found || found->first.unit != unit) return std::string(behind);
  return unit_here + std::string(behind.substr(begin + found->second));
}

/// A number with what separates fields within it, and one that ends there. Where both fit, nothing says which
/// one is meant, unless the text before them is of fields too.
std::optional<Place> one_of(std::optional<Place> whole, std::optional<Place> field, bool are_fields) {
  if (!whole || !field) return whole ? whole : field;
  if (are_fields || field->begin < whole->begin) return field;
  if (field->begin == whole->begin && field->end != whole->end) whole->number.reading = Reading::ambiguous;
  return whole;
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
  before_ = text.substr(0, open);
  const std::string_view behind = text.substr(close + 1);
  if (before_.ends_with(','))
    divider_ = ',';
  else if (!behind.empty() && std::string_view(",'_").find(behind.front()) != std::string_view::npos)
    divider_ = behind.front();
  pattern_ = before_ + number_here + with_unit_slot(behind, unit_.unit);
  if (fmt::format("{}{}", before_, behind).find_first_not_of(" *") == std::string::npos)
    throw std::invalid_argument("beside the number it needs some text, by which its line is known");
}

/// What fits first and is a number, otherwise what fits first and is none.
std::optional<PrintedNumber> NumberPattern::fitting(std::string_view line, bool takes_blanks) const {
  std::optional<PrintedNumber> none;
  Matching whole(pattern_, line, unit_.unit, {.takes_blanks = takes_blanks});
  Matching field(pattern_, line, unit_.unit, {.takes_blanks = takes_blanks, .end = divider_});
  const bool has_fields = divider_ != '\0';
  for (std::size_t start = 0; start < line.size(); ++start) {
    std::optional<Place> place = whole.from(start);
    if (has_fields) place = one_of(place, field.from(start), before_.ends_with(divider_));
    if (!place && whole.is_hopeless() && (!has_fields || field.is_hopeless())) break;
    if (!place) continue;
    PrintedNumber found{.text = excerpt(line.substr(place->begin, place->end - place->begin)),
                        .unit_word = place->unit ? std::string(place->unit_word) : unit_word_,
                        .scale = place->unit ? place->unit->scale : unit_.scale,
                        .before = hash_of(line.substr(0, place->begin)),
                        .fits = true,
                        .is_ambiguous = place->number.reading == Reading::ambiguous};
    const double value = place->number.value * found.scale;
    if (std::isfinite(value) && !found.is_ambiguous) {
      found.value = value;
      return found;
    }
    if (!none) none = std::move(found);
    if (pattern_.starts_with('*')) start = place->begin;  // up to there the same place fits
  }
  return none;
}

std::optional<PrintedNumber> NumberPattern::find(std::string_view line) const {
  line = line.substr(0, longest_line);
  std::optional<PrintedNumber> found = fitting(line, false);
  // "1 234.5 ms" is one number where nothing else makes the line fit.
  const bool is_bounded = pattern_.back() != number_here && pattern_.back() != unit_may_follow;
  if (!found && is_bounded && before_.find('*') == std::string::npos) found = fitting(line, true);
  if (found || before_.find_first_not_of(" *") == std::string::npos) return found;
  Matching before(before_, line, unit_.unit, {});
  for (std::size_t start = 0; start < line.size(); ++start) {
    if (const auto place = before.from(start))
      return PrintedNumber{.text = excerpt(line.substr(place->end)),
                           .before = hash_of(line.substr(0, place->end))};
    if (before.is_hopeless()) break;
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
