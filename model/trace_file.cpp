#include "model/trace_file.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string_view>
#include <unordered_map>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "model/nsys_schema.hpp"
#include "model/sqlite.hpp"
#include "model/version.hpp"

namespace mprof::trace {
namespace {

using sqlite::Database;
using sqlite::Statement;

using namespace nsys;

/// There is one machine.
constexpr std::int64_t machine = std::int64_t{1} << 48;

struct Table {
  std::string_view name;
  std::string_view columns;  ///< as CREATE TABLE has them
};

constexpr Table string_ids{"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL"};
constexpr Table session_start{"TARGET_INFO_SESSION_START_TIME",
                              "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT"};
constexpr Table metadata{"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT"};
constexpr Table gpus{
    "TARGET_INFO_GPU",
    "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER, "
    "l2CacheSize INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, "
    "uuid TEXT, cuDevice INTEGER, threadsPerWarp INTEGER, asyncEngines INTEGER, computeMajor INTEGER, "
    "computeMinor INTEGER"};
constexpr Table kernels{
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
    "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, "
    "cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT "
    "NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT "
    "NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread "
    "INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted "
    "INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER"};
constexpr Table calls{
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, "
    "correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER"};
constexpr Table copies{
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes "
    "INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, "
    "srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause "
    "INTEGER, graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER"};
constexpr Table sets{
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value "
    "INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER"};
constexpr Table synchronizations{
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, syncType "
    "INTEGER NOT NULL, eventId INTEGER NOT NULL"};
constexpr Table overheads{
    "CUPTI_ACTIVITY_KIND_OVERHEAD",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, correlationId "
    "INTEGER, nameId INTEGER NOT NULL, overheadType INTEGER NOT NULL"};
constexpr Table nvtx_events{
    "NVTX_EVENTS",
    "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, "
    "color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, "
    "uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, "
    "floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT"};
constexpr Table own_cases{
    "MPROF_CASE",
    "id INTEGER PRIMARY KEY, caseId TEXT NOT NULL UNIQUE, globalPid INTEGER NOT NULL, start INTEGER NOT "
    "NULL, end INTEGER NOT NULL, firstCorrelationId INTEGER NOT NULL, lastCorrelationId INTEGER NOT NULL, "
    "droppedRecords INTEGER NOT NULL, zeroTimeRecords INTEGER NOT NULL, reversedRecords INTEGER NOT NULL, "
    "unattributedRecords INTEGER NOT NULL, attributionDisagreements INTEGER NOT NULL"};
constexpr Table own_attribution{
    "MPROF_ATTRIBUTION",
    "correlationId INTEGER PRIMARY KEY, caseId INTEGER NOT NULL, op TEXT NOT NULL, part TEXT NOT NULL"};
constexpr Table own_ranges{
    "MPROF_RANGE",
    "caseId INTEGER NOT NULL, externalId INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "name TEXT NOT NULL, globalTid INTEGER NOT NULL, op TEXT NOT NULL, part TEXT NOT NULL"};

/// The tables whose rows belong to a case by their correlation id.
constexpr std::array correlated{kernels, calls, copies, sets, synchronizations, overheads};

constexpr Table enumeration{"", "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT"};

constexpr std::array synchronization_kinds{
    EnumRow{0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
    EnumRow{1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
    EnumRow{2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
    EnumRow{3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
    EnumRow{4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
};
constexpr std::array launch_types{
    EnumRow{0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"},
    EnumRow{1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"},
    EnumRow{2, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"},
    EnumRow{3, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE", "Coop Multi Device"},
};
constexpr std::array overhead_kinds{
    EnumRow{1, "OVERHEAD_UNKNOWN", "Unknown"},
    EnumRow{2, "OVERHEAD_DRIVER_COMPILER", "Driver JIT compiler"},
    EnumRow{3, "OVERHEAD_CUPTI_BUFFER_FLUSH", "Buffer flush"},
    EnumRow{4, "OVERHEAD_CUPTI_INSTRUMENTATION", "Instrumentation"},
    EnumRow{5, "OVERHEAD_CUPTI_RESOURCE", "Resource"},
    EnumRow{6, "OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING", "Runtime module loading"},
    EnumRow{7, "OVERHEAD_LAZY_FUNCTION_LOADING", "Lazy function loading"},
    EnumRow{8, "OVERHEAD_COMMAND_BUFFER_FULL", "Command buffer full"},
    EnumRow{9, "OVERHEAD_ACTIVITY_BUFFER_REQUEST", "Activity buffer request"},
    EnumRow{10, "OVERHEAD_UVM_ACTIVITY_INIT", "UVM activity init"},
};
constexpr std::array event_classes{
    EnumRow{0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
    EnumRow{1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
};
constexpr std::array event_types{
    EnumRow{mark, "NvtxMark", "NvtxMark"},
    EnumRow{push_pop_range, "NvtxPushPopRange", "NvtxPushPopRange"},
    EnumRow{start_end_range, "NvtxStartEndRange", "NvtxStartEndRange"},
    EnumRow{domain_created, "NvtxDomainCreate", "NvtxDomainCreate"},
};

std::int64_t global_pid(std::uint32_t process) {
  return machine | std::int64_t{process} << process_shift;
}
std::int64_t global_tid(std::uint32_t process, std::uint32_t thread) {
  return global_pid(process) | (std::int64_t{thread} & thread_mask);
}
std::uint32_t thread_of(std::int64_t global) {
  return static_cast<std::uint32_t>(global & thread_mask);
}

void create(Database& database, const Table& table) {
  database.execute(fmt::format("CREATE TABLE IF NOT EXISTS {} ({})", table.name, table.columns));
}

/// An INSERT of all columns of a table, which is made when it is missing.
Statement insert_into(Database& database, const Table& table) {
  create(database, table);
  std::string parameters = "?";
  for (const char c : table.columns) {
    if (c == ',') parameters += ", ?";
  }
  return database.prepare(fmt::format("INSERT INTO {} VALUES ({})", table.name, parameters));
}

template <class Rows>
void write_enumeration(Database& database, std::string_view name, const Rows& rows) {
  if (database.has_table(name)) return;
  Statement insert = insert_into(database, {name, enumeration.columns});
  for (const EnumRow& row : rows) insert.run(row.id, row.name, row.label);
}

/// StringIds: each text once.
class Strings {
 public:
  explicit Strings(Database& database) : insert_(insert_into(database, string_ids)) {
    Statement all = database.prepare("SELECT id, value FROM StringIds");
    while (all.step()) ids_.emplace(all.text(1), all.integer(0));
    for (const auto& [text, id] : ids_) next_ = std::max(next_, id + 1);
  }

  std::int64_t id(const std::string& text) {
    const auto [entry, is_new] = ids_.try_emplace(text, next_);
    if (is_new) insert_.run(next_++, text);
    return entry->second;
  }

 private:
  Statement insert_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::int64_t next_ = 0;
};

std::optional<std::int64_t> unless_zero(std::uint64_t value) {
  if (value == 0) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

template <class Visit>
void for_each_work(const Trace& trace, const Visit& visit) {
  for (const Kernel& kernel : trace.kernels) visit(kernel.work);
  for (const Copy& copy : trace.copies) visit(copy.work);
  for (const Set& set : trace.sets) visit(set.work);
}

/// Calls visit(correlation, place) for every record that has both.
template <class Visit>
void for_each_correlation(const Trace& trace, const Visit& visit) {
  for_each_work(trace, [&](const GpuWork& work) { visit(work.correlation, work.place); });
  for (const ApiCall& call : trace.calls) visit(call.correlation, call.place);
  for (const Synchronization& row : trace.synchronizations) visit(row.correlation, row.place);
}

/// Writes one trace; everything in the transaction of its caller.
class Writer {
 public:
  Writer(Database& database, const Trace& trace)
      : database_(database), trace_(trace), process_(global_pid(trace.process)), strings_(database) {
    describe_file();
    remove_older();
    write_case();
  }

  void write_all() {
    write_gpus();
    write_kernels();
    write_copies();
    write_sets();
    write_calls();
    write_synchronizations();
    write_overheads();
    write_ranges();
    write_attribution();
    drop_empty_tables();
  }

 private:
  [[nodiscard]] std::int64_t correlation(std::uint32_t id) const { return first_correlation_ + id; }
  [[nodiscard]] std::int64_t time(std::int64_t since_epoch) const { return since_epoch - session_start_; }
  [[nodiscard]] std::int64_t thread(std::uint32_t id) const { return global_tid(trace_.process, id); }

  void describe_file() {
    if (!database_.has_table(session_start.name)) {
      const auto seconds = std::chrono::floor<std::chrono::seconds>(
          std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(trace_.window.start)));
      insert_into(database_, session_start)
          .run(trace_.window.start, fmt::format("{:%Y-%m-%dT%H:%M:%S}", seconds), nullptr);
      Statement insert = insert_into(database_, metadata);
      insert.run("EXPORT_SCHEMA_VERSION", "3.16.1");
      insert.run("EXPORT_SCHEMA_VERSION_MAJOR", "3");
      insert.run("EXPORT_SCHEMA_VERSION_MINOR", "16");
      insert.run("EXPORT_SCHEMA_VERSION_MICRO", "1");
      insert.run("EXPORT_PRODUCT_VERSION", fmt::format("mprof {}", version));
    }
    Statement start = database_.prepare("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME");
    if (start.step()) session_start_ = start.integer(0);
  }

  void remove_older() {
    create(database_, own_cases);
    create(database_, own_attribution);
    create(database_, own_ranges);
    Statement older = database_.prepare(
        "SELECT id, globalPid, start, end, firstCorrelationId, lastCorrelationId FROM MPROF_CASE "
        "WHERE caseId = ?");
    if (!older.bind(trace_.case_id).step()) return;
    for (const Table& table : correlated) {
      if (!database_.has_table(table.name)) continue;
      database_.prepare(fmt::format("DELETE FROM {} WHERE correlationId BETWEEN ? AND ?", table.name))
          .run(older.integer(4), older.integer(5));
    }
    if (database_.has_table(nvtx_events.name)) {
      // Domains stay: other cases may have ranges in them.
      database_
          .prepare(
              "DELETE FROM NVTX_EVENTS WHERE globalTid & ? = ? AND start BETWEEN ? AND ? AND "
              "eventType != ?")
          .run(~thread_mask, older.integer(1), older.integer(2), older.integer(3), domain_created);
    }
    for (const Table& table : {own_attribution, own_ranges}) {
      database_.prepare(fmt::format("DELETE FROM {} WHERE caseId = ?", table.name)).run(older.integer(0));
    }
    database_.prepare("DELETE FROM MPROF_CASE WHERE id = ?").run(older.integer(0));
  }

  void write_case() {
    Statement last = database_.prepare("SELECT max(id), max(lastCorrelationId) FROM MPROF_CASE");
    if (last.step() && !last.null(0)) {
      case_ = last.integer(0) + 1;
      first_correlation_ = last.integer(1) + 1;
    }
    std::uint32_t largest = 0;
    for_each_correlation(trace_, [&](std::uint32_t id, PlaceIndex) { largest = std::max(largest, id); });
    for (const Overhead& overhead : trace_.overheads) largest = std::max(largest, overhead.correlation);
    Interval window = trace_.window;
    for (const Range& range : trace_.ranges) {
      window.start = std::min(window.start, range.time.start);
      window.end = std::max(window.end, range.time.end);
    }
    const Counts& counts = trace_.counts;
    insert_into(database_, own_cases)
        .run(case_, trace_.case_id, process_, time(window.start), time(window.end), first_correlation_,
             correlation(largest), counts.dropped, counts.zero_time, counts.reversed, counts.unattributed,
             counts.disagreements);
  }

  void write_gpus() {
    if (trace_.gpus.empty()) return;
    Statement insert = insert_into(database_, gpus);
    for (const Gpu& gpu : trace_.gpus) {
      database_.prepare("DELETE FROM TARGET_INFO_GPU WHERE id = ?").run(gpu.id);
      insert.run(0, gpu.id, gpu.name, gpu.bus_location, 1, gpu.l2_cache, gpu.memory, gpu.memory_bandwidth,
                 gpu.clock_rate, gpu.multiprocessors, gpu.uuid, gpu.id, gpu.threads_per_warp,
                 gpu.copy_engines, gpu.compute_major, gpu.compute_minor);
    }
  }

  void write_kernels() {
    if (trace_.kernels.empty()) return;
    write_enumeration(database_, "ENUM_CUDA_KERNEL_LAUNCH_TYPE", launch_types);
    struct Ids {
      std::int64_t demangled, short_name, mangled;
    };
    std::vector<Ids> names;
    for (const KernelSymbol& symbol : trace_.symbols) {
      names.push_back(
          {strings_.id(symbol.demangled), strings_.id(symbol.short_name), strings_.id(symbol.mangled)});
    }
    Statement insert = insert_into(database_, kernels);
    for (const Kernel& k : trace_.kernels) {
      const Ids& name = names.at(k.symbol);
      insert.run(time(k.work.time.start), time(k.work.time.end), k.work.device, k.work.context, nullptr,
                 k.work.stream, correlation(k.work.correlation), process_, name.demangled, name.short_name,
                 name.mangled, k.launch_type + 1, k.cache_config, k.registers_per_thread, k.grid[0],
                 k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2], k.static_shared_memory,
                 k.dynamic_shared_memory, k.local_memory_per_thread, k.local_memory_total, k.grid_id,
                 k.shared_memory_executed, unless_zero(k.work.graph_node), k.shared_memory_limit);
    }
  }

  void write_copies() {
    if (trace_.copies.empty()) return;
    write_enumeration(database_, "ENUM_CUDA_MEMCPY_OPER", copy_kinds);
    write_enumeration(database_, "ENUM_CUDA_MEM_KIND", memory_kinds);
    Statement insert = insert_into(database_, copies);
    for (const Copy& c : trace_.copies) {
      insert.run(time(c.work.time.start), time(c.work.time.end), c.work.device, c.work.context, nullptr,
                 c.work.stream, correlation(c.work.correlation), process_, c.bytes, static_cast<int>(c.kind),
                 nullptr, static_cast<int>(c.source), static_cast<int>(c.destination), nullptr, nullptr,
                 nullptr, nullptr, nullptr, unless_zero(c.work.graph_node), nullptr, c.count);
    }
  }

  void write_sets() {
    if (trace_.sets.empty()) return;
    write_enumeration(database_, "ENUM_CUDA_MEM_KIND", memory_kinds);
    Statement insert = insert_into(database_, sets);
    for (const Set& s : trace_.sets) {
      insert.run(time(s.work.time.start), time(s.work.time.end), s.work.device, s.work.context, nullptr,
                 s.work.stream, correlation(s.work.correlation), process_, s.value, s.bytes,
                 unless_zero(s.work.graph_node), static_cast<int>(s.memory));
    }
  }

  void write_calls() {
    if (trace_.calls.empty()) return;
    write_enumeration(database_, "ENUM_NSYS_EVENT_CLASS", event_classes);
    Statement insert = insert_into(database_, calls);
    for (const ApiCall& c : trace_.calls) {
      insert.run(time(c.time.start), time(c.time.end), static_cast<int>(c.api), thread(c.thread),
                 correlation(c.correlation), strings_.id(c.name), c.result, nullptr);
    }
  }

  void write_synchronizations() {
    if (trace_.synchronizations.empty()) return;
    write_enumeration(database_, "ENUM_CUPTI_SYNC_TYPE", synchronization_kinds);
    // CUPTI names the context only; nsys shows its device as well.
    std::map<std::uint32_t, std::uint32_t> device_of;
    for_each_work(trace_, [&](const GpuWork& work) { device_of[work.context] = work.device; });
    Statement insert = insert_into(database_, synchronizations);
    for (const Synchronization& s : trace_.synchronizations) {
      insert.run(time(s.time.start), time(s.time.end), device_of[s.context], s.context, nullptr, s.stream,
                 correlation(s.correlation), process_, static_cast<int>(s.kind), s.event);
    }
  }

  void write_overheads() {
    if (trace_.overheads.empty()) return;
    write_enumeration(database_, "ENUM_CUPTI_OVERHEAD_TYPE", overhead_kinds);
    Statement insert = insert_into(database_, overheads);
    for (const Overhead& o : trace_.overheads) {
      const auto row = std::ranges::find(overhead_kinds, static_cast<int>(o.kind), &EnumRow::id);
      const std::string_view label = row == overhead_kinds.end() ? "Unknown" : row->label;
      insert.run(time(o.time.start), time(o.time.end), nullptr, thread(o.thread), correlation(o.correlation),
                 strings_.id(std::string(label)), o.kind);
    }
  }

  void write_ranges() {
    if (trace_.ranges.empty()) return;
    write_enumeration(database_, "ENUM_NSYS_EVENT_TYPE", event_types);
    create(database_, nvtx_events);
    Statement insert = database_.prepare(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid, domainId) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)");
    Statement insert_own = insert_into(database_, own_ranges);
    for (const Range& range : trace_.ranges) {
      const bool is_mark = range.time.length() == 0 && range.id == 0;
      const bool one_thread = range.thread == range.end_thread;
      insert.run(time(range.time.start), is_mark ? std::nullopt : std::optional(time(range.time.end)),
                 is_mark      ? mark
                 : one_thread ? push_pop_range
                              : start_end_range,
                 range.name, thread(range.thread),
                 one_thread ? std::nullopt : std::optional(thread(range.end_thread)), domain(range.domain));
      if (range.id == 0) continue;
      const Place& place = trace_.places.at(range.place);
      insert_own.run(case_, range.id, time(range.time.start), time(range.time.end), range.name,
                     thread(range.thread), place.op, place.part);
    }
  }

  /// The id of an NVTX domain, which gets a row of its own; the default domain has 0 and none.
  std::int64_t domain(const std::string& name) {
    if (name.empty()) return 0;
    if (const auto known = domains_.find(name); known != domains_.end()) return known->second;
    Statement found = database_.prepare("SELECT domainId FROM NVTX_EVENTS WHERE eventType = ? AND text = ?");
    std::int64_t id = 0;
    if (found.bind(domain_created, name).step()) {
      id = found.integer(0);
    } else {
      Statement largest = database_.prepare("SELECT coalesce(max(domainId), 0) FROM NVTX_EVENTS");
      largest.step();
      id = largest.integer(0) + 1;
      database_
          .prepare(
              "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) "
              "VALUES (?, ?, ?, ?, ?)")
          .run(time(trace_.window.start), domain_created, name, process_, id);
    }
    return domains_[name] = id;
  }

  void write_attribution() {
    std::map<std::uint32_t, PlaceIndex> places;
    for_each_correlation(trace_, [&](std::uint32_t id, PlaceIndex place) {
      if (place != nowhere) places[id] = place;
    });
    Statement insert = insert_into(database_, own_attribution);
    for (const auto& [id, index] : places) {
      const Place& place = trace_.places.at(index);
      insert.run(correlation(id), case_, place.op, place.part);
    }
  }

  /// A table exists only when it has rows, as in an export; one can have lost its last with an older trace.
  void drop_empty_tables() {
    const auto drop_if_empty = [&](std::string_view table) {
      if (!database_.has_table(table)) return;
      const bool empty = !database_.prepare(fmt::format("SELECT 1 FROM {} LIMIT 1", table)).step();
      if (empty) database_.execute(fmt::format("DROP TABLE {}", table));
    };
    for (const Table& table : correlated) drop_if_empty(table.name);
    drop_if_empty(nvtx_events.name);
  }

  Database& database_;
  const Trace& trace_;
  std::int64_t process_;
  Strings strings_;
  std::int64_t session_start_ = 0;
  std::int64_t case_ = 1;
  std::int64_t first_correlation_ = 0;
  std::map<std::string, std::int64_t> domains_;
};

/// Reads one trace.
class Reader {
 public:
  Reader(const Database& database, const std::string& case_id) : database_(database) {
    Statement row = database_.prepare(
        "SELECT id, globalPid, start, end, firstCorrelationId, lastCorrelationId, droppedRecords, "
        "zeroTimeRecords, reversedRecords, unattributedRecords, attributionDisagreements, utcEpochNs "
        "FROM MPROF_CASE, TARGET_INFO_SESSION_START_TIME WHERE caseId = ?");
    if (!row.bind(case_id).step()) return;
    found_ = true;
    session_start_ = row.integer(11);
    case_ = row.integer(0);
    process_ = row.integer(1);
    first_correlation_ = row.integer(4);
    last_correlation_ = row.integer(5);
    trace_.case_id = case_id;
    trace_.process = static_cast<std::uint32_t>((process_ - machine) >> process_shift);
    trace_.window = {row.integer(2) + session_start_, row.integer(3) + session_start_};
    trace_.counts = {count(row, 6), count(row, 7), count(row, 8), count(row, 9), count(row, 10)};
  }

  [[nodiscard]] bool found() const { return found_; }

  Trace read_all() {
    read_places();
    read_gpus();
    read_kernels();
    read_copies();
    read_sets();
    read_calls();
    read_synchronizations();
    read_overheads();
    read_ranges();
    return std::move(trace_);
  }

 private:
  static std::uint64_t count(const Statement& row, int column) {
    return static_cast<std::uint64_t>(row.integer(column));
  }
  static std::uint32_t number(const Statement& row, int column) {
    return static_cast<std::uint32_t>(row.integer(column));
  }
  [[nodiscard]] Interval interval(const Statement& row, int column) const {
    return {row.integer(column) + session_start_, row.integer(column + 1) + session_start_};
  }
  [[nodiscard]] std::uint32_t correlation(const Statement& row, int column) const {
    return static_cast<std::uint32_t>(row.integer(column) - first_correlation_);
  }
  [[nodiscard]] PlaceIndex place(std::uint32_t id) const {
    const auto found = place_of_.find(id);
    return found == place_of_.end() ? nowhere : found->second;
  }

  /// Calls visit(row) for each row of this case in a table, which may be missing.
  template <class Visit>
  void each(const Table& table, std::string_view columns, const Visit& visit) const {
    if (!database_.has_table(table.name)) return;
    Statement rows = database_.prepare(
        fmt::format("SELECT start, end, correlationId, {} FROM {} WHERE correlationId BETWEEN ? AND ? "
                    "ORDER BY rowid",
                    columns, table.name));
    rows.bind(first_correlation_, last_correlation_);
    while (rows.step()) visit(rows);
  }

  /// The columns 0 to 6: start, end, correlationId, deviceId, contextId, streamId, graphNodeId.
  [[nodiscard]] GpuWork work(const Statement& row) const {
    const std::uint32_t id = correlation(row, 2);
    return {.time = interval(row, 0),
            .device = number(row, 3),
            .context = number(row, 4),
            .stream = number(row, 5),
            .correlation = id,
            .graph_node = count(row, 6),
            .place = place(id)};
  }

  void read_places() {
    Statement rows =
        database_.prepare("SELECT correlationId, op, part FROM MPROF_ATTRIBUTION WHERE caseId = ?");
    rows.bind(case_);
    while (rows.step()) place_of_[correlation(rows, 0)] = trace_.index_of({rows.text(1), rows.text(2)});
  }

  void read_gpus() {
    if (!database_.has_table(gpus.name)) return;
    Statement rows = database_.prepare(
        "SELECT id, name, busLocation, uuid, totalMemory, l2CacheSize, memoryBandwidth, clockRate, smCount, "
        "computeMajor, computeMinor, threadsPerWarp, asyncEngines FROM TARGET_INFO_GPU ORDER BY id");
    while (rows.step()) {
      trace_.gpus.push_back({number(rows, 0), rows.text(1), rows.text(2), rows.text(3), count(rows, 4),
                             count(rows, 5), count(rows, 6), count(rows, 7), number(rows, 8), number(rows, 9),
                             number(rows, 10), number(rows, 11), number(rows, 12)});
    }
  }

  void read_kernels() {
    Statement texts = database_.prepare("SELECT value FROM StringIds WHERE id = ?");
    const auto text = [&](std::int64_t id) { return texts.bind(id).step() ? texts.text(0) : std::string(); };
    std::map<std::array<std::int64_t, 3>, std::uint32_t> names;
    each(kernels,
         "deviceId, contextId, streamId, graphNodeId, mangledName, demangledName, shortName, gridX, gridY, "
         "gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, "
         "localMemoryPerThread, localMemoryTotal, sharedMemoryExecuted, sharedMemoryLimitConfig, "
         "cacheConfig, launchType, gridId",
         [&](const Statement& row) {
           const std::array ids{row.integer(7), row.integer(8), row.integer(9)};
           const auto [name, is_new] =
               names.try_emplace(ids, static_cast<std::uint32_t>(trace_.symbols.size()));
           if (is_new) trace_.symbols.push_back({text(ids[0]), text(ids[1]), text(ids[2])});
           const auto signed_number = [&](int column) {
             return static_cast<std::int32_t>(row.integer(column));
           };
           trace_.kernels.push_back({.work = work(row),
                                     .symbol = name->second,
                                     .grid = {signed_number(10), signed_number(11), signed_number(12)},
                                     .block = {signed_number(13), signed_number(14), signed_number(15)},
                                     .registers_per_thread = number(row, 16),
                                     .static_shared_memory = signed_number(17),
                                     .dynamic_shared_memory = signed_number(18),
                                     .local_memory_per_thread = number(row, 19),
                                     .local_memory_total = count(row, 20),
                                     .shared_memory_executed = number(row, 21),
                                     .shared_memory_limit = number(row, 22),
                                     .cache_config = number(row, 23),
                                     .launch_type = number(row, 24) - 1,
                                     .grid_id = row.integer(25)});
         });
  }

  void read_copies() {
    each(copies, "deviceId, contextId, streamId, graphNodeId, bytes, copyKind, srcKind, dstKind, copyCount",
         [&](const Statement& row) {
           trace_.copies.push_back({work(row), count(row, 7), static_cast<CopyKind>(row.integer(8)),
                                    static_cast<MemoryKind>(row.integer(9)),
                                    static_cast<MemoryKind>(row.integer(10)), count(row, 11)});
         });
  }

  void read_sets() {
    each(sets, "deviceId, contextId, streamId, graphNodeId, value, bytes, memKind",
         [&](const Statement& row) {
           trace_.sets.push_back(
               {work(row), number(row, 7), count(row, 8), static_cast<MemoryKind>(row.integer(9))});
         });
  }

  void read_calls() {
    each(calls, "eventClass, (SELECT value FROM StringIds WHERE id = nameId), globalTid, returnValue",
         [&](const Statement& row) {
           const std::uint32_t id = correlation(row, 2);
           trace_.calls.push_back({interval(row, 0), static_cast<Api>(row.integer(3)), row.text(4),
                                   thread_of(row.integer(5)), id, number(row, 6), place(id)});
         });
  }

  void read_synchronizations() {
    each(synchronizations, "syncType, contextId, streamId, eventId", [&](const Statement& row) {
      const std::uint32_t id = correlation(row, 2);
      trace_.synchronizations.push_back({interval(row, 0), static_cast<SynchronizationKind>(row.integer(3)),
                                         number(row, 4), number(row, 5), number(row, 6), id, place(id)});
    });
  }

  void read_overheads() {
    each(overheads, "overheadType, globalTid", [&](const Statement& row) {
      trace_.overheads.push_back(
          {interval(row, 0), number(row, 3), thread_of(row.integer(4)), correlation(row, 2)});
    });
  }

  /// mprof's own ranges from its own table, which knows their places; the others from NVTX's.
  void read_ranges() {
    Statement own = database_.prepare(
        "SELECT start, end, name, globalTid, externalId, op, part FROM MPROF_RANGE WHERE caseId = ? "
        "ORDER BY rowid");
    own.bind(case_);
    while (own.step()) {
      const std::uint32_t thread = thread_of(own.integer(3));
      trace_.ranges.push_back({interval(own, 0), own.text(2), own_domain, thread, thread, count(own, 4),
                               trace_.index_of({own.text(5), own.text(6)})});
    }
    if (!database_.has_table(nvtx_events.name)) return;
    Statement others = database_.prepare(
        "SELECT n.start, coalesce(n.end, n.start), n.text, coalesce(d.text, ''), n.globalTid, "
        "coalesce(n.endGlobalTid, "
        "n.globalTid) FROM NVTX_EVENTS n LEFT JOIN NVTX_EVENTS d ON d.eventType = ?1 AND d.domainId = "
        "n.domainId WHERE n.eventType != ?1 AND coalesce(d.text, '') != ?2 AND n.globalTid & ?3 = ?4 AND "
        "n.start BETWEEN ?5 AND ?6 ORDER BY n.rowid");
    others.bind(domain_created, own_domain, ~thread_mask, process_, trace_.window.start - session_start_,
                trace_.window.end - session_start_);
    while (others.step()) {
      trace_.ranges.push_back({interval(others, 0), others.text(2), others.text(3),
                               thread_of(others.integer(4)), thread_of(others.integer(5)), 0, nowhere});
    }
  }

  const Database& database_;
  bool found_ = false;
  std::int64_t session_start_ = 0;
  std::int64_t case_ = 0;
  std::int64_t process_ = 0;
  std::int64_t first_correlation_ = 0;
  std::int64_t last_correlation_ = 0;
  std::unordered_map<std::uint32_t, PlaceIndex> place_of_;
  Trace trace_;
};

}  // namespace

void write_trace(const std::filesystem::path& file, const Trace& trace) {
  Database database(file, sqlite::Mode::write);
  sqlite::Transaction transaction(database);
  Writer(database, trace).write_all();
  transaction.commit();
}

std::vector<std::string> traced_cases(const std::filesystem::path& file) {
  const Database database(file, sqlite::Mode::read);
  std::vector<std::string> ids;
  if (!database.has_table(own_cases.name)) return ids;
  Statement rows = database.prepare("SELECT caseId FROM MPROF_CASE ORDER BY id");
  while (rows.step()) ids.push_back(rows.text(0));
  return ids;
}

std::optional<Trace> read_trace(const std::filesystem::path& file, const std::string& case_id) {
  const Database database(file, sqlite::Mode::read);
  if (!database.has_table(own_cases.name)) return std::nullopt;
  Reader reader(database, case_id);
  if (!reader.found()) return std::nullopt;
  return reader.read_all();
}

}  // namespace mprof::trace
