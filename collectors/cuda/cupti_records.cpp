#include "collectors/cuda/cupti_records.hpp"

#include <cstdlib>
#include <unordered_set>
#include <utility>

#include "model/kernel_name.hpp"

// CUPTI's records are packed: no reference may be bound to a member, so members are copied.

namespace mprof {
namespace {

using trace::Interval;

std::int64_t nanoseconds(std::uint64_t time) {
  return static_cast<std::int64_t>(time);
}

template <class Record>
Interval interval(const Record& record) {
  return {nanoseconds(record.start), nanoseconds(record.end)};
}

template <class Record>
trace::GpuWork gpu_work(const Record& record) {
  return {.time = interval(record),
          .device = record.deviceId,
          .context = record.contextId,
          .stream = record.streamId,
          .correlation = record.correlationId,
          .graph_node = record.graphNodeId};
}

/// CUPTI counts from 1 and has unknown first; nsys counts from 0 and has it last.
trace::MemoryKind memory_kind(unsigned cupti) {
  constexpr unsigned known = 7;
  if (cupti == 0 || cupti > known) return trace::MemoryKind::unknown;
  return static_cast<trace::MemoryKind>(cupti - 1);
}

trace::CopyKind copy_kind(unsigned cupti) {
  return cupti <= CUPTI_ACTIVITY_MEMCPY_KIND_PTOP ? static_cast<trace::CopyKind>(cupti)
                                                  : trace::CopyKind::unknown;
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

template <class Row>
const Interval& time_of(const Row& row) {
  if constexpr (requires { row.work; }) {
    return row.work.time;
  } else {
    return row.time;
  }
}

/// Leaves the rows that overlap the window, and of what stands beside them the same.
template <class Row, class... Beside>
void keep_inside(const Interval& window, std::vector<Row>& rows, std::vector<Beside>&... beside) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Interval time = time_of(rows[i]);
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
        trace_.external_correlations.push_back({external.correlationId, external.externalId});
      }
      return;
    }
    case CUPTI_ACTIVITY_KIND_MARKER:
      return add_marker(reinterpret_cast<CUpti_ActivityMarker2&>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return add_synchronization(reinterpret_cast<CUpti_ActivitySynchronization2&>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return add_overhead(reinterpret_cast<CUpti_ActivityOverhead3&>(record));
    default:
      return;
  }
}

bool CuptiRecords::is_usable(const Interval& time) {
  if (time.start == 0 || time.end == 0) {
    ++trace_.counts.zero_time;
    return false;
  }
  if (time.end < time.start) {
    ++trace_.counts.reversed;
    return false;
  }
  return true;
}

std::uint32_t CuptiRecords::symbol(const char* mangled) {
  const auto next = static_cast<std::uint32_t>(trace_.symbols.size());
  const auto [entry, is_new] = symbols_.try_emplace(text(mangled), next);
  if (is_new) {
    const KernelName name = kernel_name(entry->first);
    trace_.symbols.push_back({entry->first, name.whole, name.brief});
  }
  return entry->second;
}

void CuptiRecords::add_kernel(const CUpti_ActivityKernel10& record) {
  if (!is_usable(interval(record))) return;
  trace_.kernels.push_back({.work = gpu_work(record),
                            .symbol = symbol(record.name),
                            .grid = {record.gridX, record.gridY, record.gridZ},
                            .block = {record.blockX, record.blockY, record.blockZ},
                            .registers_per_thread = record.registersPerThread,
                            .static_shared_memory = record.staticSharedMemory,
                            .dynamic_shared_memory = record.dynamicSharedMemory,
                            .local_memory_per_thread = record.localMemoryPerThread,
                            .local_memory_total = record.localMemoryTotal_v2,
                            .shared_memory_executed = record.sharedMemoryExecuted,
                            .shared_memory_limit = static_cast<std::uint32_t>(record.shmemLimitConfig),
                            .cache_config = record.cacheConfig.config.executed,
                            .launch_type = record.launchType,
                            .grid_id = record.gridId});
}

void CuptiRecords::add_copy(const CUpti_ActivityMemcpy6& record) {
  if (!is_usable(interval(record))) return;
  trace_.copies.push_back({gpu_work(record), record.bytes, copy_kind(record.copyKind),
                           memory_kind(record.srcKind), memory_kind(record.dstKind), record.copyCount});
  runtime_correlations_.push_back(record.runtimeCorrelationId);
}

void CuptiRecords::add_peer_copy(const CUpti_ActivityMemcpyPtoP4& record) {
  if (!is_usable(interval(record))) return;
  trace_.copies.push_back({gpu_work(record), record.bytes, trace::CopyKind::peer_to_peer,
                           memory_kind(record.srcKind), memory_kind(record.dstKind), 1});
  runtime_correlations_.push_back(CUPTI_CORRELATION_ID_UNKNOWN);
}

void CuptiRecords::add_set(const CUpti_ActivityMemset4& record) {
  if (!is_usable(interval(record))) return;
  trace_.sets.push_back({gpu_work(record), record.value, record.bytes, memory_kind(record.memoryKind)});
}

void CuptiRecords::add_call(const CUpti_ActivityAPI& record) {
  if (!is_usable(interval(record))) return;
  trace_.calls.push_back(
      {.time = interval(record),
       .api = record.kind == CUPTI_ACTIVITY_KIND_DRIVER ? trace::Api::driver : trace::Api::runtime,
       .thread = record.threadId,
       .correlation = record.correlationId,
       .result = record.returnValue});
  call_ids_.push_back(record.cbid);
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
    ++trace_.counts.zero_time;
    return;
  }
  Marker marker{record.id, nanoseconds(record.timestamp), record.objectId.pt.threadId, text(record.name),
                domain};
  if (is_mark) {
    trace_.ranges.push_back(
        {{marker.time, marker.time}, marker.name, marker.domain, marker.thread, marker.thread});
  } else if (is_start) {
    starts_.push_back(std::move(marker));
  } else {
    ends_.insert_or_assign(marker.id, std::move(marker));
  }
}

