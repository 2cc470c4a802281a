// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/run.hpp"
#include "report/text/csv.hpp"

/// Tables by their columns: what is written, and what docs/formats/export.md says of it.
namespace mprof {

/// Every table begins with these columns: the id of the case, its variant and its parameters.
inline constexpr std::size_t shared_columns = 3;

/// "tile_width=16;section=1000": without a comma, so that tools which know nothing of quotes find the
/// columns.
inline std::string parameters_text(const CaseKey& key) {
  std::string text;
  for (const auto& [name, value] : key.parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", name, value);
  return text;
}

/// A column of a table, and what a row has in it.
template <class Row>
struct CsvColumn {
  std::string head;
  std::string_view meaning;  ///< for the documentation; empty: it belongs to the column before it
  std::function<void(CsvFile& table, const Row& row)> write;
};
template <class Row>
using CsvColumns = std::vector<CsvColumn<Row>>;

template <class Row>
void append(CsvColumns<Row>& columns, CsvColumns<Row> more) {
  std::ranges::move(more, std::back_inserter(columns));
}

/// A table that is written row by row.
template <class Row>
class CsvTable {
 public:
  CsvTable(const std::filesystem::path& path, CsvColumns<Row> columns)
      : columns_(std::move(columns)), file_(path, heads(columns_)) {}

  void add(const Row& row) {
    for (const CsvColumn<Row>& column : columns_) column.write(file_, row);
    file_.end_row();
  }
  void commit() { file_.commit(); }

 private:
  static std::vector<std::string> heads(const CsvColumns<Row>& columns) {
    std::vector<std::string> all;
    for (const CsvColumn<Row>& column : columns) all.push_back(column.head);
    return all;
  }

  CsvColumns<Row> columns_;
  CsvFile file_;
};

/// A table of the documentation: each column after the columns of every table, and what it has. `rows`: what
/// it has a row for.
template <class Row>
[[nodiscard]] std::string columns_as_markdown(std::string_view file, std::string_view rows,
                                              const CsvColumns<Row>& columns) {
  std::string text = fmt::format("### {}: a row for {}\n\n| column | meaning |\n|---|---|\n", file, rows);
  std::string heads;
  for (std::size_t i = shared_columns; i < columns.size(); ++i) {
    heads += fmt::format("{}`{}`", heads.empty() ? "" : ", ", columns[i].head);
    std::size_t first = i;
    while (columns[first].meaning.empty()) --first;
    if (i + 1 < columns.size() && columns[i + 1].meaning.empty()) continue;
    text += fmt::format("| {} | {} |\n", std::exchange(heads, ""), columns[first].meaning);
  }
  return text + "\n";
}

}  // namespace mprof
