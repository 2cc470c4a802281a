// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace mprof::cuda {

/// What CUDA knows of the GPU that mprof uses: the first device that CUDA_VISIBLE_DEVICES leaves. Makes no
/// context. Throws Error without a GPU.
[[nodiscard]] const cudaDeviceProp& gpu();

/// Its UUID as NVIDIA's tools write it: "GPU-00000000-0000-0000-0000-000000000000".
[[nodiscard]] std::string gpu_uuid();

/// All that CUDA_VISIBLE_DEVICES leaves, in CUDA's order; none without a driver. Makes no context.
[[nodiscard]] std::vector<cudaDeviceProp> visible_gpus();

[[nodiscard]] std::string uuid_text(const cudaUUID_t& uuid);

}  // namespace mprof::cuda
