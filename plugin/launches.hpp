// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

#include <cuda_runtime.h>
#include <cxxabi.h>
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

/// What the runtime was last asked to do, and what it was asked when it said that something failed. Later
/// calls that fail with the same error do not count: CUDA reports an error of a kernel again and again.
struct Calls {
  cudaError_t error = cudaSuccess;  ///< of the call that failed; cudaSuccess: none did
  std::string failed{};             ///< that call: "cudaMemcpy (host to device, 4096 bytes)"
  const void* kernel = nullptr;     ///< that was launched last
  dim3 grid{};
  dim3 block{};
};

/// Of this thread, as cudaGetLastError() is.
inline thread_local Calls calls;

inline void remember(cudaError_t result, const char* function, const char* direction, std::size_t bytes) {
  if (result == cudaSuccess || result == calls.error) return;
  calls.error = result;
  calls.failed = std::string(function) + " (" + direction + std::to_string(bytes) + " bytes)";
}

inline std::string text_of(const dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

/// "conv_kernel (grid 4 x 25 x 100, block 16 x 16 x 1)", of the kernel that was launched last.
inline std::string last_kernel() {
  const char* const name = name_of(calls.kernel);
  char* const plain = name == nullptr ? nullptr : abi::__cxa_demangle(name, nullptr, nullptr, nullptr);
  std::string text = plain != nullptr ? plain : name != nullptr ? name : "a kernel";
  std::free(plain);
  if (const std::size_t arguments = text.find('('); arguments != std::string::npos) text.resize(arguments);
  return text + " (grid " + text_of(calls.grid) + ", block " + text_of(calls.block) + ")";
}

/// After each launch.
inline cudaError_t launched(cudaError_t result, const void* kernel, dim3 grid, dim3 block) {
  calls.kernel = kernel;
  calls.grid = grid;
  calls.block = block;
  if (result == cudaSuccess || result == calls.error) return result;
  calls.error = result;
  calls.failed = "the launch of " + last_kernel();
  return result;
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
  return mprof::plugin::detail::launched(
      __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream), kernel, grid, block);
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
  return mprof::plugin::detail::launched(
      __real_cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream), kernel, grid,
      block);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* kernel,
                                       void** arguments) {
  mprof::plugin::detail::tell(kernel);
  return __real_cudaLaunchKernelExC(configuration, kernel, arguments);
}
}
