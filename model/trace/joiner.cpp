// SPDX-License-Identifier: MIT
#include "model/trace/joiner.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
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

/// By which a table that is told of processes says which.
constexpr std::array<std::string_view, 4> process_columns{"globalPid", "globalTid", "processId", "pid"};

/// Joins one file after the other. What it costs to add one hangs on that one alone: what this file has is
/// looked up in indexes that it has only so long, or is known from the one before.
class Joiner {
 public:
  explicit Joiner(const std::filesystem::path& to) : database_(to, sqlite::Mode::write) {
    const auto next = [&](std::string_view table, std::string_view column) {
      return database_.has_table(table)
                 ? integer(fmt::format("SELECT coalesce(max({}), 0) + 1 FROM main.{}", column, table))
                 : 1;
    };
    next_correlation_ = next(tables::cases.name, "lastCorrelationId");
    next_domain_ = next(tables::ranges.name, "domainId");
    next_stack_ = next(tables::stacks.name, "id");
  }

  void add(const std::filesystem::path& from) {
    database_.attach(from, "other");
    sqlite::Transaction transaction(database_);
    join();
    transaction.commit();
    database_.execute("DETACH DATABASE other");
  }

  /// What is of all files together.
  void finish() {
    sqlite::Transaction transaction(database_);
    if (database_.has_table(tables::details.name)) {
      database_.execute(
          "UPDATE main.ANALYSIS_DETAILS SET startTime = (SELECT min(start) FROM main.MPROF_CASE), stopTime = "
          "(SELECT max(end) FROM main.MPROF_CASE)");
      database_.execute("UPDATE main.ANALYSIS_DETAILS SET duration = stopTime - startTime");
    }
    if (has_column(tables::gpus.name, "uuid") && has_column(tables::devices.name, "uuid") &&
        has_column(tables::devices.name, "gpuId")) {
      constexpr std::string_view same = "FROM main.TARGET_INFO_GPU g WHERE g.uuid = d.uuid";
      database_.execute(
          fmt::format("UPDATE main.TARGET_INFO_CUDA_DEVICE AS d SET gpuId = (SELECT g.id {0} LIMIT 1) "
                      "WHERE EXISTS (SELECT 1 {0})",
                      same));
    }
    for (const std::string& index : indexes_) database_.execute("DROP INDEX main." + index);
    transaction.commit();
  }

 private:
  struct StoredTable {
    std::string name{};
    std::string definition{};  ///< of its columns, as CREATE TABLE has them
    std::vector<std::string> columns{};
  };

  void join() {
    find_tables();
    for (const StoredTable& table : tables_) {
      if (!database_.has_table(table.name))
        database_.execute(fmt::format("CREATE TABLE main.{} ({})", table.name, table.definition));
      add_index(table);
    }
    choose_cases();
    if (integer("SELECT EXISTS (SELECT 1 FROM chosen)") != 0) {
      map_texts();
      find_shifts();
      map_domains();
      for (const StoredTable& table : tables_) {
        if (table.name == tables::gpus.name) copy(table);
      }
      map_gpus();
      for (const StoredTable& table : tables_) {
        if (table.name != tables::string_ids.name && table.name != tables::gpus.name) copy(table);
      }
    }
    for (const char* table : {"chosen", "text_map", "domain_map"})
      database_.execute(fmt::format("DROP TABLE IF EXISTS temp.{}", table));
  }

