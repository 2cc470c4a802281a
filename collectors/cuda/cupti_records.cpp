// SPDX-License-Identifier: MIT
#include "collectors/cuda/cupti_records.hpp"

#include <cstdlib>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "model/kernel_name.hpp"
#include "model/trace/nsys_schema.hpp"

// CUPTI's records are packed: no reference may be bound to a member, so members are copied.

namespace mprof {
namespace {

using trace::Interval;
namespace nsys = trace::nsys;

std::int64_t nanoseconds(std::uint64_t time) {
  return static_cast<std::int64_t>(time);
}

template <class Record>
Interval interval(const Record& record) {
  return {nanoseconds(record.start), nanoseconds(record.end)};
}

template <class Record>
trace::Queue queue(const Record& record) {
  return {record.deviceId, record.contextId, record.streamId};
}

/// CUPTI counts from 1 and has unknown first; nsys counts from 0 and has it last.
trace::MemoryKind memory_kind(unsigned cupti) {
  constexpr unsigned known = 7;
  if (cupti == 0 || cupti > known) return trace::MemoryKind::unknown;
  return static_cast<trace::MemoryKind>(cupti - 1);
}

trace::TransferKind copy_kind(unsigned cupti) {
  return cupti <= CUPTI_ACTIVITY_MEMCPY_KIND_PTOP ? static_cast<trace::TransferKind>(cupti)
                                                  : trace::TransferKind::unknown;
}

trace::SynchronizationKind synchronization_kind(unsigned cupti) {
  return cupti <= CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE
             ? static_cast<trace::SynchronizationKind>(cupti)
             : trace::SynchronizationKind::unknown;
}

/// CUPTI's 0, 1, 1 << 16, 2 << 16 ... are nsys' 1, 2, 3, 4 ...
std::uint32_t overhead_kind(std::uint32_t cupti) {
  constexpr int group_shift = 16;
  return cupti <= CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER ? cupti + 1 : (cupti >> group_shift) + 2;
}

std::string text(const char* characters) {
  return characters != nullptr ? characters : "";
}

/// Leaves the rows that overlap the window, and of what stands beside them the same.
template <class Row, class... Beside>
void keep_inside(const Interval& window, std::vector<Row>& rows, std::vector<Beside>&... beside) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Interval time = rows[i].time;
    if (time.end < window.start || time.start > window.end) continue;
    if (kept != i) {
      rows[kept] = std::move(rows[i]);
      ((beside[kept] = beside[i]), ...);
    }
    ++kept;
  }
  rows.resize(kept);
  (beside.resize(kept), ...);
}

}  // namespace

CuptiRecords::CuptiRecords(std::uint32_t process) : process_(process) {
  recording_.trace.cases.push_back({.process = nsys::global_process(process)});
}

std::int64_t CuptiRecords::thread(std::uint32_t id) const {
  return nsys::global_thread(nsys::global_process(process_), id);
}

