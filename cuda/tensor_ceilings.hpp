// SPDX-License-Identifier: MIT
#pragma once

namespace mprof::cuda {

/// FLOP/s of the tensor cores at TF32 and at FP16, summing in FP32, measured for about `seconds`: the better
/// of chains of mma.sync and, where cuBLAS is, of its product of large matrices, since it knows the
/// instructions of newer GPUs. Throw Error where the GPU has no such instruction (before compute capability
/// 8.0).
[[nodiscard]] double tf32_tensor_flop_rate(double seconds);
[[nodiscard]] double fp16_tensor_flop_rate(double seconds);

}  // namespace mprof::cuda
