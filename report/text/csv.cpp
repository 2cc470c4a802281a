#include "report/text/csv.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
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
  return ready(csv_field(format::one_line(value)));
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
