// SPDX-License-Identifier: MIT
// A thread for each element of the output, which reads all that it needs from global memory.
#include "harness.cuh"

__global__ void convolve(const float* in, const float* mask, float* out, Shape shape) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
  const size_t b = blockIdx.z;
  if (pixel >= shape.pixels()) return;
  const int y = pixel / shape.out_width(), x = pixel % shape.out_width(), k = shape.kernel;
  float sum = 0;
  for (int c = 0; c < shape.channels; ++c) {
    for (int p = 0; p < k; ++p) {
      for (int q = 0; q < k; ++q)
        sum += in[b * shape.in_item() + (size_t(c) * shape.height + y + p) * shape.width + x + q] *
               mask[((m * shape.channels + c) * k + p) * k + q];
    }
  }
  out[b * shape.out_item() + size_t(m) * shape.pixels() + pixel] = sum;
}

void conv_forward_gpu_prolog(Buffers& buffers, const Shape& shape) {
  allocate(buffers, shape);
  CHECK(cudaMemcpy(buffers.device_in, buffers.in, shape.in_bytes(), cudaMemcpyHostToDevice));
}

void conv_forward_gpu(Buffers& buffers, const Shape& shape) {
  constexpr int threads = 256;
  const dim3 grid((shape.pixels() + threads - 1) / threads, shape.maps, shape.batch);
  convolve<<<grid, threads>>>(buffers.device_in, buffers.device_mask, buffers.device_out, shape);
  CHECK(cudaGetLastError());
}

void conv_forward_gpu_epilog(Buffers& buffers, const Shape& shape) {
  CHECK(cudaMemcpy(buffers.out, buffers.device_out, shape.out_bytes(), cudaMemcpyDeviceToHost));
  release(buffers);
}
