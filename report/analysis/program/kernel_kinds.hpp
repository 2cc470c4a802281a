// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace mprof {

/// What a kernel does, as far as its name tells.
enum class KernelKind : std::uint8_t {
  matrix_product,
  attention,
  convolution,
  normalization,
  softmax,  ///< and losses that are made of it
  pooling,
  elementwise,
  reduction,
  optimizer,
  communication,
  layout,  ///< copies by kernels, transposes, concatenations
  indexing,
  sorting,  ///< and prefix sums
  random,
  transform,  ///< FFT
  sparse,
  other,
};

/// By the names that cuBLAS, cuDNN, CUTLASS, NCCL, CUB, PyTorch, Triton and XLA give their kernels. `name` is
/// the whole demangled one: the type of a functor often says what a generic kernel does.
[[nodiscard]] KernelKind kernel_kind(std::string_view name);

/// The function that a kernel is an instance of: its name without template arguments, grid and block. CUTLASS
/// launches all its kernels by a few functions, which are called for what they run.
[[nodiscard]] std::string_view function_name(std::string_view kernel);

}  // namespace mprof