  [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const {
    const std::vector<sqlite::StoredColumn> columns = database_.columns_of(table);
    return std::ranges::find(columns, column, &sqlite::StoredColumn::name) != columns.end();
  }

  [[nodiscard]] std::int64_t integer(const std::string& sql) const {
    return database_.number(sql).value_or(0);
  }

  /// Real tables with names that mean nothing but themselves. No text of the other file's schema is run: what
  /// its columns are is said in this program's words.
  void find_tables() {
    tables_.clear();
    Statement names = database_.prepare(
        "SELECT name FROM other.sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name");
    while (names.step()) {
      const std::string name = names.only_text();
      if (!is_plain(name) || name.starts_with("sqlite_")) continue;
      StoredTable table{.name = name};
      for (const sqlite::StoredColumn& column : database_.columns_of(name, "other")) {
        if (!is_plain(column.name)) continue;
        table.columns.push_back(column.name);
        table.definition += fmt::format("{}\"{}\" {}{}", table.definition.empty() ? "" : ", ", column.name,
                                        kind_of(column.type), column.is_primary_key ? " PRIMARY KEY" : "");
      }
      const auto known = std::ranges::find(known_, name, &tables::TableHead::name);
      if (known != known_.end() && knows_all(*known, table.columns))
        table.definition = tables::lenient_definition(known->columns);
      if (!table.columns.empty()) tables_.push_back(std::move(table));
    }
  }

  static bool knows_all(const tables::TableHead& table, const std::vector<std::string>& columns) {
    return std::ranges::all_of(columns, [&](const std::string& column) {
      return std::ranges::find(table.columns, column, &tables::ColumnHead::name) != table.columns.end();
    });
  }
  static bool is_plain(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
  }
  static std::string_view kind_of(std::string_view type) {
    return type == "INTEGER" || type == "REAL" ? type : "TEXT";
  }

  /// By what rows of the table are looked for. A table's numbers and its cases have an index of their own.
  void add_index(const StoredTable& table) {
    std::string by;
    if (table.name == tables::string_ids.name)
      by = "(value)";
    else if (table.name == tables::ranges.name)
      by = fmt::format("(text, globalTid, domainId) WHERE eventType = {}", nsys::domain_created);
    else if (const auto process = process_of(table); process && !is_of_threads(table))
      by = fmt::format("(\"{}\")", *process);
    const std::string index = "mprof_joining_" + table.name;
    if (by.empty() || !indexes_.insert(index).second) return;
    database_.execute(fmt::format("CREATE INDEX IF NOT EXISTS main.{} ON {} {}", index, table.name, by));
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
        "value FROM other.StringIds WHERE value NOT IN (SELECT value FROM main.StringIds)");
    database_.execute(
        "CREATE TEMP TABLE text_map AS SELECT o.id AS old, m.id AS new FROM other.StringIds o "
        "CROSS JOIN main.StringIds m ON m.value = o.value");
    database_.execute("CREATE INDEX temp.text_map_old ON text_map (old)");
  }

  void find_shifts() {
    case_ = correlation_ = time_ = 0;
    if (integer("SELECT EXISTS (SELECT 1 FROM main.MPROF_CASE)") != 0) {
      case_ = integer("SELECT max(id) + 1 FROM main.MPROF_CASE") - integer("SELECT min(id) FROM chosen");
      correlation_ = next_correlation_ - integer("SELECT min(firstCorrelationId) FROM chosen");
      time_ = integer("SELECT utcEpochNs FROM other.TARGET_INFO_SESSION_START_TIME") -
              integer("SELECT utcEpochNs FROM main.TARGET_INFO_SESSION_START_TIME");
    }
    if (has(tables::stacks.name)) {
      stack_ = next_stack_ - integer("SELECT min(id) FROM other.CUDA_CALLCHAINS");
      next_stack_ = integer("SELECT max(id) + 1 FROM other.CUDA_CALLCHAINS") + stack_;
    }
    next_correlation_ =
        std::max(next_correlation_, integer("SELECT max(lastCorrelationId) + 1 FROM chosen") + correlation_);
  }

