// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/sqlite.hpp"
#include "model/trace/trace.hpp"

/// A table of trace.sqlite as a list of columns. CREATE TABLE, the reader and the writer walk the same list,
/// so that a column is written once (tables.cpp) and its place in a row is nobody's business.
namespace mprof::trace::tables {

/// What a file has in place of a trace's own times, ids and names.
class ToFile {
 public:
  virtual ~ToFile() = default;
  [[nodiscard]] virtual std::int64_t time(std::int64_t time) = 0;
  [[nodiscard]] virtual std::int64_t correlation(std::int64_t id) = 0;
  [[nodiscard]] virtual std::int64_t process(std::int64_t id) = 0;
  /// The id of a text in StringIds, which is added when it is new.
  [[nodiscard]] virtual std::int64_t string(NameIndex name) = 0;
  [[nodiscard]] virtual std::int64_t string(std::string_view text) = 0;
  /// The id of a stack of calls.
  [[nodiscard]] virtual std::int64_t stack(StackIndex index) = 0;
};

/// The names of a trace for a file's ids of texts.
class FromFile {
 public:
  struct CallName {
    NameIndex whole = 0;
    NameIndex printed = 0;  ///< call_name(whole)
  };
  virtual ~FromFile() = default;
  [[nodiscard]] virtual NameIndex name(std::int64_t string) = 0;
  [[nodiscard]] virtual const std::string& text(std::int64_t string) = 0;
  [[nodiscard]] virtual CallName call(std::int64_t string) = 0;
};

/// A column of the row that a statement is at; never NULL.
class Cell {
 public:
  Cell(const sqlite::Statement& row, int column) : row_(row), column_(column) {}
  [[nodiscard]] std::int64_t integer() const { return row_.integer(column_); }
  [[nodiscard]] double real() const { return row_.real(column_); }
  [[nodiscard]] std::string text() const { return row_.text(column_); }

 private:
  const sqlite::Statement& row_;
  int column_;
};

/// How a column stands in a row of the trace. Without `write` it is NULL, without `read` it is not looked at;
/// a NULL leaves the row as it is.
template <class Row>
struct Field {
  sqlite::Value (*write)(const Row& row, ToFile& file) = nullptr;
  void (*read)(Row& row, const Cell& cell, FromFile& file) = nullptr;
  /// A reader knows from the keys whether it wants a row; the rest is read of wanted rows alone.
  bool is_key = false;
};

/// What a column is to a reader: without a needed one a table has no rows; a detail is looked at where
/// details are asked for.
enum class Need : std::uint8_t { optional, needed, detail };

/// Whether a reader looks at details: each column of millions of rows takes time.
enum class Detail : bool { left_out, read };

/// A column without the struct that its table's rows are.
struct ColumnHead {
  std::string_view name;
  std::string_view type;  ///< as CREATE TABLE has it
  std::string_view meaning{};
  bool is_read = false;
  bool is_key = false;
  Need need = Need::optional;
};

template <class Row>
struct Column {
  std::string_view name;
  std::string_view type;
  Field<Row> field{};
  Need need = Need::optional;
  std::string_view meaning{};  ///< of mprof's own columns; the others' is Nsight Systems' business
};

template <class Row>
struct Table {
  std::string_view name;
  std::span<const Column<Row>> columns;

  [[nodiscard]] std::vector<ColumnHead> heads() const {
    std::vector<ColumnHead> all;
    for (const Column<Row>& one : columns)
      all.push_back({one.name, one.type, one.meaning, one.field.read != nullptr, one.field.is_key, one.need});
    return all;
  }
};

/// A table without the struct that its rows are.
struct TableHead {
  std::string_view name;
  std::vector<ColumnHead> columns;
};

/// Columns as CREATE TABLE has them.
[[nodiscard]] std::string definition(std::span<const ColumnHead> columns);
/// The same for rows of files that an earlier mprof wrote: a column that they lack is 0 where it needs a
/// value.
[[nodiscard]] std::string lenient_definition(std::span<const ColumnHead> columns);

/// Makes a table that is missing. A file that an older mprof wrote may lack columns: they are added, empty.
void create(sqlite::Database& database, std::string_view table, std::span<const ColumnHead> columns);

/// An INSERT of all columns.
[[nodiscard]] sqlite::Statement insertion(const sqlite::Database& database, std::string_view table,
                                          std::span<const ColumnHead> columns);

/// A SELECT of the columns that are read and that a file has, in the order of its rows.
class Selection {
 public:
  /// `condition`: nothing, or an expression with parameters for the values.
  Selection(const sqlite::Database& database, std::string_view table, std::span<const ColumnHead> columns,
            std::string_view condition, std::initializer_list<sqlite::Value> values, Detail detail);

  bool step() { return statement_ && statement_->step(); }
  /// Where the row stands in its table, from 1.
  [[nodiscard]] std::int64_t row() const {
    return statement_->integer(static_cast<int>(keys_.size() + others_.size()));
  }
  /// Calls visit(place in the list of columns, cell) for each key, or for each other column, that is not
  /// NULL.
  template <class Visit>
  void each(bool keys, const Visit& visit) const {
    for (const Chosen& one : keys ? keys_ : others_) {
      if (!statement_->null(one.place)) visit(one.column, Cell(*statement_, one.place));
    }
  }

 private:
  struct Chosen {
    std::size_t column = 0;
    int place = 0;
  };
  std::vector<Chosen> keys_, others_;
  std::optional<sqlite::Statement> statement_;
};

template <class Row>
void create(sqlite::Database& database, const Table<Row>& table) {
  create(database, table.name, table.heads());
}

/// Adds rows to a table, which is made when it is missing.
template <class Row>
class Insert {
 public:
  Insert(sqlite::Database& database, const Table<Row>& table, ToFile& file)
      : columns_(table.columns), file_(file), statement_(prepared(database, table)) {}

  void operator()(const Row& row) {
    values_.clear();
    for (const Column<Row>& column : columns_)
      values_.push_back(column.field.write == nullptr ? sqlite::Value() : column.field.write(row, file_));
    statement_.run_with(values_);
  }

 private:
  static sqlite::Statement prepared(sqlite::Database& database, const Table<Row>& table) {
    const std::vector<ColumnHead> heads = table.heads();
    create(database, table.name, heads);
    return insertion(database, table.name, heads);
  }

  std::span<const Column<Row>> columns_;
  ToFile& file_;
  sqlite::Statement statement_;
  std::vector<sqlite::Value> values_;
};

/// The rows of a table, as far as the file has its columns.
template <class Row>
class Rows {
 public:
  Rows(const sqlite::Database& database, const Table<Row>& table, FromFile& file,
       std::string_view condition = {}, std::initializer_list<sqlite::Value> values = {},
       Detail detail = Detail::read)
      : columns_(table.columns),
        file_(file),
        selection_(database, table.name, table.heads(), condition, values, detail) {}

  /// The keys of the next row; nullopt at the end.
  std::optional<Row> next() {
    if (!selection_.step()) return std::nullopt;
    Row row;
    read(row, true);
    return row;
  }
  /// The rest of it.
  void finish(Row& row) {
    if constexpr (requires { row.row; }) row.row = selection_.row();
    read(row, false);
  }

 private:
  void read(Row& row, bool keys) {
    selection_.each(
        keys, [&](std::size_t column, const Cell& cell) { columns_[column].field.read(row, cell, file_); });
  }

  std::span<const Column<Row>> columns_;
  FromFile& file_;
  Selection selection_;
};

}  // namespace mprof::trace::tables
