#include "model/trace/joiner.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/tables.hpp"

namespace mprof::trace {
namespace {

using sqlite::Database;
using sqlite::Statement;

/// The columns that hold ids of StringIds.
constexpr std::array<std::string_view, 5> texts{"nameId", "textId", "demangledName", "shortName",
                                                "mangledName"};

/// One row for each of the other file's cases that are wanted, and how its numbers become those of this file.
class Joiner {
 public:
  explicit Joiner(Database& database) : database_(database) {}

  void join() {
    find_tables();
    for (const auto& [table, sql] : tables_) {
      if (!database_.has_table(table)) database_.execute(sql);
    }
    choose_cases();
    map_texts();
    find_shifts();
    map_domains();
    for (const auto& [table, sql] : tables_) {
      if (table != tables::string_ids.name) copy(table);
    }
    if (has(tables::details.name)) {
      database_.execute(
          "UPDATE main.ANALYSIS_DETAILS SET startTime = (SELECT min(start) FROM main.MPROF_CASE), stopTime = "
          "(SELECT max(end) FROM main.MPROF_CASE)");
      database_.execute("UPDATE main.ANALYSIS_DETAILS SET duration = stopTime - startTime");
    }
  }

 private:
  struct StoredTable {
    std::string name{};
    std::string sql{};  ///< that makes it
  };

  [[nodiscard]] std::int64_t integer(const std::string& sql) const {
    Statement row = database_.prepare(sql);
    return row.step() && !row.null(0) ? row.integer(0) : 0;
  }

  void find_tables() {
    Statement rows =
        database_.prepare("SELECT name, sql FROM other.sqlite_master WHERE type = 'table' ORDER BY name");
    while (rows.step()) tables_.push_back({rows.text(0), rows.text(1)});
  }

  void choose_cases() {
    database_.execute(
        "CREATE TEMP TABLE chosen AS SELECT * FROM other.MPROF_CASE "
        "WHERE caseId NOT IN (SELECT caseId FROM main.MPROF_CASE)");
    all_ = integer("SELECT count(*) FROM other.MPROF_CASE") == integer("SELECT count(*) FROM chosen");
  }

  void map_texts() {
    database_.execute(
        "INSERT INTO main.StringIds SELECT id + (SELECT coalesce(max(id), -1) + 1 FROM main.StringIds), "
        "value "
        "FROM other.StringIds WHERE value NOT IN (SELECT value FROM main.StringIds)");
    database_.execute(
        "CREATE TEMP TABLE text_map AS SELECT o.id AS old, m.id AS new FROM other.StringIds o "
        "JOIN main.StringIds m ON m.value = o.value");
    database_.execute("CREATE INDEX temp.text_map_old ON text_map (old)");
  }

  void find_shifts() {
    const bool is_empty = integer("SELECT count(*) FROM main.MPROF_CASE") == 0;
    if (is_empty) return;
    case_ = integer("SELECT max(id) + 1 FROM main.MPROF_CASE") - integer("SELECT min(id) FROM chosen");
    correlation_ = integer("SELECT max(lastCorrelationId) + 1 FROM main.MPROF_CASE") -
                   integer("SELECT min(firstCorrelationId) FROM chosen");
    time_ = integer("SELECT utcEpochNs FROM other.TARGET_INFO_SESSION_START_TIME") -
            integer("SELECT utcEpochNs FROM main.TARGET_INFO_SESSION_START_TIME");
  }

  /// NVTX's domains have numbers, and rows of their own that say their names.
  void map_domains() {
    database_.execute("CREATE TEMP TABLE domain_map (old INTEGER PRIMARY KEY, new INTEGER)");
    if (!has(tables::ranges.name)) return;
    Statement rows = database_.prepare(
        fmt::format("SELECT o.domainId, m.domainId FROM other.NVTX_EVENTS o LEFT JOIN main.NVTX_EVENTS m "
                    "ON m.eventType = o.eventType AND m.text = o.text WHERE o.eventType = {}",
                    nsys::domain_created));
    std::int64_t next = integer("SELECT coalesce(max(domainId), 0) + 1 FROM main.NVTX_EVENTS");
    Statement insert = database_.prepare("INSERT OR IGNORE INTO domain_map VALUES (?, ?)");
    while (rows.step()) insert.run(rows.integer(0), rows.null(1) ? next++ : rows.integer(1));
  }

