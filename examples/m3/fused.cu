// SPDX-License-Identifier: MIT
// The convolution as a product of matrices, mask times unrolled input, in one kernel: the unrolled input is
// never stored. A thread has one pixel of all maps, so that each input element that it reads serves all of
// them; the masks are in shared memory.
#include "harness.cuh"

template <int maps>
__global__ void multiply(const float* in, const float* mask, float* out, Shape shape) {
  extern __shared__ float masks[];  // rows of the unrolled input x maps
  const int rows = shape.channels * shape.kernel * shape.kernel;
  for (int i = threadIdx.x; i < maps * rows; i += blockDim.x) masks[i % rows * maps + i / rows] = mask[i];
  __syncthreads();
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t b = blockIdx.y;
  if (pixel >= shape.pixels()) return;
  const int y = pixel / shape.out_width(), x = pixel % shape.out_width();
  float sums[maps] = {};
  const float* row = masks;
  for (int c = 0; c < shape.channels; ++c) {
    const float* plane = in + b * shape.in_item() + size_t(c) * shape.height * shape.width;
    for (int p = 0; p < shape.kernel; ++p) {
      for (int q = 0; q < shape.kernel; ++q, row += maps) {
        const float value = plane[(y + p) * shape.width + x + q];
        for (int m = 0; m < maps; ++m) sums[m] += value * row[m];
      }
    }
  }
  for (int m = 0; m < maps; ++m) out[b * shape.out_item() + size_t(m) * shape.pixels() + pixel] = sums[m];
}

void conv_forward_gpu_prolog(Buffers& buffers, const Shape& shape) {
  allocate(buffers, shape);
  CHECK(cudaMemcpy(buffers.device_in, buffers.in, shape.in_bytes(), cudaMemcpyHostToDevice));
}

void conv_forward_gpu(Buffers& buffers, const Shape& shape) {
  constexpr int threads = 256;
  const dim3 grid((shape.pixels() + threads - 1) / threads, shape.batch);
  const auto kernel = shape.maps == 4 ? multiply<4> : multiply<16>;
  kernel<<<grid, threads, shape.mask_bytes()>>>(buffers.device_in, buffers.device_mask, buffers.device_out,
                                                shape);
  CHECK(cudaGetLastError());
}

void conv_forward_gpu_epilog(Buffers& buffers, const Shape& shape) {
  CHECK(cudaMemcpy(buffers.out, buffers.device_out, shape.out_bytes(), cudaMemcpyDeviceToHost));
  release(buffers);
}
