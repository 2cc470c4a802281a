// A kernel for each layer: what the other variants teach, with the layer's shape known at compile time.
//
// Idea        Multiply-adds only run at the rate of the FP32 pipe when each operand that is loaded serves
//             many of them. A thread keeps a strip of output pixels of several maps in registers. For a mask
//             row it loads the strip's input window (the strip and K - 1 more) and for each of the K taps the
//             maps' weights, four with one 16-byte load, the same address for the whole warp. Both lie in
//             shared memory, which a block fills once.
//
//             Layer 1     A block computes 16 rows of one image. A thread has layer1_width (10 or 20) pixels
//                         of a row, of all 4 maps: 40 or 80 sums, 280 or 560 multiply-adds for the 11 or 14
//                         loads of a mask row.
//             Layer 2     A block computes an image. A lane has one of the rows 0 to 31, a warp half of each
//                         row (17 pixels) and layer2_maps (4 or 8) of the maps: 68 or 136 sums, 476 or 952
//                         multiply-adds for 13 or 20 loads. 34 rows would need 8.5 warps, and whole warps
//                         leave one of the SM's four schedulers with more to do than the others. So the last
//                         two rows come first, cut otherwise: a lane adds one channel of one map, 17 pixels,
//                         and the four channels are summed with shuffles.
//
//             A strip's window begins at a multiple of 16 bytes because each strip has its own copy of the
//             pixels that it shares with the next one. The pitch of a row is 4 modulo 8 floats, so that eight
//             lanes that load 16 bytes of eight rows meet in no bank. Results go through shared memory too:
//             a lane's strip is scattered in global memory, a row of the block is not.
//
//             Any other shape takes a plain kernel: a pixel of four maps a thread.
//
// Cost        Two kernels that serve two shapes. Half of the registers of a multiprocessor hold sums, so that
//             layer 2 has 16 warps on it and not 64: what hides latency is that a thread has 68 independent
//             sums. Layer 1 loads 6 halo rows for each 16.
//
// The profile should show
//             FP32 (FMA) pipe utilization above 75 % in layer 2, and 14 instructions of 15 in it FFMA; in
//             layer 1 both the FMA pipe and DRAM busy, since arithmetic (0.38 ms) and traffic (0.31 ms) have
//             nearly the same floor there. L1 hit rates no longer matter: each input is loaded once or twice.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/conv/device_convolution.hpp"
#include "kernels/conv/device_shape.cuh"
#include "kernels/conv/lenet.hpp"

namespace mprof::conv {
namespace {

constexpr unsigned warp_size = 32;
constexpr unsigned all_lanes = 0xffffffff;

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

// --- layer 1 ----------------------------------------------------------------------------------------

template <unsigned Width>
struct Layer1 {
  static constexpr unsigned side = 86, out_side = 80, maps = 4, mask = 7;
  static constexpr unsigned rows = 16;                  ///< output rows of a block
  static constexpr unsigned in_rows = rows + mask - 1;  ///< input rows of a block
  static constexpr unsigned bands = out_side / rows;    ///< blocks an image
  static constexpr unsigned strips = out_side / Width;  ///< threads an output row
  static constexpr unsigned threads = rows * strips;
  static constexpr unsigned blocks_an_sm = Width == 10 ? 7 : 8;
  static constexpr unsigned slots = window(Width, mask);  ///< floats of a strip in an input row
  static constexpr unsigned pitch = strips * slots + 4;   ///< floats of an input row
  static constexpr unsigned out_pitch = out_side + 4;     ///< floats of an output row
  static constexpr unsigned buffer_size = std::max(in_rows * pitch, maps* rows* out_pitch);
  static_assert(out_side % rows == 0 && out_side % Width == 0 && Width % 2 == 0 && pitch % 8 == 4);

  /// Threads that load a row, two floats each: a pair for each, or some idle.
  static constexpr unsigned row_loaders = 64;
  static constexpr unsigned rows_at_once = threads / row_loaders;
  static_assert(strips * slots / 2 <= row_loaders && threads % row_loaders == 0 &&
                in_rows % rows_at_once == 0);

