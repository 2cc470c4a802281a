// SPDX-License-Identifier: MIT
#pragma once

namespace mprof::cuda {

/// FLOP/s of the tensor cores at TF32 and at FP16, summing in FP32, measured for about `seconds`. It is the
/// rate of chains of mma.sync or, where cuBLAS is and is faster, of its product of large matrices. cuBLAS
/// knows the instructions of newer GPUs. Both functions throw Error where the GPU has no such instruction
/// (before compute capability 8.0).
[[nodiscard]] double tf32_tensor_flop_rate(double seconds);
[[nodiscard]] double fp16_tensor_flop_rate(double seconds);

}  // namespace mprof::cuda