  [[nodiscard]] bool has(std::string_view table) const {
    return std::ranges::find(tables_, table, &StoredTable::name) != tables_.end();
  }

  /// What a column of the other file is in this one.
  [[nodiscard]] std::string translated(const std::string& table, const std::string& column) const {
    const auto plus = [&](std::int64_t shift) { return fmt::format("\"{}\" + {}", column, shift); };
    const bool of_cases = table == tables::cases.name;
    if (column == "start" || column == "end") return plus(time_);
    if (column == "correlationId" || column == "firstCorrelationId" || column == "lastCorrelationId")
      return plus(correlation_);
    if (column == (of_cases ? "id" : "caseId")) return plus(case_);
    if (column == "domainId") return "coalesce((SELECT new FROM domain_map WHERE old = domainId), domainId)";
    if (std::ranges::find(texts, column) != texts.end())
      return fmt::format("(SELECT new FROM text_map WHERE old = \"{}\")", column);
    return fmt::format("\"{}\"", column);
  }

  /// Which rows of a table are of the cases that are wanted. A table without cases is one of numbers and
  /// their meanings: what this file does not know yet.
  [[nodiscard]] std::string wanted(const std::string& table, const std::vector<std::string>& columns) const {
    const auto has_column = [&](std::string_view name) {
      return std::ranges::find(columns, name) != columns.end();
    };
    if (table == tables::cases.name) return "caseId IN (SELECT caseId FROM chosen)";
    const std::string in_case =
        all_ ? "1"
             : fmt::format(
                   "EXISTS (SELECT 1 FROM chosen c WHERE globalTid & {} = c.globalPid AND t.start "
                   "BETWEEN c.start AND c.end)",
                   ~nsys::thread_mask);
    if (table == tables::system_calls.name || table == tables::profiler_overheads.name) return in_case;
    if (table == tables::ranges.name) {
      return fmt::format(
          "CASE eventType WHEN {0} THEN NOT EXISTS (SELECT 1 FROM main.NVTX_EVENTS m WHERE m.eventType = {0} "
          "AND m.text = t.text AND m.globalTid = t.globalTid) ELSE {1} END",
          nsys::domain_created, in_case);
    }
    if (has_column("caseId")) return "caseId IN (SELECT id FROM chosen)";
    if (has_column("correlationId"))
      return all_ ? "1"
                  : "EXISTS (SELECT 1 FROM chosen WHERE correlationId BETWEEN firstCorrelationId AND "
                    "lastCorrelationId)";
    if (has_column("id")) return fmt::format("id NOT IN (SELECT id FROM main.{})", table);
    // What is told of processes: of those that this file does not know yet.
    for (const char* process : {"globalPid", "globalTid", "processId", "pid"}) {
      if (has_column(process))
        return fmt::format("\"{0}\" NOT IN (SELECT \"{0}\" FROM main.{1})", process, table);
    }
    return fmt::format("NOT EXISTS (SELECT 1 FROM main.{})", table);
  }

  void copy(const std::string& table) {
    std::vector<std::string> columns, values;
    Statement rows = database_.prepare(fmt::format("SELECT * FROM other.{} LIMIT 0", table));
    for (int i = 0; i < rows.columns(); ++i) {
      columns.push_back(rows.name(i));
      values.push_back(translated(table, columns.back()));
    }
    database_.execute(fmt::format("INSERT INTO main.{} (\"{}\") SELECT {} FROM other.{} t WHERE {}", table,
                                  fmt::join(columns, "\", \""), fmt::join(values, ", "), table,
                                  wanted(table, columns)));
  }

  Database& database_;
  std::vector<StoredTable> tables_;
  bool all_ = true;  ///< of the other file's cases are wanted
  std::int64_t case_ = 0;
  std::int64_t correlation_ = 0;
  std::int64_t time_ = 0;
};

}  // namespace

void add_cases(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (traced_cases(from).empty()) return;
  Database database(to, sqlite::Mode::write);
  database.prepare("ATTACH DATABASE ? AS other").run(std::filesystem::absolute(from).string());
  sqlite::Transaction transaction(database);
  Joiner(database).join();
  transaction.commit();
}

}  // namespace mprof::trace
