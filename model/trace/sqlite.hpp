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

struct sqlite3;
struct sqlite3_stmt;

/// SQLite with errors as mprof::Error(environment) that name the file, and with no column or statement to
/// leak.
namespace mprof::sqlite {

class Database;

/// NULL, a number, or a text that is kept elsewhere.
using Value = std::variant<std::monostate, std::int64_t, std::string_view>;

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
};

enum class Mode { read, write };

class Database {
 public:
  /// Opens a file; `write` creates it when there is none, `read` rolls back what a killed writer left.
  Database(const std::filesystem::path& path, Mode mode);

  /// Statements without parameters or rows, one after the other.
  void execute(const std::string& sql);
  [[nodiscard]] Statement prepare(std::string_view sql) const { return {*this, sql}; }
  [[nodiscard]] bool has_table(std::string_view name) const;
  /// What a query gives that asks for one number; nullopt: no row, or NULL.
  template <class... Values>
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view sql, const Values&... values) const {
    Statement row = prepare(sql);
    if (!row.bind(values...).step() || row.null(0)) return std::nullopt;
    return row.only_integer();
  }

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  [[noreturn]] void fail(std::string_view what) const;

  std::string path_;
  Mode mode_;
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
