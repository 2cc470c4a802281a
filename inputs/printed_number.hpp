// SPDX-License-Identifier: MIT
#pragma once

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
  std::string text{};             ///< as it was printed: the number alone where the rest fits
  bool fits = false;              ///< all of the pattern does, be the number "nan" or "inf"
};

/// Text with one number in it: "Op Time: {ms} ms". The word in braces is the unit that the number is in; `{}`
/// is a number without one. A blank stands for one or more blanks or tabs, `*` for any text. It is found
/// anywhere in a line.
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
  std::string text_;
  std::string pattern_;  ///< the text, with one character for the braces and what they hold
  PrintedUnit unit_;
  std::string unit_word_;
};

/// The words that may stand in the braces of a pattern.
[[nodiscard]] std::vector<std::string> printed_units();

}  // namespace mprof
