// SPDX-License-Identifier: MIT
#include "cuda/kernel_launch.hpp"

#include <array>

#include <cupti.h>

#include "cuda/cupti.hpp"
#include "cuda/driver.hpp"

namespace mprof::cuda {
namespace {

/// The functions of CUPTI that are used here.
struct CallbackFunctions {
  decltype(::cuptiUnsubscribe)* unsubscribe = nullptr;
  decltype(::cuptiEnableCallback)* enable_callback = nullptr;

  CallbackFunctions() {
    const SharedLibrary& library = cupti_library();
    library.import(unsubscribe, "cuptiUnsubscribe");
    library.import(enable_callback, "cuptiEnableCallback");
  }
};

const CallbackFunctions& callback_functions() {
  static const CallbackFunctions functions;
  return functions;
}

/// The driver's functions that launch one kernel: the runtime's end in them as well, and libraries call them
/// directly. ..._ptsz: of programs compiled for per-thread default streams.
constexpr std::array launch_functions{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

/// From the parameters of any of these functions, whose fields have the same names.
template <class Parameters>
KernelLaunch launch_of(const Parameters& p) {
  return {{},
          p.f,
          {p.gridDimX, p.gridDimY, p.gridDimZ},
          {p.blockDimX, p.blockDimY, p.blockDimZ},
          p.sharedMemBytes};
}

KernelLaunch described(std::uint32_t function, const CUpti_CallbackData& call) {
  KernelLaunch launch;
  switch (function) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
      const auto& p = *static_cast<const cuLaunchKernelEx_params*>(call.functionParams);
      const CUlaunchConfig& c = *p.config;
      launch = {{},
                p.f,
                {c.gridDimX, c.gridDimY, c.gridDimZ},
                {c.blockDimX, c.blockDimY, c.blockDimZ},
                c.sharedMemBytes};
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      launch = launch_of(*static_cast<const cuLaunchCooperativeKernel_params*>(call.functionParams));
      break;
    default:
      launch = launch_of(*static_cast<const cuLaunchKernel_params*>(call.functionParams));
  }
  launch.symbol = call.symbolName != nullptr ? call.symbolName : "unknown kernel";
  return launch;
}

/// Whether this thread is between the two callbacks of a launch. What CUPTI itself launches there, to run the
/// kernel again, is not the program's.
thread_local bool launching = false;
/// Whether the observer is being told: what it launches itself is nobody's business, and has callbacks that
/// are hard to tell from those of the launch that it is told of.
thread_local bool telling = false;

void CUPTIAPI on_callback(void* callbacks, CUpti_CallbackDomain /*driver*/, CUpti_CallbackId function,
                          const void* call) {
  try {
    static_cast<LaunchCallbacks*>(callbacks)->on_call(function, call);
  } catch (...) {  // out of memory: the launch goes unseen, and no exception may reach the driver
  }
}

}  // namespace

LaunchCallbacks::LaunchCallbacks() : subscriber_(subscribe(on_callback, this)) {
  for (const auto function : launch_functions) {
    const CUptiResult enabled =
        callback_functions().enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, function);
    if (enabled == CUPTI_SUCCESS) continue;
    callback_functions().unsubscribe(subscriber_);
    check(enabled);
  }
}

LaunchCallbacks::~LaunchCallbacks() {
  callback_functions().unsubscribe(subscriber_);
}

void LaunchCallbacks::tell(LaunchObserver* observer) {
  const std::lock_guard lock(one_at_a_time_);
  observer_ = observer;
}

void LaunchCallbacks::on_call(std::uint32_t function, const void* call) {
  if (telling) return;
  const auto& data = *static_cast<const CUpti_CallbackData*>(call);
  if (data.callbackSite == CUPTI_API_ENTER) {
    if (launching) return;
    const KernelLaunch launch = described(function, data);
    one_at_a_time_.lock();
    launching = telling = true;
    correlation_ = data.correlationId;
    if (observer_ != nullptr) observer_->launching(launch);
    telling = false;
  } else if (launching && data.correlationId == correlation_) {
    telling = true;
    if (observer_ != nullptr) observer_->launched();
    telling = false;
    launching = false;
    one_at_a_time_.unlock();
  }
}

KernelAttributes attributes_of(const KernelLaunch& launch) {
  // What is launched is a CUfunction, or a CUkernel that goes by its type.
  const auto value = [&](CUfunction_attribute attribute) {
    int number = 0;
    if (driver().function_attribute(&number, attribute, launch.function) == CUDA_SUCCESS) return number;
    auto* const kernel = reinterpret_cast<CUkernel>(launch.function);
    driver().check(driver().kernel_attribute(&number, attribute, kernel, 0));
    return number;
  };
  return {
      .registers = value(CU_FUNC_ATTRIBUTE_NUM_REGS),
      .static_shared_memory = value(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
      .max_dynamic_shared_memory = value(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
      .max_threads_per_block = value(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
      .shared_memory_carveout = value(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT),
  };
}

}  // namespace mprof::cuda
