// SPDX-License-Identifier: MIT
#include "model/trace/writer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "model/trace/id_map.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/tables.hpp"
#include "model/trace/tallies.hpp"
#include "model/version.hpp"
#include "system/files.hpp"

namespace mprof::trace {
namespace {

using sqlite::Database;
using tables::Insert;

using namespace nsys;

/// The names of the tables whose rows belong to a case by their correlation id.
std::vector<std::string_view> correlated() {
  return {tables::kernels.name,   tables::graphs.name,     tables::calls.name,
          tables::copies.name,    tables::sets.name,       tables::synchronizations.name,
          tables::overheads.name, tables::allocations.name};
}

/// A file's own numbers, which its writer looks at as they are.
class AsStored final : public tables::FromFile {
 public:
  NameIndex name(std::int64_t) override { return 0; }
  const std::string& text(std::int64_t) override { return nothing_; }
  CallName call(std::int64_t) override { return {}; }

 private:
  std::string nothing_;
};

/// The rows of a table that a condition holds for, in the file's own times and numbers.
template <class Row>
std::vector<Row> stored(const Database& database, const tables::Table<Row>& table,
                        std::string_view condition = {}, std::initializer_list<sqlite::Value> values = {}) {
  AsStored as_stored;
  tables::Rows<Row> rows(database, table, as_stored, condition, values);
  std::vector<Row> all;
  while (auto row = rows.next()) {
    rows.finish(*row);
    all.push_back(std::move(*row));
  }
  return all;
}

/// StringIds: each text once.
class Strings {
 public:
  Strings(Database& database, tables::ToFile& file) : insert_(database, tables::string_ids, file) {
    for (const auto& [id, text] : stored(database, tables::string_ids)) {
      ids_.emplace(text, id);
      next_ = std::max(next_, id + 1);
    }
  }

  std::int64_t id(std::string_view text) {
    const auto [entry, is_new] = ids_.try_emplace(std::string(text), next_);
    if (is_new) insert_({next_++, entry->first});
    return entry->second;
  }

 private:
  Insert<tables::StringRow> insert_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::int64_t next_ = 0;
};

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
  for (const KernelRow& row : trace.kernels.rows()) visit(trace.kernels.correlation(row), row.place);
  for (const Transfer& transfer : trace.transfers) visit(transfer.correlation, transfer.place);
  for (const Call& call : trace.calls) visit(call.correlation, call.place);
  for (const Synchronization& row : trace.synchronizations) visit(row.correlation, row.place);
  for (const Allocation& row : trace.allocations) visit(row.correlation, row.place);
  for (const GraphExecution& row : trace.graphs) visit(row.correlation, row.place);
}

/// Writes one trace; everything in the transaction of its caller.
class Writer final : public tables::ToFile {
 public:
  Writer(Database& database, const Trace& trace)
      : database_(database),
        trace_(trace),
        of_(trace.cases.at(0)),
        extent_(extent_of(trace)),
        strings_(database, *this) {
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
    write_rows(tables::graphs, trace_.graphs);
    number_stacks();
    write_rows(tables::graph_nodes, trace_.graph_nodes);
    write_transfers();
    write_calls();
    write_stacks();
    write_synchronizations();
    write_overheads();
    write_allocations();
    write_ranges();
    write_system_calls();
    write_attribution();
    write_gpu_samples();
    write_tallies();
    drop_empty_tables();
    write_span();
  }

 private:
  std::int64_t correlation(std::int64_t id) override { return first_correlation_ + id; }
  std::int64_t time(std::int64_t time) override { return trace_.epoch + time - session_start_; }
  std::int64_t process(std::int64_t id) override { return id != 0 ? id : of_.process; }
  std::int64_t string(std::string_view text) override { return strings_.id(text); }
  std::int64_t string(NameIndex name) override {
    const auto [entry, is_new] = string_ids_.try_emplace(name);
    if (is_new) entry->second = strings_.id(trace_.names[name]);
    return entry->second;
  }

  std::int64_t stack(StackIndex index) override {
    const auto [entry, is_new] = stack_ids_.try_emplace(index, next_stack_);
    if (is_new) ++next_stack_;
    return entry->second;
  }

