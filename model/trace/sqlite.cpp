// SPDX-License-Identifier: MIT
#include "model/trace/sqlite.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <sqlite3.h>

#include "system/clock.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/folder_lock.hpp"

namespace mprof::sqlite {
namespace {

/// How long to wait for another program that has the file locked.
constexpr int lock_timeout = 10'000;  // ms

namespace fs = std::filesystem;

/// How many instructions SQLite runs between two looks at the limits.
constexpr int instructions_of_step = 1000;

/// As SQLite takes names of files with options. What is special there is escaped.
std::string uri_of(const fs::path& path, std::string_view options) {
  std::error_code error;
  const std::string whole = fs::absolute(path, error).string();
  if (error) throw Error(ExitCode::usage, fmt::format("cannot read {}: {}", path.string(), error.message()));
  std::string uri = "file:";
  for (const char c : whole) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '/' || c == '.' || c == '-' || c == '_';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return fmt::format("{}?{}", uri, options);
}

/// The last bytes of a file, or fewer where it is shorter.
std::string tail_of(const fs::path& path, std::size_t size) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto length = static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0));
  std::string tail(std::min(size, length), '\0');
  file.seekg(static_cast<std::streamoff>(length - tail.size()));
  file.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return tail;
}

char first_byte_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return static_cast<char>(std::max(file.get(), 0));
}

/// What SQLite keeps beside a file while it writes there: its name, and whether it holds anything.
struct Beside {
  fs::path path{};
  bool is_there = false;
  bool is_regular = false;
  bool holds_something = false;
};

Beside beside(const fs::path& file, std::string_view ending) {
  Beside found{.path = file};
  found.path += ending;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(found.path, error);
  found.is_there = fs::exists(status);
  found.is_regular = fs::is_regular_file(status);
  found.holds_something = found.is_regular && fs::file_size(found.path, error) > 0;
  return found;
}

/// A journal that names another file: SQLite deletes that file when it is done with the journal. Only a
/// change of several files at once has one, which mprof never makes.
bool names_another_file(const fs::path& journal) {
  constexpr std::string_view magic{"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8};
  return tail_of(journal, magic.size()) == magic;
}

[[noreturn]] void refuse_beside(const fs::path& file, const fs::path& beside, std::string_view why) {
  throw Error(ExitCode::usage,
              fmt::format("{}: {} lies beside it, {}.", file.string(), beside.string(), why));
}

constexpr std::string_view not_applied =
    "with a change that was not finished, and what is only read is not changed. A run of yours: finish it "
    "with `mprof run --resume --out DIR`. Somebody else's file: ask for a complete one";

/// The bytes that a database has by its own head; nullopt where the head does not say.
std::optional<std::uint64_t> stated_size(const fs::path& path) {
  constexpr std::size_t head_size = 100, page_size_at = 16, changes_at = 24, pages_at = 28, valid_for_at = 92;
  std::ifstream file(path, std::ios::binary);
  std::array<char, head_size> head{};
  if (!file.read(head.data(), head.size())) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = at; i < at + bytes; ++i) value = value << 8 | static_cast<unsigned char>(head.at(i));
    return value;
  };
  // Programs of before 2010 leave the number of pages behind.
  if (number(changes_at, 4) != number(valid_for_at, 4)) return std::nullopt;
  constexpr std::uint64_t largest_page = 65536;  // does not fit, and is written as 1
  const std::uint64_t page = number(page_size_at, 2), pages = number(pages_at, 4);
  if (pages == 0) return std::nullopt;
  return pages * (page == 1 ? largest_page : page);
}

/// What a file may have behind its database. Programs may let a file grow in chunks.
constexpr std::uint64_t most_behind = std::uint64_t{64} << 20;

/// Of a file that nobody writes.
void require_all_pages(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  const auto stated = stated_size(path);
  if (error || !stated) return;
  if (size > 2 * *stated + most_behind) {
    throw Error(ExitCode::usage, fmt::format("{}: it has {} bytes, and its database only {} of them. What "
                                             "follows was not written by SQLite: ask for the file again.",
                                             path.string(), size, *stated));
  }
  if (size >= *stated) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: the file was cut off: it has {} of its {} bytes. Copy it again, or export it "
                          "again.",
                          path.string(), size, *stated));
}

