// SPDX-License-Identifier: MIT
// Databases of strangers: reading one runs nothing of theirs, changes nothing, and comes to an end.
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/trace/attribution.hpp"
#include "model/trace/joiner.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/writer.hpp"
#include "system/error.hpp"
#include "system/folder_lock.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// All there is to know of a folder's files: names, bytes and times of writing.
std::map<std::string, std::pair<std::string, fs::file_time_type>> state_of(const fs::path& folder) {
  std::map<std::string, std::pair<std::string, fs::file_time_type>> state;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    state[entry.path().string()] = {entry.is_regular_file() ? bytes_of(entry.path()) : "",
                                    fs::last_write_time(entry.path())};
  return state;
}

class HostileDatabase : public ::testing::Test {
 protected:
  HostileDatabase() {
    trace::Recording recording = test::sample_recording();
    trace::attribute(recording);
    sample = std::move(recording.trace);
    trace::write_trace(file, sample);
  }

  /// With SQLite itself, which lets its user do anything.
  static void change(const fs::path& database, const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(database.c_str(), &handle), SQLITE_OK);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    char* problem = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &problem), SQLITE_OK) << problem;
    sqlite3_free(problem);
    sqlite3_close(handle);
  }

  static std::string refusal(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::string refusal_to_read() const {
    return refusal([&] { static_cast<void>(trace::read_trace(file, {.parts = trace::every_part})); });
  }

  /// A journal after which SQLite deletes the file that it names.
  void plant_super_journal(const fs::path& victim) const {
    const std::string name = victim.string(), magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    const auto number = [](std::uint32_t value) {
      std::string text;
      for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(value >> static_cast<unsigned>(shift));
      return text;
    };
    const std::string head = bytes_of(file).substr(16, 2);
    const std::uint32_t size = static_cast<std::uint32_t>(static_cast<unsigned char>(head[0])) * 256 +
                               static_cast<unsigned char>(head[1]);
    const auto pages = static_cast<std::uint32_t>(fs::file_size(file) / size);
    std::string journal = magic + number(0) + number(0) + number(pages) + number(512) + number(size);
    journal.resize(512, '\0');
    std::uint32_t sum = 0;
    for (const char c : name) sum += static_cast<std::uint32_t>(static_cast<signed char>(c));
    journal += number(0x40000000 / size + 1) + name + number(static_cast<std::uint32_t>(name.size())) +
               number(sum) + magic;
    std::ofstream(file.string() + "-journal", std::ios::binary) << journal;
  }

  test::TemporaryDirectory directory;
  fs::path file = directory.path() / "trace.sqlite";
  trace::Trace sample;
};

TEST_F(HostileDatabase, ReadingChangesNothing) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto before = state_of(directory.path());
  EXPECT_EQ(refusal_to_read(), "");
  EXPECT_EQ(state_of(directory.path()), before);
}

TEST_F(HostileDatabase, WhatLiesBesideItIsNotApplied) {
  const fs::path victim = directory.write("elsewhere/victim.txt", "mine");
  for (const char* ending : {"-journal", "-wal"}) {
    directory.write("trace.sqlite" + std::string(ending), std::string(5000, 'x'));
    const auto before = state_of(directory.path());
    EXPECT_NE(refusal_to_read().find("trace.sqlite" + std::string(ending) + " lies beside it"),
              std::string::npos);
    EXPECT_EQ(state_of(directory.path()), before) << ending;
    fs::remove(file.string() + ending);
  }
  plant_super_journal(victim);
  const auto before = state_of(directory.path());
  EXPECT_NE(refusal_to_read(), "");
  EXPECT_NE(refusal([&] { trace::add_cases({file}, directory.path() / "joined.sqlite"); }), "");
  EXPECT_NE(refusal([&] { trace::write_trace(file, sample); }).find("which mprof did not make; remove it"),
            std::string::npos);
  EXPECT_NE(refusal([&] { trace::recover_trace(file); }), "");
  EXPECT_EQ(state_of(directory.path()), before);
  EXPECT_EQ(bytes_of(victim), "mine");
}

