// SPDX-License-Identifier: MIT
#include "cuda/gpu.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "cuda/check.hpp"

namespace mprof::cuda {

const cudaDeviceProp& gpu() {
  static const cudaDeviceProp found = [] {
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, 0));
    return p;
  }();
  return found;
}

std::string gpu_uuid() {
  return uuid_text(gpu().uuid);
}

std::vector<cudaDeviceProp> visible_gpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<cudaDeviceProp> found(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) check(cudaGetDeviceProperties(&found[static_cast<std::size_t>(i)], i));
  return found;
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

}  // namespace mprof::cuda
