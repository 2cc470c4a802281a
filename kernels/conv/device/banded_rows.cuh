// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_fp16.h>

#include "kernels/conv/device/any_shape.cuh"
#include "kernels/conv/device/async_copy.cuh"
#include "kernels/conv/device/banded_layers.cuh"
#include "kernels/conv/lenet/lenet.hpp"

/// The network's convolutions as products with a banded matrix on tensor cores, for the variants `banded` and
/// `banded_split`, whose files explain the idea.
///
/// An instruction multiplies 16 rows by 8 columns. A row is a window of 8 neighbouring inputs of an image's
/// row. A column is a map at one of the 2 output pixels that a window serves. With g = lane / 4 and t = lane
/// % 4, a lane holds
///
/// - of the windows: the inputs 2t and 2t + 1 of the windows g and g + 8
/// - of the weights: the weights that meet these inputs in column g
/// - of the sums: both pixels of map t (of 4), in the windows g and g + 8
///
/// The inner dimension may have any order as long as both factors have the same.
namespace mprof::conv::banded {

/// How sums get to global memory.
enum class Stores : std::uint8_t {
  direct,  ///< by the lane that has them
  staged,  ///< through shared memory
};

/// How a layer's kernel is laid out: map tiles of a warp, and blocks that a multiprocessor is to hold.
struct Layout {
  unsigned warp_tiles, blocks_an_sm;
  Stores stores = Stores::staged;
};

/// Powers of two that bring the factors into the range of FP16 pairs, and the sums back.
struct Scale {
  float input = 1, sum = 1;
};

template <class Layer, unsigned warp_tiles>
inline constexpr unsigned block_size = lanes*(Layer::channels == 1 ? Layer::out_side / Layer::warp_columns
                                                                   : Layer::maps / tile_maps / warp_tiles);

/// Floats of shared memory: the unit's inputs, and from the next line on the sums that are staged.
template <class Layer>
inline constexpr unsigned stage_offset = (Layer::unit_size + 31) / 32 * 32;
template <class Layer, Stores stores>
inline constexpr unsigned shared_floats = stage_offset<Layer> +
                                          (stores == Stores::staged ? Layer::maps * Layer::stage_pitch : 0);

// --- a warp's work ----------------------------------------------------------------------------------

template <Precision precision>
__device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (precision == Precision::tf32) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#endif
}

/// What a lane keeps in registers: the weights of all taps for `warp_tiles` x 4 maps, and the sums of the
/// open output rows. Row y has the sums [y % open_rows].
template <class Layer, Precision precision, unsigned warp_tiles>
class Roller {
  using S = Steps<Layer, precision>;

 public:
  /// A row's inputs as they lie in memory: two for each of the lane's windows.
  using Raw = float2[Layer::channels][2];

  __device__ Roller(const uint2* weights, unsigned first_tile, Scale scale) : scale_(scale) {
#pragma unroll
    for (unsigned i = 0; i < S::parts * S::count; ++i) {
#pragma unroll
      for (unsigned n = 0; n < warp_tiles; ++n) {
        const uint2 words = weights[(i * S::map_tiles + first_tile + n) * lanes + threadIdx.x % lanes];
        weights_[i / S::count][i % S::count][n][0] = words.x;
        weights_[i / S::count][i % S::count][n][1] = words.y;
      }
    }
#pragma unroll
    for (unsigned i = 0; i < open_rows; ++i) clear(i);
  }

