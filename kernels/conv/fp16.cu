// SPDX-License-Identifier: MIT
// Half precision: convert the input, multiply and add in half, convert the output back.
//
// Idea        Half the bytes in the inner loop. One kernel converts the input to half, the convolution
//             reads 2-byte inputs and weights and multiplies with __hfma, one kernel converts its output
//             to float; both conversions (half_conversion.cuh) take two elements a step. A half has 11
//             significant bits, so long sums in half lose what is added late. Here a chain in half is one
//             mask row, K products; the rows are added in float. That keeps the error of an image at
//             about 1e-3, with a tolerance of 5e-3; sums of 196 products in half would have several times
//             that.
//
// Cost        Input and output travel through DRAM twice more: in layer 1 2.6 GB instead of 1.3. And
//             nothing becomes faster for it: __hfma on one value has the rate of a float multiply-add, a
//             2-byte load costs the load pipe the same as a 4-byte load, and each row ends with a
//             conversion. The gain of half precision needs two values an instruction (fp16x2) or tensor
//             cores.
//
// The profile should show
//             three kernels an op. About twice the DRAM traffic of constant_mask in layer 1, the
//             convolution itself about as long as constant_mask's: the sum is slower. Accuracy the same
//             to the third digit.
#include <algorithm>
#include <vector>

#include <cuda_fp16.h>

#include "kernels/conv/device/constant_memory.cuh"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"
#include "kernels/conv/device/half_conversion.cuh"

namespace mprof::conv {
namespace {

/// The bits of halves, [M][C][K][K]: constant memory takes no type that has a constructor.
__constant__ unsigned short fp16_mask[constant_bytes / sizeof(unsigned short)];

std::vector<unsigned short> halves_of(const float* values, std::size_t count) {
  std::vector<unsigned short> halves(count);
  std::transform(values, values + count, halves.begin(),
                 [](float value) { return __half_as_ushort(__float2half_rn(value)); });
  return halves;
}

__global__ void conv_fp16(const __half* input, __half* output, DeviceShape s) {
  const unsigned tiles_x = (s.out_width + blockDim.x - 1) / blockDim.x;
  const unsigned x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const unsigned m = blockIdx.x;
  const unsigned b = blockIdx.z;
  if (x >= s.out_width || y >= s.out_height) return;
  float sum = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned p = 0; p < s.mask; ++p) {
      __half row_sum = __ushort_as_half(0);
      for (unsigned q = 0; q < s.mask; ++q) {
        row_sum = __hfma(input[s.input(b, c, y * s.stride + p, x * s.stride + q)],
                         __ushort_as_half(fp16_mask[s.weight(m, c, p, q)]), row_sum);
      }
      sum += __half2float(row_sum);
    }
  }
  output[s.output(b, m, y, x)] = __float2half_rn(sum);
}

class Fp16 final : public DeviceConvolution {
 protected:
  void allocate(const float* host_mask) override {
    const std::vector<unsigned short> halves = halves_of(host_mask, shape().mask_size());
    upload(fp16_mask, halves.data(), halves.size(), "conv/fp16");
    half_input_ = cuda::DeviceBuffer<__half>(shape().input_size());
    half_output_ = cuda::DeviceBuffer<__half>(shape().output_size());
  }

  void launch() override {
    const Shape& s = shape();
    to_half(input(), half_input_.data(), s.input_size());
    cuda::check_launch();
    const dim3 block(16, 16);
    const std::size_t tiles = blocks_for(s.out_width(), block.x) * blocks_for(s.out_height(), block.y);
    const dim3 grid(static_cast<unsigned>(s.maps), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    conv_fp16<<<grid, block>>>(half_input_.data(), half_output_.data(), DeviceShape(s));
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
    .title = "Half precision, one value at a time",
    .idea =
        "Convert the input to half, multiply and add in half, convert the output back to float. Less data in "
        "the inner loop, more around it.",
    .device = "cuda",
    .baseline = "conv/constant_mask",
    .expectations =
        {{.metric = "kernel_count",
          .op = "layer1",
          .direction = Direction::increases,
          .factor = 3,
          .because = "The conversions of input and output are kernels of their own."},
         {.metric = "op_time",
          .op = "layer1",
          .direction = Direction::increases,
          .because =
              "Two conversions on top, and __hfma on one value is no faster than a float multiply-add."},
         {.metric = "accuracy",
          .direction = Direction::unchanged,
          .because =
              "Rounding to 11 bits changes the scores in the third digit, and hardly ever their order."}},
    .references = {"CUDA Math API Reference Manual, half precision intrinsics",
                   "N. Higham: Accuracy and Stability of Numerical Algorithms, 2nd edition, chapter 4"},
    .tolerance = 5e-3,
    .make = [](const Parameters&) { return std::make_unique<Fp16>(); },
}};

}  // namespace
}  // namespace mprof::conv
