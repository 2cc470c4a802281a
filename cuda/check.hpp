// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

namespace mprof::cuda {

/// Throws Error when `result` is not cudaSuccess. The message names the file and line that called, what CUDA
/// says, and the next step where there is one to name (memory that does not suffice, a launch that read where
/// it must not).
void check(cudaError_t result, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// The same for a launch, whose errors of configuration cudaGetLastError() keeps.
void check_launch(const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace mprof::cuda