  /// Where the products of step 0 have two rows: the first row of a band.
  __device__ void begin(const Raw& raw) {
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) row_words_[h] = words(raw[0][h]);
  }

  /// Adds input row r of a band, r % open_rows == phase, of which the mask rows `first` to `last` fall on
  /// rows of the band. `raw` is row r, or row r + 1 where steps have two rows.
  template <int phase, int first, int last>
  __device__ void add_row(const Raw& raw) {
#pragma unroll
    for (unsigned k = 0; k < S::groups; ++k) {
      Windows windows;
      if constexpr (S::pairs_rows) {
        windows = next_windows(raw);
      } else {
        windows = windows_of(raw, k);
      }
#pragma unroll
      for (int step = 0; step < static_cast<int>(S::row_steps); ++step) {
        const int p = step * static_cast<int>(S::mask_rows);
        if (p < first || p > last) continue;
        add(sums_[(phase + static_cast<int>(open_rows) - p) % static_cast<int>(open_rows)], windows,
            k * S::row_steps + step);
      }
    }
  }

  /// Adds products to sums that do not belong to an open row: two sums each, so that fewer instructions wait
  /// for one another.
  __device__ void add_tap_row(float (&sums)[2][warp_tiles][4], const Raw& raw, unsigned p) {
#pragma unroll
    for (unsigned k = 0; k < S::groups; ++k) add(sums[k % 2], windows_of(raw, k), k * S::row_steps + p);
  }

  [[nodiscard]] __device__ float sum(unsigned row, unsigned n, unsigned e) const {
    return scaled(sums_[row][n][e]);
  }
  [[nodiscard]] __device__ float scaled(float sum) const {
    return precision == Precision::split_fp16 ? sum * scale_.sum : sum;
  }

  __device__ void clear(unsigned row) {
#pragma unroll
    for (unsigned i = 0; i < warp_tiles * 4; ++i) sums_[row][i / 4][i % 4] = 0;
  }

 private:
  struct Words {
    unsigned part[S::parts];
  };
  /// In the order of the instruction's registers.
  struct Windows {
    unsigned part[S::parts][4];
  };

  /// Two inputs as FP16: rounded, and, where they are split, what rounding left.
  [[nodiscard]] __device__ Words words(float2 two) const {
    Words result;
    if constexpr (precision == Precision::split_fp16) {
      two.x *= scale_.input;
      two.y *= scale_.input;
    }
    const __half2 rounded = __float22half2_rn(two);
    result.part[0] = half_word(rounded);
    if constexpr (precision == Precision::split_fp16) {
      const float2 back = __half22float2(rounded);
      result.part[1] = half_word(__floats2half2_rn(two.x - back.x, two.y - back.y));
    }
    return result;
  }

  [[nodiscard]] __device__ Windows windows_of(const Raw& raw, unsigned group) const {
    Windows result;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      if constexpr (precision == Precision::tf32) {
        const float2 two = raw[group][i % 2];
        result.part[0][i] = tf32_word(i < 2 ? two.x : two.y);
      } else {
        const Words word = words(raw[group * 2 + i / 2][i % 2]);
#pragma unroll
        for (unsigned part = 0; part < S::parts; ++part) result.part[part][i] = word.part[part];
      }
    }
    return result;
  }

  /// This row's words and the next row's, which are kept for the next row.
  [[nodiscard]] __device__ Windows next_windows(const Raw& next) {
    Windows result;
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      const Words word = words(next[0][h]);
#pragma unroll
      for (unsigned part = 0; part < S::parts; ++part) {
        result.part[part][h] = row_words_[h].part[part];
        result.part[part][h + 2] = word.part[part];
      }
      row_words_[h] = word;
    }
    return result;
  }

  __device__ void add(float (&sums)[warp_tiles][4], const Windows& windows, unsigned step) {
#pragma unroll
    for (unsigned n = 0; n < warp_tiles; ++n) {
      multiply_add<precision>(sums[n], windows.part[0], weights_[0][step][n]);
      if constexpr (precision == Precision::split_fp16) {
        multiply_add<precision>(sums[n], windows.part[0], weights_[1][step][n]);
        multiply_add<precision>(sums[n], windows.part[1], weights_[0][step][n]);
      }
    }
  }

  Scale scale_;
  Words row_words_[2];
  unsigned weights_[S::parts][S::count][warp_tiles][2];
  float sums_[open_rows][warp_tiles][4];
};

