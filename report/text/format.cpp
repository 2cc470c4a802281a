// SPDX-License-Identifier: MIT
#include "report/text/format.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "system/shell.hpp"

namespace mprof::format {
namespace {

constexpr std::string_view no_break_space = "\u00a0";
constexpr std::string_view figure_space = "\u2007";
constexpr std::string_view punctuation_space = "\u2008";
constexpr std::string_view minus = "\u2212";
constexpr std::string_view replacement = "\ufffd";

/// Words of identifiers that a reader knows in another spelling.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> abbreviations{{
    {"cpu", "CPU"},
    {"cpus", "CPUs"},
    {"gpu", "GPU"},
    {"gpus", "GPUs"},
    {"fp16", "FP16"},
    {"fp32", "FP32"},
    {"tf32", "TF32"},
    {"flop", "FLOP"},
    {"l1d", "L1d"},
    {"l2", "L2"},
    {"l3", "L3"},
    {"sm", "SM"},
    {"cuda", "CUDA"},
}};

struct Prefix {
  double divisor;
  std::string_view text;
};

constexpr std::array decimal_prefixes{Prefix{1e12, "T"}, Prefix{1e9, "G"}, Prefix{1e6, "M"}, Prefix{1e3, "k"},
                                      Prefix{1, ""}};
constexpr std::array second_prefixes{Prefix{1, ""}, Prefix{1e-3, "m"}, Prefix{1e-6, "µ"}, Prefix{1e-9, "n"}};
constexpr std::array binary_prefixes{Prefix{0x1p40, "Ti"}, Prefix{0x1p30, "Gi"}, Prefix{0x1p20, "Mi"},
                                     Prefix{0x1p10, "Ki"}, Prefix{1, ""}};

/// The largest prefix that leaves a value of at least 1; the smallest one for 0.
Scale scale_from(std::span<const Prefix> prefixes, double value, std::string_view symbol) {
  constexpr double rounds_to_one = 0.99995;  // at four digits: 999.97 ms is 1.000 s
  const double size = std::abs(value);
  const auto fitting = std::find_if(prefixes.begin(), prefixes.end(), [&](const Prefix& prefix) {
    return size >= rounds_to_one * prefix.divisor;
  });
  const Prefix& prefix = fitting == prefixes.end() ? prefixes.back() : *fitting;
  return {prefix.divisor, fmt::format("{}{}", prefix.text, symbol)};
}

/// The decimal exponent of `value` once it is rounded to `digits` significant digits: 9.9996 rounds to 10.00.
int exponent_of(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  return std::atoi(text.c_str() + text.find('e') + 1);
}

std::string group_thousands(std::string text) {
  const std::size_t first = text.find_first_of("0123456789");
  std::size_t end = std::min(text.find('.'), text.size());
  while (end > first + 3) {
    end -= 3;
    text.insert(end, ",");
  }
  return text;
}

/// A hyphen is too short to be seen as a minus in a proportional font.
std::string with_minus(std::string text) {
  if (!text.empty() && text.front() == '-') text.replace(0, 1, minus);
  return text;
}

bool is_zero_text(std::string_view digits) {
  return digits.find_first_of("123456789") == std::string_view::npos;
}

std::string with_sign(double value, int decimals) {
  const std::string size = fixed(std::abs(value), decimals);
  if (is_zero_text(size)) return size;
  return fmt::format("{}{}", value < 0 ? minus : "+", size);
}

/// Length of the UTF-8 sequence that starts `text`, 0 when it is not well-formed.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80   ? 1
                             : byte(0) < 0xc2 ? 0
                             : byte(0) < 0xe0 ? 2
                             : byte(0) < 0xf0 ? 3
                             : byte(0) < 0xf5 ? 4
                                              : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  // Overlong forms, UTF-16 surrogates and what lies above U+10FFFF.
  if (byte(0) == 0xe0 && byte(1) < 0xa0) return 0;
  if (byte(0) == 0xed && byte(1) >= 0xa0) return 0;
  if (byte(0) == 0xf0 && byte(1) < 0x90) return 0;
  if (byte(0) == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

/// Line and paragraph separators, and what makes text run backwards: U+061C, U+200E/F, U+2028-202E,
/// U+2066-2069.
bool disturbs_a_line(std::string_view character) {
  if (character == "\u061c") return true;
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(character[1]);
  const auto third = static_cast<unsigned char>(character[2]);
  if (second == 0x80) return third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae);
  return second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

/// The byte at which character number `index` starts.
std::size_t byte_of_character(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index)
    at += std::max<std::size_t>(1, sequence_length(text.substr(at)));
  return std::min(at, text.size());
}

