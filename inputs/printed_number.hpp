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

/// Text with one number in it: "Op Time: {ms} ms". The word in braces is the unit that the number is in; `{}`
/// is a number without one. A blank stands for one or more blanks or tabs, `*` for any text. It is found
/// anywhere in a line.
class NumberPattern {
 public:
  /// Throws std::invalid_argument with a sentence that says what is wrong.
  explicit NumberPattern(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const PrintedUnit& unit() const { return unit_; }
  /// The number of the first place in the line that fits, in SI base units: finite. What is written as "inf"
  /// or "nan" is none.
  [[nodiscard]] std::optional<double> read(std::string_view line) const;

 private:
  std::string text_;
  std::string pattern_;  ///< the text, with one character for the braces and what they hold
  PrintedUnit unit_;
};

/// The words that may stand in the braces of a pattern.
[[nodiscard]] std::vector<std::string> printed_units();

}  // namespace mprof
