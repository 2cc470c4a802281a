// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

namespace mprof::cuda {

/// Throws Error when `result` is not cudaSuccess. The message names the file and line that called, and what
/// CUDA says. It names the next step where there is one, as when memory does not suffice or a launch read
/// where it must not.
void check(cudaError_t result, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// The same for a launch, whose errors of configuration cudaGetLastError() keeps.
void check_launch(const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace mprof::cuda