/// While another mprof writes a run there, SQLite's own locks make sure that what is read is whole.
bool is_being_written(const fs::path& file) {
  return FolderLock::is_held_by_another(file.has_parent_path() ? file.parent_path() : fs::path("."));
}

/// Of a file that is only read. What lies beside it has changes that it lacks.
void require_complete(const fs::path& file, bool being_written) {
  if (const Beside log = beside(file, "-wal"); log.is_there && (!log.is_regular || log.holds_something))
    refuse_beside(file, log.path, not_applied);
  const Beside journal = beside(file, "-journal");
  if (!journal.is_there || being_written) return;
  if (!journal.is_regular || (journal.holds_something && first_byte_of(journal.path) != 0))
    refuse_beside(file, journal.path, not_applied);
}

/// Of a file that is written: SQLite applies what lies beside it, which must be of a killed mprof.
void require_own_leftovers(const fs::path& file) {
  require_no_link(file);
  for (const char* const ending : {"-wal", "-shm"}) {
    if (const Beside other = beside(file, ending); other.is_there)
      refuse_beside(file, other.path, "which mprof does not make; remove it");
  }
  const Beside journal = beside(file, "-journal");
  if (!journal.is_there) return;
  if (!journal.is_regular || names_another_file(journal.path))
    refuse_beside(file, journal.path, "which mprof did not make; remove it");
}

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
  if (result == SQLITE_ROW) database_->count_row(++rows_);
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

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  database_->count_text(size);
  return {text, size};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  rows_ = 0;
}

void Statement::put(int index, std::int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), index, value) != SQLITE_OK) {
    database_->fail(sqlite3_sql(statement_.get()));
  }
}

void Statement::put(int index, double value) {
  if (sqlite3_bind_double(statement_.get(), index, value) != SQLITE_OK) {
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

Database::Database(const fs::path& path, Mode mode) : path_(path.string()), mode_(mode) {
  std::string name;
  int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;  // one thread alone uses it
  if (mode == Mode::read) {
    require_readable(path, std::numeric_limits<std::int64_t>::max());
    const bool being_written = is_being_written(path);
    require_complete(path, being_written);
    if (!being_written) require_all_pages(path);
    name = uri_of(path, being_written ? "mode=ro" : "mode=ro&immutable=1");
    flags |= SQLITE_OPEN_READONLY;
  } else {
    require_own_leftovers(path);
    name = uri_of(path, "mode=rwc");
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (result != SQLITE_OK) fail("open");
  sqlite3_busy_timeout(handle, lock_timeout);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  protect(error ? 0 : size);
}

/// What a file says of itself may have come from anywhere.
void Database::protect(std::uint64_t size) {
  sqlite3* const handle = handle_.get();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  for (const int unwanted :
       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER,
        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER})
    sqlite3_db_config(handle, unwanted, 0, nullptr);
  execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
  if (mode_ == Mode::write) return;
  // The shortest row has five bytes, and each byte of a row costs an instruction or two.
  constexpr std::uint64_t shortest_row = 4, instructions_of_byte = 50, megabyte = 1'000'000;
  constexpr double shortest_time = 60;  // s
  limits_ = {.rows = size / shortest_row + 1000,
             .text = 16 * size + megabyte,
             .steps = (10 * megabyte + instructions_of_byte * size) / instructions_of_step,
             .end = steady_clock().now() + shortest_time +
                    static_cast<double>(size) / static_cast<double>(megabyte)};
  execute("PRAGMA query_only = ON");
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH,
                static_cast<int>(std::clamp<std::uint64_t>(size, megabyte, 1000 * megabyte)));
  sqlite3_progress_handler(handle, instructions_of_step, on_progress, this);
  refuse_virtual_tables();
}

/// A virtual table is code that runs when it is looked at. SQLite writes these beginnings itself; a schema in
/// which others stand was made by hand.
void Database::refuse_virtual_tables() const {
  Statement strange = prepare(
      "SELECT name FROM sqlite_schema WHERE sql IS NOT NULL AND sql NOT GLOB 'CREATE TABLE *' AND sql NOT "
      "GLOB 'CREATE INDEX *' AND sql NOT GLOB 'CREATE UNIQUE INDEX *' AND sql NOT GLOB 'CREATE VIEW *' AND "
      "sql NOT GLOB 'CREATE TRIGGER *' LIMIT 1");
  if (strange.step()) refuse("it has a virtual table, which is not read");
}

int Database::on_progress(void* database) {
  const auto& self = *static_cast<const Database*>(database);
  return ++self.steps_ > self.limits_.steps || steady_clock().now() > self.limits_.end ? 1 : 0;
}

void Database::count_row(std::uint64_t row) const {
  if (mode_ == Mode::read && row > limits_.rows) refuse("it claims more rows than it has room for");
}

void Database::count_text(std::size_t size) const {
  text_ += size;
  if (mode_ == Mode::read && text_ > limits_.text) refuse("it claims more text than it has room for");
}

void Database::refuse(std::string_view why) const {
  throw Error(ExitCode::usage,
              fmt::format("{}: {}. The file is damaged, or was made to do harm.", path_, why));
}

std::size_t Database::most_rows(std::int64_t claimed) const {
  constexpr std::size_t of_shortest = 4;  // no row of many columns is as short as the shortest there can be
  return std::min<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(claimed, 0)),
                               limits_.rows / of_shortest);
}

