// SPDX-License-Identifier: MIT
// Input channels split over threads: more threads, shorter sums, and a reduction at the end.
//
// Idea        The sum of an output element runs over C x K x K products. Give each output element one
//             thread a channel (up to four; with more channels each takes every fourth), so that the sums
//             are K x K long, and add the threads' sums in shared memory. That shortens the longest chain
//             of dependent additions C-fold, and it is what a layer with many channels and few output
//             pixels needs to fill a GPU.
//
// Cost        A block grows to 16 x 16 x 4 = 1024 threads, of which three quarters idle behind the
//             barrier while the first slice adds up. What a thread does once, its indices and its exit,
//             is now done four times an output element. The number of products and loads stays the same.
//
// The profile should show
//             in layer 1 (C = 1: one slice, no reduction) nothing but noise. In layer 2 more
//             instructions, a barrier stall that the baseline does not have, and no gain: at these
//             batches the baseline already has more threads than the GPU holds, and the limit is loads,
//             which do not change. At batch 1 it would be another matter.
#include <algorithm>
#include <string>

#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"

namespace mprof::conv {
namespace {

constexpr unsigned tile_width = 16;
constexpr unsigned max_slices = 4;  ///< 16 x 16 x 4 threads are as many as a block may have

/// threadIdx.z is the slice of the channels: slice, slice + slices, ...
__global__ void __launch_bounds__(tile_width* tile_width* max_slices)
    conv_channel_reduction(const float* input, const float* mask, float* output, DeviceShape s) {
  __shared__ float partial[max_slices][tile_width][tile_width];
  const unsigned tiles_x = (s.out_width + tile_width - 1) / tile_width;
  const unsigned x = blockIdx.y % tiles_x * tile_width + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * tile_width + threadIdx.y;
  const unsigned m = blockIdx.x;
  const unsigned b = blockIdx.z;
  const bool inside = x < s.out_width && y < s.out_height;  // who is not must still reach the barrier
  float sum = 0;
  if (inside) {
    for (unsigned c = threadIdx.z; c < s.channels; c += blockDim.z) {
      for (unsigned p = 0; p < s.mask; ++p) {
        for (unsigned q = 0; q < s.mask; ++q) {
          sum += input[s.input(b, c, y * s.stride + p, x * s.stride + q)] * mask[s.weight(m, c, p, q)];
        }
      }
    }
  }
  partial[threadIdx.z][threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (!inside || threadIdx.z != 0) return;
  for (unsigned slice = 1; slice < blockDim.z; ++slice) sum += partial[slice][threadIdx.y][threadIdx.x];
  output[s.output(b, m, y, x)] = sum;
}

class ChannelReduction final : public DeviceConvolution {
 protected:
  void launch() override {
    const Shape& s = shape();
    const auto slices = static_cast<unsigned>(std::min<std::size_t>(s.channels, max_slices));
    const std::size_t tiles = blocks_for(s.out_width(), tile_width) * blocks_for(s.out_height(), tile_width);
    const dim3 grid(static_cast<unsigned>(s.maps), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    conv_channel_reduction<<<grid, dim3(tile_width, tile_width, slices)>>>(input(), mask(), output(),
                                                                           DeviceShape(s));
  }
};

const Register registered{Declaration{
    .title = "Input channels split over threads",
    .idea =
        "A thread sums one input channel of an output element; the block adds the channels in shared memory. "
        "More parallelism than these batches need.",
    .device = "cuda",
    .baseline = "conv/baseline",
    .expectations = {{.metric = "op_time",
                      .op = "layer2",
                      .direction = Direction::increases,
                      .because = "The same loads and products, and a barrier and a reduction on top."},
                     {.metric = "smsp__inst_executed.sum",
                      .op = "layer2",
                      .direction = Direction::increases,
                      .because =
                          "Each of four threads computes its own indices for a quarter of the products."},
                     {.metric = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
                      .op = "layer2",
                      .direction = Direction::increases,
                      .because = "Three of four slices wait at a barrier that the baseline does not have."}},
    .references =
        {"M. Harris: Optimizing Parallel Reduction in CUDA, NVIDIA 2007",
         "W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, chapter 10"},
    .make = [](const Parameters&) { return std::make_unique<ChannelReduction>(); },
}};

}  // namespace
}  // namespace mprof::conv
