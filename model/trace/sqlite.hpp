// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

/// SQLite with errors as mprof::Error(environment) that name the file, and with no column or statement to
/// leak.
namespace mprof::sqlite {

class Database;

/// NULL, a number, or a text that is kept elsewhere.
using Value = std::variant<std::monostate, std::int64_t, double, std::string_view>;

/// A statement. Its parameters are bound in order; text is copied.
class Statement {
 public:
  /// Binds all parameters and runs it to its end, for a statement that gives no rows.
  template <class... Values>
  void run(const Values&... values) {
    bind(values...);
    while (step()) {
    }
  }
  /// The same of a list of values.
  void run_with(std::span<const Value> values);
  Statement& bind_all(std::span<const Value> values);
  /// Binds all parameters; step() then fetches one row after the other.
  template <class... Values>
  Statement& bind(const Values&... values) {
    reset();
    [[maybe_unused]] int index = 0;
    (put(++index, values), ...);
    return *this;
  }
  /// The next row; false at the end.
  bool step();

  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string name(int column) const;
  [[nodiscard]] bool null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  /// The column of a statement that has one.
  [[nodiscard]] std::int64_t only_integer() const { return integer(0); }
  [[nodiscard]] std::string only_text() const { return text(0); }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(const Database& database, std::string_view sql);

  void reset();
  void put(int index, std::int64_t value);
  void put(int index, double value);
  void put(int index, std::string_view value);
  void put(int index, const std::string& value) { put(index, std::string_view(value)); }
  void put(int index, const char* value) { put(index, std::string_view(value)); }
  void put(int index, std::nullptr_t);
  void put(int index, std::monostate) { put(index, nullptr); }
  template <std::integral Integer>
  void put(int index, Integer value) {
    put(index, static_cast<std::int64_t>(value));
  }
  template <class T>
  void put(int index, const std::optional<T>& value) {
    if (value) {
      put(index, *value);
    } else {
      put(index, nullptr);
    }
  }

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::uint64_t rows_ = 0;
};

enum class Mode { read, write };

/// A column of a table as a file has it.
struct StoredColumn {
  std::string name;
  std::string type;
  bool is_primary_key = false;
};

class Database {
 public:
  /// `read` opens a file that may have come from anywhere. Nothing is written, also not next to it, and what
  /// lies next to it is not applied: a file with a change that its writer did not finish is refused. So is
  /// one with virtual tables; its views and triggers are never run. What it costs to read is limited by its
  /// size. `write` creates a missing file, and undoes what a killed mprof left half done.
  Database(const std::filesystem::path& path, Mode mode);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() = default;

  /// Statements without parameters or rows, one after the other.
  void execute(const std::string& sql);
  [[nodiscard]] Statement prepare(std::string_view sql) const { return {*this, sql}; }
  /// A real table: no view, and nothing virtual.
  [[nodiscard]] bool has_table(std::string_view name, std::string_view schema = "main") const;
  /// What a query gives that asks for one number; nullopt: no row, or NULL.
  template <class... Values>
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view sql, const Values&... values) const {
    Statement row = prepare(sql);
    if (!row.bind(values...).step() || row.null(0)) return std::nullopt;
    return row.only_integer();
  }
  /// The columns of a real table of a schema, `main` or an attached one; empty for an unknown table.
  [[nodiscard]] std::vector<StoredColumn> columns_of(std::string_view table,
                                                     std::string_view schema = "main") const;
  /// A number of rows of one table, or as many as the file has room for.
  [[nodiscard]] std::size_t most_rows(std::int64_t claimed) const;
  /// Opens another file as the schema `name`, as Mode::read does. The limits that depend on a file's size do
  /// not hold for it.
  void attach(const std::filesystem::path& path, std::string_view name);
  /// Throws Error(usage) when its pages do not make up whole tables. Reads all of it.
  void require_whole() const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  /// What a file of some bytes can cost.
  struct Limits {
    std::uint64_t rows = 0;   ///< of one query
    std::uint64_t text = 0;   ///< bytes
    std::uint64_t steps = 0;  ///< thousands of SQLite's instructions
    double end = 0;           ///< by the clock
  };

  void protect(std::uint64_t size);
  void refuse_virtual_tables() const;
  void count_row(std::uint64_t row) const;
  void count_text(std::size_t size) const;
  static int on_progress(void* database);
  [[noreturn]] void refuse(std::string_view why) const;
  [[noreturn]] void fail(std::string_view what) const;

  std::string path_;
  std::string attached_;  ///< the file that was attached last
  Mode mode_;
  Limits limits_{};
  mutable std::uint64_t text_ = 0;
  mutable std::uint64_t steps_ = 0;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// Rolls back what was not committed when it ends.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool committed_ = false;
};

}  // namespace mprof::sqlite
