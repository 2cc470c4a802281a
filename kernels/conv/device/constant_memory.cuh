// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "cuda/check.hpp"
#include "system/error.hpp"

namespace mprof::conv {

inline constexpr std::size_t constant_bytes = 65536;  ///< of constant memory: all that CUDA gives a module

/// Copies `count` elements to a variable in constant memory. Throws Error when they are more than it holds;
/// `variant` is the id that the message names.
template <class T, std::size_t Size>
void upload(T (&symbol)[Size], const T* values, std::size_t count, const std::string& variant) {
  if (count > Size) {
    throw Error(ExitCode::fault, variant + ": the masks take " + std::to_string(count * sizeof(T)) +
                                     " B, and constant memory holds " + std::to_string(Size * sizeof(T)) +
                                     " B. Use conv/baseline, which reads them from global memory.");
  }
  cuda::check(cudaMemcpyToSymbol(symbol, values, count * sizeof(T)));
}

}  // namespace mprof::conv
