// SPDX-License-Identifier: MIT
#include "report/text/csv.hpp"

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {

namespace {

/// Whatever was a tab or an end of line is a space by now, which begins no formula.
bool is_formula(const std::string& line) {
  if (line.size() < 2 || std::string_view("=+-@").find(line.front()) == std::string_view::npos) return false;
  const char* const digits = line.data() + (line.front() == '+' ? 1 : 0);
  double number = 0;
  const auto [end, error] = std::from_chars(digits, line.data() + line.size(), number);
  return error != std::errc{} || end != line.data() + line.size();
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string line = format::one_line(text);
  if (is_formula(line)) line.insert(line.begin(), '\'');
  if (line.find_first_of(",\"") == std::string::npos) return line;
  std::string field = "\"";
  for (const char c : line) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

CsvFile::CsvFile(const std::filesystem::path& path, const std::vector<std::string>& columns)
    : file_(path), columns_(columns.size()) {
  for (const std::string_view column : columns) text(column);
  end_row();
}

CsvFile& CsvFile::ready(std::string_view fields, std::size_t count) {
  if (fields_ > 0) row_ += ',';
  row_ += fields;
  fields_ += count;
  return *this;
}

CsvFile& CsvFile::text(std::string_view value) {
  return ready(csv_field(value));
}

CsvFile& CsvFile::number(std::int64_t value) {
  return ready(format::plain(value));
}

CsvFile& CsvFile::number(double value) {
  return ready(format::exact(value));
}

CsvFile& CsvFile::flag(bool value) {
  return ready(value ? "True" : "False");
}

CsvFile& CsvFile::nothing() {
  return ready("");
}

void CsvFile::end_row() {
  if (fields_ != columns_) {
    throw std::logic_error(fmt::format("a row of {} fields in a table of {} columns", fields_, columns_));
  }
  row_ += '\n';
  file_.write(row_);
  row_.clear();
  fields_ = 0;
}

}  // namespace mprof
