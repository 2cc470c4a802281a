// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <mprof/plugin.h>

/// Tells mprof of each launch of a kernel: the linker gives these functions the calls of those behind
/// __wrap_, as it does for mprof's own variants. mprof puts it before each source for a GPU; a library that
/// is built elsewhere includes it once and is linked with --wrap of the four.
namespace mprof::plugin::detail {

inline mprof_launching launching = nullptr;

/// Of this library's own runtime, which alone knows its kernels: by the host's function that stands for one,
/// or by its handle, which is the driver's.
inline const char* name_of(const void* kernel) {
#if CUDART_VERSION >= 12030
  using GetName = int (*)(const char**, const void*);
  static const auto name_by_handle = [] {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return driver == nullptr ? nullptr : reinterpret_cast<GetName>(::dlsym(driver, "cuKernelGetName"));
  }();
  const bool was_well = cudaPeekAtLastError() == cudaSuccess;
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) == cudaSuccess) return name;
  if (was_well) static_cast<void>(cudaGetLastError());  // of that question alone
  if (name_by_handle != nullptr && name_by_handle(&name, kernel) == 0) return name;
#endif
  static_cast<void>(kernel);
  return nullptr;
}

inline void tell(const void* kernel) {
  if (launching != nullptr) launching(kernel, name_of);
}

}  // namespace mprof::plugin::detail

extern "C" {

__attribute__((visibility("default"))) void mprof_count_launches(mprof_launching launching) {
  mprof::plugin::detail::launching = launching;
}

cudaError_t __real_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared, cudaStream_t stream) {
  mprof::plugin::detail::tell(kernel);
  return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

// What <<<>>> becomes since CUDA 13. It would go on to cudaLaunchKernel() within the runtime, where one
// linker redirects the call and another does not.
cudaError_t __wrap___cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                      std::size_t shared, cudaStream_t stream) {
  return __wrap_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t __real_cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                               std::size_t shared, cudaStream_t stream) {
  mprof::plugin::detail::tell(kernel);
  return __real_cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* kernel,
                                       void** arguments) {
  mprof::plugin::detail::tell(kernel);
  return __real_cudaLaunchKernelExC(configuration, kernel, arguments);
}
}
