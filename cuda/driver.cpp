// SPDX-License-Identifier: MIT
#include "cuda/driver.hpp"

#include <fmt/format.h>

#include "cuda/shared_library.hpp"
#include "system/error.hpp"

namespace mprof::cuda {

void Driver::check(CUresult result, const char* file, int line) const {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  error_string(result, &text);
  throw Error(ExitCode::fault, fmt::format("{}:{}: CUDA driver error {}: {}.", file, line,
                                           static_cast<int>(result), text != nullptr ? text : "unknown"));
}

const Driver& driver() {
  static const Driver functions = [] {
    const SharedLibrary library({"libcuda.so.1"});
    Driver d;
    library.import(d.error_string, "cuGetErrorString");
    library.import(d.current_context, "cuCtxGetCurrent");
    library.import(d.function_attribute, "cuFuncGetAttribute");
    library.import(d.kernel_attribute, "cuKernelGetAttribute");
    library.import(d.kernel_name, "cuKernelGetName");
    library.import(d.allocate, "cuMemAlloc_v2");
    library.import(d.free, "cuMemFree_v2");
    library.import(d.launch_kernel, "cuLaunchKernel");
    library.import(d.synchronize_context, "cuCtxSynchronize");
    library.import(d.create_event, "cuEventCreate");
    library.import(d.destroy_event, "cuEventDestroy_v2");
    library.import(d.record_event, "cuEventRecord");
    library.import(d.synchronize_event, "cuEventSynchronize");
    library.import(d.elapsed_time, "cuEventElapsedTime");
    library.import(d.wait_in_stream, "cuStreamWaitEvent");
    library.import(d.record_context, "cuCtxRecordEvent");
    library.import(d.wait_in_context, "cuCtxWaitEvent");
    return d;
  }();
  return functions;
}

}  // namespace mprof::cuda