std::string with_symbol(const std::string& number, const Scale& scale) {
  return scale.symbol.empty() ? number : fmt::format("{}{}{}", number, no_break_space, scale.symbol);
}

std::string three_digits(double value) {
  std::string number = significant(value, 3);
  if (number.find('.') != std::string::npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.ends_with('.')) number.pop_back();
  }
  return number;
}

}  // namespace

Scale scale_for(Unit unit, double value) {
  switch (unit) {
    case Unit::second:
      // Of nothing a reader expects no nanoseconds.
      return value == 0 ? Scale{1e-3, "ms"} : scale_from(second_prefixes, value, "s");
    case Unit::byte:
      return scale_from(binary_prefixes, value, "B");
    case Unit::flop:
      return scale_from(decimal_prefixes, value, "FLOP");
    case Unit::flop_per_second:
      return scale_from(decimal_prefixes, value, "FLOP/s");
    case Unit::byte_per_second:
      return scale_from(decimal_prefixes, value, "B/s");
    case Unit::per_second:
      return scale_from(decimal_prefixes, value, "/s");
    case Unit::hertz:
      return scale_from(decimal_prefixes, value, "Hz");
    case Unit::watt:
      return {1, "W"};
    case Unit::celsius:
      return {1, "°C"};
    case Unit::percent:
      return {1, "%"};
    case Unit::count:
      return std::abs(value) >= 1e7 ? Scale{1e6, "million"} : Scale{1, ""};
    case Unit::ratio:
      break;
  }
  return {1, ""};
}

std::string significant(double value, int digits) {
  if (value == 0) return "0";
  const int exponent = exponent_of(value, digits);
  if (exponent < -5 || exponent > 14) return scientific(value);
  return fixed(value, std::max(0, digits - 1 - exponent));
}

std::string fixed(double value, int decimals) {
  return with_minus(group_thousands(fmt::format("{:.{}f}", value, decimals)));
}

std::string scientific(double value) {
  if (value == 0) return "0";
  return with_minus(
      fmt::format("{:.1f}e{}", value / std::pow(10, exponent_of(value, 2)), exponent_of(value, 2)));
}

std::string count(std::uint64_t value) {
  return group_thousands(std::to_string(value));
}

std::string whole(std::int64_t value) {
  return with_minus(group_thousands(std::to_string(value)));
}

std::string plain(std::int64_t value) {
  return std::to_string(value);
}