void CuptiRecords::add(CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_kernel(reinterpret_cast<CUpti_ActivityKernel10&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(reinterpret_cast<CUpti_ActivityMemcpy6&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return add_peer_copy(reinterpret_cast<CUpti_ActivityMemcpyPtoP4&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_set(reinterpret_cast<CUpti_ActivityMemset4&>(record));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return add_call(reinterpret_cast<CUpti_ActivityAPI&>(record));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& external = reinterpret_cast<CUpti_ActivityExternalCorrelation&>(record);
      if (external.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) {
        recording_.external_correlations.push_back({external.correlationId, external.externalId});
      }
      return;
    }
    case CUPTI_ACTIVITY_KIND_MARKER:
      return add_marker(reinterpret_cast<CUpti_ActivityMarker2&>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return add_synchronization(reinterpret_cast<CUpti_ActivitySynchronization2&>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return add_overhead(reinterpret_cast<CUpti_ActivityOverhead3&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return add_allocation(reinterpret_cast<CUpti_ActivityMemory4&>(record));
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return add_context(reinterpret_cast<CUpti_ActivityContext3&>(record));
    default:
      return;
  }
}

bool CuptiRecords::is_usable(const Interval& time) {
  if (time.start == 0 || time.end == 0) {
    ++counts().zero_time;
    return false;
  }
  if (time.end < time.start) {
    ++counts().reversed;
    return false;
  }
  return true;
}

const CuptiRecords::Symbol& CuptiRecords::symbol(const char* mangled) {
  const auto [entry, is_new] = symbols_.try_emplace(text(mangled));
  if (is_new) {
    trace::Names& names = recording_.trace.names;
    const KernelName name = kernel_name(entry->first);
    entry->second = {names.index(name.whole), names.index(name.brief), names.index(entry->first)};
  }
  return entry->second;
}

void CuptiRecords::add_kernel(const CUpti_ActivityKernel10& record) {
  if (!is_usable(interval(record))) return;
  const Symbol& names = symbol(record.name);
  recording_.trace.kernels.push_back(
      {.time = interval(record),
       .correlation = record.correlationId,
       .process = nsys::global_process(process_),
       .name = names.name,
       .short_name = names.short_name,
       .mangled = names.mangled,
       .queue = queue(record),
       .graph_node = record.graphNodeId,
       .grid = trace::Size{record.gridX, record.gridY, record.gridZ},
       .block = trace::Size{record.blockX, record.blockY, record.blockZ},
       .registers_per_thread = record.registersPerThread,
       .static_shared_memory = static_cast<std::uint32_t>(record.staticSharedMemory),
       .dynamic_shared_memory = static_cast<std::uint32_t>(record.dynamicSharedMemory),
       .local_memory_per_thread = std::uint32_t{record.localMemoryPerThread},
       .local_memory_total = std::uint64_t{record.localMemoryTotal_v2},
       .shared_memory_executed = std::uint32_t{record.sharedMemoryExecuted},
       .shared_memory_limit = static_cast<std::uint32_t>(record.shmemLimitConfig),
       .cache_config = record.cacheConfig.config.executed,
       .launch_type = record.launchType + 1U,  // nsys counts from unknown on
       .grid_id = std::int64_t{record.gridId}});
}

void CuptiRecords::add_copy(const CUpti_ActivityMemcpy6& record) {
  if (!is_usable(interval(record))) return;
  recording_.trace.transfers.push_back({.time = interval(record),
                                        .correlation = record.correlationId,
                                        .process = nsys::global_process(process_),
                                        .bytes = record.bytes,
                                        .queue = queue(record),
                                        .kind = copy_kind(record.copyKind),
                                        .source = memory_kind(record.srcKind),
                                        .destination = memory_kind(record.dstKind),
                                        .graph_node = record.graphNodeId,
                                        .count = std::uint64_t{record.copyCount}});
  runtime_correlations_.push_back(record.runtimeCorrelationId);
}

void CuptiRecords::add_peer_copy(const CUpti_ActivityMemcpyPtoP4& record) {
  if (!is_usable(interval(record))) return;
  recording_.trace.transfers.push_back({.time = interval(record),
                                        .correlation = record.correlationId,
                                        .process = nsys::global_process(process_),
                                        .bytes = record.bytes,
                                        .queue = queue(record),
                                        .kind = trace::TransferKind::peer_to_peer,
                                        .source = memory_kind(record.srcKind),
                                        .destination = memory_kind(record.dstKind),
                                        .graph_node = record.graphNodeId,
                                        .count = 1});
  runtime_correlations_.push_back(CUPTI_CORRELATION_ID_UNKNOWN);
}

void CuptiRecords::add_set(const CUpti_ActivityMemset4& record) {
  if (!is_usable(interval(record))) return;
  recording_.trace.transfers.push_back({.time = interval(record),
                                        .correlation = record.correlationId,
                                        .process = nsys::global_process(process_),
                                        .bytes = record.bytes,
                                        .queue = queue(record),
                                        .kind = trace::TransferKind::set,
                                        .source = memory_kind(record.memoryKind),
                                        .graph_node = record.graphNodeId,
                                        .value = std::uint32_t{record.value}});
  runtime_correlations_.push_back(CUPTI_CORRELATION_ID_UNKNOWN);
}

void CuptiRecords::add_call(const CUpti_ActivityAPI& record) {
  if (!is_usable(interval(record))) return;
  recording_.trace.calls.push_back(
      {.time = interval(record),
       .correlation = record.correlationId,
       .thread = thread(record.threadId),
       .api = record.kind == CUPTI_ACTIVITY_KIND_DRIVER ? trace::Api::driver : trace::Api::runtime,
       .result = std::uint32_t{record.returnValue}});
  call_ids_.push_back(record.cbid);
}

trace::Range CuptiRecords::range(const Marker& marker, Interval time, trace::RangeStyle style) {
  trace::Names& names = recording_.trace.names;
  return {.time = time,
          .thread = thread(marker.thread),
          .end_thread = thread(marker.thread),
          .name = names.index(marker.domain + ":" + marker.name),
          .domain = names.index(marker.domain),
          .style = style};
}

void CuptiRecords::add_marker(const CUpti_ActivityMarker2& record) {
  const std::string domain = text(record.domain);
  if (domain == trace::own_domain) return;  // mprof's own, which it knows better
  const auto flags = static_cast<unsigned>(record.flags);
  const bool is_start = (flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0;
  const bool is_end = (flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0;
  const bool is_mark = (flags & CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS) != 0;
  if (!is_start && !is_end && !is_mark) return;  // NVTX's user-defined locks
  if (record.timestamp == 0) {
    ++counts().zero_time;
    return;
  }
  Marker marker{record.id, nanoseconds(record.timestamp), record.objectId.pt.threadId, text(record.name),
                domain};
  if (is_mark) {
    recording_.trace.ranges.push_back(range(marker, {marker.time, marker.time}, trace::RangeStyle::mark));
  } else if (is_start) {
    starts_.push_back(std::move(marker));
  } else {
    ends_.insert_or_assign(marker.id, std::move(marker));
  }
}

void CuptiRecords::add_synchronization(const CUpti_ActivitySynchronization2& record) {
  if (!is_usable(interval(record))) return;
  recording_.trace.synchronizations.push_back({.time = interval(record),
                                               .correlation = record.correlationId,
                                               .process = nsys::global_process(process_),
                                               .kind = synchronization_kind(record.type),
                                               .context = record.contextId,
                                               .stream = record.streamId,
                                               .event = record.cudaEventId});
}

void CuptiRecords::add_overhead(CUpti_ActivityOverhead3& record) {
  std::free(record.overheadData);  // the reader's to free, by CUPTI's header
  record.overheadData = nullptr;
  if (!is_usable(interval(record))) return;
  const bool of_thread = record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
  recording_.trace.overheads.push_back(
      {.time = interval(record),
       .correlation = record.correlationId,
       .thread = thread(of_thread ? record.objectId.pt.threadId : 0),
       .kind = overhead_kind(static_cast<std::uint32_t>(record.overheadKind))});
}

void CuptiRecords::add_allocation(const CUpti_ActivityMemory4& record) {
  const Interval moment{nanoseconds(record.timestamp), nanoseconds(record.timestamp)};
  if (!is_usable(moment)) return;
  const bool is_release = record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  if (!is_release && record.memoryOperationType != CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION) return;
  recording_.trace.allocations.push_back({.time = moment,
                                          .correlation = record.correlationId,
                                          .process = nsys::global_process(process_),
                                          .address = record.address,
                                          .bytes = record.bytes,
                                          .queue = queue(record),
                                          .kind = memory_kind(record.memoryKind),
                                          .is_release = is_release});
}

void CuptiRecords::add_context(const CUpti_ActivityContext3& record) {
  trace::ContextInfo context{.process = nsys::global_process(process_),
                             .device = record.deviceId,
                             .id = record.contextId,
                             .parent = record.parentContextId,
                             .null_stream = record.nullStreamId,
                             .is_green = record.isGreenContext != 0};
  if (context.is_green) context.multiprocessors = std::uint32_t{record.numMultiprocessors};
  contexts_.push_back(context);
}

/// A copy has the correlation ids of a driver and of a runtime call. It keeps the one that has a call's
/// record: whoever joins them expects it to.
void CuptiRecords::choose_copies_correlations() {
  std::unordered_set<std::int64_t> called;
  for (const trace::Call& call : recording_.trace.calls) called.insert(call.correlation);
  std::vector<trace::Transfer>& transfers = recording_.trace.transfers;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (!called.contains(transfers[i].correlation) && called.contains(runtime_correlations_[i])) {
      transfers[i].correlation = runtime_correlations_[i];
    }
  }
}

/// A range that never ended lasts to the end of the window.
void CuptiRecords::match_markers(Interval window) {
  for (const Marker& start : starts_) {
    const auto end = ends_.find(start.id);
    const Interval time{start.time, end != ends_.end() ? end->second.time : window.end};
    if (!is_usable(time)) continue;
    trace::Range matched = range(start, time, trace::RangeStyle::push_pop);
    if (end != ends_.end() && end->second.thread != start.thread) {
      matched.end_thread = thread(end->second.thread);
      matched.style = trace::RangeStyle::start_end;
    }
    recording_.trace.ranges.push_back(matched);
  }
}

void CuptiRecords::name_calls(const ApiName& api_name) {
  std::map<std::pair<trace::Api, std::uint32_t>, std::pair<trace::NameIndex, trace::NameIndex>> known;
  trace::Names& names = recording_.trace.names;
  for (std::size_t i = 0; i < call_ids_.size(); ++i) {
    trace::Call& call = recording_.trace.calls[i];
    const auto [entry, is_new] = known.try_emplace({call.api, call_ids_[i]});
    if (is_new) {
      const std::string name = api_name(call.api, call_ids_[i]);
      entry->second = {names.index(trace::call_name(name)), names.index(name)};
    }
    std::tie(call.name, call.versioned_name) = entry->second;
  }
}

trace::Recording CuptiRecords::take(Interval window, const ApiName& api_name) {
  choose_copies_correlations();
  match_markers(window);
  trace::Trace& trace = recording_.trace;
  keep_inside(window, trace.kernels);
  keep_inside(window, trace.transfers);
  keep_inside(window, trace.calls, call_ids_);
  keep_inside(window, trace.synchronizations);
  keep_inside(window, trace.overheads);
  keep_inside(window, trace.allocations);
  keep_inside(window, trace.ranges);
  name_calls(api_name);
  trace.cases[0].window = window;
  trace.contexts = contexts_;
  trace::Recording recording = std::move(recording_);
  clear();
  return recording;
}

}  // namespace mprof