  template <class Row>
  Insert<Row> insert_into(const tables::Table<Row>& table) {
    return {database_, table, *this};
  }
  /// A table exists only when it has rows.
  template <class Row, class Rows>
  void write_rows(const tables::Table<Row>& table, const Rows& rows) {
    if (rows.empty()) return;
    Insert<Row> insert = insert_into(table);
    for (const Row& row : rows) insert(row);
  }
  void write_enumeration(const Enumeration& enumeration) {
    if (database_.has_table(enumeration.table)) return;
    Insert<tables::Label> insert = insert_into(tables::labels(enumeration));
    for (const EnumRow& row : enumeration.rows)
      insert({row.id, std::string(row.name), std::string(row.label)});
  }
  template <class... Values>
  void remove(std::string_view table, std::string_view condition, const Values&... values) {
    database_.prepare(fmt::format("DELETE FROM {} WHERE {}", table, condition)).run(values...);
  }

  /// The case's window, and what lies around it.
  static Interval extent_of(const Trace& trace) {
    Interval extent = trace.cases.at(0).window;
    const auto widen = [&](const auto& rows) {
      for (const auto& row : rows) {
        if (row.in_case == no_case) continue;
        extent = {std::min(extent.start, row.time.start), std::max(extent.end, row.time.end)};
      }
    };
    widen(trace.ranges);
    widen(trace.system_calls);
    return extent;
  }

  /// Captures of CUDA graphs may be from before the case's own part of the program.
  [[nodiscard]] std::int64_t earliest() const {
    std::int64_t start = extent_.start;
    for (const Range& range : trace_.ranges) start = std::min(start, range.time.start);
    for (const GraphNode& node : trace_.graph_nodes) start = std::min(start, node.time.start);
    return start;
  }

  void describe_file() {
    if (!database_.has_table(tables::session_start.name)) {
      const std::int64_t start = trace_.epoch + earliest();
      const auto seconds = std::chrono::floor<std::chrono::seconds>(
          std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(start)));
      const auto text = [](const auto& time) { return fmt::format("{:%Y-%m-%dT%H:%M:%S}", time); };
      insert_into(tables::session_start)(
          {start, text(seconds), text(fmt::localtime(std::chrono::system_clock::to_time_t(seconds)))});
      Insert<tables::Fact> captured = insert_into(tables::capture);
      for (const char* event : {"Cuda", "NvtxEvents"}) captured({"CAPTURE_EVENT_TYPE", event});
      Insert<tables::Fact> insert = insert_into(tables::metadata);
      insert({"EXPORT_PRODUCT_NAME", "mprof"});
      insert({"EXPORT_SCHEMA_VERSION", "3.24.14"});
      insert({"EXPORT_SCHEMA_VERSION_MAJOR", "3"});
      insert({"EXPORT_SCHEMA_VERSION_MINOR", "24"});
      insert({"EXPORT_SCHEMA_VERSION_MICRO", "14"});
      insert({"EXPORT_PRODUCT_VERSION", fmt::format("mprof {}", version)});
    }
    const auto starts = stored(database_, tables::session_start);
    if (!starts.empty()) session_start_ = starts.front().utc;
  }

  void remove_older() {
    create(database_, tables::cases);
    create(database_, tables::attribution);
    create(database_, tables::own_ranges);
    create(database_, tables::case_processes);
    for (const tables::CaseRow& older : stored(database_, tables::cases, "caseId = ?", {of_.id})) {
      for (const std::string_view table : correlated()) {
        if (database_.has_table(table))
          remove(table, "correlationId BETWEEN ? AND ?", older.first_correlation, older.last_correlation);
      }
      std::set<std::int64_t> processes{older.of.process};
      for (const auto& further : stored(database_, tables::case_processes, "caseId = ?", {older.number}))
        processes.insert(further.process);
      for (const std::int64_t process : processes) remove_of_process(process, older.of.window);
      for (const std::string_view table :
           {tables::attribution.name, tables::own_ranges.name, tables::case_processes.name})
        remove(table, "caseId = ?", older.number);
      if (database_.has_table(tables::tallies.name)) remove(tables::tallies.name, "caseId = ?", older.number);
      for (const std::string_view table : {tables::gpu_metrics.name, tables::gpu_metric_names.name}) {
        if (database_.has_table(table)) remove(table, "typeId / ? = ?", gpus_of_a_case, older.number);
      }
      remove(tables::cases.name, "id = ?", older.number);
    }
  }