/// Walks through the rows of a band: rows 0 to 5 open output rows, each row from 6 on closes one, and the
/// last 6 open none. `store` takes an output row and where its sums are; `finish`, whose template parameter
/// is their number, the first of the rows that are complete since it was called last.
template <class Layer, Precision precision, unsigned warp_tiles, class Store, class Finish>
__device__ void roll_band(Roller<Layer, precision, warp_tiles>& roller, const float* const (&windows)[2],
                          const Store& store, const Finish& finish) {
  using Raw = typename Roller<Layer, precision, warp_tiles>::Raw;
  constexpr unsigned ahead = Steps<Layer, precision>::pairs_rows ? 1 : 0;
  constexpr unsigned last_row = Layer::band + mask_side - 2;
  const auto load = [&](Raw& raw, unsigned row) {
#pragma unroll
    for (unsigned i = 0; i < Layer::channels * 2; ++i) {
      raw[i / 2][i % 2] = *reinterpret_cast<const float2*>(
          windows[i % 2] + (i / 2 * Layer::side + min(row, last_row)) * Layer::side);
    }
  };
  Raw next;
  if constexpr (ahead == 1) {
    load(next, 0);
    roller.begin(next);
  }
  load(next, ahead);
  const auto add = [&]<int phase, int first, int last>(unsigned row) {
    Raw raw;
#pragma unroll
    for (unsigned i = 0; i < Layer::channels * 2; ++i) raw[i / 2][i % 2] = next[i / 2][i % 2];
    load(next, row + ahead + 1);
    roller.template add_row<phase, first, last>(raw);
    if constexpr (last + 1 == mask_side) {
      constexpr unsigned closed = (phase + 1) % open_rows;
      store(row - last, closed);
      roller.clear(closed);
    }
  };
  static_assert(open_rows == 7 && (Layer::band + 1) % open_rows == 0);
  add.template operator()<0, 0, 0>(0);
  add.template operator()<1, 0, 1>(1);
  add.template operator()<2, 0, 2>(2);
  add.template operator()<3, 0, 3>(3);
  add.template operator()<4, 0, 4>(4);
  add.template operator()<5, 0, 5>(5);
#pragma unroll 1
  for (unsigned row = 6; row < Layer::band; row += open_rows) {
    add.template operator()<6, 0, 6>(row);
    add.template operator()<0, 0, 6>(row + 1);
    add.template operator()<1, 0, 6>(row + 2);
    add.template operator()<2, 0, 6>(row + 3);
    add.template operator()<3, 0, 6>(row + 4);
    add.template operator()<4, 0, 6>(row + 5);
    add.template operator()<5, 0, 6>(row + 6);
    if constexpr (Layer::stage_rows < Layer::band) {
      if ((row + 1) % Layer::stage_rows == 0) {
        finish.template operator()<Layer::stage_rows>(row + 1 - Layer::stage_rows);
      }
    }
  }
  add.template operator()<6, 1, 6>(Layer::band);
  add.template operator()<0, 2, 6>(Layer::band + 1);
  add.template operator()<1, 3, 6>(Layer::band + 2);
  add.template operator()<2, 4, 6>(Layer::band + 3);
  add.template operator()<3, 5, 6>(Layer::band + 4);
  add.template operator()<4, 6, 6>(Layer::band + 5);
  constexpr unsigned rest = (Layer::band - 1) % Layer::stage_rows + 1;
  finish.template operator()<rest>(Layer::band - rest);
}

/// The last two columns of layer 2, of `rows` output rows from `first_row` on, to where the lane's map is
/// staged: a tile's windows are rows.
template <unsigned rows, Precision precision, unsigned warp_tiles>
__device__ void add_last_columns(Roller<Layer2, precision, warp_tiles>& roller, const float* in,
                                 unsigned first_row, float* map) {
  using L = Layer2;
  static_assert(rows <= tile_windows);
  const unsigned g = threadIdx.x % lanes / 4;
  const unsigned t = threadIdx.x % 4;
  float sums[2][warp_tiles][4] = {};
#pragma unroll
  for (unsigned p = 0; p < mask_side; ++p) {
    typename Roller<L, precision, warp_tiles>::Raw raw;
#pragma unroll
    for (unsigned i = 0; i < L::channels * 2; ++i) {
      const unsigned y = first_row + min(i % 2 * 8 + g, rows - 1) + p;
      raw[i / 2][i % 2] =
          *reinterpret_cast<const float2*>(in + (i / 2 * L::side + y) * L::side + L::warp_columns + 2 * t);
    }
    roller.add_tap_row(sums, raw, p);
  }
#pragma unroll
  for (unsigned i = 0; i < 2 * warp_tiles; ++i) {
    const unsigned n = i / 2;
    const unsigned e = i % 2 * 2;
    const unsigned y = i % 2 * 8 + g;
    if (y >= rows) continue;
    *reinterpret_cast<float2*>(map + n * tile_maps * L::stage_pitch + y * L::out_side + L::warp_columns) =
        make_float2(roller.scaled(sums[0][n][e] + sums[1][n][e]),
                    roller.scaled(sums[0][n][e + 1] + sums[1][n][e + 1]));
  }
}

