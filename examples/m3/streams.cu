// SPDX-License-Identifier: MIT
// The kernel of baseline.cu, with the batch in parts on several streams: while one part is computed, the next
// one is copied to the GPU and the one before back. All of that is within conv_forward_gpu(), so its op time
// holds the copies.
#include "harness.cuh"

constexpr int stream_count = 4;

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
}

void conv_forward_gpu(Buffers& buffers, const Shape& shape) {
  constexpr int threads = 256, parts = 4 * stream_count;
  cudaStream_t streams[stream_count];
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
  const int per_part = (shape.batch + parts - 1) / parts;
  for (int begin = 0, i = 0; begin < shape.batch; begin += per_part, ++i) {
    Shape part = shape;
    part.batch = std::min(per_part, shape.batch - begin);
    const size_t in = begin * shape.in_item(), out = begin * shape.out_item();
    cudaStream_t stream = streams[i % stream_count];
    CHECK(cudaMemcpyAsync(buffers.device_in + in, buffers.in + in, part.in_bytes(), cudaMemcpyHostToDevice,
                          stream));
    const dim3 grid((shape.pixels() + threads - 1) / threads, shape.maps, part.batch);
    convolve<<<grid, threads, 0, stream>>>(buffers.device_in + in, buffers.device_mask,
                                           buffers.device_out + out, part);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(buffers.out + out, buffers.device_out + out, part.out_bytes(),
                          cudaMemcpyDeviceToHost, stream));
  }
  for (cudaStream_t stream : streams) {
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
  }
}

void conv_forward_gpu_epilog(Buffers& buffers, const Shape&) {
  release(buffers);
}
