// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"

/// The one place where a number becomes text.
namespace mprof::format {

/// A unit with its prefix: a value in SI base units divided by `divisor` is a number of `symbol`s.
struct Scale {
  double divisor = 1;
  std::string symbol;
};

/// The prefix with which `value` reads best: 0.0123 s -> ms. Sizes in memory take binary prefixes, all else
/// decimal.
[[nodiscard]] Scale scale_for(Unit unit, double value);

/// `digits` significant digits, thousands grouped: 0.4123, 41.30, 12,346. Very small or large: 1.2e-9.
[[nodiscard]] std::string significant(double value, int digits = 4);
/// A fixed number of decimals, thousands grouped.
[[nodiscard]] std::string fixed(double value, int decimals);
/// One significant decimal and an exponent: 2.1e-7; 0 is "0".
[[nodiscard]] std::string scientific(double value);
/// A whole number, thousands grouped.
[[nodiscard]] std::string count(std::uint64_t value);
[[nodiscard]] std::string whole(std::int64_t value);
/// For programs: digits alone, with a point and a hyphen.
[[nodiscard]] std::string plain(std::int64_t value);
[[nodiscard]] std::string plain(double value, int decimals);
/// As few digits as read back to the same number: 0.1, 1e-09. NaN has no text.
[[nodiscard]] std::string exact(double value);
/// Nanoseconds as microseconds with every digit: 1.002.
[[nodiscard]] std::string microseconds(std::int64_t nanoseconds);
/// For programs that compare and need no more: whole numbers as they are, others in seven digits.
[[nodiscard]] std::string sortable(double value);
/// The number that plain() writes.
[[nodiscard]] double rounded(double value, int decimals);
/// A number with its unit, for a sentence: "41.30 ms".
[[nodiscard]] std::string quantity(double value, Unit unit);
/// The same in at most three digits, for what nobody measured so exactly: "8 GiB".
[[nodiscard]] std::string about(double value, Unit unit);

/// Two of them, in the unit of the larger and in three digits each, or whole where both are: "85.7 → 30.5
/// ms"; percentages with one decimal.
[[nodiscard]] std::string from_to(double before, double after, Unit unit);

/// 0.0123 -> "1.2 %".
[[nodiscard]] std::string percent(double ratio);
/// 0.0123 -> "+1.2 %"; what rounds to nothing is "0.0 %".
[[nodiscard]] std::string signed_percent(double ratio);
/// 92.3 -> "92 %", for what is a percentage already and known to no more.
[[nodiscard]] std::string whole_percent(double percentage);
/// The same of a pair: "74 / 71 %".
[[nodiscard]] std::string whole_percents(double first, double second);
/// A difference of two percentages in points: "+3", "−18", "±0".
[[nodiscard]] std::string signed_fixed(double difference, int decimals);
/// With one decimal and its unit: "+3.2 points".
[[nodiscard]] std::string signed_points(double difference);
/// Half the width of an interval over its middle: "±0.3 %". More than the whole, "±>100 %", says that little
/// is known.
[[nodiscard]] std::string plus_minus(double ratio);
/// "14.3×", "0.95×".
[[nodiscard]] std::string times(double factor);
/// "14.1–14.5×", with as many digits as make the ends differ, up to four.
[[nodiscard]] std::string times(double low, double high);
/// A bound that is known to no more than its order: "up to 1.16×", "up to 1.8×", "up to 17×".
[[nodiscard]] std::string up_to(double factor);
/// A factor as somebody wrote it: "2×", "1.5×".
[[nodiscard]] std::string plain_times(double factor);
/// What a run says beside its times. A ratio has four decimals, or an exponent below 0.001; others have their
/// unit.
[[nodiscard]] std::string quality(double value, Unit unit);
/// A change of it, signed: "+0.0012", "−1.2 points".
[[nodiscard]] std::string signed_quality(double change, Unit unit);

/// "2 cases", "1 case".
[[nodiscard]] std::string plural(std::size_t number, std::string_view noun);
/// "a", "a and b", "a, b and c".
[[nodiscard]] std::string list(std::span<const std::string> words);
/// With a capital first letter.
[[nodiscard]] std::string sentence_case(std::string text);
/// "page_faults" -> "page faults", "fp32_flop_rate" -> "FP32 FLOP rate".
[[nodiscard]] std::string words(std::string_view identifier);

/// Text from outside made fit for one line: control characters become spaces, and characters that reorder
/// text (bidirectional overrides) or break UTF-8 become U+FFFD.
[[nodiscard]] std::string one_line(std::string_view text);
/// The same for text of many lines, which it keeps; a tab is four spaces, and the last line ends too.
[[nodiscard]] std::string text_block(std::string_view text);
/// Number of characters (code points) of UTF-8 text; what mprof itself prints is one column each.
[[nodiscard]] std::size_t width(std::string_view text);
/// "1.23 ms", of nanoseconds, as traces have them.
[[nodiscard]] std::string nanoseconds(double ns);
[[nodiscard]] std::string nanoseconds(std::int64_t ns);
/// Text between tags of XML and in its attributes: & < > " and ' are escaped.
[[nodiscard]] std::string xml_text(std::string_view text);
/// At most `columns` characters, the middle replaced by "…": cases differ at both ends of their ids.
[[nodiscard]] std::string elide(std::string_view text, std::size_t columns);
/// The same for several texts. Texts that would be alike show the part in which they differ in place of their
/// ends.
[[nodiscard]] std::vector<std::string> elide_apart(std::span<const std::string> texts, std::size_t columns);
/// The text in lines of at most `columns` characters where its words are no longer, all but the first
/// indented; the caller has written as much before the first one. 0 columns: no limit.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent = 0);
/// An id where there is little room, on one line.
[[nodiscard]] std::string short_id(std::string_view id);
/// What to put after each text so that the decimal points of right-aligned texts stand under each other. It
/// is figure and punctuation spaces, which are as wide as a digit and a point. Words need none.
[[nodiscard]] std::vector<std::string> decimal_padding(std::span<const std::string> texts);

/// One line that a shell reads back as these arguments.
[[nodiscard]] std::string command_line(std::span<const std::string> arguments);
/// Lower-case letters, digits and hyphens: an anchor or a file name.
[[nodiscard]] std::string slug(std::string_view text);

}  // namespace mprof::format
