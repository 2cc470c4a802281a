// SPDX-License-Identifier: MIT
// The baseline, with what the compiler cannot know: what does not overlap, and how far to unroll.
//
// Idea        Two changes to the baseline, none to the algorithm. Pointers are const and __restrict__, so
//             that no store can change what a load reads, and loads may take the read-only path. The loop
//             over a mask row is unrolled by a factor that is a template parameter, and walks both rows
//             from an address computed once. Unrolled, the loads of a row differ only in the constant
//             offset that a load instruction has room for: the arithmetic on addresses and the loop's own
//             compare and branch are paid once a step instead of once a product, and the loads of a step
//             are in flight together.
//
// Cost        A factor that K does not divide needs a remainder loop: any factor is right for any K, but
//             for K = 7 the factors 2, 3 and 4 spend a part of each row in the remainder. 7 fits exactly.
//             Code grows and so do registers, which is harmless at this size. Unrolling the wrong loop
//             (the outer ones, with all that is inside) would not be.
//
// The profile should show
//             fewer instructions executed, about half of the baseline's; the same L1 sectors and the same
//             DRAM traffic, since each element is still loaded as often as before. L1 throughput and the
//             stall LG throttle rise: the loads, freed of the arithmetic between them, become the limit.
#include <string>

#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"

namespace mprof::conv {
namespace {

template <unsigned Unroll>
__global__ void conv_restrict_unroll(const float* __restrict__ input, const float* __restrict__ mask,
                                     float* __restrict__ output, DeviceShape s) {
  const unsigned tiles_x = (s.out_width + blockDim.x - 1) / blockDim.x;
  const unsigned x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const unsigned m = blockIdx.x;
  const unsigned b = blockIdx.z;
  if (x >= s.out_width || y >= s.out_height) return;
  // Signed, so that the compiler may take q + 1 to lie behind q: an unsigned sum of 32 bits could wrap, and
  // each address would have to be computed in full.
  const int mask_width = static_cast<int>(s.mask);
  float sum = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
#pragma unroll 1
    for (unsigned p = 0; p < s.mask; ++p) {
      const float* const in = input + s.input(b, c, y * s.stride + p, x * s.stride);
      const float* const weights = mask + s.weight(m, c, p, 0);
#pragma unroll Unroll
      for (int q = 0; q < mask_width; ++q) sum += in[q] * weights[q];
    }
  }
  output[s.output(b, m, y, x)] = sum;
}

using Kernel = void (*)(const float*, const float*, float*, DeviceShape);

Kernel kernel_unrolled_by(const std::string& factor) {
  if (factor == "1") return conv_restrict_unroll<1>;
  if (factor == "2") return conv_restrict_unroll<2>;
  if (factor == "3") return conv_restrict_unroll<3>;
  if (factor == "4") return conv_restrict_unroll<4>;
  return conv_restrict_unroll<7>;
}

class RestrictUnroll final : public DeviceConvolution {
 public:
  explicit RestrictUnroll(Kernel kernel) : kernel_(kernel) {}

 protected:
  void launch() override {
    const Shape& s = shape();
    const dim3 block(16, 16);
    const std::size_t tiles = blocks_for(s.out_width(), block.x) * blocks_for(s.out_height(), block.y);
    const dim3 grid(static_cast<unsigned>(s.maps), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    kernel_<<<grid, block>>>(input(), mask(), output(), DeviceShape(s));
  }

 private:
  Kernel kernel_;
};

const Register registered{Declaration{
    .title = "const __restrict__ and an unrolled mask loop",
    .idea = "Tell the compiler that pointers do not alias, and unroll the loop over a mask row, so that a "
            "product "
            "costs little more than its two loads.",
    .device = "cuda",
    .baseline = "conv/baseline",
    .parameters = {{.name = "unroll",
                    .meaning = "products of a mask row that are computed in one step of the loop",
                    .default_value = "7",
                    .values = {"1", "2", "3", "4", "7"}}},
    .expectations =
        {{.metric = "smsp__inst_executed.sum",
          .op = "layer2",
          .factor = 1.3,
          .because = "Addresses, compares and branches are paid once a mask row instead of once a product."},
         {.metric = "op_time", .op = "layer1", .because = "The same loads with fewer instructions between."},
         {.metric = "op_time", .op = "layer2", .because = "The same loads with fewer instructions between."},
         {.metric = "dram__bytes.sum",
          .op = "layer2",
          .direction = Direction::unchanged,
          .because = "Every element is loaded as often as before, and the caches serve it as before."}},
    .references = {"CUDA C++ Programming Guide, __restrict__ and #pragma unroll",
                   "W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, "
                   "chapter 6"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<RestrictUnroll>(kernel_unrolled_by(parameters.at("unroll")));
        },
}};

}  // namespace
}  // namespace mprof::conv
