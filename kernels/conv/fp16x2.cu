// SPDX-License-Identifier: MIT
// Half precision, two outputs a thread: one instruction multiplies and adds for two maps.
//
// Idea        __hfma2 works on two halves in one register at the price of one. The pair here is one pixel
//             of two neighbouring maps: both need the same input, so one 2-byte load serves both, for
//             every stride and with no alignment to mind, and their two weights lie side by side in
//             constant memory, one 4-byte load. Against fp16 a product costs half of everything: loads,
//             addresses, loop and arithmetic. As there, a chain in half is one mask row, and the rows are
//             added in float.
//
// Cost        The conversions of fp16 stay as they are. An odd number of maps leaves half of the last
//             pair without use: its weights are 0 and its result is not stored. Two stores a thread, each
//             coalesced.
//
// The profile should show
//             about half of fp16's instructions in the convolution and nearly half its time, the two
//             conversions unchanged and now a visible part of the op in layer 1.
#include <vector>

#include <cuda_fp16.h>

#include "kernels/conv/device/constant_memory.cuh"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"
#include "kernels/conv/device/half_conversion.cuh"

namespace mprof::conv {
namespace {

/// The bits of half2s, [pair of maps][C][K][K]: constant memory takes no type that has a constructor.
__constant__ unsigned fp16x2_mask[constant_bytes / sizeof(unsigned)];

/// The weights of two maps a word, [(M + 1) / 2][C][K][K]; an odd last map has zeros beside it.
std::vector<unsigned> pairs_of(const Shape& shape, const float* mask) {
  const std::size_t taps = shape.taps();
  std::vector<unsigned> pairs(blocks_for(shape.maps, 2) * taps);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::size_t m = i / taps * 2;
    const float first = mask[m * taps + i % taps];
    const float second = m + 1 < shape.maps ? mask[(m + 1) * taps + i % taps] : 0.0F;
    pairs[i] = __half_as_ushort(__float2half_rn(first)) | __half_as_ushort(__float2half_rn(second)) << 16U;
  }
  return pairs;
}

__device__ __half2 half2_of(unsigned bits) {
  __half2 halves;
  static_assert(sizeof halves == sizeof bits);
  memcpy(&halves, &bits, sizeof bits);
  return halves;
}

__global__ void conv_fp16x2(const __half* input, __half* output, DeviceShape s) {
  const unsigned tiles_x = (s.out_width + blockDim.x - 1) / blockDim.x;
  const unsigned x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const unsigned pair = blockIdx.x;
  const unsigned b = blockIdx.z;
  if (x >= s.out_width || y >= s.out_height) return;
  float2 sum = {0, 0};
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned p = 0; p < s.mask; ++p) {
      __half2 row_sum = __float2half2_rn(0);
      for (unsigned q = 0; q < s.mask; ++q) {
        const __half value = input[s.input(b, c, y * s.stride + p, x * s.stride + q)];
        row_sum = __hfma2(__half2half2(value), half2_of(fp16x2_mask[s.weight(pair, c, p, q)]), row_sum);
      }
      const float2 row = __half22float2(row_sum);
      sum.x += row.x;
      sum.y += row.y;
    }
  }
  const unsigned m = pair * 2;
  output[s.output(b, m, y, x)] = __float2half_rn(sum.x);
  if (m + 1 < s.maps) output[s.output(b, m + 1, y, x)] = __float2half_rn(sum.y);
}

class Fp16x2 final : public DeviceConvolution {
 protected:
  void allocate(const float* host_mask) override {
    const std::vector<unsigned> pairs = pairs_of(shape(), host_mask);
    upload(fp16x2_mask, pairs.data(), pairs.size(), "conv/fp16x2");
    half_input_ = cuda::DeviceBuffer<__half>(shape().input_size());
    half_output_ = cuda::DeviceBuffer<__half>(shape().output_size());
  }

  void launch() override {
    const Shape& s = shape();
    to_half(input(), half_input_.data(), s.input_size());
    cuda::check_launch();
    const dim3 block(16, 16);
    const std::size_t tiles = blocks_for(s.out_width(), block.x) * blocks_for(s.out_height(), block.y);
    const dim3 grid(static_cast<unsigned>(blocks_for(s.maps, 2)), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    conv_fp16x2<<<grid, block>>>(half_input_.data(), half_output_.data(), DeviceShape(s));
    cuda::check_launch();
    to_float(half_output_.data(), output(), s.output_size());
  }

  void release() override {
    half_input_ = {};
    half_output_ = {};
  }

 private:
  cuda::DeviceBuffer<__half> half_input_;
  cuda::DeviceBuffer<__half> half_output_;
};

const Register registered{Declaration{
    .title = "Half precision, two maps a thread",
    .idea = "One __hfma2 serves two maps at a pixel: they share the input, and their weights are one 4-byte "
            "word.",
    .device = "cuda",
    .baseline = "conv/fp16",
    .expectations =
        {{.metric = "smsp__inst_executed.sum",
          .op = "layer2",
          .factor = 1.5,
          .because =
              "Two products share a load, its address, a step of the loops and the multiply-add itself."},
         {.metric = "op_time",
          .op = "layer2",
          .factor = 1.3,
          .because = "Half as many instructions for the same products."},
         {.metric = "op_time",
          .op = "layer1",
          .because = "The convolution takes nearly half as long, the two conversions as long as before."},
         {.metric = "accuracy",
          .direction = Direction::unchanged,
          .because = "The same products are rounded and added in the same order."}},
    .references = {"CUDA Math API Reference Manual, half2 arithmetic functions"},
    .tolerance = 5e-3,
    .make = [](const Parameters&) { return std::make_unique<Fp16x2>(); },
}};

}  // namespace
}  // namespace mprof::conv
