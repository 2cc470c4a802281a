// SPDX-License-Identifier: MIT
#include "cuda/launch_counts.hpp"

#include <array>
#include <atomic>
#include <cstddef>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "cuda/driver.hpp"

namespace mprof::cuda {
namespace {

/// Kernels that can be told apart: far more than a variant has.
constexpr std::size_t most_kernels = 256;

struct Launched {
  std::atomic<const void*> kernel = nullptr;  ///< the function of the host that stands for it, or its handle
  std::atomic<KernelNamer> namer = nullptr;   ///< of another runtime's kernel
  std::atomic<std::uint64_t> times = 0;
};

std::array<Launched, most_kernels> all_launched;
std::atomic<bool> is_counting = false;

/// Any thread may launch. Whoever raises the number has set the namer before.
void count(const void* kernel, KernelNamer namer = nullptr) noexcept {
  if (!is_counting.load(std::memory_order_relaxed)) return;
  for (Launched& launched : all_launched) {
    const void* known = launched.kernel.load(std::memory_order_relaxed);
    if (known == nullptr && launched.kernel.compare_exchange_strong(known, kernel)) known = kernel;
    if (known != kernel) continue;
    launched.namer = namer;
    launched.times.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

/// Throws Error where neither the runtime nor the driver knows it.
std::string name_of(const void* kernel) {
  const bool was_well = cudaPeekAtLastError() == cudaSuccess;
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) == cudaSuccess) return name;
  if (was_well) static_cast<void>(cudaGetLastError());  // of that question alone
  // The driver's functions take the handles of the runtime.
  driver().check(driver().kernel_name(&name, static_cast<CUkernel>(const_cast<void*>(kernel))));
  return name;
}

}  // namespace

void start_counting_launches() {
  for (Launched& launched : all_launched) {
    launched.kernel = nullptr;
    launched.namer = nullptr;
    launched.times = 0;
  }
  is_counting = true;
}

LaunchCounts stop_counting_launches() {
  is_counting = false;
  LaunchCounts counts;
  for (const Launched& launched : all_launched) {
    if (launched.kernel == nullptr) break;
    const KernelNamer namer = launched.namer;
    if (namer == nullptr) {
      counts[name_of(launched.kernel)] += launched.times;
    } else if (const char* const name = namer(launched.kernel)) {
      counts[name] += launched.times;
    }
  }
  return counts;
}

void count_launch_elsewhere(const void* kernel, KernelNamer namer) noexcept {
  count(kernel, namer);
}

}  // namespace mprof::cuda

// The linker's --wrap gives these the calls of the functions behind their prefix, and names the latter
// __real_. NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {

cudaError_t __real_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared, cudaStream_t stream) {
  mprof::cuda::count(kernel);
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
  mprof::cuda::count(kernel);
  return __real_cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* kernel,
                                       void** arguments) {
  mprof::cuda::count(kernel);
  return __real_cudaLaunchKernelExC(configuration, kernel, arguments);
}
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