  static constexpr unsigned plane = out_side * out_side;
  static constexpr unsigned row_fours = out_side / 4;  ///< 16-byte stores of an output row
  static constexpr unsigned band_fours = rows * row_fours;
  static constexpr unsigned rows_stored_at_once = threads / 32;  ///< 20 of 32 threads: no index to divide
  static_assert(rows_stored_at_once * row_fours <= threads && rows % rows_stored_at_once == 0);
};

/// The input rows of a band, each strip with its own window.
template <class L>
__device__ void load_band(float* buffer, const float* band) {
  const unsigned pair = threadIdx.x % L::row_loaders;
  const unsigned first_row = threadIdx.x / L::row_loaders;
  const unsigned strip = pair / (L::slots / 2);
  const unsigned x = strip * (L::out_side / L::strips) + pair % (L::slots / 2) * 2;
  if (strip >= L::strips) return;
  const bool inside = x < L::side;  // the last window is rounded up beyond the row
  const float* from = band + first_row * L::side + x;
  float* to = buffer + first_row * L::pitch + pair * 2;
#pragma unroll
  for (unsigned row = 0; row < L::in_rows; row += L::rows_at_once) {
    float2 two = {0, 0};
    if (inside) two = *reinterpret_cast<const float2*>(from + row * L::side);
    *reinterpret_cast<float2*>(to + row * L::pitch) = two;
  }
}

/// The rows of all maps from `buffer` to global memory, where those of a map are contiguous. `band` is where
/// the first map's begin.
template <class L>
__device__ void store_band(const float* buffer, float4* band) {
  const unsigned x = threadIdx.x % L::row_fours;
  const unsigned first_row = threadIdx.x / L::row_fours;
  if (first_row >= L::rows_stored_at_once) return;
  const float* from = buffer + first_row * L::out_pitch + x * 4;
  float4* to = band + threadIdx.x;
#pragma unroll
  for (unsigned m = 0; m < L::maps; ++m) {
#pragma unroll
    for (unsigned row = 0; row < L::rows; row += L::rows_stored_at_once) {
      __stcs(to + m * L::plane / 4 + row * L::row_fours,
             *reinterpret_cast<const float4*>(from + (m * L::rows + row) * L::out_pitch));
    }
  }
}

/// `weights` is [K][K][M]. Block x computes band x % bands of image x / bands.
template <unsigned Width>
__global__ void __launch_bounds__(Layer1<Width>::threads, Layer1<Width>::blocks_an_sm)
    conv_layer1(const float* __restrict__ input, const float* __restrict__ weights,
                float* __restrict__ output) {
  using L = Layer1<Width>;
  __shared__ alignas(16) float buffer[L::buffer_size];
  __shared__ alignas(16) float mask[L::mask * L::mask * L::maps];
  const unsigned band = blockIdx.x % L::bands;
  const std::size_t image = blockIdx.x / L::bands;

  load_band<L>(buffer, input + image * L::side * L::side + band * L::rows * L::side);
  static_assert(L::mask * L::mask <= L::threads && L::maps == 4);
  if (threadIdx.x < L::mask * L::mask) {
    reinterpret_cast<float4*>(mask)[threadIdx.x] = reinterpret_cast<const float4*>(weights)[threadIdx.x];
  }
  __syncthreads();

  const unsigned row = threadIdx.x % L::rows;
  const unsigned strip = threadIdx.x / L::rows;
  float sums[L::maps][Width] = {};
#pragma unroll 1
  for (unsigned p = 0; p < L::mask; ++p) {
    add_mask_row<L::mask, L::maps>(sums, buffer + (row + p) * L::pitch + strip * L::slots,
                                   mask + p * L::mask * L::maps);
  }
  __syncthreads();

#pragma unroll
  for (unsigned m = 0; m < L::maps; ++m) {
    float* to = buffer + (m * L::rows + row) * L::out_pitch + strip * Width;
#pragma unroll
    for (unsigned i = 0; i < Width; i += 2) {
      *reinterpret_cast<float2*>(to + i) = make_float2(sums[m][i], sums[m][i + 1]);
    }
  }
  __syncthreads();

  store_band<L>(buffer,
                reinterpret_cast<float4*>(output + image * L::maps * L::plane) + band * L::band_fours);
}

// --- layer 2 ----------------------------------------------------------------------------------------

template <unsigned MapsAThread>
struct Layer2 {
  static constexpr unsigned channels = 4, side = 40, out_side = 34, maps = 16, mask = 7;
  static constexpr unsigned width = out_side / 2;              ///< pixels of a strip: half a row
  static constexpr unsigned groups = maps / MapsAThread;       ///< of maps
  static constexpr unsigned threads = 2 * groups * warp_size;  ///< a warp has a half and a group
  static constexpr unsigned slots = window(width, mask);       ///< floats of a half row
  static constexpr unsigned pitch = 2 * slots + 4;             ///< floats of an input row
  /// + 8 each: lanes that differ in channel, as those of the last rows do, must meet in no bank.
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

/// All input rows of an image, each half with its own window.
template <class L>
__device__ void load_image(float* shared, const float* image) {
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
template <class L>
__device__ void load_weights(float* shared, const float* weights) {
  constexpr unsigned fours = L::weights_of_channel / 4;
  for (unsigned i = threadIdx.x; i < L::channels * fours; i += L::threads) {
    *reinterpret_cast<float4*>(shared + i / fours * L::weight_pitch + i % fours * 4) =
        reinterpret_cast<const float4*>(weights)[i];
  }
}

/// The rows 32 and 33. A unit of work is half a row of 8 maps, and takes a warp: lane = 4 * map + channel.
template <class L>
__device__ void convolve_last_rows(const float* in, const float* weights, float* out) {
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
template <unsigned MapsAThread>
__global__ void __launch_bounds__(Layer2<MapsAThread>::threads, 2)
    conv_layer2(const float* __restrict__ input, const float* __restrict__ weights,
                float* __restrict__ output) {
  using L = Layer2<MapsAThread>;
  __shared__ alignas(16) float shared[L::shared_size];
  float* const in = shared;
  float* const mask = shared + L::channels * L::channel_pitch;
  const std::size_t image = blockIdx.x;
  float* const out = output + image * L::maps * L::out_side * L::out_side;

  load_image<L>(in, input + image * L::channels * L::side * L::side);
  load_weights<L>(mask, weights);
  __syncthreads();
  convolve_last_rows<L>(in, mask, out);

  const unsigned row = threadIdx.x % warp_size;
  const unsigned half = threadIdx.x / warp_size % 2;
  const unsigned group = threadIdx.x / warp_size / 2;
  float sums[MapsAThread][L::width] = {};
#pragma unroll 1
  for (unsigned c = 0; c < L::channels; ++c) {
#pragma unroll 1
    for (unsigned p = 0; p < L::mask; ++p) {
      add_mask_row<L::mask, L::maps>(
          sums, in + c * L::channel_pitch + (row + p) * L::pitch + half * L::slots,
          mask + c * L::weight_pitch + p * L::mask * L::maps + group * MapsAThread);
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
    const unsigned m = quarter / group_planes * MapsAThread + pass * group_planes + quarter % group_planes;
    float4* const to = reinterpret_cast<float4*>(out + m * L::out_side * L::out_side);
    const float4* const from = reinterpret_cast<const float4*>(staged + quarter * L::plane);
#pragma unroll
    for (unsigned i = threadIdx.x % L::storers; i < L::plane / 4; i += L::storers) __stcs(to + i, from[i]);
  }
}

// --- any other shape --------------------------------------------------------------------------------

constexpr unsigned maps_a_thread = 4;

/// A thread computes one pixel of four maps, so that an input element that it loads serves four products.
__global__ void conv_any_shape(const float* __restrict__ input, const float* __restrict__ mask,
                               float* __restrict__ output, DeviceShape s) {
  const unsigned tiles_x = (s.out_width + blockDim.x - 1) / blockDim.x;
  const unsigned x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const unsigned first_map = blockIdx.x * maps_a_thread;
  const unsigned b = blockIdx.z;
  if (x >= s.out_width || y >= s.out_height) return;
  const float* weights[maps_a_thread];
#pragma unroll
  for (unsigned i = 0; i < maps_a_thread; ++i) {
    weights[i] = mask + s.weight(min(first_map + i, s.maps - 1), 0, 0, 0);  // beyond the last: computed twice
  }
  float sums[maps_a_thread] = {};
  unsigned tap = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned p = 0; p < s.mask; ++p) {
      const float* row = input + s.input(b, c, y * s.stride + p, x * s.stride);
      for (unsigned q = 0; q < s.mask; ++q, ++tap) {
        const float value = row[q];
#pragma unroll
        for (unsigned i = 0; i < maps_a_thread; ++i) sums[i] += value * weights[i][tap];
      }
    }
  }
#pragma unroll
  for (unsigned i = 0; i < maps_a_thread; ++i) {
    if (first_map + i < s.maps) output[s.output(b, first_map + i, y, x)] = sums[i];
  }
}

/// [M][C K K] as the kernels of the layers read it: [C K K][M].
std::vector<float> maps_last(const Shape& s, const float* mask) {
  std::vector<float> result(s.mask_size());
  for (std::size_t m = 0; m < s.maps; ++m) {
    for (std::size_t tap = 0; tap < s.taps(); ++tap) result[tap * s.maps + m] = mask[m * s.taps() + tap];
  }
  return result;
}

class PerLayer final : public DeviceConvolution {
 public:
  PerLayer(unsigned layer1_width, unsigned layer2_maps)
      : layer1_width_(layer1_width), layer2_maps_(layer2_maps) {}

 protected:
  void allocate(const float* host_mask) override {
    const std::vector<float> reordered = maps_last(shape(), host_mask);
    weights_ = cuda::DeviceBuffer<float>(reordered.size());
    cuda::check(cudaMemcpy(weights_.data(), reordered.data(), weights_.bytes(), cudaMemcpyHostToDevice));
  }

  void launch() override {
    if (shape() == layers[0].shape(shape().batch)) {
      layer1_width_ == 10 ? launch_layer1<10>() : launch_layer1<20>();
    } else if (shape() == layers[1].shape(shape().batch)) {
      layer2_maps_ == 4 ? launch_layer2<4>() : launch_layer2<8>();
    } else {
      launch_any_shape();
    }
  }

  void release() override { weights_ = {}; }

 private:
  template <unsigned Width>
  void launch_layer1() {
    using L = Layer1<Width>;
    static_assert(layers[0].one_image == Shape{.batch = 1,
                                               .channels = 1,
                                               .height = L::side,
                                               .width = L::side,
                                               .maps = L::maps,
                                               .mask = L::mask});
    const auto grid = static_cast<unsigned>(shape().batch * L::bands);
    conv_layer1<Width><<<grid, L::threads>>>(input(), weights_.data(), output());
  }

  template <unsigned MapsAThread>
  void launch_layer2() {
    using L = Layer2<MapsAThread>;
    static_assert(layers[1].one_image == Shape{.batch = 1,
                                               .channels = L::channels,
                                               .height = L::side,
                                               .width = L::side,
                                               .maps = L::maps,
                                               .mask = L::mask});
    const auto grid = static_cast<unsigned>(shape().batch);
    conv_layer2<MapsAThread><<<grid, L::threads>>>(input(), weights_.data(), output());
  }

  void launch_any_shape() {
    const Shape& s = shape();
    const dim3 block(32, 8);
    const std::size_t tiles = blocks_for(s.out_width(), block.x) * blocks_for(s.out_height(), block.y);
    const dim3 grid(static_cast<unsigned>(blocks_for(s.maps, maps_a_thread)), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    conv_any_shape<<<grid, block>>>(input(), mask(), output(), DeviceShape(s));
  }

  unsigned layer1_width_;
  unsigned layer2_maps_;
  cuda::DeviceBuffer<float> weights_;  ///< [C][K][K][M]
};

const Register registered{Declaration{
    .title = "A kernel for each layer",
    .idea =
        "For each layer's shape a kernel that keeps strips of output pixels of several maps in registers, so "
        "that 14 of 15 instructions are multiply-adds.",
    .device = "cuda",
    .baseline = "conv/baseline",
    .parameters = {{.name = "layer1_width",
                    .meaning = "pixels of a row that a thread computes in layer 1, of all 4 maps",
                    .default_value = "20",
                    .values = {"10", "20"}},
                   {.name = "layer2_maps",
                    .meaning = "maps that a thread computes in layer 2, of 17 pixels",
                    .default_value = "4",
                    .values = {"4", "8"}}},
    .expectations =
        {{.metric = "op_time",
          .op = "layer1",
          .factor = 4,
          .because = "An input value from shared memory serves up to 28 multiply-adds from a register."},
         {.metric = "op_time",
          .op = "layer2",
          .factor = 8,
          .because = "68 sums a thread, no idle lanes at the edge, and 476 multiply-adds for 13 loads."},
         {.metric = "smsp__inst_executed.sum",
          .op = "layer2",
          .factor = 8,
          .because = "Addresses and loads nearly vanish between multiply-adds."},
         {.metric = "sm__warps_active.avg.pct_of_peak_sustained_active",
          .op = "layer2",
          .factor = 2,
          .because =
              "The sums take the registers of 48 warps: occupancy falls to a quarter, and time with it."}},
    .references = {"V. Volkov: Better Performance at Lower Occupancy, GTC 2010",
                   "S. Gray: MaxAs, SGEMM, https://github.com/NervanaSystems/maxas/wiki/SGEMM"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<PerLayer>(static_cast<unsigned>(std::stoul(parameters.at("layer1_width"))),
                                            static_cast<unsigned>(std::stoul(parameters.at("layer2_maps"))));
        },
}};

}  // namespace
}  // namespace mprof::conv