  /// What has no correlation id. Domains stay: other cases may have ranges in them.
  void remove_of_process(std::int64_t process, const Interval& window) {
    constexpr std::string_view of_process = "globalTid & ? = ? AND start BETWEEN ? AND ?";
    for (const std::string_view table : {tables::ranges.name, tables::system_calls.name,
                                         tables::profiler_overheads.name, tables::graph_nodes.name}) {
      if (!database_.has_table(table)) continue;
      const std::string but =
          table == tables::ranges.name ? fmt::format(" AND eventType != {}", domain_created) : "";
      remove(table, fmt::format("{}{}", of_process, but), ~thread_mask, process, window.start, window.end);
    }
  }

  void write_case() {
    std::int64_t last_correlation = -1;
    for (const tables::CaseRow& other : stored(database_, tables::cases)) {
      case_ = std::max(case_, other.number + 1);
      last_correlation = std::max(last_correlation, other.last_correlation);
    }
    first_correlation_ = last_correlation + 1;
    std::int64_t largest = 0;
    for_each_correlation(trace_, [&](std::int64_t id, PlaceIndex) { largest = std::max(largest, id); });
    for (const Overhead& overhead : trace_.overheads) largest = std::max(largest, overhead.correlation);
    tables::CaseRow row{case_, of_, first_correlation_, correlation(largest)};
    row.of.window = extent_;
    insert_into(tables::cases)(row);
  }

  void write_gpus() {
    std::vector<Gpu> rows = trace_.gpus;
    for (Gpu& gpu : rows) {
      create(database_, tables::gpus);
      const std::uint32_t device = gpu.id;
      gpu_rows_[device] = gpu.id = row_of(gpu);
      remove(tables::gpus.name, "id = ?", gpu.id);
      insert_into(tables::gpus)(gpu);
    }
  }

  /// The row of a GPU: its own, or a new one where its number is another GPU's.
  [[nodiscard]] std::uint32_t row_of(const Gpu& gpu) const {
    const std::string uuid(nsys::bare_uuid(gpu.uuid));
    std::optional<std::int64_t> known;
    if (!uuid.empty()) known = database_.number("SELECT id FROM TARGET_INFO_GPU WHERE uuid = ?", uuid);
    if (!known && !uuid.empty() &&
        database_.number("SELECT 1 FROM TARGET_INFO_GPU WHERE id = ? AND uuid <> ''", gpu.id))
      known = database_.number("SELECT max(id) + 1 FROM TARGET_INFO_GPU");
    return known ? static_cast<std::uint32_t>(*known) : gpu.id;
  }

  void write_system() {
    if (trace_.system.empty()) return;
    Insert<tables::SystemFact> insert = insert_into(tables::system);
    for (const SystemProperty& property : system_properties) {
      const auto known = trace_.system.find(std::string(property.name));
      if (known == trace_.system.end()) continue;
      remove(tables::system.name, "name = ?", property.name);
      insert({known->first, property.id, known->second});
    }
  }

