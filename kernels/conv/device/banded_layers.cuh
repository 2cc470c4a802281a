// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include <cuda_fp16.h>

#include "kernels/conv/device/banded_product.hpp"

/// What the kernels of a banded product have in common: the layers, how their sums of products are cut into
/// instructions, and numbers as the instructions take them.
namespace mprof::conv::banded {

inline constexpr unsigned lanes = 32;
inline constexpr unsigned mask_side = 7;
inline constexpr unsigned tile_maps = 4;  ///< maps of an instruction's columns
inline constexpr unsigned tile_windows = 16;
inline constexpr unsigned open_rows = mask_side;  ///< output rows that an input row adds to

/// A block has a unit: half of an image. A warp has 16 columns of two bands of 20 output rows. Its 16 windows
/// are 4 neighbouring pairs of each band. So a lane's sums are 4 neighbouring pixels, and a row of them is
/// whole sectors. Staged sums go out when the block has all of them.
struct Layer1 {
  static constexpr unsigned channels = 1, side = 86, maps = 4, out_side = 80;
  static constexpr unsigned band = 20;                     ///< output rows that a warp goes through
  static constexpr unsigned units = 2;                     ///< of an image
  static constexpr unsigned unit_rows = out_side / units;  ///< output rows of a unit
  static constexpr unsigned unit_size = (unit_rows + mask_side - 1) * side;  ///< inputs
  static constexpr unsigned warp_columns = 16;
  static constexpr unsigned stage_rows = band;                       ///< of a warp that go out together
  static constexpr unsigned stage_pitch = unit_rows * out_side + 8;  ///< floats of a map
  static_assert(unit_rows == 2 * band && out_side % warp_columns == 0);
  static_assert(stage_pitch % 32 == 8, "the maps' sums should lie in different banks");
};

/// A block has an image. A warp has some of the maps of all rows and columns; its 16 windows are the columns
/// 0 to 31 of a row. A row of 34 sums is no whole number of sectors. Stores as lanes have the sums take
/// several times as long as stores of whole lines. So a warp collects 14 rows of its maps in shared memory.
/// It adds the columns 32 and 33, for which a tile's windows are rows, and stores all of them together. 14 is
/// the most that a tile of 16 windows serves and that makes a multiple of 16 bytes and of 7 rows.
struct Layer2 {
  static constexpr unsigned channels = 4, side = 40, maps = 16, out_side = 34;
  static constexpr unsigned band = out_side;
  static constexpr unsigned units = 1;
  static constexpr unsigned unit_rows = out_side;
  static constexpr unsigned unit_size = channels * side * side;
  static constexpr unsigned warp_columns = 2 * tile_windows;
  static constexpr unsigned stage_rows = 14;
  static constexpr unsigned stage_pitch = stage_rows * out_side + 12;
  static_assert(stage_rows <= tile_windows && stage_rows % open_rows == 0);
  static_assert(stage_rows * out_side % 4 == 0 && out_side * out_side % 4 == 0);
  static_assert(stage_pitch % 32 == 8, "the maps' sums should lie in different banks");
};

/// How the sums of products are cut into instructions: an instruction multiplies 8 inputs of a row (TF32), or
/// of two channels or two rows (FP16).
template <class Layer, Precision precision>
struct Steps {
  static constexpr bool pairs_rows = precision != Precision::tf32 && Layer::channels == 1;
  static constexpr unsigned mask_rows = pairs_rows ? 2 : 1;  ///< of a step
  static constexpr unsigned groups =                         ///< of channels
      precision == Precision::tf32 || pairs_rows ? Layer::channels : Layer::channels / 2;
  static constexpr unsigned row_steps = (mask_side + mask_rows - 1) / mask_rows;
  static constexpr unsigned count = groups * row_steps;
  static constexpr unsigned parts = precision == Precision::split_fp16 ? 2 : 1;  ///< words for a word
  static constexpr unsigned map_tiles = Layer::maps / tile_maps;
};

/// Rounded for an instruction that takes TF32, which leaves out the last 13 bits. What is added here is most
/// of what leaving them out takes away on average. So the error is at most 1.3 * 2^-11 and has no direction.
/// It is one instruction, where cvt.rna.tf32 is a comparison, a sum and a selection. NaN and infinity stay
/// what they are.
inline __device__ unsigned tf32_word(float value) {
  return __float_as_uint(fmaf(value, 0.7F / 2048, value));
}

inline __device__ unsigned half_word(__half2 pair) {
  return __half_as_ushort(__low2half(pair)) | static_cast<unsigned>(__half_as_ushort(__high2half(pair)))
                                                  << 16;
}

/// A weight, or its bits, or 0 where a window is wider than the mask.
template <class Layer, class T>
T tap(const std::vector<T>& mask, unsigned m, unsigned c, unsigned p, unsigned q) {
  return p < mask_side && q < mask_side ? mask[((m * Layer::channels + c) * mask_side + p) * mask_side + q]
                                        : T{};
}

/// To the nearest, ties away from zero: the device's factors are rounded less exactly.
inline std::uint32_t tf32_bits(float value) {
  return (std::bit_cast<std::uint32_t>(value) + 0x1000U) & ~0x1FFFU;
}

/// Part 0 is the value rounded, part 1 what rounding left.
inline std::uint32_t half_bits(float value, unsigned part = 0) {
  __half rounded = __float2half_rn(value);
  if (part == 1) rounded = __float2half_rn(value - __half2float(rounded));
  return std::uint32_t{static_cast<__half_raw>(rounded).x};
}

}  // namespace mprof::conv::banded
