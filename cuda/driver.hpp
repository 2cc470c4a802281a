// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

/// The few functions of the driver that the runtime has no counterpart of, and the functions that take times:
/// here no symbol of a variant can replace them. The driver is opened when first needed, because mprof also
/// runs where there is no driver.
namespace mprof::cuda {

struct Driver {
  decltype(::cuGetErrorString)* error_string = nullptr;
  decltype(::cuCtxGetCurrent)* current_context = nullptr;
  decltype(::cuFuncGetAttribute)* function_attribute = nullptr;
  decltype(::cuKernelGetAttribute)* kernel_attribute = nullptr;
  decltype(::cuKernelGetName)* kernel_name = nullptr;
  decltype(::cuMemAlloc)* allocate = nullptr;
  decltype(::cuMemFree)* free = nullptr;
  decltype(::cuLaunchKernel)* launch_kernel = nullptr;
  decltype(::cuCtxSynchronize)* synchronize_context = nullptr;
  decltype(::cuEventCreate)* create_event = nullptr;
  decltype(::cuEventDestroy)* destroy_event = nullptr;
  decltype(::cuEventRecord)* record_event = nullptr;
  decltype(::cuEventSynchronize)* synchronize_event = nullptr;
  decltype(::cuEventElapsedTime)* elapsed_time = nullptr;
  decltype(::cuStreamWaitEvent)* wait_in_stream = nullptr;
  decltype(::cuCtxRecordEvent)* record_context = nullptr;
  decltype(::cuCtxWaitEvent)* wait_in_context = nullptr;

  /// Throws Error when `result` is not CUDA_SUCCESS.
  void check(CUresult result, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const;
};

/// Throws Error(environment) where the driver is missing or lacks one of them.
[[nodiscard]] const Driver& driver();

}  // namespace mprof::cuda