void CuptiRecords::add_synchronization(const CUpti_ActivitySynchronization2& record) {
  if (!is_usable(interval(record))) return;
  trace_.synchronizations.push_back({.time = interval(record),
                                     .kind = synchronization_kind(record.type),
                                     .context = record.contextId,
                                     .stream = record.streamId,
                                     .event = record.cudaEventId,
                                     .correlation = record.correlationId});
}

void CuptiRecords::add_overhead(CUpti_ActivityOverhead3& record) {
  std::free(record.overheadData);  // the reader's to free, by CUPTI's header
  record.overheadData = nullptr;
  if (!is_usable(interval(record))) return;
  const bool of_thread = record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
  trace_.overheads.push_back({interval(record),
                              overhead_kind(static_cast<std::uint32_t>(record.overheadKind)),
                              of_thread ? record.objectId.pt.threadId : 0, record.correlationId});
}

/// A copy has the correlation ids of a driver and of a runtime call. It keeps the one that has a call's
/// record: whoever joins them expects it to.
void CuptiRecords::choose_copies_correlations() {
  std::unordered_set<std::uint32_t> called;
  for (const trace::ApiCall& call : trace_.calls) called.insert(call.correlation);
  for (std::size_t i = 0; i < trace_.copies.size(); ++i) {
    std::uint32_t& correlation = trace_.copies[i].work.correlation;
    if (!called.contains(correlation) && called.contains(runtime_correlations_[i])) {
      correlation = runtime_correlations_[i];
    }
  }
}

/// A range that never ended lasts to the end of the window.
void CuptiRecords::match_markers(Interval window) {
  for (Marker& start : starts_) {
    const auto end = ends_.find(start.id);
    const bool has_ended = end != ends_.end();
    const Interval time{start.time, has_ended ? end->second.time : window.end};
    if (!is_usable(time)) continue;
    trace_.ranges.push_back({time, std::move(start.name), std::move(start.domain), start.thread,
                             has_ended ? end->second.thread : start.thread});
  }
}

trace::Trace CuptiRecords::take(Interval window, const ApiName& api_name) {
  choose_copies_correlations();
  match_markers(window);
  keep_inside(window, trace_.kernels);
  keep_inside(window, trace_.copies);
  keep_inside(window, trace_.sets);
  keep_inside(window, trace_.calls, call_ids_);
  keep_inside(window, trace_.synchronizations);
  keep_inside(window, trace_.overheads);
  keep_inside(window, trace_.ranges);
  for (std::size_t i = 0; i < trace_.calls.size(); ++i) {
    trace_.calls[i].name = api_name(trace_.calls[i].api, call_ids_[i]);
  }
  trace_.window = window;
  trace::Trace trace = std::move(trace_);
  clear();
  return trace;
}

}  // namespace mprof
