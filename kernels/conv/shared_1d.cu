// SPDX-License-Identifier: MIT
// The input tile in a flat shared array, whose rows are as long as the banks like them.
//
// Idea        The same as shared_2d, but the array is flat and sized at launch, so that the length of its
//             rows is ours to choose at run time. Shared memory has 32 banks of 4 bytes, and the lanes of
//             a warp should meet in none. A row's pitch is congruent to tile_width modulo 32: then thread
//             (x, y) of the block reads from the bank (y * tile_width + x + constant) mod 32, which is
//             its number in the block plus a constant, and 32 lanes with consecutive numbers use 32
//             banks. That holds for each tile width, at stride 1.
//
// Cost        Up to 31 unused elements a row: 48 instead of 22 floats at tile_width 16, 4.2 KB a block,
//             which does not yet limit how many blocks a multiprocessor holds. The pitch is a kernel
//             argument, so a row's offset is a multiplication with a register where shared_2d has a
//             constant.
//
// The profile should show
//             no bank conflicts of shared loads, where shared_2d has some at every tile width, and otherwise
//             the same: the same global loads, barriers and occupancy.
#include <algorithm>
#include <string>

#include "kernels/conv/device/constant_memory.cuh"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"
#include "system/error.hpp"

namespace mprof::conv {
namespace {

__constant__ float shared_1d_mask[constant_bytes / sizeof(float)];  // [M][C][K][K]

/// Square blocks. `side` is how many input elements a side the block's tile reads, `pitch` how many floats
/// lie between two of its rows in shared memory.
__global__ void conv_shared_1d(const float* input, float* output, DeviceShape s, unsigned side,
                               unsigned pitch) {
  extern __shared__ float tile[];
  const unsigned tile_width = blockDim.x;
  const unsigned tiles_x = (s.out_width + tile_width - 1) / tile_width;
  const unsigned first_x = blockIdx.y % tiles_x * tile_width;
  const unsigned first_y = blockIdx.y / tiles_x * tile_width;
  const unsigned x = first_x + threadIdx.x;
  const unsigned y = first_y + threadIdx.y;
  const unsigned m = blockIdx.x;
  const unsigned b = blockIdx.z;
  const bool inside = x < s.out_width && y < s.out_height;  // who is not still loads, and waits
  const unsigned columns = min(side, s.width - first_x * s.stride);
  const unsigned rows = min(side, s.height - first_y * s.stride);

  float sum = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned i = threadIdx.y; i < rows; i += tile_width) {
      for (unsigned j = threadIdx.x; j < columns; j += tile_width) {
        tile[i * pitch + j] = input[s.input(b, c, first_y * s.stride + i, first_x * s.stride + j)];
      }
    }
    __syncthreads();
    if (inside) {
      for (unsigned p = 0; p < s.mask; ++p) {
        for (unsigned q = 0; q < s.mask; ++q) {
          sum += tile[(threadIdx.y * s.stride + p) * pitch + threadIdx.x * s.stride + q] *
                 shared_1d_mask[s.weight(m, c, p, q)];
        }
      }
    }
    __syncthreads();
  }
  if (inside) output[s.output(b, m, y, x)] = sum;
}

/// The smallest pitch that a row fits in and that is congruent to the tile's width modulo the 32 banks.
constexpr unsigned pitch_for(unsigned side, unsigned tile_width) {
  constexpr unsigned banks = 32;
  return side + (banks + tile_width % banks - side % banks) % banks;
}
static_assert(pitch_for(22, 16) == 48 && pitch_for(32, 26) == 58 && pitch_for(8, 8) == 8);

class Shared1d final : public DeviceConvolution {
 public:
  explicit Shared1d(unsigned tile_width) : tile_width_(tile_width) {}

 protected:
  void allocate(const float* host_mask) override {
    int device = 0;
    int available = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlock, device));
    if (tile_bytes() > static_cast<std::size_t>(available)) {
      throw Error(ExitCode::fault, "conv/shared_1d: a tile takes " + std::to_string(tile_bytes()) +
                                       " B of shared memory, and a block may have " +
                                       std::to_string(available) + " B. Take a smaller tile_width.");
    }
    upload(shared_1d_mask, host_mask, shape().mask_size(), "conv/shared_1d");
  }

  void launch() override {
    const Shape& s = shape();
    const std::size_t tiles =
        blocks_for(s.out_width(), tile_width_) * blocks_for(s.out_height(), tile_width_);
    const dim3 grid(static_cast<unsigned>(s.maps), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    const dim3 block(tile_width_, tile_width_);
    conv_shared_1d<<<grid, block, tile_bytes()>>>(input(), output(), DeviceShape(s), side(), pitch());
  }

 private:
  [[nodiscard]] unsigned side() const {
    return static_cast<unsigned>((tile_width_ - 1) * shape().stride + shape().mask);
  }
  [[nodiscard]] unsigned pitch() const { return pitch_for(side(), tile_width_); }
  [[nodiscard]] std::size_t tile_bytes() const { return sizeof(float) * side() * pitch(); }

  unsigned tile_width_;
};

const Register registered{Declaration{
    .title = "Input tile in a flat shared array",
    .idea = "As shared_2d, with a flat array whose row pitch is chosen so that the lanes of a warp read from "
            "different banks.",
    .device = "cuda",
    .baseline = "conv/shared_2d",
    .parameters = {{.name = "tile_width",
                    .meaning = "output pixels a side of the tile, and threads a side of the block",
                    .default_value = "16",
                    .values = {"8", "10", "12", "14", "16", "18", "20", "22", "24", "26"}}},
    .expectations = {{.metric = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                      .op = "layer1",
                      .factor = 2,
                      .because = "The pitch gives each lane of a warp a bank of its own."},
                     {.metric = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                      .op = "layer2",
                      .factor = 2,
                      .because = "The pitch gives each lane of a warp a bank of its own."},
                     {.metric = "op_time",
                      .op = "layer1",
                      .because = "A shared load that meets no conflict takes one pass instead of two."},
                     {.metric = "dram__bytes.sum",
                      .op = "layer2",
                      .direction = Direction::unchanged,
                      .because = "Global memory is read and written as before."}},
    .references = {"CUDA C++ Programming Guide, section on shared memory and its banks"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<Shared1d>(static_cast<unsigned>(std::stoul(parameters.at("tile_width"))));
        },
}};

}  // namespace
}  // namespace mprof::conv