std::string plain(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

std::string exact(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

std::string microseconds(std::int64_t nanoseconds) {
  constexpr std::uint64_t thousand = 1000;
  const bool negative = nanoseconds < 0;
  const auto size =
      negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  return fmt::format("{}{}.{:03}", negative ? "-" : "", size / thousand, size % thousand);
}

std::string sortable(double value) {
  constexpr double exact = 1e15;  // beyond it, a double holds no more digits than that
  if (value == std::round(value) && std::abs(value) < exact)
    return fmt::format("{:.0f}", value == 0 ? 0 : value);
  return fmt::format("{:.7g}", value);
}

double rounded(double value, int decimals) {
  return std::strtod(plain(value, decimals).c_str(), nullptr);
}

std::string quantity(double value, Unit unit) {
  const Scale scale = scale_for(unit, value);
  const bool whole = unit == Unit::count && scale.divisor == 1 && value == std::floor(value);
  return with_symbol(whole ? fixed(value, 0) : significant(value / scale.divisor), scale);
}

std::string about(double value, Unit unit) {
  const Scale scale = scale_for(unit, value);
  return with_symbol(three_digits(value / scale.divisor), scale);
}

std::string from_to(double before, double after, Unit unit) {
  const Scale scale = scale_for(unit, std::max(std::abs(before), std::abs(after)));
  const auto is_whole = [&](double value) {
    constexpr double rounding = 1e-9;
    const double scaled = value / scale.divisor;
    return std::abs(scaled - std::round(scaled)) <= rounding * std::abs(scaled);
  };
  const bool both_whole = is_whole(before) && is_whole(after);
  const auto text = [&](double value) {
    if (unit == Unit::percent) return fixed(value, 1);
    return both_whole ? fixed(value / scale.divisor, 0) : significant(value / scale.divisor, 3);
  };
  return with_symbol(fmt::format("{} → {}", text(before), text(after)), scale);
}

std::string percent(double ratio) {
  return fmt::format("{}{}%", fixed(100 * ratio, 1), no_break_space);
}

std::string signed_percent(double ratio) {
  return fmt::format("{}{}%", with_sign(100 * ratio, 1), no_break_space);
}

std::string whole_percent(double percentage) {
  return fmt::format("{}{}%", fixed(percentage, 0), no_break_space);
}

std::string whole_percents(double first, double second) {
  return fmt::format("{}{}/{}{}", fixed(first, 0), no_break_space, no_break_space, whole_percent(second));
}

std::string signed_fixed(double difference, int decimals) {
  const std::string text = with_sign(difference, decimals);
  return is_zero_text(text) ? "±" + text : text;
}

std::string signed_points(double difference) {
  return fmt::format("{}{}points", with_sign(difference, 1), no_break_space);
}

std::string plus_minus(double ratio) {
  if (ratio > 1) return fmt::format("±>100{}%", no_break_space);
  return fmt::format("±{}{}%", fixed(100 * ratio, 100 * ratio < 9.95 ? 1 : 0), no_break_space);
}

std::string times(double factor) {
  return significant(factor, 3) + "×";
}

std::string times(double low, double high) {
  for (const int digits : {3, 4}) {
    const std::string from = significant(low, digits), to = significant(high, digits);
    if (from != to) return fmt::format("{}–{}×", from, to);
  }
  return times(low);
}

std::string up_to(double factor) {
  constexpr double small = 1.5, large = 9.95;
  return fmt::format("up to {}×", fixed(factor, factor < small ? 2 : factor < large ? 1 : 0));
}

std::string plain_times(double factor) {
  return fmt::format("{:g}×", factor);
}

std::string quality(double value, Unit unit) {
  constexpr double least_with_decimals = 0.001;
  if (unit == Unit::percent) return percent(value / 100);
  if (unit != Unit::ratio) return quantity(value, unit);
  return value == 0 || std::abs(value) >= least_with_decimals ? fixed(value, 4) : scientific(value);
}

std::string signed_quality(double change, Unit unit) {
  if (unit == Unit::percent) return signed_points(change);
  const std::string size = quality(std::abs(change), unit);
  return unit == Unit::ratio && size.find('e') == std::string::npos ? with_sign(change, 4)
                                                                    : fmt::format("{}{}",
                                                                                  change < 0   ? minus
                                                                                  : change > 0 ? "+"
                                                                                               : "",
                                                                                  size);
}

std::string plural(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", count(number), noun, number == 1 ? "" : "s");
}

std::string list(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string sentence_case(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string words(std::string_view identifier) {
  std::string text;
  while (!identifier.empty()) {
    const std::size_t end = std::min(identifier.find('_'), identifier.size());
    const std::string_view word = identifier.substr(0, end);
    const auto known = std::find_if(abbreviations.begin(), abbreviations.end(),
                                    [&](const auto& abbreviation) { return abbreviation.first == word; });
    text.append(text.empty() ? "" : " ").append(known == abbreviations.end() ? word : known->second);
    identifier.remove_prefix(std::min(end + 1, identifier.size()));
  }
  return text;
}

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text.substr(at));
    const std::string_view character = text.substr(at, std::max<std::size_t>(1, length));
    const auto first = static_cast<unsigned char>(character[0]);
    const bool control = length == 1 && (first < 0x20 || first == 0x7f);
    const bool c1_control = length == 2 && first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
    if (control || c1_control) {
      line += ' ';
    } else if (length == 0 || disturbs_a_line(character)) {
      line += replacement;
    } else {
      line += character;
    }
    at += character.size();
  }
  return line;
}

std::string text_block(std::string_view text) {
  std::string block;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    for (std::size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
      block += one_line(line.substr(0, tab)) + "    ";
      line.remove_prefix(tab + 1);
    }
    block += one_line(line) + "\n";
  }
  return block;
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

std::string nanoseconds(double ns) {
  constexpr double s_per_ns = 1e-9;
  return quantity(ns * s_per_ns, Unit::second);
}

std::string nanoseconds(std::int64_t ns) {
  return nanoseconds(static_cast<double>(ns));
}

std::string xml_text(std::string_view text) {
  constexpr std::array<std::pair<char, std::string_view>, 5> escapes{
      {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}}};
  std::string out;
  for (const char c : text) {
    const auto escape = std::ranges::find(escapes, c, [](const auto& one) { return one.first; });
    if (escape == escapes.end())
      out += c;
    else
      out += escape->second;
  }
  return out;
}

