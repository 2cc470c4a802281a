// SPDX-License-Identifier: MIT
// Several outputs a thread: load an input element once, use it for several maps.
//
// Idea        Neighbouring maps read the same input. A thread that computes one pixel of four maps loads
//             each input element once and multiplies it with four weights, where four threads of
//             constant_mask load it four times. The address arithmetic, the loops and the load are shared
//             by `outputs` products; the weights come from constant memory and are the same for the whole
//             warp. Maps make the better outputs here than neighbouring pixels would: 4 and 16 maps
//             divide by 4 without remainder, 34 pixels in tiles of 16 x 4 would leave half of the threads
//             idle.
//
// Cost        A sum in registers for each output, and fewer threads: with 4 outputs a quarter of the
//             blocks. At the batches measured here there are still thousands. A number of maps that
//             `outputs` does not divide makes the last group compute its last map more than once; only
//             one is stored.
//
// The profile should show
//             global load requests divided by `outputs`, instructions a product down, FP32 (FMA) pipe
//             utilization up, the stall LG throttle gone or nearly so. Between blocks, 8x4 fits a warp
//             exactly and has the fewest idle threads at the edge (34 = 4 x 8 + 2), but a multiprocessor
//             holds only 32 blocks: its occupancy ends at half.
#include <string>

#include "kernels/conv/device/constant_memory.cuh"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"

namespace mprof::conv {
namespace {

__constant__ float coarsened_mask[constant_bytes / sizeof(float)];  // [M][C][K][K]

template <unsigned Outputs>
__global__ void conv_coarsened(const float* input, float* output, DeviceShape s) {
  const unsigned tiles_x = (s.out_width + blockDim.x - 1) / blockDim.x;
  const unsigned x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const unsigned first_map = blockIdx.x * Outputs;
  const unsigned b = blockIdx.z;
  if (x >= s.out_width || y >= s.out_height) return;
  const float* weights[Outputs];  // of each map; maps beyond the last compute the last one
#pragma unroll
  for (unsigned i = 0; i < Outputs; ++i) {
    weights[i] = coarsened_mask + s.weight(min(first_map + i, s.maps - 1), 0, 0, 0);
  }
  float sums[Outputs] = {};
  int tap = 0;  // c, p and q in one: the offset in a map's weights
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned p = 0; p < s.mask; ++p) {
      for (unsigned q = 0; q < s.mask; ++q, ++tap) {
        const float value = input[s.input(b, c, y * s.stride + p, x * s.stride + q)];
#pragma unroll
        for (unsigned i = 0; i < Outputs; ++i) sums[i] += value * weights[i][tap];
      }
    }
  }
#pragma unroll
  for (unsigned i = 0; i < Outputs; ++i) {
    if (first_map + i < s.maps) output[s.output(b, first_map + i, y, x)] = sums[i];
  }
}

using Kernel = void (*)(const float*, float*, DeviceShape);

struct Config {
  dim3 block;
  unsigned outputs;
};

Config config_of(const Parameters& parameters) {
  const std::string& block = parameters.at("block");  // width x height
  return {.block = dim3(static_cast<unsigned>(std::stoul(block)),
                        static_cast<unsigned>(std::stoul(block.substr(block.find('x') + 1)))),
          .outputs = static_cast<unsigned>(std::stoul(parameters.at("outputs")))};
}

Kernel kernel_for(unsigned outputs) {
  switch (outputs) {
    case 1:
      return conv_coarsened<1>;
    case 2:
      return conv_coarsened<2>;
    default:
      return conv_coarsened<4>;
  }
}

class Coarsened final : public DeviceConvolution {
 public:
  explicit Coarsened(Config config) : config_(config), kernel_(kernel_for(config.outputs)) {}

 protected:
  void allocate(const float* host_mask) override {
    upload(coarsened_mask, host_mask, shape().mask_size(), "conv/coarsened");
  }

  void launch() override {
    const Shape& s = shape();
    const std::size_t tiles =
        blocks_for(s.out_width(), config_.block.x) * blocks_for(s.out_height(), config_.block.y);
    const dim3 grid(static_cast<unsigned>(blocks_for(s.maps, config_.outputs)), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    kernel_<<<grid, config_.block>>>(input(), output(), DeviceShape(s));
  }

 private:
  Config config_;
  Kernel kernel_;
};

const Register registered{Declaration{
    .title = "Several maps a thread",
    .idea =
        "A thread computes its pixel in several maps, so that one load of the input and one address serve "
        "several products.",
    .device = "cuda",
    .baseline = "conv/constant_mask",
    .parameters = {{.name = "block",
                    .meaning = "threads of a block, width x height",
                    .default_value = "16x16",
                    .values = {"8x4", "8x8", "16x16"}},
                   {.name = "outputs",
                    .meaning = "maps that a thread computes at its pixel",
                    .default_value = "4",
                    .values = {"1", "2", "4"}}},
    .expectations = {{.metric = "op_time",
                      .op = "layer2",
                      .factor = 1.5,
                      .because = "Four products share a load, its address and a step of the loops."},
                     {.metric = "op_time",
                      .op = "layer1",
                      .factor = 1.5,
                      .because = "One thread computes a pixel of all four maps."},
                     {.metric = "smsp__inst_executed.sum",
                      .op = "layer2",
                      .factor = 1.5,
                      .because = "Per product there remain a constant load and a multiply-add."},
                     {.metric = "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
                      .op = "layer2",
                      .because = "A quarter of the global loads."}},
    .references =
        {"W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, chapter 6 "
         "(thread coarsening)",
         "V. Volkov: Better Performance at Lower Occupancy, GTC 2010"},
    .make = [](const Parameters& parameters) { return std::make_unique<Coarsened>(config_of(parameters)); },
}};

}  // namespace
}  // namespace mprof::conv
