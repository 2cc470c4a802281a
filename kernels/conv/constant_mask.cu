// SPDX-License-Identifier: MIT
// The weights in constant memory, which is made for values that a whole warp reads at once.
//
// Idea        All threads of a block work on the same map, so in each step of the loops they read the
//             same weight. Constant memory has a cache of its own that hands one word to all lanes of a
//             warp, and its loads do not pass through the L1/TEX pipe. One of the two loads that the
//             baseline spends on a product leaves the pipe that limits it.
//
// Cost        64 KiB is all there is. The masks of layer 1 take 784 B and those of layer 2 12.5 KB;
//             prepare() refuses what does not fit. The first level of the constant cache holds about 2
//             KiB: 784 B of weights a map in layer 2 fit well. Lanes that read different words would be
//             served one after the other, which does not happen here.
//
// The profile should show
//             half of the baseline's global load requests, a lower L1 hit rate (the weights were all
//             hits), the stall LG throttle well below the baseline's. Input traffic is the same to the
//             byte.

#include "kernels/conv/device/constant_memory.cuh"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"

namespace mprof::conv {
namespace {

__constant__ float constant_mask[constant_bytes / sizeof(float)];  // [M][C][K][K]

__global__ void conv_constant_mask(const float* input, float* output, DeviceShape s) {
  const unsigned tiles_x = (s.out_width + blockDim.x - 1) / blockDim.x;
  const unsigned x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const unsigned m = blockIdx.x;
  const unsigned b = blockIdx.z;
  if (x >= s.out_width || y >= s.out_height) return;
  float sum = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned p = 0; p < s.mask; ++p) {
      for (unsigned q = 0; q < s.mask; ++q) {
        sum += input[s.input(b, c, y * s.stride + p, x * s.stride + q)] * constant_mask[s.weight(m, c, p, q)];
      }
    }
  }
  output[s.output(b, m, y, x)] = sum;
}

class ConstantMask final : public DeviceConvolution {
 protected:
  void allocate(const float* host_mask) override {
    upload(constant_mask, host_mask, shape().mask_size(), "conv/constant_mask");
  }

  void launch() override {
    const Shape& s = shape();
    const dim3 block(16, 16);
    const std::size_t tiles = blocks_for(s.out_width(), block.x) * blocks_for(s.out_height(), block.y);
    const dim3 grid(static_cast<unsigned>(s.maps), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    conv_constant_mask<<<grid, block>>>(input(), output(), DeviceShape(s));
  }
};

const Register registered{Declaration{
    .title = "Weights in constant memory",
    .idea =
        "A whole block reads the same weight in each step: read it through the constant cache, which is made "
        "for that, and leave the L1 pipe to the input.",
    .device = "cuda",
    .baseline = "conv/baseline",
    .expectations = {{.metric = "op_time",
                      .op = "layer1",
                      .because = "One of two loads a product leaves the L1/TEX pipe."},
                     {.metric = "op_time",
                      .op = "layer2",
                      .because = "One of two loads a product leaves the L1/TEX pipe."},
                     {.metric = "smsp__inst_executed.sum",
                      .op = "layer2",
                      .because = "A constant load needs an offset, not a 64-bit address."},
                     {.metric = "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
                      .op = "layer2",
                      .because = "Half as many global loads queue for the same pipe."},
                     {.metric = "dram__bytes.sum",
                      .op = "layer2",
                      .direction = Direction::unchanged,
                      .because =
                          "The weights came from caches before, too, and the input is read as before."}},
    .references = {"CUDA C++ Programming Guide, section on constant memory",
                   "W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, "
                   "chapter 7"},
    .make = [](const Parameters&) { return std::make_unique<ConstantMask>(); },
}};

}  // namespace
}  // namespace mprof::conv
