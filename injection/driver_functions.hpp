// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

namespace mprof::injection {

/// The driver's functions, of the library that called this one.
struct DriverFunctions {
  DriverFunctions();

  bool has_all = false;
  decltype(::cuCtxGetDevice)* device_of_context = nullptr;
  decltype(::cuCtxRecordEvent)* record_context = nullptr;
  decltype(::cuEventCreate)* create_event = nullptr;
  decltype(::cuEventQuery)* query_event = nullptr;
  decltype(::cuStreamIsCapturing)* is_capturing = nullptr;
  decltype(::cuFuncGetAttribute)* function_attribute = nullptr;
  decltype(::cuKernelGetAttribute)* kernel_attribute = nullptr;
};

}  // namespace mprof::injection
