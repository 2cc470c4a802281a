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
  const cudaUUID_t& uuid = gpu().uuid;
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

}  // namespace mprof::cuda
