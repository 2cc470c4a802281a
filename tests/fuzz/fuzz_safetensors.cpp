// SPDX-License-Identifier: MIT
// The safetensors reader must answer any bytes with tensors that can be read, or with an Error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "inputs/safetensors.hpp"
#include "system/error.hpp"

namespace {

/// Reads every tensor, so that the sanitizer sees every byte that the header gave away.
void read_all(const mprof::Safetensors& file) {
  for (const auto& [name, tensor] : file.tensors()) {
    const std::size_t bytes = tensor.dtype == "F32" ? sizeof(float) * file.f32(name, tensor.shape).size()
                                                    : file.u8(name, tensor.shape).size();
    if (bytes != tensor.end - tensor.begin) __builtin_trap();
  }
}

}  // namespace

// libFuzzer gives the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read_all(mprof::Safetensors(std::as_bytes(std::span(data, size)), "fuzz"));
  } catch (const mprof::Error& error) {
    if (error.code() != mprof::ExitCode::usage) __builtin_trap();
  }
  return 0;
}
