// SPDX-License-Identifier: MIT
#include "model/trace/table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mprof::trace::tables {

using sqlite::Database;
using sqlite::Statement;

namespace {

/// With a value for rows of a time when there was no such column.
std::string lenient_definition(const ColumnHead& column) {
  const std::string_view type = column.type;
  const bool needs_value = type.find("NOT NULL") != type.npos && type.find("DEFAULT") == type.npos &&
                           type.find("KEY") == type.npos;
  return fmt::format("{} {}{}", column.name, type, needs_value ? " DEFAULT 0" : "");
}

}  // namespace

std::string definition(std::span<const ColumnHead> columns) {
  std::string all;
  for (const ColumnHead& column : columns)
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", column.name, column.type);
  return all;
}

std::string lenient_definition(std::span<const ColumnHead> columns) {
  std::string all;
  for (const ColumnHead& column : columns) all += (all.empty() ? "" : ", ") + lenient_definition(column);
  return all;
}

void create(Database& database, std::string_view table, std::span<const ColumnHead> columns) {
  const std::vector<sqlite::StoredColumn> there = database.columns_of(table);
  if (there.empty()) {
    database.execute(fmt::format("CREATE TABLE {} ({})", table, definition(columns)));
    return;
  }
  for (const ColumnHead& column : columns) {
    if (std::ranges::find(there, column.name, &sqlite::StoredColumn::name) != there.end()) continue;
    database.execute(fmt::format("ALTER TABLE {} ADD COLUMN {}", table, lenient_definition(column)));
  }
}

Statement insertion(const Database& database, std::string_view table, std::span<const ColumnHead> columns) {
  std::string names, parameters;
  for (const ColumnHead& column : columns) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", column.name);
    parameters += parameters.empty() ? "?" : ", ?";
  }
  return database.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, parameters));
}

Selection::Selection(const Database& database, std::string_view table, std::span<const ColumnHead> columns,
                     std::string_view condition, std::initializer_list<sqlite::Value> values, Detail detail) {
  const std::vector<sqlite::StoredColumn> there = database.columns_of(table);
  if (there.empty()) return;
  std::string names;
  int place = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnHead& column = columns[i];
    if (!column.is_read || (column.need == Need::detail && detail == Detail::left_out)) continue;
    if (std::ranges::find(there, column.name, &sqlite::StoredColumn::name) == there.end()) {
      if (column.need == Need::needed) return;
      continue;
    }
    names += fmt::format("\"{}\", ", column.name);
    (column.is_key ? keys_ : others_).push_back({i, place++});
  }
  statement_ = database.prepare(fmt::format("SELECT {}rowid FROM main.{}{}{} ORDER BY rowid", names, table,
                                            condition.empty() ? "" : " WHERE ", condition));
  statement_->bind_all({values.begin(), values.size()});
}

}  // namespace mprof::trace::tables
