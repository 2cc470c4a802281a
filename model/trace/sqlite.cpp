#include "model/trace/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "system/error.hpp"

namespace mprof::sqlite {
namespace {

/// How long to wait for another program that has the file locked.
constexpr int lock_timeout = 10'000;  // ms

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(const Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v2(database.handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        &statement, nullptr);
  statement_.reset(statement);
  if (result != SQLITE_OK) database.fail(sql);
}

Statement& Statement::bind_all(std::span<const Value> values) {
  reset();
  for (int index = 0; const Value& value : values)
    std::visit([&](const auto& bound) { put(++index, bound); }, value);
  return *this;
}

void Statement::run_with(std::span<const Value> values) {
  bind_all(values);
  while (step()) {
  }
}

bool Statement::step() {
  const int result = sqlite3_step(statement_.get());
  if (result != SQLITE_ROW && result != SQLITE_DONE) database_->fail(sqlite3_sql(statement_.get()));
  return result == SQLITE_ROW;
}

int Statement::columns() const {
  return sqlite3_column_count(statement_.get());
}

std::string Statement::name(int column) const {
  return sqlite3_column_name(statement_.get(), column);
}

bool Statement::null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

void Statement::put(int index, std::int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), index, value) != SQLITE_OK) {
    database_->fail(sqlite3_sql(statement_.get()));
  }
}

void Statement::put(int index, std::string_view value) {
  const int result = sqlite3_bind_text(statement_.get(), index, value.data(), static_cast<int>(value.size()),
                                       SQLITE_TRANSIENT);
  if (result != SQLITE_OK) database_->fail(sqlite3_sql(statement_.get()));
}

void Statement::put(int index, std::nullptr_t) {
  if (sqlite3_bind_null(statement_.get(), index) != SQLITE_OK) {
    database_->fail(sqlite3_sql(statement_.get()));
  }
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

Database::Database(const std::filesystem::path& path, Mode mode) : path_(path.string()), mode_(mode) {
  // A reader, too, may have to write: it rolls back what a writer that was killed left half done. SQLite
  // itself makes do with reading where the file is write-protected.
  const int flags = mode == Mode::read ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(path_.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (result != SQLITE_OK) fail("open");
  sqlite3_busy_timeout(handle, lock_timeout);
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(sql);
}

bool Database::has_table(std::string_view name) const {
  return prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").bind(name).step();
}

void Database::fail(std::string_view what) const {
  constexpr std::size_t readable = 60;
  const int code = handle_ != nullptr ? sqlite3_errcode(handle_.get()) : SQLITE_NOMEM;
  // Input, not the machine. In a file that is only read, SQLITE_ERROR: its tables are made of what this
  // SQLite does not know; SQLITE_NOMEM and SQLITE_TOOBIG: it claims to hold more than there can be.
  const bool is_claimed = code == SQLITE_ERROR || code == SQLITE_NOMEM || code == SQLITE_TOOBIG;
  const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || (is_claimed && mode_ == Mode::read);
  throw Error(damaged ? ExitCode::usage : ExitCode::environment,
              fmt::format("{}: {} ({}). If the disk is full, make room; if another program holds the file, "
                          "end it; if the file is broken, remove it.",
                          path_, handle_ != nullptr ? sqlite3_errmsg(handle_.get()) : "out of memory",
                          what.substr(0, readable)));
}

Transaction::Transaction(Database& database) : database_(database) {
  // Takes the lock at once: a reader that becomes a writer half-way could be refused.
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (committed_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const Error&) {
    // SQLite has rolled back already, or will when the file is opened next.
    return;
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  committed_ = true;
}

}  // namespace mprof::sqlite
