#pragma once

#include <string>

#include <cuda_runtime_api.h>

namespace mprof::cuda {

/// What CUDA tells of the GPU that mprof uses: device 0 of those that CUDA_VISIBLE_DEVICES leaves. Makes no
/// context. Throws Error when there is none.
[[nodiscard]] const cudaDeviceProp& gpu();

/// Its UUID as NVIDIA's tools write it: "GPU-00000000-0000-0000-0000-000000000000".
[[nodiscard]] std::string gpu_uuid();

}  // namespace mprof::cuda
