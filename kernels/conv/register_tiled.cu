// SPDX-License-Identifier: MIT
// Tiling in registers: a thread computes all maps of several pixels, and uses each loaded value many times.
//
// Idea        fused_matmul loads two values from shared memory for each multiply-add. Here a thread owns a
//             block of the product, `maps` rows by `pixels` columns, in registers. For each tap it takes a
//             column of the masks (16 weights, four 16-byte loads that all lanes share) and one input for
//             each of its pixels, and makes maps x pixels products of them: 64 multiply-adds for 8 loads. The
//             masks lie in shared memory, transposed to [tap][map] by the host. The inputs need no shared
//             memory any more: with all maps in one thread nobody else wants them, and neighbouring lanes
//             load neighbouring pixels, which L1 serves. For the mask side 7, the K taps of a row of the mask
//             are unrolled and addressed by constants, so there is no index arithmetic within a row.
//
// Cost        The block of the product, its operands and a pointer for each pixel take about a hundred
//             registers, so only 16 warps fit on a multiprocessor; what hides the latency of the loads is the
//             independent work within each. In layer 1 there are 4 maps for a loaded input, a quarter of
//             layer 2's: loads, not multiply-adds, set the pace there. Maps are padded to 4, 8 or a multiple
//             of 16.
//
// The profile should show
//             in layer 2 the FP32 pipe as the busiest part, far above fused_matmul's share of its peak, at a
//             low occupancy; a fraction of fused_matmul's instructions; DRAM traffic that stays near the 1 GB
//             that the op needs. In layer 1 L1/TEX is the busiest part instead.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"
#include "kernels/conv/device/divisor.cuh"
#include "system/error.hpp"

namespace mprof::conv {
namespace {

constexpr unsigned block = 128;
constexpr unsigned blocks_per_multiprocessor = 4;            ///< so that a thread may have 128 registers
constexpr std::size_t slice_bytes = 48 * std::size_t{1024};  ///< shared memory that needs no permission

struct Divisors {
  Divisor plane;
  Divisor out_width;

  explicit Divisors(const Shape& s)
      : plane(static_cast<unsigned>(s.plane_size())), out_width(static_cast<unsigned>(s.out_width())) {}
};

/// A thread computes `maps` maps of `pixels` pixels. Pixels are counted through the whole batch, `columns` of
/// them; those of a thread are `block` apart, so that a warp's are side by side. blockIdx.y counts groups of
/// `maps` maps. `weights` is [groups][taps][maps]; `slice_rows` rows of K taps of it fit into shared memory.
/// `known_mask` is K where it is a template argument, or 0.
template <unsigned maps, unsigned pixels, unsigned known_mask>
__global__ void __launch_bounds__(block, blocks_per_multiprocessor)
    conv_register_tiled(const float* __restrict__ input, const float4* __restrict__ weights,
                        float* __restrict__ output, std::size_t columns, unsigned slice_rows, Divisors divide,
                        DeviceShape s) {
  extern __shared__ float4 slice[];  // [slice_rows][K][maps / 4]
  constexpr unsigned vectors = maps / 4;
  const unsigned mask = known_mask != 0 ? known_mask : s.mask;
  const unsigned plane = s.out_height * s.out_width;

  // Where the thread's pixels are: 64-bit arithmetic once a block, 32-bit arithmetic for each pixel. Threads
  // beyond the last pixel compute it too, and do not store.
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * (block * pixels);
  const std::size_t left = columns - first;
  const unsigned last = left < block * pixels ? static_cast<unsigned>(left) - 1 : block * pixels - 1;
  const std::size_t first_image = first / plane;
  const auto first_pixel = static_cast<unsigned>(first - first_image * plane);
  const float* window[pixels];
#pragma unroll
  for (unsigned j = 0; j < pixels; ++j) {
    const unsigned local = first_pixel + min(j * block + threadIdx.x, last);
    const unsigned images_on = divide.plane.quotient(local);
    const unsigned pixel = local - images_on * plane;
    const unsigned y = divide.out_width.quotient(pixel);
    const unsigned x = pixel - y * s.out_width;
    window[j] = input +
                (first_image + images_on) * (static_cast<std::size_t>(s.channels) * s.height * s.width) +
                (y * s.width + x) * s.stride;
  }

  float sum[pixels][maps] = {};
  const unsigned rows = s.channels * mask;
  weights += static_cast<std::size_t>(blockIdx.y) * rows * mask * vectors;
  unsigned c = 0;
  unsigned p = 0;
  for (unsigned done = 0; done < rows; done += slice_rows) {
    const unsigned now = min(slice_rows, rows - done);
    if (done != 0) __syncthreads();  // before the slice is overwritten
    for (unsigned i = threadIdx.x; i < now * mask * vectors; i += block) {
      slice[i] = weights[static_cast<std::size_t>(done) * mask * vectors + i];
    }
    __syncthreads();

    const float4* row_weights = slice;
    for (unsigned r = 0; r < now; ++r, row_weights += mask * vectors) {
      const unsigned offset = (c * s.height + p) * s.width;
      const float* row[pixels];
#pragma unroll
      for (unsigned j = 0; j < pixels; ++j) row[j] = window[j] + offset;
#pragma unroll
      for (unsigned q = 0; q < mask; ++q) {
        float value[pixels];
#pragma unroll
        for (unsigned j = 0; j < pixels; ++j) value[j] = row[j][q];
#pragma unroll
        for (unsigned i = 0; i < vectors; ++i) {
          const float4 w = row_weights[q * vectors + i];
#pragma unroll
          for (unsigned j = 0; j < pixels; ++j) {
            sum[j][i * 4 + 0] += w.x * value[j];
            sum[j][i * 4 + 1] += w.y * value[j];
            sum[j][i * 4 + 2] += w.z * value[j];
            sum[j][i * 4 + 3] += w.w * value[j];
          }
        }
      }
      if (++p == mask) {
        p = 0;
        ++c;
      }
    }
  }

  const unsigned first_map = blockIdx.y * maps;
#pragma unroll
  for (unsigned j = 0; j < pixels; ++j) {
    const unsigned offset = j * block + threadIdx.x;
    if (offset > last) continue;
    const unsigned local = first_pixel + offset;
    const unsigned images_on = divide.plane.quotient(local);
    const std::size_t to =
        ((first_image + images_on) * s.maps + first_map) * plane + (local - images_on * plane);
#pragma unroll
    for (unsigned m = 0; m < maps; ++m) {
      if (first_map + m < s.maps) output[to + static_cast<std::size_t>(m) * plane] = sum[j][m];
    }
  }
}

/// The masks [M][C K K] as [groups][C K K][maps], with zeros for the maps that the last group lacks.
std::vector<float> transpose(const Shape& shape, const float* mask, std::size_t maps) {
  const std::size_t taps = shape.taps();
  std::vector<float> weights(blocks_for(shape.maps, maps) * taps * maps);
  for (std::size_t m = 0; m < shape.maps; ++m) {
    for (std::size_t tap = 0; tap < taps; ++tap) {
      weights[(m / maps * taps + tap) * maps + m % maps] = mask[m * taps + tap];
    }
  }
  return weights;
}

class RegisterTiled final : public DeviceConvolution {
 protected:
  void allocate(const float* host_mask) override {
    maps_ = shape().maps <= 4 ? 4 : shape().maps <= 8 ? 8 : 16;
    const std::size_t row_bytes = shape().mask * maps_ * sizeof(float);
    slice_rows_ = std::min(slice_bytes / row_bytes, shape().channels * shape().mask);
    if (slice_rows_ == 0) {
      throw Error(ExitCode::environment,
                  "conv/register_tiled: one row of 16 masks takes " + std::to_string(row_bytes) +
                      " B, and the kernel has " + std::to_string(slice_bytes) +
                      " B of shared memory. Use conv/fused_matmul, which takes masks of any size.");
    }
    const std::vector<float> weights = transpose(shape(), host_mask, maps_);
    weights_ = cuda::DeviceBuffer<float>(weights.size());
    cuda::check(cudaMemcpy(weights_.data(), weights.data(), weights_.bytes(), cudaMemcpyHostToDevice));
  }

