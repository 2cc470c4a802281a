// SPDX-License-Identifier: MIT
// One thread an output element, straight from global memory: the first kernel that anybody writes.
//
// Idea        The grid covers the output: blockIdx.x is the map, blockIdx.y the tile of tile_width x
//             tile_width pixels, blockIdx.z the image. Each thread adds the C x K x K products of its
//             element in a register.
//
// Cost        2 loads a product, none of them kept: an input element is loaded K x K times by neighbouring
//             threads and once more for each map, and the weight, the same for the whole block, once a
//             product and thread. Caches serve nearly all of it (a warp's 16 neighbours share their
//             sectors), so the loads cost issue slots and L1 bandwidth, not DRAM traffic. Besides, the
//             address of each load is computed anew: several integer instructions a multiply-add.
//
// The profile should show
//             L1/TEX throughput near its limit, an L1 hit rate above 90 %, DRAM nearly idle in layer 2, FP32
//             pipe utilization far from its peak, and the stall reasons LG throttle or long scoreboard in
//             front.
#include <string>

#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"

namespace mprof::conv {
namespace {

__global__ void conv_baseline(const float* input, const float* mask, float* output, DeviceShape s) {
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
        sum += input[s.input(b, c, y * s.stride + p, x * s.stride + q)] * mask[s.weight(m, c, p, q)];
      }
    }
  }
  output[s.output(b, m, y, x)] = sum;
}

class Baseline final : public DeviceConvolution {
 public:
  explicit Baseline(unsigned tile_width) : tile_width_(tile_width) {}

 protected:
  void launch() override {
    const Shape& s = shape();
    const std::size_t tiles =
        blocks_for(s.out_width(), tile_width_) * blocks_for(s.out_height(), tile_width_);
    const dim3 grid(static_cast<unsigned>(s.maps), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    const dim3 block(tile_width_, tile_width_);
    conv_baseline<<<grid, block>>>(input(), mask(), output(), DeviceShape(s));
  }

 private:
  unsigned tile_width_;
};

const Register registered{Declaration{
    .title = "Baseline: one thread an output element",
    .idea = "One thread computes one output element from global memory, in blocks of 16 x 16. Every "
            "other variant is compared with it.",
    .device = "cuda",
    .baseline = "",
    .parameters = {{.name = "tile_width",
                    .meaning = "threads a side of the square block",
                    .default_value = "16",
                    .values = {"8", "16", "32"}}},
    .references =
        {"W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, chapter 16"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<Baseline>(static_cast<unsigned>(std::stoul(parameters.at("tile_width"))));
        },
}};

}  // namespace
}  // namespace mprof::conv
