// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

/// Layer 2 with a block an image, for any GPU. A lane has one of the rows 0 to 31, a warp half of each row
/// (17 pixels) and 4 of the maps: 68 sums, 476 multiply-adds for 13 loads. 34 rows would need 8.5 warps, and
/// whole warps leave one of the SM's four schedulers with more to do than the others. So the last two rows
/// come first, cut otherwise: a lane adds one channel of one map, 17 pixels, and the four channels are summed
/// with shuffles.
///
/// A strip's window begins at a multiple of 16 bytes because each strip has its own copy of the pixels that
/// it shares with the next one. The pitch of a row is 4 modulo 8 floats, so that eight lanes that load 16
/// bytes of eight rows meet in no bank. Results go through shared memory too: a lane's strip is scattered in
/// global memory, a row of the block is not.
namespace mprof::conv::images {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned all_lanes = 0xffffffff;

/// Loads `Count` floats from shared memory with the widest loads that a 16-byte (for one float: 4-byte)
/// aligned address allows.
template <unsigned Count>
__device__ void load(float (&values)[Count], const float* from) {
  static_assert(Count == 1 || Count % 4 == 0);
  if constexpr (Count == 1) {
    values[0] = *from;
  } else {
#pragma unroll
    for (unsigned i = 0; i < Count; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + i);
      values[i] = four.x;
      values[i + 1] = four.y;
      values[i + 2] = four.z;
      values[i + 3] = four.w;
    }
  }
}

/// Floats that a strip of `width` pixels reads of an input row, rounded up to whole 16-byte loads.
constexpr unsigned window(unsigned width, unsigned mask) {
  return (width + mask - 1 + 3) / 4 * 4;
}

/// Adds one mask row to the sums of a strip: sums[m][i] += row[i + q] * weights[q * AllMaps + m], for all q.
template <unsigned Mask, unsigned AllMaps, unsigned Maps, unsigned Width>
__device__ void add_mask_row(float (&sums)[Maps][Width], const float* row, const float* weights) {
  float in[window(Width, Mask)];
  load(in, row);
#pragma unroll
  for (unsigned q = 0; q < Mask; ++q) {
    float weight[Maps];
    load(weight, weights + q * AllMaps);
#pragma unroll
    for (unsigned m = 0; m < Maps; ++m) {
#pragma unroll
      for (unsigned i = 0; i < Width; ++i) sums[m][i] += in[i + q] * weight[m];
    }
  }
}

struct Layer2Images {
  static constexpr unsigned channels = 4, side = 40, out_side = 34, maps = 16, mask = 7;
  static constexpr unsigned maps_a_thread = 4;
  static constexpr unsigned width = out_side / 2;              ///< pixels of a strip: half a row
  static constexpr unsigned groups = maps / maps_a_thread;     ///< of maps
  static constexpr unsigned threads = 2 * groups * warp_size;  ///< a warp has a half and a group
  static constexpr unsigned slots = window(width, mask);       ///< floats of a half row
  static constexpr unsigned pitch = 2 * slots + 4;             ///< floats of an input row
  /// + 8 each: lanes that differ in channel, as in the last rows, must meet in no bank.
  static constexpr unsigned channel_pitch = side * pitch + 8;
  static constexpr unsigned weights_of_channel = mask * mask * maps;
  static constexpr unsigned weight_pitch = weights_of_channel + 8;
  static constexpr unsigned weight_size = channels * weight_pitch;
  static constexpr unsigned shared_size = channels * channel_pitch + weight_size;
  static_assert(pitch % 8 == 4 && channel_pitch % 32 == 8 && weight_pitch % 32 == 24);

  static constexpr unsigned rows_at_once = threads / (2 * slots);  ///< that the block loads
  static_assert(side % rows_at_once == 0);

  /// Results leave in passes of four maps. Two passes fit in shared memory, so that one can be written while
  /// another is read.
  static constexpr unsigned plane = warp_size * out_side;  ///< floats of the rows 0 to 31
  static constexpr unsigned pass_maps = 4;
  static constexpr unsigned passes = maps / pass_maps;
  static constexpr unsigned storers = threads / pass_maps;  ///< threads that store a map
  static_assert(2 * pass_maps * plane <= shared_size && pass_maps % groups == 0);
};

using L = Layer2Images;

/// All input rows of an image, each half with its own window.
inline __device__ void load_image(float* shared, const float* image) {
  const unsigned slot = threadIdx.x % (2 * L::slots);
  const unsigned first_row = threadIdx.x / (2 * L::slots);
  if (first_row >= L::rows_at_once) return;
  const unsigned x = slot / L::slots * L::width + slot % L::slots;
  const bool inside = x < L::side;  // the right window is rounded up beyond the row
  const float* from = image + first_row * L::side + x;
  float* to = shared + first_row * L::pitch + slot;
#pragma unroll
  for (unsigned c = 0; c < L::channels; ++c) {
#pragma unroll
    for (unsigned row = 0; row < L::side; row += L::rows_at_once) {
      to[c * L::channel_pitch + row * L::pitch] = inside ? from[(c * L::side + row) * L::side] : 0.0F;
    }
  }
}

