#include "model/trace/writer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/tables.hpp"
#include "model/version.hpp"

namespace mprof::trace {
namespace {

using sqlite::Database;
using sqlite::Statement;

using namespace nsys;

/// The tables whose rows belong to a case by their correlation id.
constexpr std::array correlated{tables::kernels,   tables::graphs,     tables::calls,
                                tables::copies,    tables::sets,       tables::synchronizations,
                                tables::overheads, tables::allocations};

/// The columns of a table as CREATE TABLE has them: each begins with its name.
std::vector<std::string_view> definitions(std::string_view columns) {
  std::vector<std::string_view> all;
  while (!columns.empty()) {
    const std::size_t comma = std::min(columns.find(", "), columns.size());
    all.push_back(columns.substr(0, comma));
    columns.remove_prefix(std::min(columns.size(), comma + 2));
  }
  return all;
}
std::string_view name_of(std::string_view definition) {
  return definition.substr(0, definition.find(' '));
}

/// A file that an older mprof wrote may lack columns: they are added, empty.
void create(Database& database, const tables::Table& table) {
  if (!database.has_table(table.name)) {
    database.execute(fmt::format("CREATE TABLE {} ({})", table.name, table.columns));
    return;
  }
  std::set<std::string, std::less<>> there;
  Statement rows = database.prepare("SELECT name FROM pragma_table_info(?)");
  rows.bind(table.name);
  while (rows.step()) there.insert(rows.text(0));
  for (const std::string_view column : definitions(table.columns)) {
    if (there.contains(name_of(column))) continue;
    const bool needs_value = column.find("NOT NULL") != column.npos && column.find("DEFAULT") == column.npos;
    database.execute(
        fmt::format("ALTER TABLE {} ADD COLUMN {}{}", table.name, column, needs_value ? " DEFAULT 0" : ""));
  }
}

/// An INSERT of all columns of a table, which is made when it is missing.
Statement insert_into(Database& database, const tables::Table& table) {
  create(database, table);
  std::string names, parameters;
  for (const std::string_view column : definitions(table.columns)) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(column));
    parameters += parameters.empty() ? "?" : ", ?";
  }
  return database.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table.name, names, parameters));
}

void write_enumeration(Database& database, const Enumeration& enumeration) {
  if (database.has_table(enumeration.table)) return;
  Statement insert = insert_into(database, {enumeration.table, enumeration_columns});
  for (const EnumRow& row : enumeration.rows) insert.run(row.id, row.name, row.label);
}

