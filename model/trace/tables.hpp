// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/nvtx_payload.hpp"
#include "model/trace/table.hpp"

/// The tables of trace.sqlite, for its writer and its readers. What mprof does not know is NULL there, though
/// Nsight Systems' own have NOT NULL.
namespace mprof::trace::tables {

// --- Rows that are no rows of a trace ---

struct StringRow {
  std::int64_t id = 0;
  std::string text{};
};

/// A name and its value: what a file says of itself, and of how it was captured.
struct Fact {
  std::string name{};
  std::string value{};
};

/// A number of an enumeration, and what it stands for.
struct Label {
  std::int64_t number = 0;
  std::string name{};
  std::string label{};
};

struct SystemFact {
  std::string name{};
  std::int64_t number = 0;
  std::string value{};
};

struct SessionStart {
  std::int64_t utc = 0;  ///< ns since 1970
  std::string utc_text{};
  std::string local_text{};
};

/// From the first case's start to the last one's end.
struct Span {
  Interval time{};
};

struct DeviceRow {
  std::uint32_t gpu = 0;     ///< TARGET_INFO_GPU.id
  std::uint32_t device = 0;  ///< as the process calls it
  std::int64_t process = 0;  ///< as the operating system numbers it, here and below
  std::string uuid{};
  std::optional<std::uint32_t> multiprocessors{};
};

struct ContextRow {
  ContextInfo of{};
  std::int64_t process = 0;
};

struct StreamRow {
  std::int64_t process = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  int type = nsys::unknown_stream;
};

struct SynchronizationRow {
  Synchronization of{};
  std::uint32_t device = 0;
};

struct SystemCallRow {
  Call of{};
  std::int64_t event_class = nsys::system_call_class;
};

/// A frame of a call stack.
struct StackRow {
  std::int64_t id = 0;     ///< of the stack
  std::int64_t depth = 0;  ///< of the frame in it, from 0: the innermost one
  StackFrame of{};
};

/// A range, or the name of a domain.
struct NvtxEvent {
  std::int64_t start = 0;
  std::optional<std::int64_t> end{};  ///< not of a mark, or of a domain's name
  std::int64_t type = 0;
  std::optional<std::string> text{};
  std::optional<std::int64_t> string{};  ///< the same in StringIds
  std::int64_t thread = 0;
  std::optional<std::int64_t> end_thread{};  ///< where it is another one
  std::int64_t domain = 0;
  std::optional<std::string> payload{};          ///< JSON
  std::optional<std::int64_t> payload_string{};  ///< the same in StringIds
  std::optional<std::string> data{};             ///< the same as bytes (stored_payloads.hpp)
  std::int64_t row = 0;                          ///< where it stands in its table, from 1
};

/// A row of a table that is tallied: an event, or a sample of a metric.
struct TalliedRow {
  std::optional<std::int64_t> start{};
  std::optional<std::int64_t> end{};
  std::optional<std::int64_t> thread{};
  std::optional<std::int64_t> process{};
  std::optional<std::int64_t> device{};  ///< a GPU, or what else has the metric
  NameIndex name = 0;
  std::int64_t list = 0;    ///< of metrics
  std::int64_t number = 0;  ///< in the list, or of an enumeration
  std::optional<double> amount{};
  std::optional<std::int64_t> raw{};  ///< ns since 1970, of a sample
};

/// A metric as an export names it.
struct MetricName {
  std::int64_t list = 0;
  std::int64_t number = 0;
  std::string name{};
  std::string unit{};
  std::int64_t source = 0;  ///< the GPU that has it, as the next
  std::string type_name{};
};

/// A network device: of a metric's global id, or of a name.
struct NetworkDevice {
  std::int64_t device = 0;
  std::int64_t global = 0;
  std::string name{};
};

/// A field of what ranges have attached.
struct PayloadEntry {
  std::int64_t domain = 0;
  std::int64_t schema = 0;
  std::int64_t place = 0;  ///< among the fields
  PayloadField of{};
};

struct TallyRow {
  std::int64_t in_case = 0;
  std::string kind{};
  Tally of{};
};

struct CaseRow {
  std::int64_t number = 0;
  CaseInfo of{};
  std::int64_t first_correlation = 0;
  std::int64_t last_correlation = 0;
};

struct Attribution {
  std::int64_t correlation = 0;
  std::int64_t in_case = 0;
  Place place{};
};

/// A range of mprof's own.
struct OwnRange {
  std::int64_t in_case = 0;
  std::uint64_t id = 0;
  Interval time{};
  std::string name{};
  std::int64_t thread = 0;
  Place place{};
  bool is_extent = false;
};

struct CaseProcess {
  std::int64_t in_case = 0;
  std::int64_t process = 0;
};

// --- As Nsight Systems exports them, schema 3.24.14 ---

extern const Table<StringRow> string_ids;
extern const Table<SessionStart> session_start;
extern const Table<Fact> metadata;
extern const Table<Fact> capture;
extern const Table<SystemFact> system;
extern const Table<Span> details;
extern const Table<Gpu> gpus;
extern const Table<DeviceRow> devices;
extern const Table<ContextRow> contexts;
extern const Table<StreamRow> streams;
extern const Table<ProcessInfo> processes;
extern const Table<ThreadInfo> threads;
extern const Table<Kernel> kernels;
extern const Table<GraphExecution> graphs;
extern const Table<GraphNode> graph_nodes;
extern const Table<Transfer> copies;
extern const Table<Transfer> sets;
extern const Table<Call> calls;
extern const Table<StackRow> stacks;
extern const Table<SynchronizationRow> synchronizations;
extern const Table<Overhead> overheads;
/// Of the profiler itself; what CUDA's own is stands in the table above.
extern const Table<Overhead> profiler_overheads;
extern const Table<Allocation> allocations;
extern const Table<SystemCallRow> system_calls;
extern const Table<NvtxEvent> ranges;

/// How a table is tallied.
struct TalliedTable {
  std::string_view name;  ///< with * at its end: all that begin so
  TallyKind kind = TallyKind::unread;
  std::span<const Column<TalliedRow>> columns;
  std::string_view unit{};   ///< of its amounts, where no metric says it
  std::string_view label{};  ///< what its rows are, where none has a name
};
[[nodiscard]] std::span<const TalliedTable> tallied();
extern const Table<TalliedRow> gpu_metrics;
extern const Table<MetricName> gpu_metric_names;
extern const Table<MetricName> network_metric_names;
extern const Table<MetricName> storage_metric_names;
extern const Table<NetworkDevice> network_ids;
extern const Table<NetworkDevice> network_devices;
extern const Table<PayloadEntry> payload_entries;

/// A table that names the numbers of another one's column.
[[nodiscard]] Table<Label> labels(const nsys::Enumeration& of);

// --- What Nsight Systems does not know ---

extern const Table<CaseRow> cases;
extern const Table<Attribution> attribution;
extern const Table<OwnRange> own_ranges;
extern const Table<CaseProcess> case_processes;
extern const Table<TallyRow> tallies;
/// What their columns mean, for docs/formats/run-record.md.
[[nodiscard]] std::string own_tables_as_markdown();

/// All tables but labels().
[[nodiscard]] std::vector<TableHead> all();

}  // namespace mprof::trace::tables
