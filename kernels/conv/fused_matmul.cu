// SPDX-License-Identifier: MIT
// The same product without its matrix: im2col happens while a tile is loaded.
//
// Idea        A tile of the unrolled matrix is needed in shared memory only, and each of its elements is an
//             element of the input whose place follows from its row (c, p, q) and its column (image, y, x).
//             So a thread computes that place and loads the input directly. One kernel takes the place of
//             three, there is no section, and the result is written in NCHW order. A block's columns are
//             pixels of one image.
//
// Cost        The multiplication is that of unroll_matmul, padding rows and shared loads and all. Each tile
//             element now costs some integer arithmetic: c, p and q by two divisions, made of multiplications
//             with numbers that the host prepares. Images whose pixels no tile divides waste part of the last
//             one.
//
// The profile should show
//             DRAM traffic close to the 1.3 GB that the op needs instead of 28 GB, with L1 and L2 serving the
//             49-fold reuse; an op time shorter than unroll_matmul's by about that of im2col and permute; the
//             shared memory pipe as the limit. More instructions than unroll_matmul's product alone.
#include <string>

#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"
#include "kernels/conv/device/divisor.cuh"
#include "kernels/conv/device/tile_width.cuh"

namespace mprof::conv {
namespace {

/// What the kernel divides by.
struct Divisors {
  Divisor mask;       ///< K
  Divisor mask_area;  ///< K K

  explicit Divisors(const Shape& s)
      : mask(static_cast<unsigned>(s.mask)), mask_area(static_cast<unsigned>(s.mask * s.mask)) {}
};

/// blockIdx.x counts the tiles of pixels, `image_tiles` an image; blockIdx.y the tiles of maps.
template <unsigned tile>
__global__ void __launch_bounds__(tile* tile)
    conv_fused_matmul(const float* __restrict__ input, const float* __restrict__ mask,
                      float* __restrict__ output, unsigned image_tiles, Divisors divide, DeviceShape s) {
  alignas(16) __shared__ float mask_tile[tile][tile];
  alignas(16) __shared__ float input_tile[tile][tile];
  const unsigned tx = threadIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned m = blockIdx.y * tile + ty;
  const unsigned image = blockIdx.x / image_tiles;
  const unsigned pixel = blockIdx.x % image_tiles * tile + tx;
  const unsigned y = pixel / s.out_width;
  const unsigned x = pixel % s.out_width;
  const bool inside = y < s.out_height;
  const float* window = input + (inside ? s.input(image, 0, y * s.stride, x * s.stride) : 0);

  const unsigned taps = s.channels * s.mask * s.mask;
  float sum = 0;
  for (unsigned first = 0; first < taps; first += tile) {
    mask_tile[ty][tx] =
        m < s.maps && first + tx < taps ? mask[static_cast<std::size_t>(m) * taps + first + tx] : 0.0F;
    const unsigned tap = first + ty;
    const unsigned c = divide.mask_area.quotient(tap);
    const unsigned within = divide.mask_area.remainder(tap);
    const unsigned p = divide.mask.quotient(within);
    const unsigned q = divide.mask.remainder(within);
    input_tile[ty][tx] = inside && tap < taps ? window[(c * s.height + p) * s.width + q] : 0.0F;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < tile; ++k) sum += mask_tile[ty][k] * input_tile[k][tx];
    __syncthreads();
  }
  if (inside && m < s.maps) output[s.output(image, m, y, x)] = sum;
}

class FusedMatmul final : public DeviceConvolution {
 public:
  explicit FusedMatmul(unsigned tile_width) : tile_width_(tile_width) {}

 protected:
  void launch() override {
    const Shape& s = shape();
    with_tile_width(tile_width_, [&](auto tile) {
      const std::size_t image_tiles = blocks_for(s.plane_size(), tile);
      const dim3 grid(static_cast<unsigned>(s.batch * image_tiles),
                      static_cast<unsigned>(blocks_for(s.maps, tile)));
      conv_fused_matmul<tile><<<grid, dim3(tile, tile)>>>(
          input(), mask(), output(), static_cast<unsigned>(image_tiles), Divisors(s), DeviceShape(s));
    });
  }

 private:
  unsigned tile_width_;
};

const Register registered{Declaration{
    .title = "Matrix product with im2col fused in",
    .idea = "One kernel: each tile of the unrolled matrix is gathered from the input into shared memory, and "
            "the matrix itself never exists.",
    .device = "cuda",
    .baseline = "conv/unroll_matmul",
    .parameters = {tile_width_parameter()},
    .expectations =
        {{.metric = "dram__bytes.sum",
          .direction = Direction::decreases,
          .factor = 5,
          .because = "The unrolled matrix and the product before its permutation are never in DRAM."},
         {.metric = "op_time",
          .direction = Direction::decreases,
          .factor = 1.2,
          .because = "The time of im2col and permute is gone, for some integer arithmetic in the product."},
         {.metric = "group_time",
          .direction = Direction::decreases,
          .because = "There is no section of 1.3 GB to allocate and to free."}},
    .references =
        {"S. Chetlur et al.: cuDNN: Efficient Primitives for Deep Learning, 2014, "
         "https://arxiv.org/abs/1410.0759",
         "W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, chapter 16"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<FusedMatmul>(
              static_cast<unsigned>(std::stoul(parameters.at("tile_width"))));
        },
}};

}  // namespace
}  // namespace mprof::conv