void Database::attach(const fs::path& path, std::string_view name) {
  require_complete(path, false);
  prepare(fmt::format("ATTACH DATABASE ? AS {}", name)).run(uri_of(path, "mode=ro&immutable=1"));
  attached_ = path.string();
}

void Database::require_whole() const {
  prepare("PRAGMA ignore_check_constraints = ON").run();
  Statement check = prepare("PRAGMA quick_check(1)");
  if (check.step() && check.only_text() != "ok")
    refuse(fmt::format("its tables are not whole ({})", check.only_text()));
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(sql);
}

bool Database::has_table(std::string_view name, std::string_view schema) const {
  return prepare(
             fmt::format("SELECT 1 FROM {}.sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?",
                         schema))
      .bind(name)
      .step();
}

std::vector<StoredColumn> Database::columns_of(std::string_view table, std::string_view schema) const {
  std::vector<StoredColumn> columns;
  if (!has_table(table, schema)) return columns;
  const auto rows = [&](std::string_view what) {
    Statement all = prepare(fmt::format("SELECT {} FROM pragma_table_info(?, ?)", what));
    all.bind(table, schema);
    return all;
  };
  Statement names = rows("name"), types = rows("type"), keys = rows("pk = 1");
  while (names.step() && types.step() && keys.step())
    columns.push_back({names.only_text(), types.only_text(), keys.only_integer() != 0});
  return columns;
}

void Database::fail(std::string_view what) const {
  constexpr std::size_t readable = 60;
  const int code = handle_ != nullptr ? sqlite3_errcode(handle_.get()) : SQLITE_NOMEM;
  // Input, not the machine. In a file that is only read, SQLITE_ERROR: its tables are made of what this
  // SQLite does not know; SQLITE_NOMEM and SQLITE_TOOBIG: it claims to hold more than there can be.
  if (code == SQLITE_INTERRUPT)
    refuse(fmt::format("it takes longer to read than its size explains ({})", what.substr(0, readable)));
  const bool is_claimed = code == SQLITE_ERROR || code == SQLITE_NOMEM || code == SQLITE_TOOBIG;
  const bool is_foreign = mode_ == Mode::read || !attached_.empty();
  const bool damaged =
      code == SQLITE_CORRUPT || code == SQLITE_NOTADB || (is_foreign && (is_claimed || code == SQLITE_IOERR));
  const char* const message = handle_ != nullptr ? sqlite3_errmsg(handle_.get()) : "out of memory";
  if (damaged) {
    throw Error(ExitCode::usage,
                fmt::format("{}: {}. The file is damaged: ask for it again, or leave it out.",
                            attached_.empty() ? path_ : attached_, message));
  }
  throw Error(ExitCode::environment,
              fmt::format("{}: {} ({}). If the disk is full, make room; if another program holds the file, "
                          "end it; if the file is broken, remove it.",
                          path_, message, what.substr(0, readable)));
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