/// Block x computes unit x % units of image x / units. `weights` is [parts][steps][map tiles][lanes] pairs of
/// words.
template <class Layer, Precision precision, unsigned warp_tiles, unsigned blocks_an_sm, Stores stores>
__global__ void __launch_bounds__(block_size<Layer, warp_tiles>, blocks_an_sm)
    conv_banded(const float* __restrict__ input, const uint2* __restrict__ weights,
                float* __restrict__ output, Scale scale) {
  extern __shared__ __align__(128) float in[];
  __shared__ AsyncCopy copy;
  float* const stage = in + stage_offset<Layer>;
  constexpr unsigned block = block_size<Layer, warp_tiles>;
  constexpr unsigned plane = Layer::out_side * Layer::out_side;
  const std::size_t image = blockIdx.x / Layer::units;
  const unsigned first_row = blockIdx.x % Layer::units * Layer::unit_rows;
  const unsigned warp = threadIdx.x / lanes;
  const unsigned lane = threadIdx.x % lanes;
  const unsigned g = lane / 4;
  const unsigned t = lane % 4;

  constexpr unsigned image_size = Layer::channels * Layer::side * Layer::side;
  static_assert(image_size % 4 == 0 && Layer::unit_size % 4 == 0 && Layer::unit_rows * Layer::side % 4 == 0);
  copy.begin<block>(in, input + image * image_size + first_row * Layer::side, Layer::unit_size);
  Roller<Layer, precision, warp_tiles> roller(weights, Layer::channels == 1 ? 0 : warp * warp_tiles, scale);
  copy.wait();

  output += image * Layer::maps * plane + first_row * Layer::out_side;
  if constexpr (Layer::channels == 1) {
    static_assert(warp_tiles == 1);
    const unsigned band = g / 4 * Layer::band;
    const unsigned x = warp * Layer::warp_columns + g % 4 * 4;
    const float* from = in + band * Layer::side + x + 2 * t;
    float* to = (stores == Stores::staged ? stage + t * Layer::stage_pitch : output + t * plane) +
                band * Layer::out_side + x;
    const auto store = [&](unsigned y, unsigned row) {
      const float4 sums = make_float4(roller.sum(row, 0, 0), roller.sum(row, 0, 1), roller.sum(row, 0, 2),
                                      roller.sum(row, 0, 3));
      *reinterpret_cast<float4*>(to + y * Layer::out_side) = sums;
    };
    const auto finish = [&]<unsigned rows>(unsigned /*first*/) {
      if constexpr (stores == Stores::staged) {
        static_assert(rows == Layer::band);
        copy.store<block, Layer::maps, Layer::unit_rows * Layer::out_side>(output, plane, stage,
                                                                           Layer::stage_pitch);
        copy.wait_until_read<block>();
      }
    };
    roll_band(roller, {from, from + 2}, store, finish);
  } else {
    static_assert(stores == Stores::staged);
    constexpr unsigned warp_maps = warp_tiles * tile_maps;
    output += warp * warp_maps * plane;
    float* const warp_stage = stage + warp * warp_maps * Layer::stage_pitch;
    float* const map = warp_stage + t * Layer::stage_pitch;  // of the lane
    const float* from = in + 2 * g + 2 * t;
    unsigned first_staged = 0;
    const auto store = [&](unsigned y, unsigned row) {
      if (row == 0) copy.wait_until_read<lanes>();  // y is a multiple of 7, and may be the first one staged
#pragma unroll
      for (unsigned i = 0; i < warp_tiles * 2; ++i) {
        *reinterpret_cast<float2*>(map + i / 2 * tile_maps * Layer::stage_pitch +
                                   (y - first_staged) * Layer::out_side + i % 2 * tile_windows + 2 * g) =
            make_float2(roller.sum(row, i / 2, i % 2 * 2), roller.sum(row, i / 2, i % 2 * 2 + 1));
      }
    };
    const auto finish = [&]<unsigned rows>(unsigned first) {
      add_last_columns<rows>(roller, in, first, map);
      copy.store<lanes, warp_maps, rows * Layer::out_side>(output + first * Layer::out_side, plane,
                                                           warp_stage, Layer::stage_pitch);
      first_staged = first + rows;
    };
    roll_band(roller, {from, from + tile_windows}, store, finish);
    copy.wait_until_read<lanes>();
  }
}