/// StringIds: each text once.
class Strings {
 public:
  explicit Strings(Database& database) : insert_(insert_into(database, tables::string_ids)) {
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

template <class Kind>
int number(Kind kind) {
  return static_cast<int>(kind);
}
template <class Kind>
std::optional<int> number(const std::optional<Kind>& kind) {
  if (!kind) return std::nullopt;
  return number(*kind);
}

int event_type(RangeStyle style) {
  switch (style) {
    case RangeStyle::push_pop:
      return push_pop_range;
    case RangeStyle::start_end:
      return start_end_range;
    case RangeStyle::mark:
      return mark;
    case RangeStyle::extent:
      break;  // in no table of Nsight Systems
  }
  return push_pop_range;
}

/// Calls visit(correlation, place) for every record that has both.
template <class Visit>
void for_each_correlation(const Trace& trace, const Visit& visit) {
  for (const Kernel& kernel : trace.kernels) visit(kernel.correlation, kernel.place);
  for (const Transfer& transfer : trace.transfers) visit(transfer.correlation, transfer.place);
  for (const Call& call : trace.calls) visit(call.correlation, call.place);
  for (const Synchronization& row : trace.synchronizations) visit(row.correlation, row.place);
  for (const Allocation& row : trace.allocations) visit(row.correlation, row.place);
  for (const GraphExecution& row : trace.graphs) visit(row.correlation, row.place);
}

/// Writes one trace; everything in the transaction of its caller.
class Writer {
 public:
  Writer(Database& database, const Trace& trace)
      : database_(database),
        trace_(trace),
        of_(trace.cases.at(0)),
        extent_(extent_of(trace)),
        strings_(database) {
    describe_file();
    remove_older();
    write_case();
  }

  void write_all() {
    write_gpus();
    write_system();
    write_processes();
    write_queues();
    write_kernels();
    write_graphs();
    write_transfers();
    write_calls();
    write_synchronizations();
    write_overheads();
    write_allocations();
    write_ranges();
    write_system_calls();
    write_attribution();
    drop_empty_tables();
    write_span();
  }

 private:
  [[nodiscard]] std::int64_t correlation(std::int64_t id) const { return first_correlation_ + id; }
  [[nodiscard]] std::int64_t time(std::int64_t time) const { return trace_.epoch + time - session_start_; }

  /// The case's window, and what lies around it.
  static Interval extent_of(const Trace& trace) {
    Interval extent = trace.cases.at(0).window;
    const auto widen = [&](const auto& rows) {
      for (const auto& row : rows)
        extent = {std::min(extent.start, row.time.start), std::max(extent.end, row.time.end)};
    };
    widen(trace.ranges);
    widen(trace.system_calls);
    return extent;
  }

  void describe_file() {
    if (!database_.has_table(tables::session_start.name)) {
      const std::int64_t start = trace_.epoch + extent_.start;
      const auto seconds = std::chrono::floor<std::chrono::seconds>(
          std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(start)));
      const auto text = [](const auto& time) { return fmt::format("{:%Y-%m-%dT%H:%M:%S}", time); };
      insert_into(database_, tables::session_start)
          .run(start, text(seconds), text(fmt::localtime(std::chrono::system_clock::to_time_t(seconds))),
               nullptr);
      Statement captured = insert_into(database_, tables::capture);
      for (const char* event : {"Cuda", "NvtxEvents"}) captured.run("CAPTURE_EVENT_TYPE", event);
      Statement insert = insert_into(database_, tables::metadata);
      insert.run("EXPORT_PRODUCT_NAME", "mprof");
      insert.run("EXPORT_SCHEMA_VERSION", "3.24.14");
      insert.run("EXPORT_SCHEMA_VERSION_MAJOR", "3");
      insert.run("EXPORT_SCHEMA_VERSION_MINOR", "24");
      insert.run("EXPORT_SCHEMA_VERSION_MICRO", "14");
      insert.run("EXPORT_PRODUCT_VERSION", fmt::format("mprof {}", version));
    }
    Statement start = database_.prepare("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME");
    if (start.step()) session_start_ = start.integer(0);
  }

  void remove_older() {
    create(database_, tables::cases);
    create(database_, tables::attribution);
    create(database_, tables::own_ranges);
    create(database_, tables::case_processes);
    Statement older = database_.prepare(
        "SELECT id, globalPid, start, end, firstCorrelationId, lastCorrelationId FROM MPROF_CASE "
        "WHERE caseId = ?");
    if (!older.bind(of_.id).step()) return;
    for (const tables::Table& table : correlated) {
      if (!database_.has_table(table.name)) continue;
      database_.prepare(fmt::format("DELETE FROM {} WHERE correlationId BETWEEN ? AND ?", table.name))
          .run(older.integer(4), older.integer(5));
    }
    std::set<std::int64_t> processes{older.integer(1)};
    Statement further = database_.prepare("SELECT globalPid FROM MPROF_PROCESS WHERE caseId = ?");
    further.bind(older.integer(0));
    while (further.step()) processes.insert(further.integer(0));
    for (const std::int64_t process : processes)
      remove_of_process(process, {older.integer(2), older.integer(3)});
    for (const tables::Table& table : {tables::attribution, tables::own_ranges, tables::case_processes}) {
      database_.prepare(fmt::format("DELETE FROM {} WHERE caseId = ?", table.name)).run(older.integer(0));
    }
    database_.prepare("DELETE FROM MPROF_CASE WHERE id = ?").run(older.integer(0));
  }

  /// What has no correlation id.
  void remove_of_process(std::int64_t process, const Interval& window) {
    for (const tables::Table& table : {tables::ranges, tables::system_calls, tables::profiler_overheads}) {
      if (!database_.has_table(table.name)) continue;
      // Domains stay: other cases may have ranges in them.
      const std::string ranges =
          table.name == tables::ranges.name ? fmt::format(" AND eventType != {}", domain_created) : "";
      database_
          .prepare(fmt::format("DELETE FROM {} WHERE globalTid & ? = ? AND start BETWEEN ? AND ?{}",
                               table.name, ranges))
          .run(~thread_mask, process, window.start, window.end);
    }
  }

  void write_case() {
    Statement last = database_.prepare("SELECT max(id), max(lastCorrelationId) FROM MPROF_CASE");
    if (last.step() && !last.null(0)) {
      case_ = last.integer(0) + 1;
      first_correlation_ = last.integer(1) + 1;
    }
    std::int64_t largest = 0;
    for_each_correlation(trace_, [&](std::int64_t id, PlaceIndex) { largest = std::max(largest, id); });
    for (const Overhead& overhead : trace_.overheads) largest = std::max(largest, overhead.correlation);
    const Counts& counts = of_.counts;
    insert_into(database_, tables::cases)
        .run(case_, of_.id, of_.process, time(extent_.start), time(extent_.end), first_correlation_,
             correlation(largest), counts.dropped, counts.zero_time, counts.reversed, counts.unattributed,
             counts.disagreements);
  }

  void write_gpus() {
    if (trace_.gpus.empty()) return;
    create(database_, tables::gpus);
    Statement insert = database_.prepare(
        "INSERT INTO TARGET_INFO_GPU (vmId, id, name, busLocation, isDiscrete, l2CacheSize, totalMemory, "
        "memoryBandwidth, clockRate, smCount, pwGpuId, uuid, chipName, cuDevice, threadsPerWarp, "
        "asyncEngines, computeMajor, computeMinor, smMajor, smMinor) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, "
        "?, "
        "?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const Gpu& gpu : trace_.gpus) {
      database_.prepare("DELETE FROM TARGET_INFO_GPU WHERE id = ?").run(gpu.id);
      insert.run(own_machine, gpu.id, gpu.name, gpu.bus_location, gpu.l2_cache, gpu.memory,
                 gpu.memory_bandwidth, gpu.clock_rate, gpu.multiprocessors, gpu.id, bare_uuid(gpu), gpu.chip,
                 gpu.id, gpu.threads_per_warp, gpu.copy_engines, gpu.compute_major, gpu.compute_minor,
                 gpu.compute_major, gpu.compute_minor);
    }
  }

  /// As Nsight Systems has it: without "GPU-".
  static std::string bare_uuid(const Gpu& gpu) {
    constexpr std::string_view prefix = "GPU-";
    return gpu.uuid.starts_with(prefix) ? gpu.uuid.substr(prefix.size()) : gpu.uuid;
  }

  void write_system() {
    if (trace_.system.empty()) return;
    Statement insert = insert_into(database_, tables::system);
    for (const SystemProperty& property : system_properties) {
      const auto known = trace_.system.find(std::string(property.name));
      if (known == trace_.system.end()) continue;
      database_.prepare("DELETE FROM TARGET_INFO_SYSTEM_ENV WHERE name = ?").run(property.name);
      insert.run(own_machine, "Local (CLI)", property.name, property.id, known->second);
    }
  }

  /// Devices, contexts and streams of each process, as far as its work shows them: of streams that are not a
  /// context's null stream neither type nor priority is known.
  void write_queues() {
    std::set<std::pair<std::int64_t, Queue>> queues;
    const auto look_at = [&](const auto& rows) {
      for (const auto& row : rows) queues.emplace(process(row.process), row.queue);
    };
    look_at(trace_.kernels);
    look_at(trace_.graphs);
    look_at(trace_.transfers);
    if (queues.empty()) return;
    write_enumeration(database_, stream_types);
    Statement devices = insert_into(database_, tables::devices);
    Statement contexts = insert_into(database_, tables::contexts);
    Statement streams = insert_into(database_, tables::streams);
    std::set<std::int64_t> processes;
    for (const auto& [id, queue] : queues) processes.insert(native_process(id));
    for (const std::int64_t pid : processes) {
      database_.prepare("DELETE FROM TARGET_INFO_CUDA_DEVICE WHERE pid = ?").run(pid);
      database_.prepare("DELETE FROM TARGET_INFO_CUDA_CONTEXT_INFO WHERE processId = ?").run(pid);
      database_.prepare("DELETE FROM TARGET_INFO_CUDA_STREAM WHERE processId = ?").run(pid);
    }
    std::set<std::pair<std::int64_t, std::uint32_t>> known_devices, known_contexts;
    for (const auto& [id, queue] : queues) {
      const std::int64_t pid = native_process(id);
      const auto gpu = std::ranges::find(trace_.gpus, queue.device, &Gpu::id);
      if (known_devices.emplace(pid, queue.device).second && gpu != trace_.gpus.end())
        devices.run(gpu->id, queue.device, pid, bare_uuid(*gpu), gpu->multiprocessors);
      const ContextInfo context = context_of(id, queue);
      if (known_contexts.emplace(pid, queue.context).second)
        contexts.run(context.null_stream, 0, 1, pid, queue.device, queue.context, context.parent,
                     context.is_green ? 1 : 0, context.multiprocessors);
      streams.run(queue.stream, 0, 1, pid, queue.context, nullptr,
                  queue.stream == context.null_stream ? null_stream : unknown_stream);
    }
  }

  /// As CUPTI tells of it; else one as each process's first is.
  [[nodiscard]] ContextInfo context_of(std::int64_t in_process, const Queue& queue) const {
    const auto found = std::ranges::find_if(trace_.contexts, [&](const ContextInfo& context) {
      return context.process == in_process && context.id == queue.context && context.device == queue.device;
    });
    if (found != trace_.contexts.end()) return *found;
    return {
        .process = in_process, .device = queue.device, .id = queue.context, .null_stream = first_null_stream};
  }

  /// From the first case's start to the last one's end.
  void write_span() {
    Statement span = database_.prepare("SELECT min(start), max(end) FROM MPROF_CASE");
    if (!span.step() || span.null(0)) return;
    create(database_, tables::details);
    database_.execute("DELETE FROM ANALYSIS_DETAILS");
    insert_into(database_, tables::details)
        .run(own_machine, span.integer(1) - span.integer(0), span.integer(0), span.integer(1));
  }

  /// Their names, and those of their threads; a process that no name is known of needs no row.
  void write_processes() {
    Statement insert_case = insert_into(database_, tables::case_processes);
    for (const ProcessInfo& process : trace_.processes) {
      if (process.in_case != 0) continue;
      insert_case.run(case_, process.id);
      if (process.name.empty()) continue;
      Statement insert = insert_into(database_, tables::processes);
      database_.prepare("DELETE FROM PROCESSES WHERE globalPid = ?").run(process.id);
      insert.run(process.id, native_process(process.id), process.name);
    }
    if (trace_.threads.empty()) return;
    Statement insert = insert_into(database_, tables::threads);
    for (const ThreadInfo& thread : trace_.threads) {
      const bool is_here = std::ranges::any_of(trace_.processes, [&](const ProcessInfo& process) {
        return process.in_case == 0 && process.id == process_of(thread.id);
      });
      if (!is_here && process_of(thread.id) != of_.process) continue;
      database_.prepare("DELETE FROM ThreadNames WHERE globalTid = ?").run(thread.id);
      insert.run(strings_.id(thread.name), nullptr, thread.id);
    }
  }

  /// That a row names, or else the case's.
  [[nodiscard]] std::int64_t process(std::int64_t of_row) const { return of_row != 0 ? of_row : of_.process; }

  /// The id of a text of the trace in StringIds.
  std::int64_t string(NameIndex name) {
    const auto [entry, is_new] = string_ids_.try_emplace(name);
    if (is_new) entry->second = strings_.id(trace_.names[name]);
    return entry->second;
  }

  void write_kernels() {
    if (trace_.kernels.empty()) return;
    write_enumeration(database_, launch_types);
    Statement insert = insert_into(database_, tables::kernels);
    for (const Kernel& k : trace_.kernels) {
      const auto along = [](const std::optional<Size>& size, std::size_t axis) {
        return size ? std::optional(size->at(axis)) : std::nullopt;
      };
      insert.run(time(k.time.start), time(k.time.end), k.queue.device, k.queue.context, nullptr,
                 k.queue.stream, correlation(k.correlation), process(k.process), string(k.name),
                 string(k.short_name), string(k.mangled), k.launch_type, k.cache_config,
                 k.registers_per_thread, along(k.grid, 0), along(k.grid, 1), along(k.grid, 2),
                 along(k.block, 0), along(k.block, 1), along(k.block, 2), k.static_shared_memory,
                 k.dynamic_shared_memory, k.local_memory_per_thread, k.local_memory_total, k.grid_id,
                 k.shared_memory_executed, unless_zero(k.graph_node), k.shared_memory_limit, nullptr, nullptr,
                 nullptr, unless_zero(k.graph), along(k.cluster, 0), along(k.cluster, 1), along(k.cluster, 2),
                 k.cluster_scheduling_policy, k.max_potential_cluster_size, k.max_active_clusters, nullptr);
    }
  }

  void write_graphs() {
    if (trace_.graphs.empty()) return;
    Statement insert = insert_into(database_, tables::graphs);
    for (const GraphExecution& g : trace_.graphs) {
      insert.run(time(g.time.start), time(g.time.end), g.queue.device, g.queue.context, nullptr,
                 g.queue.stream, correlation(g.correlation), process(g.process), g.graph, g.graph_exec);
    }
  }

  void write_system_calls() {
    if (trace_.system_calls.empty()) return;
    write_enumeration(database_, event_classes);
    Statement insert = insert_into(database_, tables::system_calls);
    for (const Call& c : trace_.system_calls) {
      insert.run(time(c.time.start), time(c.time.end), system_call_class, c.thread, string(c.name), c.result,
                 nullptr, 0, 0);
    }
    say_captured("CAPTURE_EVENT_TYPE", "OSRuntime");
    if (trace_.system_call_threshold)
      say_captured("OS_RUNTIME_OPTIONS:DURATION_THRESHOLD_NS", std::to_string(*trace_.system_call_threshold));
  }

  /// Once in the file.
  void say_captured(std::string_view name, std::string_view value) {
    Statement insert = insert_into(database_, tables::capture);
    database_.prepare("DELETE FROM META_DATA_CAPTURE WHERE name = ? AND value = ?").run(name, value);
    insert.run(name, value);
  }

  /// A table exists only when it has rows.
  void write_transfers() {
    if (trace_.transfers.empty()) return;
    write_enumeration(database_, memory_kinds);
    std::optional<Statement> insert_copy, insert_set;
    for (const Transfer& transfer : trace_.transfers) {
      if (transfer.is_set()) {
        if (!insert_set) insert_set = insert_into(database_, tables::sets);
        write_set(*insert_set, transfer);
      } else {
        if (!insert_copy) insert_copy = insert_into(database_, tables::copies);
        write_copy(*insert_copy, transfer);
      }
    }
    if (insert_copy) write_enumeration(database_, copy_kinds);
  }

  void write_copy(Statement& insert, const Transfer& t) {
    insert.run(time(t.time.start), time(t.time.end), t.queue.device, t.queue.context, nullptr, t.queue.stream,
               correlation(t.correlation), process(t.process), t.bytes, number(t.kind), nullptr,
               number(t.source), number(t.destination), nullptr, nullptr, nullptr, nullptr, nullptr,
               unless_zero(t.graph_node), nullptr, t.count);
  }

  void write_set(Statement& insert, const Transfer& t) {
    insert.run(time(t.time.start), time(t.time.end), t.queue.device, t.queue.context, nullptr, t.queue.stream,
               correlation(t.correlation), process(t.process), t.value, t.bytes, unless_zero(t.graph_node),
               number(t.source));
  }

  void write_calls() {
    if (trace_.calls.empty()) return;
    write_enumeration(database_, event_classes);
    Statement insert = insert_into(database_, tables::calls);
    for (const Call& c : trace_.calls) {
      insert.run(time(c.time.start), time(c.time.end), static_cast<int>(c.api), c.thread,
                 correlation(c.correlation), string(c.versioned_name), c.result, nullptr);
    }
  }

  void write_synchronizations() {
    if (trace_.synchronizations.empty()) return;
    write_enumeration(database_, synchronization_kinds);
    // CUPTI names the context only; nsys shows its device as well.
    std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> device_of;
    const auto look_at = [&](const auto& rows) {
      for (const auto& row : rows) device_of[{process(row.process), row.queue.context}] = row.queue.device;
    };
    look_at(trace_.kernels);
    look_at(trace_.transfers);
    Statement insert = insert_into(database_, tables::synchronizations);
    for (const Synchronization& s : trace_.synchronizations) {
      insert.run(time(s.time.start), time(s.time.end), device_of[{process(s.process), s.context}], s.context,
                 nullptr, s.stream, correlation(s.correlation), process(s.process), nullptr,
                 static_cast<int>(s.kind), s.event, s.event_sync);
    }
  }

  void write_overheads() {
    if (trace_.overheads.empty()) return;
    write_enumeration(database_, overhead_kinds);
    Statement insert = insert_into(database_, tables::overheads);
    Statement insert_own = insert_into(database_, tables::profiler_overheads);
    for (const Overhead& o : trace_.overheads) {
      const auto row = std::ranges::find(overhead_kinds.rows, static_cast<int>(o.kind), &EnumRow::id);
      const std::string_view label = row == overhead_kinds.rows.end() ? "Unknown" : row->label;
      const std::int64_t name = strings_.id(std::string(label));
      if (is_of_profiler(o.kind))
        insert_own.run(time(o.time.start), time(o.time.end), o.thread, name, o.kind);
      else
        insert.run(time(o.time.start), time(o.time.end), nullptr, o.thread, correlation(o.correlation), name,
                   o.kind);
    }
  }

  void write_allocations() {
    if (trace_.allocations.empty()) return;
    write_enumeration(database_, memory_kinds);
    write_enumeration(database_, memory_operations);
    Statement insert = insert_into(database_, tables::allocations);
    for (const Allocation& a : trace_.allocations) {
      insert.run(time(a.time.start), process(a.process), a.queue.device, a.queue.context, a.address, a.bytes,
                 number(a.kind), a.is_release ? memory_release : memory_allocation, nullptr,
                 correlation(a.correlation), a.queue.stream, nullptr, nullptr, nullptr, nullptr, nullptr,
                 nullptr);
    }
  }

  void write_ranges() {
    if (trace_.ranges.empty()) return;
    write_enumeration(database_, event_types);
    create(database_, tables::ranges);
    Statement insert = database_.prepare(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, globalTid, endGlobalTid, domainId) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    Statement insert_own = insert_into(database_, tables::own_ranges);
    for (const Range& range : trace_.ranges) {
      const bool is_mark = range.style == RangeStyle::mark;
      const bool one_thread = range.thread == range.end_thread;
      const bool is_extent = range.style == RangeStyle::extent;
      if (!is_extent)
        insert.run(time(range.time.start), is_mark ? std::nullopt : std::optional(time(range.time.end)),
                   event_type(range.style), trace_.text_of(range),
                   strings_.id(std::string(trace_.text_of(range))), range.thread,
                   one_thread ? std::nullopt : std::optional(range.end_thread),
                   domain(trace_.names[range.domain], process_of(range.thread)));
      if (range.id == 0) continue;
      const Place& place = trace_.places.at(range.place);
      insert_own.run(case_, range.id, time(range.time.start), time(range.time.end), trace_.text_of(range),
                     range.thread, place.op, place.part, is_extent ? 1 : 0);
    }
  }

  /// The id of an NVTX domain, which gets a row for each process that has ranges in it; the default domain
  /// has 0 and none.
  std::int64_t domain(const std::string& name, std::int64_t in_process) {
    if (name.empty()) return 0;
    if (const auto known = domains_.find({name, in_process}); known != domains_.end()) return known->second;
    Statement found = database_.prepare(
        "SELECT domainId, sum(globalTid = ?) FROM NVTX_EVENTS WHERE eventType = ? AND text = ? GROUP BY "
        "domainId");
    std::int64_t id = 0;
    bool is_there = false;
    if (found.bind(in_process, domain_created, name).step()) {
      id = found.integer(0);
      is_there = found.integer(1) != 0;
    } else {
      Statement largest = database_.prepare("SELECT coalesce(max(domainId), 0) FROM NVTX_EVENTS");
      largest.step();
      id = largest.integer(0) + 1;
    }
    if (!is_there) {
      database_
          .prepare(
              "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) "
              "VALUES (?, ?, ?, ?, ?)")
          .run(time(of_.window.start), domain_created, name, in_process, id);
    }
    return domains_[{name, in_process}] = id;
  }

  void write_attribution() {
    std::map<std::int64_t, PlaceIndex> places;
    for_each_correlation(trace_, [&](std::int64_t id, PlaceIndex place) {
      if (place != nowhere) places[id] = place;
    });
    Statement insert = insert_into(database_, tables::attribution);
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
    for (const tables::Table& table : correlated) drop_if_empty(table.name);
    for (const tables::Table& table :
         {tables::ranges, tables::system_calls, tables::profiler_overheads, tables::case_processes,
          tables::devices, tables::contexts, tables::streams, tables::system})
      drop_if_empty(table.name);
  }

  Database& database_;
  const Trace& trace_;
  const CaseInfo& of_;
  Interval extent_;
  Strings strings_;
  std::unordered_map<NameIndex, std::int64_t> string_ids_;  // by the trace's own numbers
  std::int64_t session_start_ = 0;
  std::int64_t case_ = 1;
  std::int64_t first_correlation_ = 0;
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> domains_;
};

}  // namespace

void write_trace(const std::filesystem::path& file, const Trace& trace) {
  Database database(file, sqlite::Mode::write);
  sqlite::Transaction transaction(database);
  Writer(database, trace).write_all();
  transaction.commit();
}

void write_export(const std::filesystem::path& file, const Trace& trace) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);  // what is wrong, opening says
  std::filesystem::path temporary = file;
  temporary += ".tmp";
  std::filesystem::remove(temporary, error);
  {
    Database database(temporary, sqlite::Mode::write);
    sqlite::Transaction transaction(database);
    Writer(database, trace).write_all();
    for (const tables::Table& own :
         {tables::cases, tables::attribution, tables::own_ranges, tables::case_processes})
      database.execute(fmt::format("DROP TABLE IF EXISTS {}", own.name));
    transaction.commit();
  }
  std::filesystem::rename(temporary, file);
}

}  // namespace mprof::trace
