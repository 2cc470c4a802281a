// SPDX-License-Identifier: MIT
// Heat in a square plate whose upper edge is hot, until it changes no more: Jacobi's method with five points.
// A CUDA program as people write it, which knows nothing of mprof:
//   nvcc -O3 -lineinfo -o heat examples/solver/heat.cu && mprof run --out heat -- ./heat 2048
//   ./heat [SIDE [SWEEPS]]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

constexpr int between_checks = 100;  ///< sweeps
constexpr float small_change = 1e-6F;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Each inner point becomes the mean of its four neighbours.
__global__ void relax(const float* from, float* to, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= side - 1 || y >= side - 1) return;
  const float* at = from + size_t(y) * side + x;
  to[size_t(y) * side + x] = 0.25F * (at[-1] + at[1] + at[-side] + at[side]);
}

/// The largest change of a point, as bits: those of floats that are not negative are in their order.
__global__ void largest_change(const float* a, const float* b, size_t points, unsigned* result) {
  __shared__ unsigned of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  float largest = 0;
  const size_t stride = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < points; i += stride)
    largest = fmaxf(largest, fabsf(a[i] - b[i]));
  atomicMax(&of_block, __float_as_uint(largest));
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(result, of_block);
}

int main(int count, char** words) {
  const int side = count > 1 ? std::atoi(words[1]) : 2048, most = count > 2 ? std::atoi(words[2]) : 2000;
  if (side < 3 || side > 32768 || most < 1) {
    std::fprintf(stderr, "usage: heat [SIDE [SWEEPS]], SIDE from 3 to 32768\n");
    return 2;
  }
  const size_t points = size_t(side) * side, bytes = points * sizeof(float);
  std::vector<float> plate(points);
  for (int x = 0; x < side; ++x) plate[x] = 1;

  float *now = nullptr, *next = nullptr;
  unsigned* change = nullptr;
  check(cudaMalloc(&now, bytes), "cudaMalloc of the plate");
  check(cudaMalloc(&next, bytes), "cudaMalloc of the next plate");
  check(cudaMalloc(&change, sizeof(unsigned)), "cudaMalloc of the change");
  check(cudaMemcpy(now, plate.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the GPU");
  check(cudaMemcpy(next, plate.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the GPU");

  const dim3 block(32, 8), grid((side + 29) / 32, (side + 5) / 8);
  float largest = 1;
  int sweeps = 0;
  while (sweeps < most && largest > small_change) {
    for (int i = 0; i < between_checks; ++i, ++sweeps) {
      relax<<<grid, block>>>(now, next, side);
      std::swap(now, next);
    }
    check(cudaMemset(change, 0, sizeof(unsigned)), "cudaMemset");
    largest_change<<<528, 256>>>(now, next, points, change);
    unsigned bits = 0;
    check(cudaMemcpy(&bits, change, sizeof(bits), cudaMemcpyDeviceToHost), "the sweeps");
    static_assert(sizeof(bits) == sizeof(largest));
    largest = __builtin_bit_cast(float, bits);
  }
  check(cudaMemcpy(plate.data(), now, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy from the GPU");
  std::printf("%d sweeps, largest change %.3e, center %.6f\n", sweeps, largest, plate[points / 2 + side / 2]);
  for (void* memory : {static_cast<void*>(now), static_cast<void*>(next), static_cast<void*>(change)})
    check(cudaFree(memory), "cudaFree");
  return 0;
}
