// SPDX-License-Identifier: MIT
// What --wrap directs elsewhere must be defined in a file of its own.
#include <cstdlib>
#include <set>

#include <cuda_runtime.h>

namespace {

cudaError_t last = cudaSuccess;
cudaError_t pending = cudaSuccess;  ///< of a kernel: whatever synchronizes next says so

/// Its memory goes when it goes, as a device's does: a file that failed frees nothing.
struct Device {
  std::set<void*> blocks;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    for (void* const block : blocks) std::free(block);
  }
} device;

cudaError_t kept(cudaError_t result) {
  if (result != cudaSuccess) last = result;
  return result;
}

}  // namespace

extern "C" {
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    default:
      return "an error of the stub";
  }
}
cudaError_t cudaPeekAtLastError() {
  return last;
}
cudaError_t cudaGetLastError() {
  const cudaError_t result = last;
  last = cudaSuccess;
  return result;
}
cudaError_t cudaDeviceSynchronize() {
  return kept(pending);
}
cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = std::malloc(bytes);
  if (*pointer == nullptr) return kept(cudaErrorMemoryAllocation);
  device.blocks.insert(*pointer);
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  device.blocks.erase(pointer);
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (pending != cudaSuccess) return kept(pending);
  if (bytes > 0 && (to == nullptr || from == nullptr)) return kept(cudaErrorInvalidValue);
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  return cudaMemcpy(static_cast<char*>(const_cast<void*>(symbol)) + offset, from, bytes, kind);
}
void __trap() {
  pending = cudaErrorLaunchFailure;
}
cudaError_t cudaFuncGetName(const char** name, const void*) {
  *name = "kernel_of_the_stub";
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3 block, void**, std::size_t, cudaStream_t) {
  return kept(block.x * block.y * block.z > 1024 ? cudaErrorInvalidConfiguration : cudaSuccess);
}
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) {
  return cudaSuccess;
}
}