std::string elide(std::string_view text, std::size_t columns) {
  const std::size_t length = width(text);
  if (length <= columns) return std::string(text);
  if (columns == 0) return {};
  const std::size_t tail = (columns - 1) / 2;
  const std::size_t head = columns - 1 - tail;
  return fmt::format("{}…{}", text.substr(0, byte_of_character(text, head)),
                     text.substr(byte_of_character(text, length - tail)));
}

namespace {

/// So many bytes do all of them begin with, up to the end of a word.
std::size_t common_beginning(std::span<const std::string* const> texts) {
  std::size_t common = texts.front()->size();
  for (const std::string* const text : texts) {
    const auto differ = std::ranges::mismatch(*texts.front(), *text).in1 - texts.front()->begin();
    common = std::min(common, static_cast<std::size_t>(differ));
  }
  const std::size_t end = texts.front()->substr(0, common).find_last_of("_ ,:<");
  return end == std::string::npos ? 0 : end + 1;
}

/// Its beginning and what follows after so many bytes.
std::string from_within(std::string_view text, std::size_t from, std::size_t columns) {
  const std::size_t head = std::min(from, columns / 4);
  const std::string_view rest = text.substr(from);
  std::string shown = fmt::format("{}…", text.substr(0, byte_of_character(text, head)));
  const std::size_t room = columns - std::min(columns, width(shown));
  if (width(rest) <= room) return shown.append(rest);
  return shown.append(rest.substr(0, byte_of_character(rest, room - std::min<std::size_t>(room, 1))))
      .append("…");
}

}  // namespace

std::vector<std::string> elide_apart(std::span<const std::string> texts, std::size_t columns) {
  std::vector<std::string> shown;
  std::map<std::string, std::vector<const std::string*>> alike;
  for (const std::string& text : texts) alike[shown.emplace_back(elide(text, columns))].push_back(&text);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<const std::string*>& group = alike.at(shown[i]);
    if (group.size() > 1) shown[i] = from_within(texts[i], common_beginning(group), columns);
  }
  return shown;
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (bool first = true; !text.empty(); first = false) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t wide = width(word);
    const bool fits = first || columns == 0 || column + 1 + wide <= columns;
    if (!first) out += fits ? " " : "\n" + std::string(indent, ' ');
    column = (fits ? column + (first ? 0 : 1) : indent) + wide;
    out += word;
  }
  return out;
}

std::string short_id(std::string_view id) {
  constexpr std::size_t longest = 48;
  return elide(one_line(id), longest);
}

std::vector<std::string> decimal_padding(std::span<const std::string> texts) {
  const auto decimals = [](const std::string& text) {
    const std::size_t point = text.find('.');
    if (point == std::string::npos) return std::size_t{0};
    const std::size_t end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
    return end - point;  // the point included
  };
  std::size_t most = 0;
  for (const std::string& text : texts) most = std::max(most, decimals(text));
  std::vector<std::string> padding(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].find_first_of("0123456789") == std::string::npos) continue;
    const std::size_t own = decimals(texts[i]);
    if (own == 0 && most > 0) padding[i] += punctuation_space;
    for (std::size_t n = std::max<std::size_t>(own, 1); n < most; ++n) padding[i] += figure_space;
  }
  return padding;
}

std::string command_line(std::span<const std::string> arguments) {
  std::string line;
  for (const std::string& argument : arguments) line += (line.empty() ? "" : " ") + shell_quoted(argument);
  return one_line(line);
}

std::string slug(std::string_view text) {
  std::string result;
  for (const char character : text) {
    const auto c = static_cast<unsigned char>(character);
    if (std::isalnum(c) != 0 && c < 0x80) {
      result += static_cast<char>(std::tolower(c));
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result.substr(0, 80);
}

}  // namespace mprof::format