TEST_F(HostileDatabase, AJournalThatIsNoFileIsNotOpened) {
  for (const char* ending : {"-journal", "-wal"}) {
    ASSERT_EQ(::mkfifo((file.string() + ending).c_str(), 0600), 0);
    EXPECT_NE(refusal_to_read().find("lies beside it"), std::string::npos);
    EXPECT_NE(refusal([&] { trace::write_trace(file, sample); }), "");
    fs::remove(file.string() + ending);
  }
}

/// What mprof's own writer left when it was killed is refused by readers, until the next writer undoes it.
TEST_F(HostileDatabase, AChangeThatWasKilledIsUndoneByTheNextWriter) {
  const std::string before = bytes_of(file);
  const pid_t writer = ::fork();
  if (writer == 0) {
    sqlite::Database database(file, sqlite::Mode::write);
    database.execute("PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE extra (a)");
    database.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT "
        "INTO extra SELECT hex(randomblob(100)) FROM n");
    ::_exit(0);  // as a kill: nothing is undone
  }
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(fs::exists(file.string() + "-journal"));
  EXPECT_NE(refusal_to_read().find("mprof run --resume"), std::string::npos);
  trace::recover_trace(file);
  EXPECT_FALSE(fs::exists(file.string() + "-journal"));
  EXPECT_EQ(refusal_to_read(), "");
  EXPECT_EQ(bytes_of(file), before);
}

/// SQLite's locks keep the two apart then: what is opened as immutable does without.
TEST_F(HostileDatabase, OneThatAnotherMprofWritesIsReadAsItWasBefore) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t writer = ::fork();
  if (writer == 0) {
    const FolderLock lock(directory.path());
    sqlite::Database database(file, sqlite::Mode::write);
    database.execute("BEGIN IMMEDIATE; DELETE FROM MPROF_CASE");
    ::close(ends[1]);
    while (true) ::pause();
  }
  ::close(ends[1]);
  char none = 0;
  EXPECT_EQ(::read(ends[0], &none, 1), 0) << "the writer is in the middle of its change";
  ::close(ends[0]);
  EXPECT_TRUE(fs::exists(file.string() + "-journal"));
  EXPECT_EQ(refusal([&] { EXPECT_EQ(trace::traced_cases(file).size(), 1U); }), "");
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
}

TEST_F(HostileDatabase, IsFoundUnderANameThatIsSpecialInAddresses) {
  const fs::path odd = directory.path() / "a?mode=rwc&x#y%41 z.sqlite";
  fs::copy_file(file, odd);
  EXPECT_EQ(trace::read_trace(odd).cases, trace::read_trace(file).cases);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 2);
  trace::add_cases({odd}, directory.path() / "file:b?mode=ro.sqlite");
  EXPECT_EQ(trace::traced_cases(directory.path() / "file:b?mode=ro.sqlite"), trace::traced_cases(file));
}

/// A view's query, which may never end, is not run: what is named like a table is none.
TEST_F(HostileDatabase, ViewsAndTriggersAreNotRun) {
  const std::string endless =
      " AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end, 59 "
      "AS "
      "eventType, i AS caseId, 1 AS id, 1 AS correlationId, 'a' AS op, 'b' AS part, 1 AS value FROM n";
  for (const char* table :
       {"NVTX_EVENTS", "MPROF_ATTRIBUTION", "StringIds", "TARGET_INFO_SYSTEM_ENV", "META_DATA_EXPORT"}) {
    const fs::path copy = directory.path() / "copy.sqlite";
    fs::copy_file(file, copy, fs::copy_options::overwrite_existing);
    change(copy, "DROP TABLE IF EXISTS " + std::string(table) + "; CREATE VIEW " + table + endless);
    static_cast<void>(
        refusal([&] { static_cast<void>(trace::read_trace(copy, {.parts = trace::every_part})); }));
    fs::remove(directory.path() / "joined.sqlite");
    static_cast<void>(refusal([&] { trace::add_cases({copy}, directory.path() / "joined.sqlite"); }));
  }
  change(file,
         "CREATE TABLE told (a); CREATE TRIGGER t AFTER INSERT ON MPROF_CASE BEGIN INSERT INTO told "
         "VALUES (1); END");
  trace::write_trace(file, test::moved(sample, "conv/other@1", 1'000'000));
  const sqlite::Database database(file, sqlite::Mode::read);
  EXPECT_FALSE(database.prepare("SELECT a FROM told").step());
}

