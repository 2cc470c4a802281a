#include "cuda/own_kernels.hpp"

#include <vector>

#include <cuda_runtime_api.h>

namespace mprof::cuda {
namespace {

/// The functions of the host that stand for kernels. Filled before main() and when a library is opened.
std::vector<const void*>& own_kernels() {
  static std::vector<const void*> all;
  return all;
}

}  // namespace

void load_own_kernels() {
  for (const void* kernel : own_kernels()) {
    cudaFuncAttributes unused{};
    // One that was compiled for other GPUs alone is not launched here either.
    if (cudaFuncGetAttributes(&unused, kernel) != cudaSuccess) static_cast<void>(cudaGetLastError());
  }
}

}  // namespace mprof::cuda

// What nvcc's code calls for each kernel as the program starts; the linker's --wrap directs the calls here.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {

void __real___cudaRegisterFunction(void** module, const char* function, char* name_on_gpu, const char* name,
                                   int most_threads, uint3*, uint3*, dim3*, dim3*, int*);
void __wrap___cudaRegisterFunction(void** module, const char* function, char* name_on_gpu, const char* name,
                                   int most_threads, uint3* thread, uint3* block, dim3* block_size,
                                   dim3* grid_size, int* warp_size) {
  mprof::cuda::own_kernels().push_back(function);
  __real___cudaRegisterFunction(module, function, name_on_gpu, name, most_threads, thread, block, block_size,
                                grid_size, warp_size);
}
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
