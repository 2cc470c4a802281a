// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/conv/device/image_ring.cuh"
#include "kernels/conv/device/uniform_weights.cuh"

/// Layer 2 with lanes for the rows of the whole batch (compute capability 9.0). Each image has 34 rows. The
/// rows of all images are numbered in one sequence and go to warps in units of 32, whatever image they are
/// of. So no lane idles at the end of an image. A lane has a whole row of 4 maps: 136 sums, 952 multiply-adds
/// for 10 loads of its own.
///
/// A block stays on its multiprocessor and has a range of the units, whose images come through a ring. A set
/// of warps, one for each 4 of the maps, takes every `sets`-th unit.
namespace mprof::conv::rows {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned all_lanes = 0xffffffff;

struct Layer2Rows {
  static constexpr unsigned channels = 4, side = 40, out_side = 34, maps = 16, mask = 7;
  static constexpr unsigned maps_a_thread = 4;
  static constexpr unsigned sets = 3;
  static constexpr unsigned blocks_an_sm = 1;

  static constexpr unsigned groups = maps / maps_a_thread;  ///< of maps
  static constexpr unsigned warps = groups * sets;
  static constexpr unsigned threads = warps * warp_size;
  static constexpr unsigned image = channels * side * side;
  static constexpr unsigned plane = out_side * out_side;
  static constexpr unsigned row_weights = mask * maps_a_thread;
  static constexpr unsigned group_weights = channels * mask * row_weights;
  static constexpr unsigned stage = warp_size * out_side;  ///< of a warp

  /// A multiprocessor has 228 KiB, of which it keeps 1 KiB for each block.
  static constexpr unsigned shared_bytes = 228 * 1024 / blocks_an_sm - 1024;
  static constexpr unsigned slots =
      (shared_bytes - 128 - warps * stage * sizeof(float)) / (image * sizeof(float) + sizeof(RingState<1>));
  static constexpr unsigned dynamic_bytes = (slots * image + warps * stage) * sizeof(float);
  static_assert(slots > sets, "a unit may need two images, and so many are at work");
};

using L = Layer2Rows;

/// [groups][C][K][K][maps_a_thread].
alignas(16) static __constant__ float layer2_weights[L::groups * L::group_weights];

/// 32 rows of the batch, or what is left of it.
struct Unit {
  __device__ Unit(unsigned index, unsigned all_rows)
      : rows(min(warp_size, all_rows - index * warp_size)),
        first_image(index * warp_size / L::out_side),
        last_image((index * warp_size + rows - 1) / L::out_side),
        first_row(index * warp_size % L::out_side),
        first_image_rows(min(rows, L::out_side - first_row)) {}

  unsigned rows;
  unsigned first_image;
  unsigned last_image;        ///< the same or the next
  unsigned first_row;         ///< of the first image
  unsigned first_image_rows;  ///< how many of its rows
};

/// The units of a block.
struct Share {
  __device__ explicit Share(unsigned units)
      : begin(static_cast<unsigned>(std::uint64_t{units} * blockIdx.x / gridDim.x)),
        end(static_cast<unsigned>(std::uint64_t{units} * (blockIdx.x + 1) / gridDim.x)) {}

  /// How many of them need an image.
  [[nodiscard]] __device__ unsigned of(unsigned image) const {
    const unsigned first = image * L::out_side / warp_size;
    const unsigned last = ((image + 1) * L::out_side - 1) / warp_size;
    return min(last, end - 1) - max(first, begin) + 1;
  }

  unsigned begin;
  unsigned end;
};

/// By a warp: the unit's rows of a map, of which the lane has one. In global memory the rows of an image lie
/// one after another. `map` is where the first image's map begins, `stage` shared memory of the warp.
inline __device__ void store_map(const float (&sums)[L::out_side], float* stage, const Unit& unit,
                                 float* map) {
  constexpr unsigned jump = (L::maps - 1) * L::plane;  // from behind an image's map to the next image's
  const unsigned lane = threadIdx.x % warp_size;
  const unsigned first = unit.first_image_rows * L::out_side;
  const unsigned both = unit.rows * L::out_side;
  map += unit.first_row * L::out_side;
  BulkCopy::wait_until_read<warp_size>();
  store(stage + lane * L::out_side, sums);
  BulkCopy::fence();
  __syncwarp();
  if (lane != 0) return;
  BulkCopy::begin_store(map, stage, first);
  if (both != first) BulkCopy::begin_store(map + first + jump, stage + first, both - first);
  BulkCopy::commit();
}

/// With dynamic_bytes of shared memory. A grid is best as many blocks as the multiprocessors hold at once.
static __global__ void __launch_bounds__(L::threads, L::blocks_an_sm)
    conv_layer2_rows(const float* __restrict__ input, float* __restrict__ output, unsigned images) {
#if __CUDA_ARCH__ >= 900
  using Ring = ImageRing<L::image, L::slots>;
  extern __shared__ __align__(128) float memory[];
  __shared__ typename Ring::State state;
  const unsigned all_rows = images * L::out_side;
  const Share share((all_rows + warp_size - 1) / warp_size);
  if (share.begin == share.end) return;

  const unsigned first_image = Unit(share.begin, all_rows).first_image;
  const unsigned last_image = Unit(share.end - 1, all_rows).last_image;
  Ring ring(state, memory, input, first_image, last_image);
  if (threadIdx.x == 0) ring.begin();
  __syncthreads();
  // A set need not begin with the first images. Would it leave them out, it could take the first filling of a
  // slot for the second, as it could if others went on before it has seen the first.
  for (unsigned i = first_image; i <= last_image && i + 1 < first_image + L::sets; ++i) ring.wait(i);
  __syncthreads();

  const unsigned lane = threadIdx.x % warp_size;
  const unsigned warp = __shfl_sync(all_lanes, threadIdx.x / warp_size, 0);  // the compiler knows: uniform
  const unsigned group = warp % L::groups;
  float* const stage = memory + L::slots * L::image + warp * L::stage;
#pragma unroll 1
  for (unsigned u = share.begin + warp / L::groups; u < share.end; u += L::sets) {
    const Unit unit(u, all_rows);
    for (unsigned i = unit.first_image; i <= unit.last_image; ++i) ring.wait(i);

    const unsigned row = min(u * warp_size + lane, all_rows - 1);
    const float* const in = ring[row / L::out_side] + row % L::out_side * L::side;
    float sums[L::maps_a_thread][L::out_side] = {};
#pragma unroll 1
    for (unsigned c = 0; c < L::channels; ++c) {
#pragma unroll 1
      for (unsigned p = 0; p < L::mask; ++p) {
        const unsigned first = group * L::group_weights + (c * L::mask + p) * L::row_weights;
        add_mask_row<L::mask, 4>(sums, in + (c * L::side + p) * L::side,
                                 [=](unsigned i) { return layer2_weights[first + i]; });
      }
    }

    for (unsigned i = unit.first_image; i <= unit.last_image; ++i) ring.leave(i, share.of(i) * L::groups);

    float* map = output + (std::size_t{unit.first_image} * L::maps + group * L::maps_a_thread) * L::plane;
#pragma unroll
    for (unsigned m = 0; m < L::maps_a_thread; ++m) store_map(sums[m], stage, unit, map + m * L::plane);
  }
  BulkCopy::wait_until_read<warp_size>();
#endif
}

}  // namespace mprof::conv::rows