  /// NVTX's domains have numbers, and rows of their own that say their names.
  void map_domains() {
    database_.execute("CREATE TEMP TABLE domain_map (old INTEGER PRIMARY KEY, new INTEGER)");
    if (!has(tables::ranges.name)) return;
    Statement named = database_.prepare(
        fmt::format("SELECT rowid FROM other.NVTX_EVENTS WHERE eventType = {}", nsys::domain_created));
    // The literal number lets SQLite use the index.
    const std::string known = fmt::format(
        "SELECT m.domainId FROM other.NVTX_EVENTS o CROSS JOIN main.NVTX_EVENTS m ON "
        "m.eventType = {} AND m.text = o.text WHERE o.rowid = ?",
        nsys::domain_created);
    Statement insert = database_.prepare(
        "INSERT OR IGNORE INTO domain_map SELECT domainId, ? FROM other.NVTX_EVENTS WHERE rowid = ?");
    while (named.step()) {
      const std::int64_t row = named.only_integer();
      const std::optional<std::int64_t> number = database_.number(known, row);
      insert.run(number ? *number : next_domain_++, row);
    }
    next_domain_ = std::max(next_domain_, integer("SELECT max(domainId) + 1 FROM other.NVTX_EVENTS"));
  }

  /// What the type of a GPU's metrics is in this file: the number of the case, and of the GPU.
  void map_gpus() {
    constexpr std::int64_t gpus = nsys::gpus_of_a_case;
    std::string of_each;
    const auto of_gpus = std::ranges::find(tables_, tables::gpus.name, &StoredTable::name);
    if (of_gpus != tables_.end() && has(*of_gpus, "uuid") && has(*of_gpus, "id")) {
      Statement rows = database_.prepare(
          "SELECT DISTINCT ' WHEN ' || CAST(o.id AS INTEGER) || ' THEN ' || CAST(m.id AS INTEGER) FROM "
          "other.TARGET_INFO_GPU o CROSS JOIN main.TARGET_INFO_GPU m ON m.uuid = o.uuid WHERE o.id <> m.id");
      while (rows.step()) of_each += rows.only_text();
    }
    const std::string gpu = fmt::format("typeId % {}", gpus);
    metric_type_ = fmt::format("(typeId / {0} + {1}) * {0} + {2}", gpus, case_,
                               of_each.empty() ? gpu : fmt::format("CASE {0}{1} ELSE {0} END", gpu, of_each));
  }
  static bool has_gpu_metrics(std::string_view table) {
    return table == tables::gpu_metrics.name || table == tables::gpu_metric_names.name;
  }

  [[nodiscard]] bool has(std::string_view table) const {
    return std::ranges::find(tables_, table, &StoredTable::name) != tables_.end();
  }
  static bool has(const StoredTable& table, std::string_view column) {
    return std::ranges::find(table.columns, column) != table.columns.end();
  }

  /// What threads did, that has no number of a call.
  static bool is_of_threads(const StoredTable& table) {
    return table.name == tables::system_calls.name || table.name == tables::profiler_overheads.name ||
           table.name == tables::graph_nodes.name;
  }

  /// Of a table that has rows of processes rather than of cases.
  static std::optional<std::string_view> process_of(const StoredTable& table) {
    for (const char* other : {"caseId", "correlationId", "id"}) {
      if (has(table, other)) return std::nullopt;
    }
    const auto* const found =
        std::ranges::find_if(process_columns, [&](std::string_view column) { return has(table, column); });
    return found == process_columns.end() ? std::nullopt : std::optional(*found);
  }

  /// What a column of the other file is in this one.
  [[nodiscard]] std::string translated(const std::string& table, const std::string& column) const {
    const auto plus = [&](std::int64_t shift) { return fmt::format("\"{}\" + {}", column, shift); };
    const bool of_cases = table == tables::cases.name;
    if (column == "start" || column == "end") return plus(time_);
    if (has_gpu_metrics(table) && column == "timestamp") return plus(time_);
    if (has_gpu_metrics(table) && column == "typeId") return metric_type_;
    if (column == "correlationId" || column == "firstCorrelationId" || column == "lastCorrelationId")
      return plus(correlation_);
    if (column == (of_cases ? "id" : "caseId")) return plus(case_);
    const bool is_of_stacks = table == tables::stacks.name;
    const bool has_stacks = table == tables::calls.name || table == tables::graph_nodes.name;
    if (is_of_stacks ? column == "id" : has_stacks && column == "callchainId") return plus(stack_);
    if (is_of_stacks && (column == "symbol" || column == "module" || column == "sourceFile"))
      return fmt::format("(SELECT new FROM text_map WHERE old = \"{}\")", column);
    if (column == "domainId") return "coalesce((SELECT new FROM domain_map WHERE old = domainId), domainId)";
    // Another GPU than the one that has its number here.
    if (table == tables::gpus.name && column == "id")
      return "CASE WHEN id IN (SELECT id FROM main.TARGET_INFO_GPU) THEN id + (SELECT max(id) + 1 FROM "
             "main.TARGET_INFO_GPU) ELSE id END";
    if (std::ranges::find(texts, column) != texts.end())
      return fmt::format("(SELECT new FROM text_map WHERE old = \"{}\")", column);
    return fmt::format("\"{}\"", column);
  }