/// `weights` is [C][K][K][M].
inline __device__ void load_weights(float* shared, const float* weights) {
  constexpr unsigned fours = L::weights_of_channel / 4;
  for (unsigned i = threadIdx.x; i < L::channels * fours; i += L::threads) {
    *reinterpret_cast<float4*>(shared + i / fours * L::weight_pitch + i % fours * 4) =
        reinterpret_cast<const float4*>(weights)[i];
  }
}

/// The rows 32 and 33. A unit of work is half a row of 8 maps, and takes a warp: lane = 4 * map + channel.
inline __device__ void convolve_last_rows(const float* in, const float* weights, float* out) {
  const unsigned lane = threadIdx.x % warp_size;
  const unsigned c = lane % L::channels;
#pragma unroll 1
  for (unsigned unit = threadIdx.x / warp_size; unit < 8; unit += L::threads / warp_size) {
    const unsigned half = unit % 2;
    const unsigned y = warp_size + unit / 2 % 2;
    const unsigned m = unit / 4 * 8 + lane / L::channels;
    float sums[1][L::width] = {};
#pragma unroll 1
    for (unsigned p = 0; p < L::mask; ++p) {
      add_mask_row<L::mask, L::maps>(sums, in + c * L::channel_pitch + (y + p) * L::pitch + half * L::slots,
                                     weights + c * L::weight_pitch + p * L::mask * L::maps + m);
    }
    float* to = out + (m * L::out_side + y) * L::out_side + half * L::width;
#pragma unroll
    for (unsigned i = 0; i < L::width; ++i) {
      float sum = sums[0][i];
      sum += __shfl_xor_sync(all_lanes, sum, 1);
      sum += __shfl_xor_sync(all_lanes, sum, 2);
      if (i % L::channels == c) to[i] = sum;
    }
  }
}

/// `weights` is [C][K][K][M]. Block x computes image x.
static __global__ void __launch_bounds__(L::threads, 2)
    conv_layer2_images(const float* __restrict__ input, const float* __restrict__ weights,
                       float* __restrict__ output) {
  __shared__ alignas(16) float shared[L::shared_size];
  float* const in = shared;
  float* const mask = shared + L::channels * L::channel_pitch;
  const std::size_t image = blockIdx.x;
  float* const out = output + image * L::maps * L::out_side * L::out_side;

  load_image(in, input + image * L::channels * L::side * L::side);
  load_weights(mask, weights);
  __syncthreads();
  convolve_last_rows(in, mask, out);

  const unsigned row = threadIdx.x % warp_size;
  const unsigned half = threadIdx.x / warp_size % 2;
  const unsigned group = threadIdx.x / warp_size / 2;
  float sums[L::maps_a_thread][L::width] = {};
#pragma unroll 1
  for (unsigned c = 0; c < L::channels; ++c) {
#pragma unroll 1
    for (unsigned p = 0; p < L::mask; ++p) {
      add_mask_row<L::mask, L::maps>(
          sums, in + c * L::channel_pitch + (row + p) * L::pitch + half * L::slots,
          mask + c * L::weight_pitch + p * L::mask * L::maps + group * L::maps_a_thread);
    }
  }
  __syncthreads();

  constexpr unsigned group_planes = L::pass_maps / L::groups;  // maps of a group in a pass
#pragma unroll
  for (unsigned pass = 0; pass < L::passes; ++pass) {
    float* const staged = shared + pass % 2 * L::pass_maps * L::plane;
#pragma unroll
    for (unsigned k = 0; k < group_planes; ++k) {
      float* to = staged + (group * group_planes + k) * L::plane + row * L::out_side + half * L::width;
#pragma unroll
      for (unsigned i = 0; i < L::width; ++i) to[i] = sums[pass * group_planes + k][i];
    }
    __syncthreads();
    // A quarter of the threads stores a map.
    const unsigned quarter = threadIdx.x / L::storers;
    const unsigned m =
        quarter / group_planes * L::maps_a_thread + pass * group_planes + quarter % group_planes;
    float4* const to = reinterpret_cast<float4*>(out + m * L::out_side * L::out_side);
    const float4* const from = reinterpret_cast<const float4*>(staged + quarter * L::plane);
#pragma unroll
    for (unsigned i = threadIdx.x % L::storers; i < L::plane / 4; i += L::storers) __stcs(to + i, from[i]);
  }
}

}  // namespace mprof::conv::images
