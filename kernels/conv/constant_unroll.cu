// SPDX-License-Identifier: MIT
// Both small changes at once: the weights in constant memory, and the loop over a mask row unrolled.
//
// Idea        constant_mask takes one of the two loads of a product out of the L1/TEX pipe; restrict_unroll
//             takes the arithmetic between the loads away. Neither needs what the other changes. Unrolled,
//             the offsets of the weights are constants of the code, and a multiply-add can take a weight
//             from the constant bank as an operand when its whole address is one; here map and channel
//             still vary, so one constant load a product remains, but no arithmetic on addresses.
//
// Cost        That of both: 64 KiB of constant memory, and a remainder loop where 7 does not divide the
//             mask's width.
//
// The profile should show
//             fewer instructions than either alone, and half of restrict_unroll's global load requests.
//             Whether the product of the two speed-ups is reached tells whether they removed different
//             limits, or the same one twice.

#include "kernels/conv/device/constant_memory.cuh"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"

namespace mprof::conv {
namespace {

__constant__ float constant_mask[constant_bytes / sizeof(float)];  // [M][C][K][K]

__global__ void conv_constant_unroll(const float* __restrict__ input, float* __restrict__ output,
                                     DeviceShape s) {
  const unsigned tiles_x = (s.out_width + blockDim.x - 1) / blockDim.x;
  const unsigned x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const unsigned m = blockIdx.x;
  const unsigned b = blockIdx.z;
  if (x >= s.out_width || y >= s.out_height) return;
  const int mask_width = static_cast<int>(s.mask);  // signed: see restrict_unroll
  float sum = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
#pragma unroll 1
    for (unsigned p = 0; p < s.mask; ++p) {
      const float* const in = input + s.input(b, c, y * s.stride + p, x * s.stride);
      const float* const weights = constant_mask + s.weight(m, c, p, 0);
#pragma unroll 7
      for (int q = 0; q < mask_width; ++q) sum += in[q] * weights[q];
    }
  }
  output[s.output(b, m, y, x)] = sum;
}

class ConstantUnroll final : public DeviceConvolution {
 protected:
  void allocate(const float* host_mask) override {
    upload(constant_mask, host_mask, shape().mask_size(), "conv/constant_unroll");
  }

  void launch() override {
    const Shape& s = shape();
    const dim3 block(16, 16);
    const std::size_t tiles = blocks_for(s.out_width(), block.x) * blocks_for(s.out_height(), block.y);
    const dim3 grid(static_cast<unsigned>(s.maps), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    conv_constant_unroll<<<grid, block>>>(input(), output(), DeviceShape(s));
  }
};

const Register registered{Declaration{
    .title = "Constant weights and an unrolled mask loop",
    .idea = "Two changes that do not touch each other: the weights leave the L1 pipe, and the arithmetic "
            "between the loads goes.",
    .device = "cuda",
    .baseline = "conv/constant_mask",
    .expectations =
        {{.metric = "op_time",
          .op = "layer1",
          .factor = 1.3,
          .because = "restrict_unroll gained more than that over the same loads."},
         {.metric = "op_time",
          .op = "layer2",
          .factor = 1.3,
          .because = "restrict_unroll gained more than that over the same loads."},
         {.metric = "smsp__inst_executed.sum",
          .op = "layer2",
          .factor = 1.3,
          .because = "Addresses, compares and branches are paid once a mask row instead of once a product."},
         {.metric = "dram__bytes.sum",
          .op = "layer2",
          .direction = Direction::unchanged,
          .because = "The input is read as before."}},
    .references = {"CUDA C++ Programming Guide, sections on constant memory and on #pragma unroll"},
    .combines = {"conv/constant_mask", "conv/restrict_unroll"},
    .make = [](const Parameters&) { return std::make_unique<ConstantUnroll>(); },
}};

}  // namespace
}  // namespace mprof::conv
