// SPDX-License-Identifier: MIT
#include "tests/support/fabricated_export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/sqlite.hpp"

namespace mprof::test {
namespace {

using sqlite::Database;
namespace nsys = trace::nsys;

constexpr std::int64_t epoch = 1'700'000'000'000'000'000;

/// Inserts rows into tables whose columns are named as they come.
class Tables {
 public:
  explicit Tables(Database& database) : database_(database) {}

  struct Field {
    std::string column;
    std::string value;  ///< as SQL has it
  };

  void row(const std::string& table, const std::vector<Field>& fields) {
    std::vector<std::string> columns, values;
    for (const Field& field : fields) {
      columns.push_back(field.column);
      values.push_back(field.value);
    }
    if (!database_.has_table(table))
      database_.execute(fmt::format("CREATE TABLE {} ({})", table, fmt::join(columns, ", ")));
    database_.execute(fmt::format("INSERT INTO {} VALUES ({})", table, fmt::join(values, ", ")));
  }

  std::string string(const std::string& text) {
    for (std::size_t i = 0; i < strings_.size(); ++i) {
      if (strings_[i] == text) return std::to_string(i + 1);
    }
    strings_.push_back(text);
    row("StringIds", {{"id", std::to_string(strings_.size())}, {"value", fmt::format("'{}'", text)}});
    return std::to_string(strings_.size());
  }

 private:
  Database& database_;
  std::vector<std::string> strings_;
};

class ExportWriter {
 public:
  ExportWriter(Database& database, const ExportSchema& schema) : tables_(database), schema_(schema) {}

  void write() {
    describe();
    for (const std::uint32_t process : {100U, 200U}) write_process(process);
  }

 private:
  using Field = Tables::Field;

  static std::string number(std::int64_t value) { return std::to_string(value); }

  void describe() {
    if (!schema_.version.empty()) {
      tables_.row("META_DATA_EXPORT",
                  {{"name", "'EXPORT_SCHEMA_VERSION'"}, {"value", "'" + schema_.version + "'"}});
      tables_.row("META_DATA_EXPORT", {{"name", "'EXPORT_PRODUCT_VERSION'"}, {"value", "'20xx.1'"}});
    }
    if (schema_.target_info) {
      tables_.row("TARGET_INFO_SESSION_START_TIME",
                  {{"utcEpochNs", number(epoch)}, {"utcTime", "''"}, {"localTime", "''"}});
      tables_.row(
          "TARGET_INFO_GPU",
          {{"vmId", "1"}, {"id", "0"}, {"name", "'NVIDIA H200'"}, {"cuDevice", "0"}, {"smCount", "132"}});
      tables_.row("TARGET_INFO_SYSTEM_ENV", {{"name", "'Hostname'"}, {"value", "'box'"}});
    }
    if (!schema_.enumerations) return;
    for (const nsys::EnumRow& kind : nsys::copy_kinds.rows)
      tables_.row("ENUM_CUDA_MEMCPY_OPER",
                  {{"id", number(kind.id)}, {"name", "''"}, {"label", fmt::format("'{}'", kind.label)}});
  }

  void call(std::int64_t thread, std::int64_t id, const std::string& name, std::int64_t start) {
    tables_.row("CUPTI_ACTIVITY_KIND_RUNTIME", {{"start", number(start)},
                                                {"end", number(start + 5)},
                                                {"eventClass", "0"},
                                                {"globalTid", number(thread)},
                                                {"correlationId", number(id)},
                                                {"nameId", tables_.string(name)},
                                                {"returnValue", "0"}});
  }

  void kernel(std::int64_t process, std::int64_t id, const std::string& whole, std::int64_t start,
              std::int64_t length) {
    const std::string brief = whole.substr(0, whole.find('('));
    std::vector<Field> fields{{"start", number(start)},
                              {"end", number(start + length)},
                              {"deviceId", "0"},
                              {"contextId", "1"},
                              {"streamId", "7"},
                              {"correlationId", number(id)},
                              {"globalPid", number(process)},
                              {"demangledName", tables_.string(whole)},
                              {"shortName", tables_.string(brief)},
                              {"registersPerThread", "32"},
                              {"gridX", "4"},
                              {"gridY", "2"},
                              {"gridZ", "1"},
                              {"blockX", "256"},
                              {"blockY", "1"},
                              {"blockZ", "1"},
                              {"staticSharedMemory", "0"},
                              {"dynamicSharedMemory", "0"}};
    if (schema_.mangled_names)
      fields.push_back({"mangledName", tables_.string(fmt::format("_Z{}{}Pf", brief.size(), brief))});
    if (schema_.graph_nodes) fields.push_back({"graphNodeId", "NULL"});
    if (schema_.green_contexts) fields.push_back({"greenContextId", "0"});
    if (schema_.clusters)
      fields.insert(fields.end(), {{"clusterX", "0"}, {"clusterY", "0"}, {"clusterZ", "0"}});
    tables_.row("CUPTI_ACTIVITY_KIND_KERNEL", fields);
  }

  void overhead(std::int64_t thread, std::int64_t start, std::int64_t end) {
    tables_.row("PROFILER_OVERHEAD", {{"start", number(start)},
                                      {"end", number(end)},
                                      {"globalTid", number(thread)},
                                      {"nameId", tables_.string("CUPTI Instrumentation")},
                                      {"overheadType", "4"}});
  }

