// SPDX-License-Identifier: MIT
#include "model/trace/tables.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "model/member.hpp"

namespace mprof::trace::tables {
namespace {

using sqlite::Value;
using enum Need;

constexpr std::string_view integer = "INTEGER";
constexpr std::string_view known_integer = "INTEGER NOT NULL";
constexpr std::string_view text = "TEXT";
constexpr std::string_view known_text = "TEXT NOT NULL";
constexpr std::string_view real = "REAL";
constexpr std::string_view key = "INTEGER PRIMARY KEY";

// --- How a field of a row becomes a column ---

template <class T>
Value value_of(const T& value) {
  if constexpr (std::is_convertible_v<T, std::string_view>) {
    return std::string_view(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    return static_cast<std::int64_t>(value);
  }
}
template <class T>
Value value_of(const std::optional<T>& value) {
  return value ? value_of(*value) : Value();
}

template <class T>
void set(T& to, const Cell& cell) {
  if constexpr (std::is_same_v<T, std::string>) {
    to = cell.text();
  } else if constexpr (std::is_floating_point_v<T>) {
    to = cell.real();
  } else if constexpr (std::is_enum_v<T>) {
    // A newer file may have a number that the trace has no name for.
    if (std::in_range<std::underlying_type_t<T>>(cell.integer())) to = static_cast<T>(cell.integer());
  } else {
    to = static_cast<T>(cell.integer());
  }
}
template <class T>
void set(std::optional<T>& to, const Cell& cell) {
  T value{};
  if constexpr (std::is_enum_v<T>) {
    if (!std::in_range<std::underlying_type_t<T>>(cell.integer())) return;
  }
  set(value, cell);
  to = std::move(value);
}

/// As it is.
template <auto First, auto... Rest>
constexpr Field<RowOf<First>> plain{
    [](const RowOf<First>& row, ToFile&) { return value_of(member<First, Rest...>(row)); },
    [](RowOf<First>& row, const Cell& cell, FromFile&) { set(member<First, Rest...>(row), cell); }};

/// ns; a file counts from its first case's start.
template <auto First, auto... Rest>
constexpr Field<RowOf<First>> moment{
    [](const RowOf<First>& row, ToFile& file) { return Value(file.time(member<First, Rest...>(row))); },
    plain<First, Rest...>.read};

template <auto First, auto... Rest>
constexpr Field<RowOf<First>> correlation_id{[](const RowOf<First>& row, ToFile& file) {
                                               return Value(file.correlation(member<First, Rest...>(row)));
                                             },
                                             plain<First, Rest...>.read, true};

/// A key, where a row has no correlation id.
template <class Row>
constexpr Field<Row> keyed(Field<Row> field) {
  field.is_key = true;
  return field;
}

/// 0 in a row: the case's.
template <auto First, auto... Rest>
constexpr Field<RowOf<First>> process_id{
    [](const RowOf<First>& row, ToFile& file) { return Value(file.process(member<First, Rest...>(row))); },
    plain<First, Rest...>.read};

/// An id in StringIds.
template <auto First, auto... Rest>
constexpr Field<RowOf<First>> name_id{
    [](const RowOf<First>& row, ToFile& file) { return Value(file.string(member<First, Rest...>(row))); },
    [](RowOf<First>& row, const Cell& cell, FromFile& file) {
      member<First, Rest...>(row) = file.name(cell.integer());
    },
};

/// NULL stands for 0.
template <auto First, auto... Rest>
constexpr Field<RowOf<First>> unless_zero{[](const RowOf<First>& row, ToFile&) {
                                            const auto value = member<First, Rest...>(row);
                                            return value == 0 ? Value() : value_of(value);
                                          },
                                          plain<First, Rest...>.read};

/// An axis of a size, which the first one makes known.
template <auto Member, std::size_t axis>
constexpr Field<RowOf<Member>> along{[](const RowOf<Member>& row, ToFile&) {
                                       const std::optional<Size>& size = row.*Member;
                                       return size ? value_of((*size)[axis]) : Value();
                                     },
                                     [](RowOf<Member>& row, const Cell& cell, FromFile&) {
                                       std::optional<Size>& size = row.*Member;
                                       if (axis == 0) size.emplace();
                                       if (size) (*size)[axis] = static_cast<std::int32_t>(cell.integer());
                                     }};

/// The same in every row.
template <class Row, std::int64_t number>
constexpr Field<Row> constant{[](const Row&, ToFile&) { return Value(number); }};

/// Written, and read elsewhere or not at all.
template <auto First, auto... Rest>
constexpr Field<RowOf<First>> copied{plain<First, Rest...>.write};

template <class Row, std::size_t size>
constexpr std::array<Column<Row>, size> columns(const Column<Row> (&list)[size]) {
  return std::to_array(list);
}

template <class Row, std::size_t first, std::size_t second>
constexpr std::array<Column<Row>, first + second> extended(const std::array<Column<Row>, first>& a,
                                                           const Column<Row> (&b)[second]) {
  std::array<Column<Row>, first + second> all{};
  for (std::size_t i = 0; i < first; ++i) all[i] = a[i];
  for (std::size_t i = 0; i < second; ++i) all[first + i] = b[i];
  return all;
}

// --- Of the file and of the machine ---

constexpr auto string_columns = columns<StringRow>({
    {"id", "INTEGER NOT NULL PRIMARY KEY", plain<&StringRow::id>, needed},
    {"value", known_text, plain<&StringRow::text>, needed},
});

constexpr auto session_columns = columns<SessionStart>({
    {"utcEpochNs", integer, plain<&SessionStart::utc>, needed},
    {"utcTime", text, plain<&SessionStart::utc_text>},
    {"localTime", text, plain<&SessionStart::local_text>},
    {"systemClockNs", integer},
});

constexpr auto fact_columns = columns<Fact>({
    {"name", known_text, plain<&Fact::name>, needed},
    {"value", text, plain<&Fact::value>, needed},
});

constexpr Field<SystemFact> command_line_tool{
    [](const SystemFact&, ToFile&) { return Value("Local (CLI)"); }};

constexpr auto system_columns = columns<SystemFact>({
    {"globalVid", integer, constant<SystemFact, nsys::own_machine>},
    {"devStateName", known_text, command_line_tool},
    {"name", known_text, plain<&SystemFact::name>, needed},
    {"nameEnum", known_integer, copied<&SystemFact::number>},
    {"value", known_text, plain<&SystemFact::value>, needed},
});

constexpr Field<Span> duration{[](const Span& span, ToFile&) { return Value(span.time.length()); }};

constexpr auto detail_columns = columns<Span>({
    {"globalVid", known_integer, constant<Span, nsys::own_machine>},
    {"duration", known_integer, duration},
    {"startTime", known_integer, copied<&Span::time, &Interval::start>},
    {"stopTime", known_integer, copied<&Span::time, &Interval::end>},
});

/// As Nsight Systems has it: without "GPU-".
constexpr Field<Gpu> bare_uuid{[](const Gpu& gpu, ToFile&) { return Value(nsys::bare_uuid(gpu.uuid)); },
                               plain<&Gpu::uuid>.read};

constexpr auto gpu_columns = columns<Gpu>({
    {"vmId", known_integer, constant<Gpu, nsys::own_machine>},
    {"id", known_integer, plain<&Gpu::id>, needed},
    {"name", text, plain<&Gpu::name>, needed},
    {"busLocation", text, plain<&Gpu::bus_location>},
    {"isDiscrete", integer, constant<Gpu, 1>},
    {"l2CacheSize", integer, plain<&Gpu::l2_cache>},
    {"totalMemory", integer, plain<&Gpu::memory>},
    {"memoryBandwidth", integer, plain<&Gpu::memory_bandwidth>},
    {"clockRate", integer, plain<&Gpu::clock_rate>},
    {"smCount", integer, plain<&Gpu::multiprocessors>},
    {"pwGpuId", integer, copied<&Gpu::id>},
    {"uuid", text, bare_uuid},
    {"luid", integer},
    {"chipName", text, plain<&Gpu::chip>},
    {"cuDevice", integer, plain<&Gpu::id>},  // where a file has it, it is the number that work names
    {"ctxswDevPath", text},
    {"ctrlDevPath", text},
    {"revision", integer},
    {"nodeMask", integer},
    {"constantMemory", integer},
    {"maxIPC", integer},
    {"maxRegistersPerBlock", integer},
    {"maxShmemPerBlock", integer},
    {"maxShmemPerBlockOptin", integer},
    {"maxShmemPerSm", integer},
    {"maxRegistersPerSm", integer},
    {"threadsPerWarp", integer, plain<&Gpu::threads_per_warp>},
    {"asyncEngines", integer, plain<&Gpu::copy_engines>},
    {"maxWarpsPerSm", integer},
    {"maxBlocksPerSm", integer},
    {"maxThreadsPerBlock", integer},
    {"maxBlockDimX", integer},
    {"maxBlockDimY", integer},
    {"maxBlockDimZ", integer},
    {"maxGridDimX", integer},
    {"maxGridDimY", integer},
    {"maxGridDimZ", integer},
    {"computeMajor", integer, plain<&Gpu::compute_major>},
    {"computeMinor", integer, plain<&Gpu::compute_minor>},
    {"smMajor", integer, copied<&Gpu::compute_major>},
    {"smMinor", integer, copied<&Gpu::compute_minor>},
});

constexpr auto device_columns = columns<DeviceRow>({
    {"gpuId", integer, plain<&DeviceRow::gpu>},
    {"cudaId", known_integer, plain<&DeviceRow::device>, needed},
    {"pid", known_integer, plain<&DeviceRow::process>, needed},
    {"uuid",
     text,
     {[](const DeviceRow& row, ToFile&) { return Value(nsys::bare_uuid(row.uuid)); },
      plain<&DeviceRow::uuid>.read},
     needed},
    {"numMultiprocessors", integer, copied<&DeviceRow::multiprocessors>},
});

constexpr auto context_columns = columns<ContextRow>({
    {"nullStreamId", known_integer, plain<&ContextRow::of, &ContextInfo::null_stream>},
    {"hwId", known_integer, constant<ContextRow, 0>},
    {"vmId", known_integer, constant<ContextRow, 1>},
    {"processId", known_integer, plain<&ContextRow::process>, needed},
    {"deviceId", known_integer, plain<&ContextRow::of, &ContextInfo::device>},
    {"contextId", known_integer, plain<&ContextRow::of, &ContextInfo::id>, needed},
    {"parentContextId", integer, plain<&ContextRow::of, &ContextInfo::parent>},
    {"isGreenContext", integer, plain<&ContextRow::of, &ContextInfo::is_green>},
    {"numMultiprocessors", integer, plain<&ContextRow::of, &ContextInfo::multiprocessors>},
});

constexpr auto stream_columns = columns<StreamRow>({
    {"streamId", known_integer, copied<&StreamRow::stream>},
    {"hwId", known_integer, constant<StreamRow, 0>},
    {"vmId", known_integer, constant<StreamRow, 1>},
    {"processId", known_integer, copied<&StreamRow::process>},
    {"contextId", known_integer, copied<&StreamRow::context>},
    {"priority", integer},
    {"flag", known_integer, copied<&StreamRow::type>},
});

constexpr Field<ProcessInfo> native_id{
    [](const ProcessInfo& process, ToFile&) { return Value(nsys::native_process(process.id)); }};

constexpr auto process_columns = columns<ProcessInfo>({
    {"globalPid", integer, plain<&ProcessInfo::id>, needed},
    {"pid", integer, native_id},
    {"name", text, plain<&ProcessInfo::name>, needed},
    {"rank", integer, plain<&ProcessInfo::rank>},
    {"worldSize", integer, plain<&ProcessInfo::world_size>},
});

constexpr Field<ThreadInfo> thread_name{
    [](const ThreadInfo& thread, ToFile& file) { return Value(file.string(thread.name)); },
    [](ThreadInfo& thread, const Cell& cell, FromFile& file) { thread.name = file.text(cell.integer()); }};

constexpr auto thread_columns = columns<ThreadInfo>({
    {"nameId", known_integer, thread_name, needed},
    {"priority", integer},
    {"globalTid", integer, plain<&ThreadInfo::id>, needed},
});

constexpr auto label_columns = columns<Label>({
    {"id", "INTEGER NOT NULL PRIMARY KEY", plain<&Label::number>, needed},
    {"name", text, plain<&Label::name>},
    {"label", text, plain<&Label::label>, needed},
});

// --- What happened ---

/// Of each piece of work of a GPU.
template <class Row>
constexpr auto work_columns = columns<Row>({
    {"start", known_integer, moment<&Row::time, &Interval::start>, needed},
    {"end", known_integer, moment<&Row::time, &Interval::end>, needed},
    {"deviceId", known_integer, plain<&Row::queue, &Queue::device>},
    {"contextId", known_integer, plain<&Row::queue, &Queue::context>},
    {"greenContextId", integer, unless_zero<&Row::queue, &Queue::green_context>},
    {"streamId", known_integer, plain<&Row::queue, &Queue::stream>},
    {"correlationId", integer, correlation_id<&Row::correlation>},
    {"globalPid", integer, process_id<&Row::process>},
});

constexpr auto kernel_columns =
    extended(work_columns<Kernel>,
             {
                 {"demangledName", known_integer, name_id<&Kernel::name>},
                 {"shortName", known_integer, name_id<&Kernel::short_name>},
                 {"mangledName", integer, name_id<&Kernel::mangled>},
                 {"launchType", integer, plain<&Kernel::launch_type>, detail},
                 {"cacheConfig", integer, plain<&Kernel::cache_config>, detail},
                 {"registersPerThread", integer, plain<&Kernel::registers_per_thread>, detail},
                 {"gridX", integer, along<&Kernel::grid, 0>},
                 {"gridY", integer, along<&Kernel::grid, 1>},
                 {"gridZ", integer, along<&Kernel::grid, 2>},
                 {"blockX", integer, along<&Kernel::block, 0>},
                 {"blockY", integer, along<&Kernel::block, 1>},
                 {"blockZ", integer, along<&Kernel::block, 2>},
                 {"staticSharedMemory", integer, plain<&Kernel::static_shared_memory>, detail},
                 {"dynamicSharedMemory", integer, plain<&Kernel::dynamic_shared_memory>, detail},
                 {"localMemoryPerThread", integer, plain<&Kernel::local_memory_per_thread>, detail},
                 {"localMemoryTotal", integer, plain<&Kernel::local_memory_total>, detail},
                 {"gridId", integer, plain<&Kernel::grid_id>, detail},
                 {"sharedMemoryExecuted", integer, plain<&Kernel::shared_memory_executed>, detail},
                 {"graphNodeId", integer, unless_zero<&Kernel::graph_node>},
                 {"sharedMemoryLimitConfig", integer, plain<&Kernel::shared_memory_limit>, detail},
                 {"qmdBulkReleaseDone", integer},
                 {"qmdPreexitDone", integer},
                 {"qmdLastCtaDone", integer},
                 {"graphId", integer, unless_zero<&Kernel::graph>},
                 {"clusterX", integer, along<&Kernel::cluster, 0>, detail},
                 {"clusterY", integer, along<&Kernel::cluster, 1>, detail},
                 {"clusterZ", integer, along<&Kernel::cluster, 2>, detail},
                 {"clusterSchedulingPolicy", integer, plain<&Kernel::cluster_scheduling_policy>, detail},
                 {"maxPotentialClusterSize", integer, plain<&Kernel::max_potential_cluster_size>, detail},
                 {"maxActiveClusters", integer, plain<&Kernel::max_active_clusters>, detail},
                 {"sharedMemoryRequestedPercentage", integer},
             });

constexpr auto graph_columns = extended(
    work_columns<GraphExecution>, {
                                      {"graphId", known_integer, plain<&GraphExecution::graph>},
                                      {"graphExecId", known_integer, plain<&GraphExecution::graph_exec>},
                                  });

/// It ends when it starts.
constexpr Field<GraphNode> made{moment<&GraphNode::time, &Interval::start>.write,
                                [](GraphNode& row, const Cell& cell, FromFile&) {
                                  row.time = {cell.integer(), cell.integer()};
                                },
                                true};
/// As Nsight Systems names it.
constexpr Field<GraphNode> node_event_name{
    [](const GraphNode&, ToFile& file) { return Value(file.string("Graph Node Creation")); }};

/// NULL where no stack is known. A reader finds the file's id in the row.
template <auto Member>
constexpr Field<RowOf<Member>> stack_id{[](const RowOf<Member>& row, ToFile& file) {
                                          return row.*Member == no_stack ? Value()
                                                                         : Value(file.stack(row.*Member));
                                        },
                                        plain<Member>.read};

constexpr auto graph_node_columns = columns<GraphNode>({
    {"start", known_integer, made, needed},
    {"end", known_integer, {moment<&GraphNode::time, &Interval::end>.write}},
    {"eventClass", known_integer, constant<GraphNode, nsys::graph_node_class>},
    {"globalTid", integer, keyed(plain<&GraphNode::thread>), needed},
    {"nameId", known_integer, node_event_name},
    {"graphNodeId", known_integer, plain<&GraphNode::id>, needed},
    {"originalGraphNodeId", integer, unless_zero<&GraphNode::original>},
    {"callchainId", integer, stack_id<&GraphNode::stack>, detail},
});

/// A number that stands for a memset in a trace is none of a copy's.
constexpr Field<Transfer> copy_kind{plain<&Transfer::kind>.write,
                                    [](Transfer& row, const Cell& cell, FromFile& file) {
                                      plain<&Transfer::kind>.read(row, cell, file);
                                      if (row.is_set()) row.kind = TransferKind::unknown;
                                    }};

constexpr auto copy_columns =
    extended(work_columns<Transfer>, {
                                         {"bytes", known_integer, plain<&Transfer::bytes>},
                                         {"copyKind", known_integer, copy_kind},
                                         {"deprecatedSrcId", integer},
                                         {"srcKind", integer, plain<&Transfer::source>},
                                         {"dstKind", integer, plain<&Transfer::destination>},
                                         {"srcDeviceId", integer},
                                         {"srcContextId", integer},
                                         {"dstDeviceId", integer},
                                         {"dstContextId", integer},
                                         {"migrationCause", integer},
                                         {"graphNodeId", integer, unless_zero<&Transfer::graph_node>},
                                         {"virtualAddress", integer},
                                         {"copyCount", integer, plain<&Transfer::count>},
                                     });

constexpr auto set_columns =
    extended(work_columns<Transfer>, {
                                         {"value", integer, plain<&Transfer::value>},
                                         {"bytes", known_integer, plain<&Transfer::bytes>},
                                         {"graphNodeId", integer, unless_zero<&Transfer::graph_node>},
                                         {"memKind", integer, plain<&Transfer::source>},
                                     });

constexpr Field<Call> api{plain<&Call::api>.write, [](Call& row, const Cell& cell, FromFile&) {
                            row.api = cell.integer() == 1 ? Api::driver : Api::runtime;
                          }};
constexpr Field<Call> call_name_id{name_id<&Call::versioned_name>.write,
                                   [](Call& row, const Cell& cell, FromFile& file) {
                                     const FromFile::CallName name = file.call(cell.integer());
                                     row.versioned_name = name.whole;
                                     row.name = name.printed;
                                   }};

constexpr Field<StackRow> is_unresolved{
    [](const StackRow& row, ToFile&) { return Value(std::int64_t{row.of.function == 0 ? 1 : 0}); }};
/// Python has no modules: its file stands there.
constexpr Field<StackRow> module_id{
    [](const StackRow& row, ToFile& file) {
      return Value(file.string(row.of.is_python() ? row.of.file : row.of.module));
    },
    name_id<&StackRow::of, &StackFrame::module>.read};

constexpr auto stack_columns = columns<StackRow>({
    {"id", known_integer, plain<&StackRow::id>, needed},
    {"symbol", known_integer, name_id<&StackRow::of, &StackFrame::function>},
    {"module", known_integer, module_id},
    {"kernelMode", integer},
    {"thumbCode", integer},
    {"unresolved", integer, is_unresolved},
    {"specialEntry", integer},
    {"originalIP", integer, unless_zero<&StackRow::of, &StackFrame::address>},
    {"unwindMethod", integer},
    {"stackDepth", known_integer, plain<&StackRow::depth>, needed},
    {"sourceFile", integer, name_id<&StackRow::of, &StackFrame::file>},
    {"sourceLine", integer, unless_zero<&StackRow::of, &StackFrame::line>},
});

constexpr auto call_columns = columns<Call>({
    {"start", known_integer, moment<&Call::time, &Interval::start>, needed},
    {"end", known_integer, moment<&Call::time, &Interval::end>, needed},
    {"eventClass", known_integer, api},
    {"globalTid", integer, plain<&Call::thread>},
    {"correlationId", integer, correlation_id<&Call::correlation>},
    {"nameId", known_integer, call_name_id, needed},
    {"returnValue", integer, plain<&Call::result>},
    {"callchainId", integer, stack_id<&Call::stack>, detail},
});

constexpr Field<SystemCallRow> system_call_name_id{
    [](const SystemCallRow& row, ToFile& file) { return Value(file.string(row.of.name)); },
    [](SystemCallRow& row, const Cell& cell, FromFile& file) {
      row.of.name = row.of.versioned_name = file.name(cell.integer());
    }};

constexpr auto system_call_columns = columns<SystemCallRow>({
    {"start", known_integer, keyed(moment<&SystemCallRow::of, &Call::time, &Interval::start>), needed},
    {"end", known_integer, moment<&SystemCallRow::of, &Call::time, &Interval::end>, needed},
    {"eventClass", known_integer, keyed(plain<&SystemCallRow::event_class>)},
    {"globalTid", integer, keyed(plain<&SystemCallRow::of, &Call::thread>)},
    {"nameId", known_integer, system_call_name_id, needed},
    {"returnValue", integer, plain<&SystemCallRow::of, &Call::result>},
    {"nestingLevel", integer},
    {"callchainId", known_integer, constant<SystemCallRow, 0>},
    {"argumentsId", known_integer, constant<SystemCallRow, 0>},
});

using Wait = SynchronizationRow;
constexpr auto synchronization_columns = columns<Wait>({
    {"start", known_integer, moment<&Wait::of, &Synchronization::time, &Interval::start>, needed},
    {"end", known_integer, moment<&Wait::of, &Synchronization::time, &Interval::end>, needed},
    {"deviceId", known_integer, copied<&Wait::device>},
    {"contextId", known_integer, plain<&Wait::of, &Synchronization::context>},
    {"greenContextId", integer},
    {"streamId", known_integer, plain<&Wait::of, &Synchronization::stream>},
    {"correlationId", integer, correlation_id<&Wait::of, &Synchronization::correlation>, needed},
    {"globalPid", integer, process_id<&Wait::of, &Synchronization::process>},
    {"deprecatedSyncType", integer},
    {"syncType", known_integer, plain<&Wait::of, &Synchronization::kind>},
    {"eventId", known_integer, plain<&Wait::of, &Synchronization::event>},
    {"eventSyncId", integer, plain<&Wait::of, &Synchronization::event_sync>},
});

/// The name of what took the time.
constexpr Field<Overhead> overhead_name_id{[](const Overhead& row, ToFile& file) {
  const auto known =
      std::ranges::find(nsys::overhead_kinds.rows, static_cast<int>(row.kind), &nsys::EnumRow::id);
  return Value(file.string(known == nsys::overhead_kinds.rows.end() ? "Unknown" : known->label));
}};

constexpr auto overhead_columns = columns<Overhead>({
    {"start", known_integer, moment<&Overhead::time, &Interval::start>, needed},
    {"end", known_integer, moment<&Overhead::time, &Interval::end>, needed},
    {"eventClass", integer},
    {"globalTid", integer, plain<&Overhead::thread>},
    {"correlationId", integer, correlation_id<&Overhead::correlation>, needed},
    {"nameId", known_integer, overhead_name_id},
    {"overheadType", known_integer, plain<&Overhead::kind>},
});

constexpr auto profiler_overhead_columns = columns<Overhead>({
    {"start", known_integer, keyed(moment<&Overhead::time, &Interval::start>), needed},
    {"end", known_integer, moment<&Overhead::time, &Interval::end>, needed},
    {"globalTid", integer, keyed(plain<&Overhead::thread>)},
    {"nameId", known_integer, overhead_name_id},
    {"overheadType", known_integer, plain<&Overhead::kind>},
});

/// It ends when it starts.
constexpr Field<Allocation> instant{moment<&Allocation::time, &Interval::start>.write,
                                    [](Allocation& row, const Cell& cell, FromFile&) {
                                      row.time = {cell.integer(), cell.integer()};
                                    }};
constexpr Field<Allocation> operation{
    [](const Allocation& row, ToFile&) {
      return value_of(row.is_release ? nsys::memory_release : nsys::memory_allocation);
    },
    [](Allocation& row, const Cell& cell, FromFile&) {
      row.is_release = cell.integer() == nsys::memory_release;
    }};

constexpr auto allocation_columns = columns<Allocation>({
    {"start", known_integer, instant, needed},
    {"globalPid", known_integer, process_id<&Allocation::process>},
    {"deviceId", known_integer, plain<&Allocation::queue, &Queue::device>},
    {"contextId", known_integer, plain<&Allocation::queue, &Queue::context>},
    {"virtualAddress", known_integer, plain<&Allocation::address>, needed},
    {"bytes", known_integer, plain<&Allocation::bytes>, needed},
    {"memKind", known_integer, plain<&Allocation::kind>, needed},
    {"memoryOperationType", known_integer, operation, needed},
    {"name", text},
    {"correlationId", integer, correlation_id<&Allocation::correlation>},
    {"streamId", integer, plain<&Allocation::queue, &Queue::stream>},
    {"localMemoryPoolAddress", integer},
    {"localMemoryPoolReleaseThreshold", integer},
    {"localMemoryPoolSize", integer},
    {"localMemoryPoolUtilizedSize", integer},
    {"importedMemoryPoolAddress", integer},
    {"importedMemoryPoolProcessId", integer},
});

constexpr Field<NvtxEvent> nvtx_end{
    [](const NvtxEvent& row, ToFile& file) { return row.end ? Value(file.time(*row.end)) : Value(); },
    plain<&NvtxEvent::end>.read};

constexpr auto range_columns = columns<NvtxEvent>({
    {"start", known_integer, moment<&NvtxEvent::start>, needed},
    {"end", integer, nvtx_end},
    {"eventType", known_integer, plain<&NvtxEvent::type>, needed},
    {"rangeId", integer},
    {"category", integer},
    {"color", integer},
    {"text", text, plain<&NvtxEvent::text>},
    {"globalTid", integer, plain<&NvtxEvent::thread>},
    {"endGlobalTid", integer, plain<&NvtxEvent::end_thread>},
    {"textId", integer, plain<&NvtxEvent::string>},
    {"domainId", integer, plain<&NvtxEvent::domain>},
    {"uint64Value", integer},
    {"int64Value", integer},
    {"doubleValue", real},
    {"uint32Value", integer},
    {"int32Value", integer},
    {"floatValue", real},
    {"jsonTextId", integer, plain<&NvtxEvent::payload_string>},
    {"jsonText", text, plain<&NvtxEvent::payload>},
    {"binaryData", text, plain<&NvtxEvent::data>},
});

constexpr auto payload_entry_columns = columns<PayloadEntry>({
    {"domainId", known_integer, plain<&PayloadEntry::domain>, needed},
    {"schemaId", known_integer, plain<&PayloadEntry::schema>, needed},
    {"idx", known_integer, plain<&PayloadEntry::place>, needed},
    {"flags", integer, plain<&PayloadEntry::of, &PayloadField::flags>},
    {"type", integer, plain<&PayloadEntry::of, &PayloadField::type>},
    {"name", text, plain<&PayloadEntry::of, &PayloadField::name>},
    {"offset", integer, plain<&PayloadEntry::of, &PayloadField::offset>},
});

// --- Tables that are tallied, and not written again ---

using Tallied = TalliedRow;

constexpr auto on_thread = columns<Tallied>({
    {"start", known_integer, plain<&Tallied::start>, needed},
    {"end", integer, plain<&Tallied::end>},
    {"globalTid", integer, plain<&Tallied::thread>},
});

/// Of all tables MPI_..._EVENTS, each of which has some of these.
constexpr auto mpi_columns = extended(on_thread, {
                                                     {"textId", integer, name_id<&Tallied::name>},
                                                     {"commHandle", integer},
                                                     {"tag", integer},
                                                     {"remoteRank", integer},
                                                     {"rootRank", integer},
                                                     {"size", integer, plain<&Tallied::amount>},
                                                     {"recvSize", integer},
                                                     {"requestHandle", integer},
                                                 });

constexpr auto ucx_columns = extended(on_thread, {
                                                     {"textId", integer, name_id<&Tallied::name>},
                                                     {"bufferAddr", integer},
                                                     {"packedSize", integer, plain<&Tallied::amount>},
                                                     {"peerWorkerUid", integer},
                                                     {"tag", integer},
                                                 });

/// Of all tables OPENMP_EVENT_KIND_...
constexpr auto openmp_columns = extended(on_thread, {
                                                        {"nameId", integer, name_id<&Tallied::name>},
                                                        {"eventClass", integer},
                                                        {"correlationId", integer},
                                                        {"eventKind", integer},
                                                        {"threadId", integer},
                                                        {"threadType", integer},
                                                        {"parallelId", integer},
                                                        {"parentTaskId", integer},
                                                        {"newTaskId", integer},
                                                        {"taskId", integer},
                                                        {"priorTaskId", integer},
                                                        {"priorTaskStatus", integer},
                                                        {"nextTaskId", integer},
                                                        {"kind", integer},
                                                        {"waitId", integer},
                                                        {"count", integer},
                                                    });

/// Of CUPTI_ACTIVITY_KIND_OPENACC_DATA, _LAUNCH and _OTHER.
constexpr auto openacc_columns = extended(on_thread, {
                                                         {"nameId", integer, name_id<&Tallied::name>},
                                                         {"eventKind", integer},
                                                         {"DeviceType", integer},
                                                         {"lineNo", integer},
                                                         {"cuDeviceId", integer},
                                                         {"cuContextId", integer},
                                                         {"cuStreamId", integer},
                                                         {"srcFile", integer},
                                                         {"funcName", integer},
                                                         {"correlationId", integer},
                                                         {"bytes", integer, plain<&Tallied::amount>},
                                                         {"varName", integer},
                                                         {"numGangs", integer},
                                                         {"numWorkers", integer},
                                                         {"vectorLength", integer},
                                                         {"kernelName", integer},
                                                     });

constexpr auto kernel_call_columns = extended(on_thread, {
                                                             {"eventClass", integer},
                                                             {"nameId", integer, name_id<&Tallied::name>},
                                                             {"callchainId", integer},
                                                         });

constexpr auto cpu_fault_columns = columns<Tallied>({
    {"start", known_integer, plain<&Tallied::start>, needed},
    {"globalPid", known_integer, plain<&Tallied::process>},
    {"address", known_integer},
    {"originalFaultPc", integer},
    {"CpuInstruction", integer},
    {"module", integer},
    {"unresolvedFaultPc", integer},
    {"sourceFile", integer},
    {"sourceLine", integer},
});

constexpr auto gpu_fault_columns = columns<Tallied>({
    {"start", known_integer, plain<&Tallied::start>, needed},
    {"end", integer, plain<&Tallied::end>},
    {"globalPid", known_integer, plain<&Tallied::process>},
    {"deviceId", integer, plain<&Tallied::device>},
    {"address", known_integer},
    {"numberOfPageFaults", integer, plain<&Tallied::amount>},
    {"faultAccessType", integer, plain<&Tallied::number>},
});

/// The GPU is the lowest byte of a type.
constexpr Field<Tallied> type_of_gpu{[](const Tallied& row, ToFile&) { return Value(row.list); },
                                     [](Tallied& row, const Cell& cell, FromFile&) {
                                       row.list = cell.integer();
                                       row.device = cell.integer() & (nsys::gpus_of_a_case - 1);
                                     }};

/// The end of what the sample counted.
constexpr Field<Tallied> sample_time{
    [](const Tallied& row, ToFile& file) { return row.start ? Value(file.time(*row.start)) : Value(); },
    plain<&Tallied::start>.read};

constexpr auto gpu_metric_columns = columns<Tallied>({
    {"rawTimestamp", integer, copied<&Tallied::raw>},
    {"timestamp", integer, sample_time, needed},
    {"typeId", integer, type_of_gpu},
    {"metricId", integer, plain<&Tallied::number>},
    {"value", real, plain<&Tallied::amount>},
});

/// What lies between two readings of a counter.
constexpr auto network_columns = columns<Tallied>({
    {"start", known_integer, plain<&Tallied::start>, needed},
    {"end", integer},
    {"globalId", integer, plain<&Tallied::device>},
    {"portId", integer},
    {"metricsListId", integer, plain<&Tallied::list>},
    {"metricsIdx", integer, plain<&Tallied::number>},
    {"value", real, plain<&Tallied::amount>},
});

constexpr auto congestion_columns = columns<Tallied>({
    {"start", known_integer, plain<&Tallied::start>, needed},
    {"globalId", integer},
    {"congestionType", integer},
    {"packetSLID", integer},
    {"packetDLID", integer},
    {"packetSL", integer},
    {"packetOpCode", integer},
    {"packetSourceQP", integer},
    {"packetDestinationQP", integer},
    {"switchIngressPort", integer},
    {"switchEgressPort", integer},
});

/// Its documentation names no columns: they are taken to be those of the other tables of metrics.
constexpr auto storage_columns = columns<Tallied>({
    {"rawTimestamp", integer},
    {"timestamp", integer, plain<&Tallied::start>},
    {"start", integer, plain<&Tallied::start>},
    {"end", integer},
    {"globalId", integer},
    {"deviceId", integer},
    {"typeId", integer, plain<&Tallied::list>},
    {"metricsListId", integer, plain<&Tallied::list>},
    {"metricId", integer, plain<&Tallied::number>},
    {"metricsIdx", integer, plain<&Tallied::number>},
    {"value", real, plain<&Tallied::amount>, needed},
});

constexpr auto gpu_metric_name_columns = columns<MetricName>({
    {"typeId", integer, plain<&MetricName::list>, needed},
    {"sourceId", integer, copied<&MetricName::source>},
    {"typeName", text, copied<&MetricName::type_name>},
    {"metricId", integer, plain<&MetricName::number>, needed},
    {"metricName", text, plain<&MetricName::name>, needed},
});

constexpr auto metric_name_columns = columns<MetricName>({
    {"typeId", integer, plain<&MetricName::list>},
    {"metricsListId", integer, plain<&MetricName::list>},
    {"metricId", integer, plain<&MetricName::number>},
    {"metricsIdx", integer, plain<&MetricName::number>},
    {"metricName", text, plain<&MetricName::name>},
    {"name", text, plain<&MetricName::name>},
    {"description", text},
    {"unit", text, plain<&MetricName::unit>},
});

constexpr auto network_id_columns = columns<NetworkDevice>({
    {"nicId", known_integer, plain<&NetworkDevice::device>, needed},
    {"globalId", known_integer, plain<&NetworkDevice::global>, needed},
});

constexpr auto network_device_columns = columns<NetworkDevice>({
    {"GUID", integer},
    {"stateName", text},
    {"nicId", known_integer, plain<&NetworkDevice::device>, needed},
    {"name", text, plain<&NetworkDevice::name>, needed},
    {"deviceId", integer},
    {"vendorId", integer},
});

constexpr std::array tallied_tables{
    TalliedTable{"GPU_METRICS", TallyKind::gpu_metrics, gpu_metric_columns},
    TalliedTable{"CUDA_UM_CPU_PAGE_FAULT_EVENTS", TallyKind::unified_memory, cpu_fault_columns, "",
                 "page faults of the CPU"},
    TalliedTable{"CUDA_UM_GPU_PAGE_FAULT_EVENTS", TallyKind::unified_memory, gpu_fault_columns, "faults",
                 "page faults of the GPU"},
    TalliedTable{"MPI_P2P_EVENTS", TallyKind::mpi, mpi_columns, "B", "point to point"},
    TalliedTable{"MPI_COLLECTIVES_EVENTS", TallyKind::mpi, mpi_columns, "B", "collectives"},
    TalliedTable{"MPI_START_WAIT_EVENTS", TallyKind::mpi, mpi_columns, "B", "starts and waits"},
    TalliedTable{"MPI_OTHER_EVENTS", TallyKind::mpi, mpi_columns, "B", "other calls"},
    TalliedTable{"UCP_SUBMIT_EVENTS", TallyKind::ucx, ucx_columns, "B", "submissions"},
    TalliedTable{"UCP_PROGRESS_EVENTS", TallyKind::ucx, ucx_columns, "B", "progress"},
    TalliedTable{"UCP_EVENTS", TallyKind::ucx, ucx_columns, "B", "other events"},
    TalliedTable{"OPENMP_EVENT_KIND_*", TallyKind::openmp, openmp_columns, "", "events"},
    TalliedTable{"CUPTI_ACTIVITY_KIND_OPENACC_DATA", TallyKind::openacc, openacc_columns, "B", "data"},
    TalliedTable{"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", TallyKind::openacc, openacc_columns, "B", "launches"},
    TalliedTable{"CUPTI_ACTIVITY_KIND_OPENACC_OTHER", TallyKind::openacc, openacc_columns, "B", "others"},
    TalliedTable{"SYSCALL", TallyKind::kernel_calls, kernel_call_columns, "", "system calls"},
    TalliedTable{"NET_NIC_METRIC", TallyKind::network, network_columns},
    TalliedTable{"NET_IB_SWITCH_METRIC", TallyKind::network, network_columns},
    TalliedTable{"NET_IB_SWITCH_CONGESTION_EVENT", TallyKind::network, congestion_columns, "",
                 "congestion events of switches"},
    TalliedTable{"STORAGE_METRICS", TallyKind::storage, storage_columns},
};

// --- mprof's own ---

constexpr auto case_columns = columns<CaseRow>({
    {"id", key, plain<&CaseRow::number>, needed, "its number in this file"},
    {"caseId", "TEXT NOT NULL UNIQUE", plain<&CaseRow::of, &CaseInfo::id>, needed, "its id in `run.json`"},
    {"globalPid", known_integer, plain<&CaseRow::of, &CaseInfo::process>, needed, "its first process"},
    {"start", known_integer, moment<&CaseRow::of, &CaseInfo::window, &Interval::start>, needed, "ns"},
    {"end", known_integer, moment<&CaseRow::of, &CaseInfo::window, &Interval::end>, needed, "ns"},
    {"firstCorrelationId", known_integer, plain<&CaseRow::first_correlation>, needed,
     "the smallest id of its rows"},
    {"lastCorrelationId", known_integer, plain<&CaseRow::last_correlation>, needed,
     "the largest id of its rows"},
    {"droppedRecords", known_integer, plain<&CaseRow::of, &CaseInfo::counts, &Counts::dropped>, optional,
     "records that found no buffer"},
    {"zeroTimeRecords", known_integer, plain<&CaseRow::of, &CaseInfo::counts, &Counts::zero_time>, optional,
     "records without a start or an end; they are not used"},
    {"reversedRecords", known_integer, plain<&CaseRow::of, &CaseInfo::counts, &Counts::reversed>, optional,
     "records that end before they start; they are not used"},
    {"overlappingRecords", known_integer, plain<&CaseRow::of, &CaseInfo::counts, &Counts::overlapping>,
     optional, "work that ran on beyond later work of its own stream; it is not used"},
    {"earlyRecords", known_integer, plain<&CaseRow::of, &CaseInfo::counts, &Counts::early>, optional,
     "work that begins well before the call that launched it"},
    {"unattributedRecords", known_integer, plain<&CaseRow::of, &CaseInfo::counts, &Counts::unattributed>,
     optional, "work of the GPU that no range was found for"},
    {"attributionDisagreements", known_integer,
     plain<&CaseRow::of, &CaseInfo::counts, &Counts::disagreements>, optional,
     "API calls whose thread and time say another place than their external id"},
});

constexpr auto attribution_columns = columns<Attribution>({
    {"correlationId", key, correlation_id<&Attribution::correlation>, needed,
     "joins any table that has this column"},
    {"caseId", known_integer, copied<&Attribution::in_case>, optional, "`MPROF_CASE.id`"},
    {"op", known_text, plain<&Attribution::place, &Place::op>, needed, "empty: between two ops"},
    {"part", known_text, plain<&Attribution::place, &Place::part>, needed,
     "`prepare`, `op`, `finish`; `between` them; `pause`: mprof flushes the caches"},
});

constexpr auto own_range_columns = columns<OwnRange>({
    {"caseId", known_integer, plain<&OwnRange::in_case>, needed, "`MPROF_CASE.id`"},
    {"externalId", known_integer, plain<&OwnRange::id>, needed,
     "the external correlation id that CUPTI was given"},
    {"start", known_integer, moment<&OwnRange::time, &Interval::start>, needed, "ns"},
    {"end", known_integer, moment<&OwnRange::time, &Interval::end>, needed, "ns"},
    {"name", known_text, plain<&OwnRange::name>, needed, "without its domain"},
    {"globalTid", known_integer, plain<&OwnRange::thread>, needed, "the thread"},
    {"op", known_text, plain<&OwnRange::place, &Place::op>, needed, "as in `MPROF_ATTRIBUTION`"},
    {"part", known_text, plain<&OwnRange::place, &Place::part>, needed, "as in `MPROF_ATTRIBUTION`"},
    {"isExtent", "INTEGER NOT NULL DEFAULT 0", plain<&OwnRange::is_extent>, optional,
     "1: the time of an imported program's op, which `NVTX_EVENTS` does not have"},
});

constexpr auto case_process_columns = columns<CaseProcess>({
    {"caseId", known_integer, plain<&CaseProcess::in_case>, needed, "`MPROF_CASE.id`"},
    {"globalPid", known_integer, plain<&CaseProcess::process>, needed, "a process of the case"},
});

constexpr auto tally_columns = columns<TallyRow>({
    {"caseId", known_integer, plain<&TallyRow::in_case>, needed, "`MPROF_CASE.id`"},
    {"kind", known_text, plain<&TallyRow::kind>, needed, "such as `mpi`; `unread`: a table or a column"},
    {"op", known_text, plain<&TallyRow::of, &Tally::op>, needed, "the op; `outside`: in none"},
    {"name", known_text, plain<&TallyRow::of, &Tally::name>, needed, "of the events, or of the metric"},
    {"unit", known_text, plain<&TallyRow::of, &Tally::unit>, optional, "of the amounts"},
    {"device", integer, plain<&TallyRow::of, &Tally::device>, optional, "the GPU, as the export numbers it"},
    {"count", known_integer, plain<&TallyRow::of, &Tally::count>, optional, "rows"},
    {"timed", known_integer, plain<&TallyRow::of, &Tally::timed>, optional, "rows that have a duration"},
    {"time", known_integer, plain<&TallyRow::of, &Tally::time>, optional, "ns, of all of these"},
    {"measured", known_integer, plain<&TallyRow::of, &Tally::measured>, optional, "rows that have an amount"},
    {"amount", "REAL NOT NULL", plain<&TallyRow::of, &Tally::amount>, optional, "of all of these"},
    {"smallest", "REAL NOT NULL", plain<&TallyRow::of, &Tally::smallest>, optional, "of these"},
    {"largest", "REAL NOT NULL", plain<&TallyRow::of, &Tally::largest>, optional, "of these"},
});

}  // namespace

constinit const Table<StringRow> string_ids{"StringIds", string_columns};
constinit const Table<SessionStart> session_start{"TARGET_INFO_SESSION_START_TIME", session_columns};
constinit const Table<Fact> metadata{"META_DATA_EXPORT", fact_columns};
constinit const Table<Fact> capture{"META_DATA_CAPTURE", fact_columns};
constinit const Table<SystemFact> system{"TARGET_INFO_SYSTEM_ENV", system_columns};
constinit const Table<Span> details{"ANALYSIS_DETAILS", detail_columns};
constinit const Table<Gpu> gpus{"TARGET_INFO_GPU", gpu_columns};
constinit const Table<DeviceRow> devices{"TARGET_INFO_CUDA_DEVICE", device_columns};
constinit const Table<ContextRow> contexts{"TARGET_INFO_CUDA_CONTEXT_INFO", context_columns};
constinit const Table<StreamRow> streams{"TARGET_INFO_CUDA_STREAM", stream_columns};
constinit const Table<ProcessInfo> processes{"PROCESSES", process_columns};
constinit const Table<ThreadInfo> threads{"ThreadNames", thread_columns};
constinit const Table<Kernel> kernels{"CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns};
constinit const Table<GraphExecution> graphs{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_columns};
constinit const Table<GraphNode> graph_nodes{"CUDA_GRAPH_NODE_EVENTS", graph_node_columns};
constinit const Table<Transfer> copies{"CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns};
constinit const Table<Transfer> sets{"CUPTI_ACTIVITY_KIND_MEMSET", set_columns};
constinit const Table<Call> calls{"CUPTI_ACTIVITY_KIND_RUNTIME", call_columns};
constinit const Table<StackRow> stacks{"CUDA_CALLCHAINS", stack_columns};
constinit const Table<SynchronizationRow> synchronizations{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                                           synchronization_columns};
constinit const Table<Overhead> overheads{"CUPTI_ACTIVITY_KIND_OVERHEAD", overhead_columns};
constinit const Table<Overhead> profiler_overheads{"PROFILER_OVERHEAD", profiler_overhead_columns};
constinit const Table<Allocation> allocations{"CUDA_GPU_MEMORY_USAGE_EVENTS", allocation_columns};
constinit const Table<SystemCallRow> system_calls{"OSRT_API", system_call_columns};
constinit const Table<NvtxEvent> ranges{"NVTX_EVENTS", range_columns};

constinit const Table<CaseRow> cases{"MPROF_CASE", case_columns};
constinit const Table<Attribution> attribution{"MPROF_ATTRIBUTION", attribution_columns};
constinit const Table<OwnRange> own_ranges{"MPROF_RANGE", own_range_columns};
constinit const Table<CaseProcess> case_processes{"MPROF_PROCESS", case_process_columns};
constinit const Table<TallyRow> tallies{"MPROF_TALLY", tally_columns};

constinit const Table<TalliedRow> gpu_metrics{"GPU_METRICS", gpu_metric_columns};
constinit const Table<MetricName> gpu_metric_names{"TARGET_INFO_GPU_METRICS", gpu_metric_name_columns};
constinit const Table<MetricName> network_metric_names{"TARGET_INFO_NETWORK_METRICS", metric_name_columns};
constinit const Table<MetricName> storage_metric_names{"TARGET_INFO_STORAGE_METRICS", metric_name_columns};
constinit const Table<NetworkDevice> network_ids{"NIC_ID_MAP", network_id_columns};
constinit const Table<NetworkDevice> network_devices{"TARGET_INFO_NIC_INFO", network_device_columns};
constinit const Table<PayloadEntry> payload_entries{"NVTX_PAYLOAD_SCHEMA_ENTRIES", payload_entry_columns};

std::span<const TalliedTable> tallied() {
  return tallied_tables;
}

Table<Label> labels(const nsys::Enumeration& of) {
  return {of.table, label_columns};
}

std::vector<TableHead> all() {
  const auto heads = [](const auto&... tables) {
    return std::vector<TableHead>{{tables.name, tables.heads()}...};
  };
  return heads(string_ids, session_start, metadata, gpus, devices, contexts, streams, details, capture,
               kernels, calls, copies, sets, synchronizations, overheads, profiler_overheads, allocations,
               system_calls, graphs, graph_nodes, stacks, processes, threads, system, ranges, cases,
               attribution, own_ranges, case_processes, tallies, gpu_metrics, gpu_metric_names);
}

namespace {

template <class Row>
void add_documentation(std::string& page, std::string_view rows, const Table<Row>& table) {
  page += fmt::format("`{}` has a row for {}:\n\n| column | meaning |\n|---|---|\n", table.name, rows);
  for (const Column<Row>& column : table.columns)
    page += fmt::format("| `{}` | {} |\n", column.name, column.meaning);
  page += '\n';
}

}  // namespace

std::string own_tables_as_markdown() {
  std::string page;
  add_documentation(page, "each case", cases);
  add_documentation(page, "each process of a case of several processes", case_processes);
  add_documentation(page, "each correlation id that mprof attributed to a part of an op", attribution);
  add_documentation(page, "each range of mprof's own", own_ranges);
  add_documentation(page, "each sum over an import's other tables, by op", tallies);
  return page;
}

}  // namespace mprof::trace::tables
