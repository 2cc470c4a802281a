// SPDX-License-Identifier: MIT
// The input tile of a block in shared memory, as a two-dimensional array; the weights in constant memory.
//
// Idea        The pixels of a tile read overlapping windows of the input: each input element K x K times.
//             A block loads the tile with its halo once into shared memory, channel by channel, and then
//             reads it from there. An index into shared memory is a 32-bit offset; nearly all that is
//             left in the loop is the shared load, the constant load and the multiply-add.
//
// Cost        Two barriers a channel. The halo is loaded by more than one block: (w + 6)^2 elements for
//             w^2 pixels, 1.9 times as many at w = 16, 3.1 times at w = 8. Every map's block loads the
//             tile anew: M times. A large tile has less halo and more idle threads: 34 pixels are three
//             tiles of 16, but two of 18. And caches already did most of this: what is saved is not DRAM
//             traffic but instructions and tag lookups.
//
//             The array's size is fixed at compile time, for masks up to 7 x 7 and strides 1 and 2. Its
//             rows have w + 6 elements, so that the two half warps of a 16-wide tile share some banks.
//
// The profile should show
//             a small part of constant_mask's global load requests, the stall LG throttle gone, short
//             scoreboard (shared loads) and barrier in its place, and some bank conflicts.
#include <algorithm>
#include <string>
#include <utility>

#include "kernels/conv/device/constant_memory.cuh"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"
#include "system/error.hpp"

namespace mprof::conv {
namespace {

__constant__ float shared_2d_mask[constant_bytes / sizeof(float)];  // [M][C][K][K]

/// Elements a side of the input that `tile_width` output pixels read.
constexpr unsigned input_side(unsigned tile_width, unsigned stride, unsigned mask) {
  return (tile_width - 1) * stride + mask;
}

/// Blocks of TileWidth x TileWidth threads. Side is at least the input_side() of the shape.
template <unsigned TileWidth, unsigned Side>
__global__ void __launch_bounds__(TileWidth* TileWidth)
    conv_shared_2d(const float* input, float* output, DeviceShape s) {
  __shared__ float tile[Side][Side];
  const unsigned tiles_x = (s.out_width + TileWidth - 1) / TileWidth;
  const unsigned first_x = blockIdx.y % tiles_x * TileWidth;
  const unsigned first_y = blockIdx.y / tiles_x * TileWidth;
  const unsigned x = first_x + threadIdx.x;
  const unsigned y = first_y + threadIdx.y;
  const unsigned m = blockIdx.x;
  const unsigned b = blockIdx.z;
  const bool inside = x < s.out_width && y < s.out_height;  // who is not still loads, and waits
  const unsigned side = input_side(TileWidth, s.stride, s.mask);
  const unsigned columns = min(side, s.width - first_x * s.stride);
  const unsigned rows = min(side, s.height - first_y * s.stride);

  float sum = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned i = threadIdx.y; i < rows; i += TileWidth) {
      for (unsigned j = threadIdx.x; j < columns; j += TileWidth) {
        tile[i][j] = input[s.input(b, c, first_y * s.stride + i, first_x * s.stride + j)];
      }
    }
    __syncthreads();
    if (inside) {
      for (unsigned p = 0; p < s.mask; ++p) {
        for (unsigned q = 0; q < s.mask; ++q) {
          sum += tile[threadIdx.y * s.stride + p][threadIdx.x * s.stride + q] *
                 shared_2d_mask[s.weight(m, c, p, q)];
        }
      }
    }
    __syncthreads();
  }
  if (inside) output[s.output(b, m, y, x)] = sum;
}

using Kernel = void (*)(const float*, float*, DeviceShape);

/// The sides of the arrays: for the stride 1, and for all that this variant takes.
constexpr unsigned small_side(unsigned tile_width) {
  return input_side(tile_width, 1, 7);
}
constexpr unsigned large_side(unsigned tile_width) {
  return input_side(tile_width, 2, 7);
}

/// Even tile widths from 8 on.
template <unsigned... Index>
Kernel kernel_for(unsigned tile_width, unsigned side, std::integer_sequence<unsigned, Index...>) {
  Kernel kernel = nullptr;
  const auto consider = [&]<unsigned TileWidth>() {
    if (tile_width != TileWidth) return;
    kernel = side <= small_side(TileWidth) ? conv_shared_2d<TileWidth, small_side(TileWidth)>
                                           : conv_shared_2d<TileWidth, large_side(TileWidth)>;
  };
  (consider.template operator()<8 + 2 * Index>(), ...);
  return kernel;
}

class Shared2d final : public DeviceConvolution {
 public:
  explicit Shared2d(unsigned tile_width) : tile_width_(tile_width) {}

 protected:
  void allocate(const float* host_mask) override {
    if (side() > large_side(tile_width_)) {
      throw Error(ExitCode::fault, "conv/shared_2d: a tile reads " + std::to_string(side()) + " x " +
                                       std::to_string(side()) + " inputs, and its array has room for " +
                                       std::to_string(large_side(tile_width_)) + " x " +
                                       std::to_string(large_side(tile_width_)) +
                                       ". Use conv/shared_1d, which sizes its array at run time.");
    }
    upload(shared_2d_mask, host_mask, shape().mask_size(), "conv/shared_2d");
  }

  void launch() override {
    const Shape& s = shape();
    const std::size_t tiles =
        blocks_for(s.out_width(), tile_width_) * blocks_for(s.out_height(), tile_width_);
    const dim3 grid(static_cast<unsigned>(s.maps), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    const dim3 block(tile_width_, tile_width_);
    const Kernel kernel = kernel_for(tile_width_, side(), std::make_integer_sequence<unsigned, 10>());
    kernel<<<grid, block>>>(input(), output(), DeviceShape(s));
  }

 private:
  [[nodiscard]] unsigned side() const {
    return input_side(tile_width_, static_cast<unsigned>(shape().stride),
                      static_cast<unsigned>(shape().mask));
  }

  unsigned tile_width_;
};

const Register registered{Declaration{
    .title = "Input tile in 2-D shared memory",
    .idea = "A block loads its input tile with the halo once into shared memory and reads each element from "
            "there K x K times; weights in constant memory.",
    .device = "cuda",
    .baseline = "conv/constant_mask",
    .parameters = {{.name = "tile_width",
                    .meaning = "output pixels a side of the tile, and threads a side of the block",
                    .default_value = "16",
                    .values = {"8", "10", "12", "14", "16", "18", "20", "22", "24", "26"}}},
    .expectations =
        {{.metric = "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
          .op = "layer2",
          .because =
              "Global memory is read to fill the tile only: two or three loads a thread instead of 49."},
         {.metric = "smsp__inst_executed.sum",
          .op = "layer2",
          .because = "An index into shared memory costs less than an address in global memory."},
         {.metric = "op_time",
          .op = "layer2",
          .because = "Fewer instructions a product, and a pipe that serves 32 lanes a cycle."},
         {.metric = "dram__bytes.sum",
          .op = "layer2",
          .direction = Direction::unchanged,
          .because = "Caches already kept the input from being read again from DRAM."}},
    .references =
        {"W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, chapter 7 "
         "(tiled convolution with halo cells)"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<Shared2d>(static_cast<unsigned>(std::stoul(parameters.at("tile_width"))));
        },
}};

}  // namespace
}  // namespace mprof::conv
