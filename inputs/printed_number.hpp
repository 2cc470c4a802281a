// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"

/// Numbers that programs print, read from their output line by line.
namespace mprof {

/// A unit as a program writes it behind a number: what it is in SI, and how much of that.
struct PrintedUnit {
  Unit unit = Unit::count;
  double scale = 1;
};

/// What a program printed where a pattern has its number.
struct PrintedNumber {
  std::optional<double> value{};  ///< in SI base units, finite
  std::string text{};         ///< as it was printed, or its beginning; the number alone where the rest fits
  std::string unit_word{};    ///< that it was printed in, or else the pattern's
  double scale = 1;           ///< of that unit
  std::size_t before = 0;     ///< a hash of the line's text before it
  bool fits = false;          ///< all of the pattern does, be the number "nan" or "inf"
  bool is_ambiguous = false;  ///< "1,234", which may be 1234 and may be 1.234, or two numbers
};

/// Text with one number in it: "Op Time: {ms} ms". The word in braces is the unit that the number is in; `{}`
/// is a number without one. A blank stands for one or more blanks or tabs, `*` for any text. It is found
/// anywhere in a line. Where the text behind the braces is the unit, any unit of its kind fits there, and
/// where there is no such text, a unit of time may follow: the one that was printed counts. A comma next to
/// the braces separates fields.
class NumberPattern {
 public:
  /// Throws std::invalid_argument with a sentence that says what is wrong.
  explicit NumberPattern(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const PrintedUnit& unit() const { return unit_; }
  /// What stands at the first place in the line that fits; where none does, at the first one where the text
  /// before the number fits. Nothing where that text does not occur.
  [[nodiscard]] std::optional<PrintedNumber> find(std::string_view line) const;
  /// The word in the braces: "ms"; empty for a number without a unit.
  [[nodiscard]] const std::string& unit_word() const { return unit_word_; }

 private:
  [[nodiscard]] std::optional<PrintedNumber> fitting(std::string_view line, bool takes_blanks) const;

  std::string text_;
  std::string before_;   ///< the text before the braces
  std::string pattern_;  ///< the text, with one character for the braces, and one for a unit behind them
  PrintedUnit unit_;
  std::string unit_word_;
  char divider_ = '\0';  ///< next to the braces, and what may stand in a number too; '\0': nothing
};

/// The words that may stand in the braces of a pattern.
[[nodiscard]] std::vector<std::string> printed_units();

}  // namespace mprof
