// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <string>

#include <cublas_v2.h>

#include "cuda/ceiling_timing.hpp"
#include "cuda/check.hpp"
#include "cuda/gpu.hpp"
#include "cuda/handles.hpp"
#include "cuda/shared_library.hpp"
#include "cuda/tensor_ceilings.hpp"
#include "system/error.hpp"

namespace mprof::cuda {
namespace {

constexpr unsigned block = 256;
constexpr unsigned tensor_chains = 8;
constexpr unsigned tensor_links = 2048;
constexpr unsigned warp_size = 32;

/// A warp multiplies matrices of 16 x 8 and 8 x 8 (TF32), each product added to one of several sums: as many
/// as keep the tensor cores busy while one is being made.
__global__ void tf32_products(float* result) {
#if __CUDA_ARCH__ >= 800
  float sums[tensor_chains][4]{};
  const unsigned a = threadIdx.x, b = threadIdx.x + 1;
#pragma unroll 4
  for (unsigned n = 0; n < tensor_links; ++n) {
#pragma unroll
    for (unsigned i = 0; i < tensor_chains; ++i) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, "
          "{%0, %1, %2, %3};"
          : "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
          : "r"(a), "r"(b));
    }
  }
  float sum = 0;
#pragma unroll
  for (unsigned i = 0; i < tensor_chains; ++i) sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
  if (sum == -1.0F) result[threadIdx.x] = sum;  // never, but the compiler cannot know
#endif
}

/// The same of FP16, of 16 x 16 and 16 x 8.
__global__ void fp16_products(float* result) {
#if __CUDA_ARCH__ >= 800
  float sums[tensor_chains][4]{};
  const unsigned a = threadIdx.x, b = threadIdx.x + 1;
#pragma unroll 4
  for (unsigned n = 0; n < tensor_links; ++n) {
#pragma unroll
    for (unsigned i = 0; i < tensor_chains; ++i) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, "
          "{%0, %1, %2, %3};"
          : "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
          : "r"(a), "r"(b));
    }
  }
  float sum = 0;
#pragma unroll
  for (unsigned i = 0; i < tensor_chains; ++i) sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
  if (sum == -1.0F) result[threadIdx.x] = sum;  // never, but the compiler cannot know
#endif
}

/// FLOP/s of a kernel whose warps each make `tensor_chains` products a link, each of so many FLOP.
double product_rate(double seconds, void (*products)(float*), double flops) {
  constexpr int first_with_both = 8;  // of compute capabilities
  if (gpu().major < first_with_both) {
    throw Error(ExitCode::environment, "it needs compute capability 8.0, and this GPU has " +
                                           std::to_string(gpu().major) + '.' + std::to_string(gpu().minor));
  }
  const unsigned blocks = static_cast<unsigned>(gpu().multiProcessorCount) * 16;
  const DeviceBuffer<float> result(block);
  const double time = shortest(seconds, [&] {
    products<<<blocks, block>>>(result.data());
    check_launch();
  });
  return flops * tensor_chains * tensor_links * blocks * (block / warp_size) / time;
}

/// cublasGemmEx, of which the header declares two.
using Multiply = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                const void*, const void*, cudaDataType, int, const void*, cudaDataType, int,
                                const void*, void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);

/// The functions of cuBLAS that are called here.
struct Cublas {
  decltype(cublasCreate_v2)* create = nullptr;
  decltype(cublasDestroy_v2)* destroy = nullptr;
  Multiply* multiply = nullptr;
};

/// nullptr where the library is not installed.
const Cublas* cublas() {
  static const SharedLibrary library(toolkit_paths("libcublas.so." + std::to_string(CUBLAS_VER_MAJOR)));
  static const Cublas functions = [] {
    Cublas f;
    if (!library.loaded()) return f;
    library.import(f.create, "cublasCreate_v2");
    library.import(f.destroy, "cublasDestroy_v2");
    library.import(f.multiply, "cublasGemmEx");
    return f;
  }();
  return library.loaded() ? &functions : nullptr;
}

/// FLOP/s of a product of large matrices of `type`, both with the inner dimension contiguous, as Hopper's
/// warpgroup instruction requires of TF32; 0 where cuBLAS is missing or does not multiply so.
double library_rate(double seconds, cudaDataType_t type, std::size_t element,
                    cublasComputeType_t arithmetic) {
  constexpr int size = 8192;
  constexpr std::size_t elements = std::size_t{size} * size;
  constexpr int near_one = 0x3c;  // in each byte: 1.06 as FP16, 0.011 as FP32
  cublasHandle_t handle = nullptr;
  const Cublas* const library = cublas();
  if (library == nullptr || library->create(&handle) != CUBLAS_STATUS_SUCCESS) return 0;
  const DeviceBuffer<char> a(element * elements), b(element * elements), c(element * elements);
  check(cudaMemset(a.data(), near_one, a.bytes()));
  check(cudaMemset(b.data(), near_one, b.bytes()));
  const float one = 1, zero = 0;
  bool works = true;
  const double time = shortest(seconds, [&] {
    works = works && library->multiply(handle, CUBLAS_OP_T, CUBLAS_OP_N, size, size, size, &one, a.data(),
                                       type, size, b.data(), type, size, &zero, c.data(), type, size,
                                       arithmetic, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
  });
  library->destroy(handle);
  return works ? 2.0 * size * static_cast<double>(elements) / time : 0;
}

}  // namespace

double tf32_tensor_flop_rate(double seconds) {
  constexpr double flops = 2.0 * 16 * 8 * 8;
  return std::max(product_rate(seconds / 2, tf32_products, flops),
                  library_rate(seconds / 2, CUDA_R_32F, sizeof(float), CUBLAS_COMPUTE_32F_FAST_TF32));
}

double fp16_tensor_flop_rate(double seconds) {
  constexpr double flops = 2.0 * 16 * 8 * 16;
  constexpr std::size_t half = 2;
  return std::max(product_rate(seconds / 2, fp16_products, flops),
                  library_rate(seconds / 2, CUDA_R_16F, half, CUBLAS_COMPUTE_32F));
}

}  // namespace mprof::cuda
