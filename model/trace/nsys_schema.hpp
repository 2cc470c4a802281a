// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// What Nsight Systems' exports have in common with trace.sqlite, for its writer and its readers: how ids are
/// packed, and what the numbers in its enumerations stand for.
namespace mprof::trace::nsys {

/// 8 bits hardware, 8 bits machine, 24 bits process, 24 bits thread.
inline constexpr int process_shift = 24;
inline constexpr std::int64_t thread_mask = 0xFFFFFF;
/// mprof's own traces are of one machine.
inline constexpr std::int64_t own_machine = std::int64_t{1} << 48;

constexpr std::int64_t global_process(std::uint32_t process) {
  return own_machine | std::int64_t{process} << process_shift;
}
constexpr std::int64_t global_thread(std::int64_t of_process, std::uint32_t thread) {
  return of_process | (std::int64_t{thread} & thread_mask);
}
/// The global id of the process that a thread, or a process itself, belongs to.
constexpr std::int64_t process_of(std::int64_t global) {
  return global & ~thread_mask;
}
/// The ids by which the operating system knows them.
constexpr std::int64_t native_process(std::int64_t global) {
  return (global >> process_shift) & thread_mask;
}
constexpr std::int64_t native_thread(std::int64_t global) {
  return global & thread_mask;
}

/// The type of a GPU's metrics has the GPU in its lowest byte: its row in TARGET_INFO_GPU. In trace.sqlite
/// the rest is the number of the case.
inline constexpr std::int64_t gpus_of_a_case = 256;

/// The UUID of a GPU without "GPU-", as these files have it.
constexpr std::string_view bare_uuid(std::string_view uuid) {
  constexpr std::string_view prefix = "GPU-";
  return uuid.starts_with(prefix) ? uuid.substr(prefix.size()) : uuid;
}

/// The chip of a compute capability that only one has, as TARGET_INFO_GPU.chipName names it; empty: several
/// have it, or none that is known.
constexpr std::string_view chip_of(std::optional<std::uint32_t> major, std::optional<std::uint32_t> minor) {
  if (!major || minor != 0U) return {};
  switch (*major) {
    case 6:
      return "GP100";
    case 7:
      return "GV100";
    case 8:
      return "GA100";
    case 9:
      return "GH100";
    default:
      return {};
  }
}

/// eventClass of OSRT_API.
inline constexpr int system_call_class = 27;
inline constexpr int graph_node_class = 77;

/// eventType of NVTX_EVENTS.
inline constexpr int mark = 34;
inline constexpr int push_pop_range = 59;
inline constexpr int start_end_range = 60;
inline constexpr int domain_created = 75;

struct EnumRow {
  int id;
  std::string_view name;
  std::string_view label;
};

/// A table that names the numbers of another one's column.
struct Enumeration {
  std::string_view table;
  std::span<const EnumRow> rows;
};
inline constexpr std::string_view enumeration_columns =
    "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT";

inline constexpr std::array copy_kind_rows{
    EnumRow{0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
    EnumRow{1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
    EnumRow{2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
    EnumRow{3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
    EnumRow{4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
    EnumRow{5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
    EnumRow{6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
    EnumRow{7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
    EnumRow{8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
    EnumRow{9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
    EnumRow{10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
    EnumRow{11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"},
    EnumRow{12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"},
    EnumRow{13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"},
};
inline constexpr Enumeration copy_kinds{"ENUM_CUDA_MEMCPY_OPER", copy_kind_rows};

inline constexpr std::array fault_access_rows{
    EnumRow{0, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_UNKNOWN", "Unknown"},
    EnumRow{1, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ", "Read"},
    EnumRow{2, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE", "Write"},
    EnumRow{3, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_ATOMIC", "Atomic"},
    EnumRow{4, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_PREFETCH", "Prefetch"},
};
inline constexpr Enumeration fault_accesses{"ENUM_CUDA_UNIF_MEM_ACCESS_TYPE", fault_access_rows};

inline constexpr std::array memory_kind_rows{
    EnumRow{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
    EnumRow{1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
    EnumRow{2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
    EnumRow{3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
    EnumRow{4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
    EnumRow{5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
    EnumRow{6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
    EnumRow{7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"},
};
inline constexpr Enumeration memory_kinds{"ENUM_CUDA_MEM_KIND", memory_kind_rows};

inline constexpr int memory_allocation = 0;
inline constexpr int memory_release = 1;
inline constexpr std::array memory_operation_rows{
    EnumRow{memory_allocation, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"},
    EnumRow{memory_release, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation"},
};
inline constexpr Enumeration memory_operations{"ENUM_CUDA_DEV_MEM_EVENT_OPER", memory_operation_rows};

inline constexpr std::array synchronization_kind_rows{
    EnumRow{0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
    EnumRow{1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
    EnumRow{2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
    EnumRow{3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
    EnumRow{4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
};
inline constexpr Enumeration synchronization_kinds{"ENUM_CUPTI_SYNC_TYPE", synchronization_kind_rows};

inline constexpr std::array launch_type_rows{
    EnumRow{0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"},
    EnumRow{1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"},
    EnumRow{2, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"},
    EnumRow{3, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE", "Coop Multi Device"},
};
inline constexpr Enumeration launch_types{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", launch_type_rows};

inline constexpr std::array overhead_kind_rows{
    EnumRow{0, "OVERHEAD_UNDEFINED", "Undefined"},
    EnumRow{1, "OVERHEAD_UNKNOWN", "Unknown"},
    EnumRow{2, "OVERHEAD_DRIVER_COMPILER", "Driver JIT compiler (CUDA)"},
    EnumRow{3, "OVERHEAD_CUPTI_BUFFER_FLUSH", "Buffer flush (Profiler)"},
    EnumRow{4, "OVERHEAD_CUPTI_INSTRUMENTATION", "Instrumentation (Profiler)"},
    EnumRow{5, "OVERHEAD_CUPTI_RESOURCE", "Resource creation/destruction (Profiler)"},
    EnumRow{6, "OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING", "Runtime module loading (CUDA)"},
    EnumRow{7, "OVERHEAD_LAZY_FUNCTION_LOADING", "Lazy function loading (CUDA)"},
    EnumRow{8, "OVERHEAD_COMMAND_BUFFER_FULL", "Command buffer full (CUDA)"},
    // Newer than schema 3.24.14, and recorded by CUPTI 13.
    EnumRow{9, "OVERHEAD_ACTIVITY_BUFFER_REQUEST", "Activity buffer request (Profiler)"},
    EnumRow{10, "OVERHEAD_UVM_ACTIVITY_INIT", "UVM activity init (Profiler)"},
};
/// Whether Nsight Systems has it in PROFILER_OVERHEAD, and not in CUPTI_ACTIVITY_KIND_OVERHEAD.
constexpr bool is_of_profiler(std::uint32_t overhead) {
  constexpr std::uint32_t driver_compiler = 2, first_of_cuda = 6, last_of_cuda = 8;
  return overhead != driver_compiler && (overhead < first_of_cuda || overhead > last_of_cuda);
}
inline constexpr Enumeration overhead_kinds{"ENUM_CUPTI_OVERHEAD_TYPE", overhead_kind_rows};

inline constexpr std::array stream_type_rows{
    EnumRow{0, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN", "Unknown stream type"},
    EnumRow{1, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT", "Default stream"},
    EnumRow{2, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING", "Non-blocking stream"},
    EnumRow{3, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL", "Null stream"},
};
inline constexpr Enumeration stream_types{"ENUM_CUPTI_STREAM_TYPE", stream_type_rows};
inline constexpr int unknown_stream = 0;
inline constexpr int null_stream = 3;
/// The number that CUPTI gives the null stream of a process's first context.
inline constexpr std::uint32_t first_null_stream = 7;

/// A property of the machine in TARGET_INFO_SYSTEM_ENV.
struct SystemProperty {
  int id;
  std::string_view name;
};
inline constexpr std::array system_properties{
    SystemProperty{1, "CpuCores"},
    SystemProperty{13, "CpuDescription"},
    SystemProperty{205, "NvDriverVersion"},
    SystemProperty{605, "OsDescription"},
    SystemProperty{611, "CudaDriverVersion"},
    SystemProperty{619, "Hostname"},
};

inline constexpr std::array event_class_rows{
    EnumRow{0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
    EnumRow{1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
    EnumRow{system_call_class, "TRACE_PROCESS_EVENT_OS_RUNTIME", "OSRT runtime"},
    EnumRow{graph_node_class, "TRACE_PROCESS_EVENT_CUDA_GRAPH_NODE_CREATION", "CUDA graph node creation"},
};
inline constexpr Enumeration event_classes{"ENUM_NSYS_EVENT_CLASS", event_class_rows};

inline constexpr std::array event_type_rows{
    EnumRow{mark, "NvtxMark", "NvtxMark"},
    EnumRow{push_pop_range, "NvtxPushPopRange", "NvtxPushPopRange"},
    EnumRow{start_end_range, "NvtxStartEndRange", "NvtxStartEndRange"},
    EnumRow{domain_created, "NvtxDomainCreate", "NvtxDomainCreate"},
};
inline constexpr Enumeration event_types{"ENUM_NSYS_EVENT_TYPE", event_type_rows};

}  // namespace mprof::trace::nsys