  void launch() override {
    if (maps_ == 4) {
      launch_for_mask<4, 8>();
    } else if (maps_ == 8) {
      launch_for_mask<8, 8>();
    } else {
      launch_for_mask<16, 4>();
    }
  }

  void release() override { weights_ = {}; }

 private:
  template <unsigned maps, unsigned pixels>
  void launch_for_mask() {
    if (shape().mask == 7) {
      launch_kernel<maps, pixels, 7>();
    } else {
      launch_kernel<maps, pixels, 0>();
    }
  }

  template <unsigned maps, unsigned pixels, unsigned known_mask>
  void launch_kernel() {
    const Shape& s = shape();
    const std::size_t columns = s.batch * s.plane_size();
    const dim3 grid(static_cast<unsigned>(blocks_for(columns, std::size_t{block} * pixels)),
                    static_cast<unsigned>(blocks_for(s.maps, maps)));
    conv_register_tiled<maps, pixels, known_mask>
        <<<grid, block, slice_rows_ * s.mask * maps * sizeof(float)>>>(
            input(), reinterpret_cast<const float4*>(weights_.data()), output(), columns,
            static_cast<unsigned>(slice_rows_), Divisors(s), DeviceShape(s));
  }

  std::size_t maps_ = 0;        ///< of a thread
  std::size_t slice_rows_ = 0;  ///< rows of K taps whose weights are in shared memory at once
  cuda::DeviceBuffer<float> weights_;
};

const Register registered{Declaration{
    .title = "Register and shared-memory tiling",
    .idea = "A thread keeps a block of 16 maps by 4 pixels of the product in registers; the masks come from "
            "shared memory, the inputs straight from L1.",
    .device = "cuda",
    .baseline = "conv/fused_matmul",
    .expectations =
        {{.metric = "op_time",
          .op = "layer2",
          .direction = Direction::decreases,
          .factor = 3,
          .because = "64 multiply-adds take 8 loads instead of 80 or more."},
         {.metric = "op_time",
          .op = "layer1",
          .direction = Direction::decreases,
          .factor = 5,
          .because = "No thread works on padding rows, and an input serves all 4 maps once it is loaded."},
         {.metric = "smsp__inst_executed.sum",
          .direction = Direction::decreases,
          .factor = 2,
          .because = "Nearly every instruction of the inner loop is a multiply-add."}},
    .references = {"V. Volkov, J. Demmel: Benchmarking GPUs to Tune Dense Linear Algebra, SC 2008",
                   "W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, "
                   "chapters 6 and 16"},
    .make = [](const Parameters&) { return std::make_unique<RegisterTiled>(); },
}};

}  // namespace
}  // namespace mprof::conv