// --- what the host prepares -------------------------------------------------------------------------

/// The scale of the weights: the largest is brought to 2^12 or somewhat above, so that what rounding to FP16
/// leaves of it is a normal FP16 number too. 1 where nothing is split.
inline float weight_scale(Precision precision, const std::vector<float>& mask) {
  float largest = 0;
  for (const float weight : mask) largest = std::fmax(largest, std::fabs(weight));
  if (precision != Precision::split_fp16 || !(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0F, 12 - std::ilogb(largest));
}

/// Inputs are multiplied by it where they are split: up to 1023 they stay within FP16, and what is left of
/// them after rounding is exact to 2^-31.
inline constexpr float split_input_scale = 64;

/// The masks as lanes hold them, [parts][steps][map tiles][lanes][2] words.
template <class Layer, Precision precision>
std::vector<std::uint32_t> weight_words(const std::vector<float>& mask, float scale) {
  using S = Steps<Layer, precision>;
  constexpr unsigned words = S::count * S::map_tiles * lanes * 2;
  std::vector<std::uint32_t> result(S::parts * words);
  for (unsigned part = 0; part < S::parts; ++part) {
    std::vector<std::uint32_t> bits;  // of the masks: a weight is in several words
    for (const float weight : mask) {
      bits.push_back(precision == Precision::tf32 ? tf32_bits(weight * scale)
                                                  : half_bits(weight * scale, part));
    }
    for (unsigned i = 0; i < words; ++i) {
      const unsigned word = i % 2;
      const unsigned lane = i / 2 % lanes;
      const unsigned tile = i / (2 * lanes) % S::map_tiles;
      const unsigned step = i / (2 * lanes * S::map_tiles);
      const unsigned group = step / S::row_steps;
      const unsigned p = step % S::row_steps * S::mask_rows;
      const unsigned m = tile * tile_maps + lane / 4 / 2;
      const unsigned q = lane % 4 * 2 - lane / 4 % 2;  // wraps around to a large number left of the mask
      if constexpr (precision == Precision::tf32) {
        result[i] = tap<Layer>(bits, m, group, p, q + word);
      } else {
        const unsigned c = S::pairs_rows ? 0 : group * 2 + word;
        const unsigned row = S::pairs_rows ? p + word : p;
        result[part * words + i] = tap<Layer>(bits, m, c, row, q) | tap<Layer>(bits, m, c, row, q + 1) << 16U;
      }
    }
  }
  return result;
}

/// The product of the network's layers in one precision, in the layouts that suit it.
template <Precision precision, Layout layout1, Layout layout2>
class LayerProduct final : public Product {
 public:
  void prepare(const Shape& shape, const float* host_mask) override {
    shape_ = shape;
    const std::vector<float> mask(host_mask, host_mask + shape.mask_size());
    const float scale = weight_scale(precision, mask);
    scale_ = {};
    if (precision == Precision::split_fp16) {
      scale_ = {.input = split_input_scale, .sum = 1 / (split_input_scale * scale)};
    }
    std::vector<std::uint32_t> words;
    if (is<Layer1>()) {
      words = weight_words<Layer1, precision>(mask, scale);
      allow_shared<Layer1, layout1>();
      layout1_fits_ = fits<Layer1, layout1>();
    } else if (is<Layer2>()) {
      words = weight_words<Layer2, precision>(mask, scale);
      allow_shared<Layer2, layout2>();
    } else {
      mask_ = cuda::DeviceBuffer<float>(mask.size());
      cuda::check(cudaMemcpy(mask_.data(), host_mask, mask_.bytes(), cudaMemcpyHostToDevice));
      return;
    }
    weights_ = cuda::DeviceBuffer<unsigned>(words.size());
    cuda::check(cudaMemcpy(weights_.data(), words.data(), weights_.bytes(), cudaMemcpyHostToDevice));
  }

  void launch(const float* input, std::size_t images, float* output, cudaStream_t stream) const override {
    if (is<Layer1>()) {
      if (layout1_fits_) {
        launch_layer<Layer1, layout1>(input, images, output, stream);
      } else {
        launch_layer<Layer1, direct1>(input, images, output, stream);
      }
    } else if (is<Layer2>()) {
      launch_layer<Layer2, layout2>(input, images, output, stream);
    } else {
      Shape shape = shape_;
      shape.batch = images;
      launch_any_shape(shape, input, mask_.data(), output, stream);
    }
  }

  void release() override {
    mask_ = {};
    weights_ = {};
  }

 private:
  /// Whether the shape is the layer's, with any number of images.
  template <class Layer>
  [[nodiscard]] bool is() const {
    constexpr Shape one_image{.batch = 1,
                              .channels = Layer::channels,
                              .height = Layer::side,
                              .width = Layer::side,
                              .maps = Layer::maps,
                              .mask = mask_side};
    static_assert(one_image == layers[Layer::channels == 1 ? 0 : 1].one_image);
    static_assert(one_image.out_height() == Layer::out_side);
    Shape ours = shape_;
    ours.batch = 1;
    return ours == one_image;
  }

  /// Layer 1 where staged sums leave too little shared memory for layout1.
  static constexpr Layout direct1{
      .warp_tiles = layout1.warp_tiles, .blocks_an_sm = 4, .stores = Stores::direct};

  template <class Layer, Layout layout>
  static constexpr auto kernel =
      conv_banded<Layer, precision, layout.warp_tiles, layout.blocks_an_sm, layout.stores>;
  template <class Layer, Layout layout>
  static constexpr unsigned shared_bytes = shared_floats<Layer, layout.stores> * sizeof(float);

  /// More than 48 KiB of shared memory have to be asked for.
  template <class Layer, Layout layout>
  static void allow_shared() {
    cuda::check(cudaFuncSetAttribute(kernel<Layer, layout>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     shared_bytes<Layer, layout>));
    cuda::check(cudaFuncSetAttribute(kernel<Layer, layout>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared));
  }

  /// Whether a multiprocessor holds as many blocks as it is to hold.
  template <class Layer, Layout layout>
  [[nodiscard]] static bool fits() {
    int blocks = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel<Layer, layout>, block_size<Layer, layout.warp_tiles>, shared_bytes<Layer, layout>));
    return blocks >= static_cast<int>(layout.blocks_an_sm);
  }

  template <class Layer, Layout layout>
  void launch_layer(const float* input, std::size_t images, float* output, cudaStream_t stream) const {
    const auto grid = static_cast<unsigned>(images * Layer::units);
    constexpr unsigned block = block_size<Layer, layout.warp_tiles>;
    constexpr unsigned bytes = shared_bytes<Layer, layout>;
    const auto run = kernel<Layer, layout>;
    run<<<grid, block, bytes, stream>>>(input, reinterpret_cast<const uint2*>(weights_.data()), output,
                                        scale_);
  }

  Shape shape_;
  Scale scale_;
  bool layout1_fits_ = false;
  cuda::DeviceBuffer<float> mask_;
  cuda::DeviceBuffer<unsigned> weights_;
};

}  // namespace mprof::conv::banded
