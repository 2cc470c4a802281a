// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cupti.h>

#include "injection/window_gate.hpp"

namespace mprof::injection {

/// The driver's functions that launch one kernel: the runtime's end in them as well, and libraries call them
/// directly. ..._ptsz: of programs compiled for per-thread default streams.
inline constexpr CUpti_driver_api_trace_cbid launch_calls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz};
inline constexpr CUpti_driver_api_trace_cbid graph_calls[] = {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
                                                              CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};
/// The calls that begin to record a stream for a graph, and the calls that end it.
inline constexpr CUpti_driver_api_trace_cbid capture_begins[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz};
inline constexpr CUpti_driver_api_trace_cbid capture_ends[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz};

/// The calls by which a program says which part of it a profiler should record.
inline constexpr CUpti_runtime_api_trace_cbid profiler_calls[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000};
inline constexpr CUpti_driver_api_trace_cbid profiler_driver_calls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop};

/// Tells the gate of a window of such a call. False: it is another call. The runtime's may make the driver's,
/// and the first of them counts.
inline bool take_profiler_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const CUpti_CallbackData& call, WindowGate& gate) {
  const bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
  const auto is = [&](std::size_t which) {
    return id == (is_driver ? static_cast<CUpti_CallbackId>(profiler_driver_calls[which])
                            : static_cast<CUpti_CallbackId>(profiler_calls[which]));
  };
  if (!is(0) && !is(1)) return false;
  if (call.callbackSite != CUPTI_API_ENTER) return true;
  if (is(0)) gate.profiler_starts();
  if (is(1)) gate.profiler_stops();
  return true;
}

struct Launch {
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t dynamic_shared_memory = 0;  ///< B
};

/// What a call of one of launch_calls launches.
inline Launch launch_of(CUpti_CallbackId call, const void* parameters) {
  // The fields have the same names in all of these types.
  const auto from = [](const auto& p, CUfunction function) {
    return Launch{function,
                  p.hStream,
                  {p.gridDimX, p.gridDimY, p.gridDimZ},
                  {p.blockDimX, p.blockDimY, p.blockDimZ},
                  p.sharedMemBytes};
  };
  if (call == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
      call == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz) {
    const auto& p = *static_cast<const cuLaunchKernelEx_params*>(parameters);
    return p.config == nullptr ? Launch{} : from(*p.config, p.f);
  }
  if (call == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel ||
      call == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz) {
    const auto& p = *static_cast<const cuLaunchCooperativeKernel_params*>(parameters);
    return from(p, p.f);
  }
  const auto& p = *static_cast<const cuLaunchKernel_params*>(parameters);
  return from(p, p.f);
}

}  // namespace mprof::injection
