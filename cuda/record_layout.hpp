// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include <cupti_activity.h>

/// What of CUPTI's activity records mprof keeps, where they are written as they are.
namespace mprof::cuda {

/// Where a kind of record has pointers, in bytes from its beginning; 0: it has no more.
struct RecordLayout {
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
  std::size_t size = 0;                    ///< B
  std::size_t least = 0;                   ///< B, of CUPTI 11.8; later versions have added fields at the end
  std::array<std::size_t, 2> texts{};      ///< to characters
  std::array<std::size_t, 2> forgotten{};  ///< to what is not kept
};

inline constexpr RecordLayout record_layouts[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
     sizeof(CUpti_ActivityKernel10),
     sizeof(CUpti_ActivityKernel8),
     {offsetof(CUpti_ActivityKernel10, name)}},
    {CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy6), sizeof(CUpti_ActivityMemcpy5)},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(CUpti_ActivityMemcpyPtoP4), sizeof(CUpti_ActivityMemcpyPtoP4)},
    {CUPTI_ACTIVITY_KIND_MEMSET, sizeof(CUpti_ActivityMemset4), sizeof(CUpti_ActivityMemset4)},
    {CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI), sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_DRIVER, sizeof(CUpti_ActivityAPI), sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_MARKER,
     sizeof(CUpti_ActivityMarker2),
     sizeof(CUpti_ActivityMarker2),
     {offsetof(CUpti_ActivityMarker2, name), offsetof(CUpti_ActivityMarker2, domain)}},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization2),
     sizeof(CUpti_ActivitySynchronization)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD,
     sizeof(CUpti_ActivityOverhead3),
     sizeof(CUpti_ActivityOverhead),
     {},
     {offsetof(CUpti_ActivityOverhead3, overheadData)}},
    {CUPTI_ACTIVITY_KIND_MEMORY2,
     sizeof(CUpti_ActivityMemory4),
     sizeof(CUpti_ActivityMemory3),
     {},
     {offsetof(CUpti_ActivityMemory4, name), offsetof(CUpti_ActivityMemory4, source)}},
    {CUPTI_ACTIVITY_KIND_CONTEXT, sizeof(CUpti_ActivityContext3), sizeof(CUpti_ActivityContext)},
    {CUPTI_ACTIVITY_KIND_DEVICE,
     sizeof(CUpti_ActivityDevice5),
     sizeof(CUpti_ActivityDevice4),
     {offsetof(CUpti_ActivityDevice5, name)}},
};

/// nullptr for a kind that is not kept.
inline const RecordLayout* record_layout(CUpti_ActivityKind kind) {
  const auto* const found = std::find_if(std::begin(record_layouts), std::end(record_layouts),
                                         [&](const RecordLayout& layout) { return layout.kind == kind; });
  return found == std::end(record_layouts) ? nullptr : found;
}

}  // namespace mprof::cuda
