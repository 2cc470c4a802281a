// SPDX-License-Identifier: MIT
// Convolution as a matrix product, written out: unroll, multiply, permute.
//
// Idea        Three kernels. im2col_section writes the C x K x K inputs of each output pixel into a column of
//             a matrix. matmul_tiled multiplies the masks with it:
//
//                 masks [M][C K K]  x  unrolled [C K K][pixels]  =  product [M][pixels of all images]
//
//             It stages square tiles of both factors in shared memory, and a thread owns one element of the
//             product. Images lie side by side in the columns, so one product serves many of them, but maps
//             come out before images: permute_section puts them into NCHW order. The unrolled matrix is K x K
//             times the size of the input, 12.5 GB in layer 1 at batch 10000, so the batch goes through in
//             sections that use the same memory again.
//
// Cost        Each input element is written 49 times and read 49 times, all of it through DRAM, and the
//             output is written, read and written again. A tile of 16 rows has use for 4 in layer 1: the
//             other 12 rows of threads multiply by zeros. And each product takes a shared load of its own, or
//             more.
//
// The profile should show
//             DRAM traffic of 28 GB in layer 1 against the baseline's 1.3 GB: im2col_section at the DRAM's
//             limit, matmul_tiled at the limit of shared memory (L1/TEX throughput, stall MIO throttle or
//             short scoreboard) with FP32 pipes far from theirs. Narrow tiles waste fewer rows in layer 1 but
//             load each tile more often and have blocks of less than a warp.
#include <string>

#include "kernels/conv/device/sectioned_matmul.cuh"
#include "kernels/conv/device/tile_width.cuh"

namespace mprof::conv {
namespace {

/// product [rows][columns] = a [rows][depth] x b [depth][columns], in tiles of tile x tile.
template <unsigned tile>
__global__ void __launch_bounds__(tile* tile)
    matmul_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ product,
                 unsigned rows, unsigned depth, std::size_t columns) {
  alignas(16) __shared__ float a_tile[tile][tile];
  alignas(16) __shared__ float b_tile[tile][tile];
  const unsigned tx = threadIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned row = blockIdx.y * tile + ty;
  const std::size_t column = static_cast<std::size_t>(blockIdx.x) * tile + tx;

  float sum = 0;
  for (unsigned first = 0; first < depth; first += tile) {
    a_tile[ty][tx] =
        row < rows && first + tx < depth ? a[static_cast<std::size_t>(row) * depth + first + tx] : 0.0F;
    b_tile[ty][tx] = column < columns && first + ty < depth ? b[(first + ty) * columns + column] : 0.0F;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < tile; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();
  }
  if (row < rows && column < columns) product[row * columns + column] = sum;
}

class UnrollMatmul final : public SectionedMatmul {
 public:
  UnrollMatmul(unsigned tile_width, std::size_t section)
      : SectionedMatmul(section), tile_width_(tile_width) {}

 protected:
  void multiply(const float* unrolled, float* product, std::size_t columns) override {
    const auto rows = static_cast<unsigned>(shape().maps);
    const auto depth = static_cast<unsigned>(shape().taps());
    with_tile_width(tile_width_, [&](auto tile) {
      const dim3 grid(static_cast<unsigned>(blocks_for(columns, tile)),
                      static_cast<unsigned>(blocks_for(rows, tile)));
      matmul_tiled<tile><<<grid, dim3(tile, tile)>>>(mask(), unrolled, product, rows, depth, columns);
    });
  }

 private:
  unsigned tile_width_;
};

const Register registered{Declaration{
    .title = "im2col and a tiled matrix product",
    .idea = "Unroll the input into a matrix in device memory, section by section, multiply it with the masks "
            "in shared-memory tiles, and permute the product into NCHW order.",
    .device = "cuda",
    .baseline = "conv/baseline",
    .parameters = {tile_width_parameter(),
                   {.name = "section",
                    .meaning = "images that are unrolled at once",
                    .default_value = "1000",
                    .values = {"100", "500", "1000", "2500", "5000"}}},
    .expectations =
        {{.metric = "dram__bytes.sum",
          .op = "layer1",
          .direction = Direction::increases,
          .factor = 10,
          .because = "The unrolled matrix is 49 times the input, and goes through DRAM twice."},
         {.metric = "op_time",
          .op = "layer1",
          .direction = Direction::increases,
          .because = "With 4 maps a loaded element of the matrix is used 4 times, and three quarters of a "
                     "tile's rows are padding."},
         {.metric = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
          .direction = Direction::increases,
          .because = "im2col and permute only copy, and the product streams a matrix that no cache holds."}},
    .references =
        {"K. Chellapilla, S. Puri, P. Simard: High Performance Convolutional Neural Networks for Document "
         "Processing, IWFHR 2006",
         "W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, "
         "chapters 5 and 16"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<UnrollMatmul>(
              static_cast<unsigned>(std::stoul(parameters.at("tile_width"))),
              std::stoul(parameters.at("section")));
        },
}};

}  // namespace
}  // namespace mprof::conv
