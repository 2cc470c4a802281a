// SPDX-License-Identifier: MIT
// The matrix product with the masks in constant memory instead of shared memory.
//
// Idea        unroll_matmul stages a tile of the masks in shared memory in each step, though all blocks use
//             the same few kilobytes. Here they lie in constant memory, padded with zeros to whole tiles of
//             16 x 16, so that the product needs neither the tile nor a test at the masks' edges.
//             Only the unrolled matrix is staged. Constant memory hands a warp one word at a time, so a block
//             is 32 columns wide: a warp is one row of the product, and its lanes ask for the same weight.
//
// Cost        64 KiB is all there is; prepare() refuses what does not fit. The first level of the constant
//             cache holds about 2 KiB. Layer 1's 16 padded rows are 4 KiB and layer 2's are 13 KiB, and the
//             16 warps of a block walk down 16 rows at once, so the next level serves most of them. The
//             traffic that dominates, of the unrolled matrix, is untouched.
//
// The profile should show
//             the DRAM traffic of unroll_matmul, to a few per cent; fewer shared loads and stores, and in
//             their place constant loads with a latency of their own (stall short scoreboard). An op time
//             near that of unroll_matmul, rather above it in layer 2: what the masks cost was never the
//             problem.
#include <algorithm>
#include <vector>

#include "kernels/conv/device/constant_memory.cuh"
#include "kernels/conv/device/sectioned_matmul.cuh"

namespace mprof::conv {
namespace {

constexpr unsigned tile_rows = 16;     ///< of the product: maps
constexpr unsigned tile_columns = 32;  ///< of the product: pixels; a warp
constexpr unsigned tile_depth = 16;    ///< taps that are staged at once
static_assert(tile_depth == tile_rows, "a thread loads one element of the tile");

__constant__ float padded_masks[constant_bytes / sizeof(float)];  // [rows][depth], both multiples of 16

/// The masks [M][C K K] with zeros up to whole tiles.
std::vector<float> pad(const Shape& shape, const float* mask) {
  const std::size_t depth = blocks_for(shape.taps(), tile_depth) * tile_depth;
  std::vector<float> padded(blocks_for(shape.maps, tile_rows) * tile_rows * depth);
  for (std::size_t m = 0; m < shape.maps; ++m) {
    std::copy_n(mask + m * shape.taps(), shape.taps(), padded.data() + m * depth);
  }
  return padded;
}

/// product [rows][columns] = padded_masks x b [depth][columns].
__global__ void __launch_bounds__(tile_rows* tile_columns)
    matmul_constant(const float* __restrict__ b, float* __restrict__ product, unsigned rows, unsigned depth,
                    unsigned padded_depth, std::size_t columns) {
  __shared__ float b_tile[tile_depth][tile_columns];
  const unsigned tx = threadIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned row = blockIdx.y * tile_rows + ty;
  const std::size_t column = static_cast<std::size_t>(blockIdx.x) * tile_columns + tx;

  float sum = 0;
  for (unsigned first = 0; first < depth; first += tile_depth) {
    b_tile[ty][tx] = column < columns && first + ty < depth ? b[(first + ty) * columns + column] : 0.0F;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < tile_depth; ++k) {
      sum += padded_masks[row * padded_depth + first + k] * b_tile[k][tx];
    }
    __syncthreads();
  }
  if (row < rows && column < columns) product[row * columns + column] = sum;
}

class ConstantMatmul final : public SectionedMatmul {
 public:
  ConstantMatmul() : SectionedMatmul(1000) {}  // unroll_matmul's default

 protected:
  void allocate(const float* host_mask) override {
    SectionedMatmul::allocate(host_mask);
    const std::vector<float> padded = pad(shape(), host_mask);
    upload(padded_masks, padded.data(), padded.size(), "conv/constant_matmul");
  }

  void multiply(const float* unrolled, float* product, std::size_t columns) override {
    const auto rows = static_cast<unsigned>(shape().maps);
    const auto depth = static_cast<unsigned>(shape().taps());
    const auto padded_depth = static_cast<unsigned>(blocks_for(depth, tile_depth)) * tile_depth;
    const dim3 grid(static_cast<unsigned>(blocks_for(columns, tile_columns)),
                    static_cast<unsigned>(blocks_for(rows, tile_rows)));
    matmul_constant<<<grid, dim3(tile_columns, tile_rows)>>>(unrolled, product, rows, depth, padded_depth,
                                                             columns);
  }
};

const Register registered{Declaration{
    .title = "im2col and a product with constant masks",
    .idea = "As unroll_matmul, with the masks, padded to whole tiles, in constant memory.",
    .device = "cuda",
    .baseline = "conv/unroll_matmul",
    .expectations =
        {{.metric = "dram__bytes.sum",
          .direction = Direction::unchanged,
          .because = "The unrolled matrix is written and read as before; the masks are a few kilobytes."},
         {.metric = "op_time",
          .op = "layer2",
          .direction = Direction::increases,
          .because = "16 warps walk down 16 rows of masks at once, more than the first level of the constant "
                     "cache holds."}},
    .references =
        {"W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, chapters 5, 7 "
         "and 16"},
    .combines = {"conv/constant_mask", "conv/unroll_matmul"},
    .make = [](const Parameters&) { return std::make_unique<ConstantMatmul>(); },
}};

}  // namespace
}  // namespace mprof::conv