  /// Which rows of a table are of the cases that are wanted. A table without cases is one of numbers and
  /// their meanings: what this file does not know yet.
  [[nodiscard]] std::string wanted(const StoredTable& table) const {
    const auto has_column = [&](std::string_view name) { return has(table, name); };
    if (table.name == tables::cases.name) return "caseId IN (SELECT caseId FROM chosen)";
    const std::string in_case =
        all_ ? "1"
             : fmt::format(
                   "EXISTS (SELECT 1 FROM chosen c WHERE globalTid & {} = c.globalPid AND t.start "
                   "BETWEEN c.start AND c.end)",
                   ~nsys::thread_mask);
    if (is_of_threads(table)) return in_case;
    if (table.name == tables::stacks.name) return "1";
    if (has_gpu_metrics(table.name))
      return fmt::format("typeId / {} IN (SELECT id FROM chosen)", nsys::gpus_of_a_case);
    if (table.name == tables::ranges.name) {
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
    if (table.name == tables::gpus.name && has_column("uuid"))
      return "coalesce(uuid, '') NOT IN (SELECT coalesce(uuid, '') FROM main.TARGET_INFO_GPU)";
    if (has_column("id")) return fmt::format("id NOT IN (SELECT id FROM main.{})", table.name);
    // What is told of processes: of those that this file does not know yet.
    if (const auto process = process_of(table))
      return fmt::format("\"{0}\" NOT IN (SELECT \"{0}\" FROM main.{1})", *process, table.name);
    return fmt::format("NOT EXISTS (SELECT 1 FROM main.{})", table.name);
  }

  void copy(const StoredTable& table) {
    std::vector<std::string> values;
    for (const std::string& column : table.columns) values.push_back(translated(table.name, column));
    database_.execute(fmt::format("INSERT INTO main.{} (\"{}\") SELECT {} FROM other.{} t WHERE {}",
                                  table.name, fmt::join(table.columns, "\", \""), fmt::join(values, ", "),
                                  table.name, wanted(table)));
  }

  Database database_;
  std::set<std::string> indexes_;      ///< while files are joined
  std::int64_t next_correlation_ = 1;  ///< after those of this file
  std::int64_t next_domain_ = 1;
  std::int64_t next_stack_ = 1;
  // Of the file that is added.
  const std::vector<tables::TableHead> known_ = tables::all();
  std::vector<StoredTable> tables_;
  bool all_ = true;  ///< of the other file's cases are wanted
  std::int64_t case_ = 0;
  std::int64_t correlation_ = 0;
  std::int64_t stack_ = 0;
  std::int64_t time_ = 0;
  std::string metric_type_;
};

}  // namespace

void add_cases(const std::vector<std::filesystem::path>& from, const std::filesystem::path& to) {
  std::optional<Joiner> joiner;
  for (const std::filesystem::path& file : from) {
    if (traced_cases(file).empty()) continue;
    Database(file, sqlite::Mode::read).require_whole();
    if (!joiner) joiner.emplace(to);
    joiner->add(file);
  }
  if (joiner) joiner->finish();
}

}  // namespace mprof::trace