  /// Devices, contexts and streams of each process, as far as its work shows them: of streams that are not a
  /// context's null stream neither type nor priority is known.
  void write_queues() {
    std::set<std::pair<std::int64_t, Queue>> queues;
    const auto look_at = [&](const auto& rows) {
      for (const auto& row : rows) queues.emplace(process(row.process), row.queue);
    };
    std::optional<std::uint32_t> last;
    for (const KernelRow& row : trace_.kernels.rows()) {
      const Kernel& kernel = trace_.kernels.shared(row);
      if (row.shared != last) queues.emplace(process(kernel.process), kernel.queue);
      last = row.shared;
    }
    look_at(trace_.graphs);
    look_at(trace_.transfers);
    if (queues.empty()) return;
    write_enumeration(stream_types);
    Insert<tables::DeviceRow> devices = insert_into(tables::devices);
    Insert<tables::ContextRow> contexts = insert_into(tables::contexts);
    Insert<tables::StreamRow> streams = insert_into(tables::streams);
    std::set<std::int64_t> processes;
    for (const auto& [id, queue] : queues) processes.insert(native_process(id));
    for (const std::int64_t pid : processes) {
      remove(tables::devices.name, "pid = ?", pid);
      remove(tables::contexts.name, "processId = ?", pid);
      remove(tables::streams.name, "processId = ?", pid);
    }
    std::set<std::pair<std::int64_t, std::uint32_t>> known_devices, known_contexts;
    for (const auto& [id, queue] : queues) {
      const std::int64_t pid = native_process(id);
      const auto gpu = std::ranges::find(trace_.gpus, queue.device, &Gpu::id);
      if (known_devices.emplace(pid, queue.device).second && gpu != trace_.gpus.end())
        devices({gpu_rows_[queue.device], queue.device, pid, gpu->uuid, gpu->multiprocessors});
      const ContextInfo context = context_of(id, queue);
      if (known_contexts.emplace(pid, queue.context).second) contexts({context, pid});
      streams({pid, queue.context, queue.stream,
               queue.stream == context.null_stream ? null_stream : unknown_stream});
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

  /// From the first case's start to the last one's end, in the file's times.
  void write_span() {
    std::optional<Interval> span;
    for (const tables::CaseRow& one : stored(database_, tables::cases)) {
      if (!span) span = one.of.window;
      span = Interval{std::min(span->start, one.of.window.start), std::max(span->end, one.of.window.end)};
    }
    if (!span) return;
    create(database_, tables::details);
    database_.execute(fmt::format("DELETE FROM {}", tables::details.name));
    insert_into(tables::details)({*span});
  }

  /// Their names, and those of their threads; a process that no name is known of needs no row.
  void write_processes() {
    Insert<tables::CaseProcess> insert_case = insert_into(tables::case_processes);
    for (const ProcessInfo& process : trace_.processes) {
      if (process.in_case != 0) continue;
      insert_case({case_, process.id});
      if (process.name.empty()) continue;
      Insert<ProcessInfo> insert = insert_into(tables::processes);
      remove(tables::processes.name, "globalPid = ?", process.id);
      insert(process);
    }
    if (trace_.threads.empty()) return;
    Insert<ThreadInfo> insert = insert_into(tables::threads);
    for (const ThreadInfo& thread : trace_.threads) {
      const bool is_here = std::ranges::any_of(trace_.processes, [&](const ProcessInfo& process) {
        return process.in_case == 0 && process.id == process_of(thread.id);
      });
      if (!is_here && process_of(thread.id) != of_.process) continue;
      remove(tables::threads.name, "globalTid = ?", thread.id);
      insert(thread);
    }
  }

  void write_kernels() {
    if (!trace_.kernels.empty()) write_enumeration(launch_types);
    write_rows(tables::kernels, trace_.kernels);
  }

  void write_system_calls() {
    if (trace_.system_calls.empty()) return;
    write_enumeration(event_classes);
    Insert<tables::SystemCallRow> insert = insert_into(tables::system_calls);
    for (const Call& call : trace_.system_calls) insert({call});
    say_captured("CAPTURE_EVENT_TYPE", "OSRuntime");
    if (trace_.system_call_threshold)
      say_captured("OS_RUNTIME_OPTIONS:DURATION_THRESHOLD_NS", std::to_string(*trace_.system_call_threshold));
  }

  /// Once in the file.
  void say_captured(const std::string& name, const std::string& value) {
    Insert<tables::Fact> insert = insert_into(tables::capture);
    remove(tables::capture.name, "name = ? AND value = ?", name, value);
    insert({name, value});
  }

  void write_transfers() {
    if (trace_.transfers.empty()) return;
    write_enumeration(memory_kinds);
    std::optional<Insert<Transfer>> insert_copy, insert_set;
    for (const Transfer& transfer : trace_.transfers) {
      auto& insert = transfer.is_set() ? insert_set : insert_copy;
      if (!insert) insert.emplace(insert_into(transfer.is_set() ? tables::sets : tables::copies));
      (*insert)(transfer);
    }
    if (insert_copy) write_enumeration(copy_kinds);
  }

  void write_calls() {
    if (!trace_.calls.empty()) write_enumeration(event_classes);
    write_rows(tables::calls, trace_.calls);
  }

  /// After those of other cases.
  void number_stacks() {
    if (!database_.has_table(tables::stacks.name)) return;
    std::string unused = "1";
    for (const std::string_view user : {tables::calls.name, tables::graph_nodes.name}) {
      if (database_.has_table(user))
        unused +=
            fmt::format(" AND id NOT IN (SELECT callchainId FROM {} WHERE callchainId IS NOT NULL)", user);
    }
    remove(tables::stacks.name, unused);
    next_stack_ = database_.number("SELECT max(id) + 1 FROM CUDA_CALLCHAINS").value_or(1);
  }

  /// Those that calls and nodes of graphs have.
  void write_stacks() {
    if (stack_ids_.empty()) return;
    Insert<tables::StackRow> insert = insert_into(tables::stacks);
    for (const auto& [index, id] : stack_ids_) {
      std::int64_t depth = 0;
      for (const StackFrame& frame : trace_.stacks[index]) insert({id, depth++, frame});
    }
  }

  void write_synchronizations() {
    if (trace_.synchronizations.empty()) return;
    write_enumeration(synchronization_kinds);
    // CUPTI names the context only; nsys shows its device as well.
    std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> device_of;
    const auto look_at = [&](const auto& rows) {
      for (const auto& row : rows) device_of[{process(row.process), row.queue.context}] = row.queue.device;
    };
    look_at(trace_.kernels);
    look_at(trace_.transfers);
    Insert<tables::SynchronizationRow> insert = insert_into(tables::synchronizations);
    for (const Synchronization& row : trace_.synchronizations)
      insert({row, device_of[{process(row.process), row.context}]});
  }

  void write_overheads() {
    if (trace_.overheads.empty()) return;
    write_enumeration(overhead_kinds);
    Insert<Overhead> insert = insert_into(tables::overheads);
    Insert<Overhead> insert_own = insert_into(tables::profiler_overheads);
    for (const Overhead& row : trace_.overheads) (is_of_profiler(row.kind) ? insert_own : insert)(row);
  }

  void write_allocations() {
    if (trace_.allocations.empty()) return;
    write_enumeration(memory_kinds);
    write_enumeration(memory_operations);
    write_rows(tables::allocations, trace_.allocations);
  }

  void write_ranges() {
    if (trace_.ranges.empty()) return;
    write_enumeration(event_types);
    Insert<tables::NvtxEvent> insert = insert_into(tables::ranges);
    Insert<tables::OwnRange> insert_own = insert_into(tables::own_ranges);
    for (const Range& range : trace_.ranges) {
      const std::string text(trace_.text_of(range));
      if (range.style != RangeStyle::extent) insert(event_of(range, text));
      if (range.id == 0) continue;
      insert_own({.in_case = case_,
                  .id = range.id,
                  .time = range.time,
                  .name = text,
                  .thread = range.thread,
                  .place = trace_.places.at(range.place),
                  .is_extent = range.style == RangeStyle::extent});
    }
  }

  tables::NvtxEvent event_of(const Range& range, const std::string& text) {
    tables::NvtxEvent event{.start = range.time.start,
                            .type = event_type(range.style),
                            .text = text,
                            .string = strings_.id(text),
                            .thread = range.thread,
                            .domain = domain(trace_.names[range.domain], process_of(range.thread))};
    if (range.style != RangeStyle::mark) event.end = range.time.end;
    if (range.end_thread != range.thread) event.end_thread = range.end_thread;
    if (range.payload != 0) {
      event.payload = trace_.names[range.payload];
      event.payload_string = strings_.id(*event.payload);
    }
    return event;
  }

  /// The id of an NVTX domain, which gets a row for each process that has ranges in it; the default domain
  /// has 0 and none.
  std::int64_t domain(const std::string& name, std::int64_t in_process) {
    if (name.empty()) return 0;
    if (const auto known = domains_.find({name, in_process}); known != domains_.end()) return known->second;
    const auto named =
        stored(database_, tables::ranges, "eventType = ? AND text = ?", {std::int64_t{domain_created}, name});
    const std::int64_t id =
        !named.empty()
            ? named.front().domain
            : database_.number(fmt::format("SELECT max(domainId) FROM {}", tables::ranges.name)).value_or(0) +
                  1;
    if (std::ranges::find(named, in_process, &tables::NvtxEvent::thread) == named.end()) {
      insert_into(tables::ranges)({.start = of_.window.start,
                                   .type = domain_created,
                                   .text = name,
                                   .thread = in_process,
                                   .domain = id});
    }
    return domains_[{name, in_process}] = id;
  }

  void write_attribution() {
    IdMap places;
    for_each_correlation(trace_, [&](std::int64_t id, PlaceIndex place) {
      if (place != nowhere) places(0, id) = place;
    });
    Insert<tables::Attribution> insert = insert_into(tables::attribution);
    places.for_each_in_order([&](std::int64_t id, PlaceIndex place) {
      insert({id, case_, trace_.places.at(place)});
    });
  }

  /// A sample is written with its end, as readers of Nsight Systems' exports expect one time of it.
  void write_gpu_samples() {
    if (trace_.gpu_samples.empty()) return;
    Insert<tables::TalliedRow> insert = insert_into(tables::gpu_metrics);
    Insert<tables::MetricName> insert_name = insert_into(tables::gpu_metric_names);
    for (const GpuSamples& samples : trace_.gpu_samples) {
      const auto row = gpu_rows_.find(samples.device);
      const std::int64_t gpu = row == gpu_rows_.end() ? samples.device : row->second;
      const std::int64_t type = case_ * gpus_of_a_case + gpu % gpus_of_a_case;
      for (std::size_t i = 0; i < samples.curves.size(); ++i)
        insert_name({.list = type,
                     .number = static_cast<std::int64_t>(i),
                     .name = samples.curves[i].name,
                     .source = gpu,
                     .type_name = trace_.device(samples.device)});
      for (std::size_t at = 0; at < samples.times.size(); ++at) write_sample(insert, samples, type, at);
    }
  }

  void write_sample(Insert<tables::TalliedRow>& insert, const GpuSamples& samples, std::int64_t type,
                    std::size_t at) const {
    const std::int64_t end = samples.times[at].end;
    for (std::size_t i = 0; i < samples.curves.size(); ++i) {
      const std::vector<float>& values = samples.curves[i].values;
      if (at >= values.size() || std::isnan(values[at])) continue;
      insert({.start = end,
              .list = type,
              .number = static_cast<std::int64_t>(i),
              .amount = double{values[at]},
              .raw = trace_.epoch + end});
    }
  }

  void write_tallies() {
    if (trace_.tallies.empty()) return;
    Insert<tables::TallyRow> insert = insert_into(tables::tallies);
    for (const Tally& tally : trace_.tallies) insert({case_, std::string(word_of(tally.kind)), tally});
  }

  /// A table exists only when it has rows, as in an export; one can have lost its last with an older trace.
  void drop_empty_tables() {
    const auto drop_if_empty = [&](std::string_view table) {
      if (!database_.has_table(table)) return;
      const bool empty = !database_.prepare(fmt::format("SELECT 1 FROM {} LIMIT 1", table)).step();
      if (empty) database_.execute(fmt::format("DROP TABLE {}", table));
    };
    for (const std::string_view table : correlated()) drop_if_empty(table);
    for (const std::string_view table :
         {tables::ranges.name, tables::system_calls.name, tables::profiler_overheads.name,
          tables::graph_nodes.name, tables::stacks.name, tables::case_processes.name, tables::devices.name,
          tables::contexts.name, tables::streams.name, tables::system.name, tables::tallies.name,
          tables::gpu_metrics.name, tables::gpu_metric_names.name})
      drop_if_empty(table);
  }

  Database& database_;
  const Trace& trace_;
  const CaseInfo& of_;
  Interval extent_;
  Strings strings_;
  std::unordered_map<NameIndex, std::int64_t> string_ids_;  // by the trace's own numbers
  std::map<StackIndex, std::int64_t> stack_ids_;            // likewise
  std::int64_t next_stack_ = 1;
  std::int64_t session_start_ = 0;
  std::int64_t case_ = 1;
  std::int64_t first_correlation_ = 0;
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> domains_;
  std::map<std::uint32_t, std::uint32_t> gpu_rows_;  ///< in the file, by the trace's number
};

}  // namespace

void write_trace(const std::filesystem::path& file, const Trace& trace) {
  Database database(file, sqlite::Mode::write);
  sqlite::Transaction transaction(database);
  Writer(database, trace).write_all();
  transaction.commit();
}

void recover_trace(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return;
  const Database database(file, sqlite::Mode::write);
  static_cast<void>(database.has_table(tables::cases.name));  // SQLite undoes it before it reads
}

void write_export(const std::filesystem::path& file, const Trace& trace) {
  FileWriter whole(file);
  {
    Database database(whole.temporary(), sqlite::Mode::write);
    database.execute("PRAGMA journal_mode = MEMORY");  // nobody else knows the file
    sqlite::Transaction transaction(database);
    Writer(database, trace).write_all();
    create(database, tables::threads);  // readers join it, whether or not a thread has a name
    for (const std::string_view own : {tables::cases.name, tables::attribution.name, tables::own_ranges.name,
                                       tables::case_processes.name, tables::tallies.name})
      database.execute(fmt::format("DROP TABLE IF EXISTS {}", own));
    transaction.commit();
  }
  whole.commit();
}

}  // namespace mprof::trace
