// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "system/files.hpp"

/// Comma-separated values as RFC 4180 has them, but for the ends of lines: a newline alone.
namespace mprof {

/// A text as a field on one line (format::one_line()), in quotation marks where it has a comma or a quotation
/// mark. One that a spreadsheet would take for a formula (it begins with =, +, - or @, and is no number) gets
/// an apostrophe before it.
[[nodiscard]] std::string csv_field(std::string_view text);

/// A table that is written row by row, in no more memory than a row takes. Its file stands under its name
/// only after commit().
class CsvFile {
 public:
  CsvFile(const std::filesystem::path& path, const std::vector<std::string>& columns);

  /// The fields of a row, in order.
  CsvFile& text(std::string_view value);
  CsvFile& number(std::int64_t value);
  CsvFile& number(double value);
  CsvFile& flag(bool value);  ///< True or False, which pandas reads as bool
  CsvFile& nothing();
  /// What is fields already, with commas between them: rows by the million share a few texts.
  CsvFile& ready(std::string_view fields, std::size_t count = 1);
  template <class Number>
  CsvFile& number(const std::optional<Number>& value) {
    if (!value) return nothing();
    return number(static_cast<Wide<Number>>(*value));
  }
  /// Ends the row. Throws std::logic_error when it has not a field for each column.
  void end_row();

  void commit() { file_.commit(); }

 private:
  template <class Number>
  using Wide = std::conditional_t<std::is_floating_point_v<Number>, double, std::int64_t>;

  FileWriter file_;
  std::size_t columns_;
  std::size_t fields_ = 0;
  std::string row_;
};

}  // namespace mprof
