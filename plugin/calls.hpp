// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <cuda_runtime.h>
#include <mprof/launches.hpp>

/// Remembers the call of CUDA's runtime that failed, among the calls that students' files make without
/// looking at what they return. mprof puts it before each source for a GPU, and links with --wrap of these
/// functions.
namespace mprof::plugin::detail {

inline const char* direction_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return "host to device, ";
    case cudaMemcpyDeviceToHost:
      return "device to host, ";
    default:
      return "";
  }
}

}  // namespace mprof::plugin::detail

extern "C" {

cudaError_t __real_cudaMalloc(void**, std::size_t);
cudaError_t __wrap_cudaMalloc(void** pointer, std::size_t bytes) {
  const cudaError_t result = __real_cudaMalloc(pointer, bytes);
  mprof::plugin::detail::remember(result, "cudaMalloc", "", bytes);
  return result;
}

cudaError_t __real_cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind);
cudaError_t __wrap_cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t result = __real_cudaMemcpy(to, from, bytes, kind);
  mprof::plugin::detail::remember(result, "cudaMemcpy", mprof::plugin::detail::direction_of(kind), bytes);
  return result;
}

cudaError_t __real_cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  const cudaError_t result = __real_cudaMemcpyAsync(to, from, bytes, kind, stream);
  mprof::plugin::detail::remember(result, "cudaMemcpyAsync", mprof::plugin::detail::direction_of(kind),
                                  bytes);
  return result;
}

cudaError_t __real_cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, cudaMemcpyKind);
cudaError_t __wrap_cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind) {
  const cudaError_t result = __real_cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
  mprof::plugin::detail::remember(result, "cudaMemcpyToSymbol", "", bytes);
  return result;
}
}