/// Its schema says that a view is a table.
TEST_F(HostileDatabase, AViewThatPassesForATableIsRefused) {
  change(
      file,
      "DROP TABLE NVTX_EVENTS; CREATE TABLE other (start, end, eventType); PRAGMA writable_schema = ON; "
      "UPDATE sqlite_schema SET name = 'NVTX_EVENTS', sql = 'CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(i) "
      "AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end, i AS eventType FROM n' "
      "WHERE name = 'other'");
  EXPECT_NE(refusal_to_read(), "");
}

TEST_F(HostileDatabase, VirtualTablesAreRefused) {
  change(file, "DROP TABLE NVTX_EVENTS; CREATE VIRTUAL TABLE NVTX_EVENTS USING rtree(start, end, eventType)");
  EXPECT_NE(refusal_to_read().find("it has a virtual table, which is not read"), std::string::npos);
  EXPECT_NE(refusal([&] { trace::add_cases({file}, directory.path() / "joined.sqlite"); }), "");
}

/// What a schema has for a table's definition is text that could be run.
TEST_F(HostileDatabase, NoTextOfItsSchemaIsRun) {
  const fs::path planted = directory.path() / "planted.sqlite";
  change(file,
         "CREATE TABLE extra (a INTEGER); INSERT INTO extra VALUES (7); PRAGMA writable_schema = ON; "
         "UPDATE sqlite_schema SET sql = 'CREATE TABLE extra (a INTEGER); ATTACH ''" +
             planted.string() + "'' AS x; CREATE TABLE x.y (z)' WHERE name = 'extra'");
  const fs::path joined = directory.path() / "joined.sqlite";
  trace::add_cases({file}, joined);
  EXPECT_FALSE(fs::exists(planted));
  EXPECT_EQ(trace::traced_cases(joined), trace::traced_cases(file));
  const sqlite::Database database(joined, sqlite::Mode::read);
  sqlite::Statement row = database.prepare("SELECT a FROM extra");
  ASSERT_TRUE(row.step()) << "a table that this mprof does not know is kept";
  EXPECT_EQ(row.integer(0), 7);
}

/// However its pages are made to lead in circles: no more than its bytes can hold.
TEST_F(HostileDatabase, ReadingComesToAnEnd) {
  const sqlite::Database database(file, sqlite::Mode::read);
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
  const auto all = [&](const std::string& sql) {
    return refusal([&] {
      sqlite::Statement rows = database.prepare(endless + sql + " FROM n");
      while (rows.step()) static_cast<void>(rows.text(0));
    });
  };
  EXPECT_NE(all("i").find("more rows than it has room for"), std::string::npos);
  EXPECT_NE(all("hex(zeroblob(100000))").find("more text than it has room for"), std::string::npos);
  EXPECT_NE(all("max(i)").find("takes longer to read than its size explains"), std::string::npos);
  EXPECT_THROW(database.prepare("ATTACH 'other' AS x").run(), Error);
  EXPECT_THROW(database.prepare("DELETE FROM MPROF_CASE").run(), Error);
}

/// SQLite goes by the size of such a file.
TEST_F(HostileDatabase, OneWhoseHeadHasNoNumberOfPagesIsRead) {
  constexpr std::streamoff pages = 28;
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(pages).write("\0\0\0\0", 4);
  EXPECT_EQ(trace::read_trace(file, {}).kernels.size(), sample.kernels.size());
}

/// Its checksum alone would take hours.
TEST_F(HostileDatabase, AFileWithoutEndBehindItIsRefused) {
  fs::resize_file(file, std::uintmax_t{1} << 42);  // has no bytes on disk
  EXPECT_NE(refusal([&] {
              const sqlite::Database database(file, sqlite::Mode::read);
            }).find("it has 4398046511104 bytes, and its database only "),
            std::string::npos);
}

TEST_F(HostileDatabase, ALinkIsNotWrittenThrough) {
  const fs::path victim = directory.path() / "victim.sqlite";
  fs::rename(file, victim);
  fs::create_symlink(victim, file);
  const std::string before = bytes_of(victim);
  EXPECT_NE(refusal([&] { trace::write_trace(file, sample); }).find("symbolic link"), std::string::npos);
  EXPECT_EQ(bytes_of(victim), before);
}

}  // namespace
}  // namespace mprof
