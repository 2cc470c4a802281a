#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// What Nsight Systems' exports have in common with trace.sqlite, for its writer and its readers: how ids are
/// packed, and what the numbers in its enumerations stand for.
namespace mprof::trace::nsys {

/// 8 bits hardware, 8 bits machine, 24 bits process, 24 bits thread.
inline constexpr int process_shift = 24;
inline constexpr std::int64_t thread_mask = 0xFFFFFF;

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

inline constexpr std::array copy_kinds{
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
};

inline constexpr std::array memory_kinds{
    EnumRow{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
    EnumRow{1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
    EnumRow{2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
    EnumRow{3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
    EnumRow{4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
    EnumRow{5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
    EnumRow{6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
    EnumRow{7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"},
};

}  // namespace mprof::trace::nsys