  void range(std::int64_t thread, const std::string& name, std::int64_t start, std::int64_t end, int domain) {
    const bool by_id = schema_.registered_ranges;
    tables_.row("NVTX_EVENTS", {{"start", number(start)},
                                {"end", number(end)},
                                {"eventType", "59"},
                                {"text", by_id ? "NULL" : "'" + name + "'"},
                                {"textId", by_id ? tables_.string(name) : "NULL"},
                                {"globalTid", number(thread)},
                                {"endGlobalTid", "NULL"},
                                {"domainId", number(domain)}});
  }

  void write_process(std::uint32_t id) {
    const std::int64_t process = nsys::global_process(id), thread = nsys::global_thread(process, id + 1);
    const std::int64_t at = std::int64_t{id} * 10;
    tables_.row("NVTX_EVENTS", {{"start", number(at)},
                                {"end", "NULL"},
                                {"eventType", "75"},
                                {"text", "'library'"},
                                {"textId", "NULL"},
                                {"globalTid", number(thread)},
                                {"endGlobalTid", "NULL"},
                                {"domainId", "1"}});
    range(thread, "load", at, at + 100, 0);
    range(thread, "step", at + 100, at + 300, 0);
    range(thread, "inner", at + 150, at + 200, 1);
    call(thread, 1, "cudaMemcpy_v3020", at + 10);
    call(thread, 2, "cudaMemset_v3020", at + 30);
    call(thread, 3, "cudaLaunchKernel_v7000", at + 110);
    call(thread, 4, "cudaLaunchKernel_v7000", at + 160);
    call(thread, 5, "cudaLaunchKernel_v7000", at + 310);
    tables_.row("CUPTI_ACTIVITY_KIND_MEMCPY", {{"start", number(at + 20)},
                                               {"end", number(at + 60)},
                                               {"deviceId", "0"},
                                               {"contextId", "1"},
                                               {"streamId", "7"},
                                               {"correlationId", "1"},
                                               {"globalPid", number(process)},
                                               {"bytes", "4096"},
                                               {"copyKind", "1"},
                                               {"srcKind", "0"},
                                               {"dstKind", "2"}});
    tables_.row("CUPTI_ACTIVITY_KIND_MEMSET", {{"start", number(at + 70)},
                                               {"end", number(at + 80)},
                                               {"deviceId", "0"},
                                               {"contextId", "1"},
                                               {"streamId", "7"},
                                               {"correlationId", "2"},
                                               {"globalPid", number(process)},
                                               {"value", "0"},
                                               {"bytes", "512"}});
    kernel(process, 3, "scale(float*)", at + 120, 30);
    kernel(process, 4, "tile(float*)", at + 170, 50);
    kernel(process, 5, "scale(float*)", at + 320, 20);
    tables_.row("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {{"start", number(at + 82)},
                                                        {"end", number(at + 86)},
                                                        {"deviceId", "0"},
                                                        {"contextId", "1"},
                                                        {"streamId", "7"},
                                                        {"correlationId", "2"},
                                                        {"globalPid", number(process)},
                                                        {"syncType", "3"}});
    tables_.row("CUPTI_ACTIVITY_KIND_OVERHEAD", {{"start", number(at + 112)},
                                                 {"end", number(at + 114)},
                                                 {"globalTid", number(thread)},
                                                 {"correlationId", "3"},
                                                 {"nameId", tables_.string("Lazy function loading")},
                                                 {"overheadType", "7"}});
    if (schema_.overhead_by_profiler) {
      overhead(thread, at - 500, at - 10);  // the profiler's own start, before all calls
      overhead(thread, at + 90, at + 97);
    }
    tables_.row("ThreadNames",
                {{"nameId", tables_.string("worker")}, {"priority", "NULL"}, {"globalTid", number(thread)}});
    tables_.row("OSRT_API", {{"start", number(at + 5)},
                             {"end", number(at + 9)},
                             {"eventClass", "27"},
                             {"globalTid", number(thread)},
                             {"nameId", tables_.string("poll")},
                             {"returnValue", "0"}});
    if (schema_.target_info)
      tables_.row(
          "PROCESSES",
          {{"globalPid", number(process)}, {"pid", number(id)}, {"name", fmt::format("'/bin/rank{}'", id)}});
  }

  Tables tables_;
  const ExportSchema& schema_;
};

}  // namespace

std::vector<ExportSchema> export_schemas() {
  return {
      {"", false, false, false, false, false, false},
      {"2.10.0", true, false, false, false, false, true},
      {"3.1.7", true, true, false, false, true, true},
      {"3.11.0", true, true, false, false, true, true},
      {"3.16.1", true, true, true, false, true, true},
      {"3.24.0", true, true, true, true, true, true, true},
      {"3.24.14", true, true, true, true, true, true, true},
      {"3.25.0", true, true, true, true, true, true, true},
  };
}

void write_export(const std::filesystem::path& file, const ExportSchema& schema) {
  Database database(file, sqlite::Mode::write);
  sqlite::Transaction transaction(database);
  ExportWriter(database, schema).write();
  transaction.commit();
}

void shuffle_rows(const std::filesystem::path& file) {
  Database database(file, sqlite::Mode::write);
  std::vector<std::string> names;
  {
    sqlite::Statement tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'");
    while (tables.step()) names.push_back(tables.text(0));
  }
  for (const std::string& name : names) {
    database.execute(fmt::format(
        "CREATE TEMP TABLE shuffled AS SELECT * FROM main.{0} ORDER BY random(); DELETE FROM main.{0}; "
        "INSERT INTO main.{0} SELECT * FROM shuffled ORDER BY random(); DROP TABLE shuffled",
        name));
  }
}

}  // namespace mprof::test
