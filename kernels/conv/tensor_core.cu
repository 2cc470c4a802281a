// SPDX-License-Identifier: MIT
// The fused product on tensor cores: a warp multiplies matrices of 16 x 8 and 8 x 8 with one instruction.
//
// Idea        A block takes an image (or a band of its rows, where it is large) into shared memory once,
//             rounded to the precision that the tensor cores read: each element is read from DRAM, and
//             converted, once. Pixels are the rows of the product and maps its columns, so that 4 maps fill
//             half of the 8 that an instruction has and 16 maps fill two. A warp computes 64 pixels: for 8
//             words of taps it gathers 4 matrices of 16 pixels from the image in shared memory - im2col,
//             straight into registers - and multiplies each with the maps' fragment, which all warps read
//             from L1. Sums are FP32. Where the lanes of the gather look is a table that the host makes, and
//             so is the masks' fragment, in the order in which lanes hold it.
//
//             TF32: a word is one value. FP16: a word is an input and its right neighbour, two taps in one
//             load; with K = 7, 4 loads a row of the mask instead of 7. The taps of a row of the mask are
//             padded to 4 words, with weights of zero: the 4 lanes that gather side by side then read side by
//             side, and no shared memory bank is asked twice.
//
// Cost        7 x 7 taps become 7 x 8 multiplications, and 4 maps 8. Inputs and weights keep 10 bits of their
//             mantissa; FP16 ends at 65504. The gather loads a word for each pixel and tap (or two taps):
//             with 4 maps it is used no more often than on FP32 pipes, and shared memory, not the tensor
//             pipe, is the limit.
//
// The profile should show
//             the tensor pipe active, though far from its peak; hardly an FP32 multiply-add; shared memory
//             wavefronts in front, more so for TF32 than for FP16; DRAM traffic at what the op needs. Few
//             instructions: a multiplication of 16 x 8 x 8 is one.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_fp16.h>

#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"
#include "kernels/conv/device/divisor.cuh"
#include "system/error.hpp"

namespace mprof::conv {
namespace {

constexpr unsigned lanes = 32;
constexpr unsigned block = 128;
constexpr unsigned warps = block / lanes;
constexpr unsigned tile_pixels = 16;  ///< rows of an instruction's first factor
constexpr unsigned tile_maps = 8;     ///< columns of its second one
constexpr unsigned tiles = 4;         ///< tiles of pixels that a warp computes at once
constexpr unsigned step_words = 8;    ///< words of taps that one instruction multiplies
constexpr unsigned row_words = 4;     ///< words that the lanes of a row of an instruction's factors hold
constexpr std::size_t window_bytes = 48 * std::size_t{1024};  ///< shared memory that needs no permission

/// What differs between the precisions: how many taps a 32-bit word holds, how a word is made, on the device
/// and on the host, and the instruction. The lanes' words are arranged alike: with g = lane / 4 and
/// t = lane % 4, a lane holds
///   of the first factor [16 pixels][8 words]:   [g][t], [g + 8][t], [g][t + 4], [g + 8][t + 4]
///   of the second factor [8 words][8 maps]:     [t][g], [t + 4][g]
///   of the sums [16 pixels][8 maps]:            [g][2t], [g][2t + 1], [g + 8][2t], [g + 8][2t + 1]
struct Tf32 {
  static constexpr unsigned word_taps = 1;
  static constexpr int min_capability = 80;

  static __device__ unsigned word(float value, float /*next*/) {
    unsigned result = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(value));
#endif
    return result;
  }

  /// Rounds as the device does: to the nearest, ties away from zero.
  static std::uint32_t host_word(float value, float /*next*/) {
    return (std::bit_cast<std::uint32_t>(value) + 0x1000U) & ~0x1FFFU;
  }

  static __device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }
};

struct Fp16 {
  static constexpr unsigned word_taps = 2;
  static constexpr int min_capability = 75;

  static __device__ unsigned word(float value, float next) {
    const __half2 pair = __floats2half2_rn(value, next);
    return __half_as_ushort(__low2half(pair)) | static_cast<unsigned>(__half_as_ushort(__high2half(pair)))
                                                    << 16;
  }

  static std::uint32_t host_word(float value, float next) {
    const auto bits = [](float x) { return std::uint32_t{static_cast<__half_raw>(__float2half_rn(x)).x}; };
    return bits(value) | bits(next) << 16U;
  }

  static __device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif __CUDA_ARCH__ >= 750
    for (int half = 0; half < 2; ++half) {  // Turing multiplies 8 taps at once, which lie alike
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
          "{%0, %1, %2, %3};"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
          : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
    }
#endif
  }
};

/// How an image is cut into bands of output rows, so that a band's window, the inputs of all channels that it
/// needs, fits into shared memory.
struct Bands {
  unsigned count;          ///< of an image
  unsigned rows;           ///< output rows of a band; the last one may have fewer
  unsigned channel_words;  ///< from a channel to the next in the window
};

/// The window's element at a distance in bytes, which saves a shift for each address.
__device__ unsigned load_word(const unsigned* window, unsigned byte) {
  return *reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(window) + byte);
}

/// Brings a band's inputs into the window. Words beyond the last input of a channel take zero for a
/// neighbour.
template <class Precision>
__device__ void stage_window(const float* __restrict__ input, unsigned* window, unsigned image,
                             unsigned first_row, unsigned rows, const Bands& bands, const DeviceShape& s) {
  const unsigned count = ((rows - 1) * s.stride + s.mask) * s.width;
  for (unsigned c = 0; c < s.channels; ++c, window += bands.channel_words) {
    const float* from = input + s.input(image, c, first_row * s.stride, 0);
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < count; i += block) {
      const float next = Precision::word_taps == 2 && i + 1 < count ? from[i + 1] : 0.0F;
      window[i] = Precision::word(from[i], next);
    }
  }
}

/// blockIdx.x counts the bands of all images, blockIdx.y groups of `map_tiles` x 8 maps. `weights` is
/// [groups][steps][lanes][map_tiles][2] words, `offsets` [steps][4] pairs: where, in bytes after a pixel's
/// first input in the window, a lane finds its two words of a step.
template <class Precision, unsigned map_tiles>
__global__ void __launch_bounds__(block)
    conv_tensor_core(const float* __restrict__ input, const unsigned* __restrict__ weights,
                     const uint2* __restrict__ offsets, float* __restrict__ output, unsigned steps,
                     Bands bands, Divisor out_width, DeviceShape s) {
  extern __shared__ unsigned window[];
  const unsigned image = blockIdx.x / bands.count;
  const unsigned first_row = blockIdx.x % bands.count * bands.rows;
  const unsigned rows = min(bands.rows, s.out_height - first_row);
  stage_window<Precision>(input, window, image, first_row, rows, bands, s);
  __syncthreads();

  const unsigned lane = threadIdx.x % lanes;
  const unsigned g = lane / row_words;
  const unsigned t = lane % row_words;
  const unsigned pixels = rows * s.out_width;
  const unsigned first_map = blockIdx.y * (map_tiles * tile_maps) + 2 * t;
  const std::size_t plane = static_cast<std::size_t>(s.out_height) * s.out_width;
  const std::size_t first_output =
      (static_cast<std::size_t>(image) * s.maps + first_map) * plane + first_row * s.out_width;
  weights += (static_cast<std::size_t>(blockIdx.y) * steps * lanes + lane) * (map_tiles * 2);

  // The warps share nothing from here on, and need not wait for one another.
  constexpr unsigned warp_pixels = tiles * tile_pixels;
  for (unsigned first = threadIdx.x / lanes * warp_pixels; first < pixels; first += warps * warp_pixels) {
    unsigned start[tiles][2];  // in bytes, of the pixels [g] and [g + 8]
#pragma unroll
    for (unsigned i = 0; i < tiles * 2; ++i) {
      const unsigned pixel = min(first + i * 8 + g, pixels - 1);
      const unsigned y = out_width.quotient(pixel);
      const unsigned x = pixel - y * s.out_width;
      start[i / 2][i % 2] = (y * s.width + x) * s.stride * static_cast<unsigned>(sizeof(unsigned));
    }

    float sum[tiles][map_tiles][4] = {};
    for (unsigned step = 0; step < steps; ++step) {
      const uint2 at = offsets[step * row_words + t];
      unsigned b[map_tiles][2];
      const unsigned* fragment = weights + step * (lanes * map_tiles * 2);
      if constexpr (map_tiles == 2) {
        const uint4 words = *reinterpret_cast<const uint4*>(fragment);
        b[0][0] = words.x, b[0][1] = words.y, b[1][0] = words.z, b[1][1] = words.w;
      } else {
        const uint2 words = *reinterpret_cast<const uint2*>(fragment);
        b[0][0] = words.x, b[0][1] = words.y;
      }
#pragma unroll
      for (unsigned i = 0; i < tiles; ++i) {
        const unsigned a[4] = {load_word(window, start[i][0] + at.x), load_word(window, start[i][1] + at.x),
                               load_word(window, start[i][0] + at.y), load_word(window, start[i][1] + at.y)};
#pragma unroll
        for (unsigned n = 0; n < map_tiles; ++n) Precision::multiply_add(sum[i][n], a, b[n]);
      }
    }

#pragma unroll
    for (unsigned i = 0; i < tiles * 2; ++i) {
      const unsigned pixel = first + i * 8 + g;
      if (pixel >= pixels) continue;
#pragma unroll
      for (unsigned n = 0; n < map_tiles; ++n) {
#pragma unroll
        for (unsigned e = 0; e < 2; ++e) {
          const unsigned m = n * tile_maps + e;
          if (first_map + m < s.maps) output[first_output + m * plane + pixel] = sum[i / 2][n][i % 2 * 2 + e];
        }
      }
    }
  }
}

/// What the host prepares for a shape: where each word of taps is, and the masks as the lanes hold them.
template <class Precision>
class Tables {
 public:
  Tables(const Shape& shape, const Bands& bands, const float* mask)
      : shape_(shape),
        mask_row_words_(blocks_for(blocks_for(shape.mask, Precision::word_taps), row_words) * row_words),
        steps_(blocks_for(shape.channels * shape.mask * mask_row_words_, step_words)),
        channel_words_(bands.channel_words),
        mask_(mask) {}

  [[nodiscard]] std::size_t steps() const { return steps_; }

  /// [steps][4] pairs of words, for conv_tensor_core.
  [[nodiscard]] std::vector<std::uint32_t> offsets() const {
    std::vector<std::uint32_t> result;
    for (std::size_t step = 0; step < steps_; ++step) {
      for (std::size_t t = 0; t < row_words; ++t) {
        result.push_back(offset(step * step_words + t));
        result.push_back(offset(step * step_words + t + row_words));
      }
    }
    return result;
  }

  /// [groups][steps][lanes][map_tiles][2] words.
  [[nodiscard]] std::vector<std::uint32_t> weights(std::size_t map_tiles) const {
    std::vector<std::uint32_t> result;
    const std::size_t group_maps = map_tiles * tile_maps;
    for (std::size_t group = 0; group < blocks_for(shape_.maps, group_maps); ++group) {
      for (std::size_t step = 0; step < steps_; ++step) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          for (std::size_t n = 0; n < map_tiles; ++n) {
            const std::size_t m = group * group_maps + n * tile_maps + lane / row_words;
            const std::size_t first_word = step * step_words + lane % row_words;
            result.push_back(weight(m, first_word));
            result.push_back(weight(m, first_word + row_words));
          }
        }
      }
    }
    return result;
  }

 private:
  /// A word of taps: of channel c, row p of the mask, columns q and, where a word holds two taps, q + 1.
  struct Word {
    std::size_t c, p, q;
  };

  [[nodiscard]] Word word(std::size_t index) const {
    const std::size_t row = index / mask_row_words_;
    return {
        .c = row / shape_.mask, .p = row % shape_.mask, .q = index % mask_row_words_ * Precision::word_taps};
  }

  /// Bytes from a pixel's first input to the word's. Padding looks where a true word does.
  [[nodiscard]] std::uint32_t offset(std::size_t index) const {
    const Word w = word(index);
    if (w.c >= shape_.channels) return 0;
    const std::size_t q = w.q < shape_.mask ? w.q : 0;
    const std::size_t words = w.c * channel_words_ + w.p * shape_.width + q;
    return static_cast<std::uint32_t>(words * sizeof(std::uint32_t));
  }

  [[nodiscard]] std::uint32_t weight(std::size_t m, std::size_t index) const {
    const Word w = word(index);
    return Precision::host_word(tap(m, w, 0), tap(m, w, 1));
  }

  /// A weight, or the zero that padding has.
  [[nodiscard]] float tap(std::size_t m, const Word& w, std::size_t next) const {
    const std::size_t q = w.q + next;
    if (m >= shape_.maps || w.c >= shape_.channels || q >= shape_.mask) return 0;
    return mask_[((m * shape_.channels + w.c) * shape_.mask + w.p) * shape_.mask + q];
  }

  Shape shape_;
  std::size_t mask_row_words_;  ///< words of taps in a row of the mask, padding included
  std::size_t steps_;
  std::size_t channel_words_;
  const float* mask_;
};

/// Inputs of all channels that `rows` output rows need.
std::size_t window_words(const Shape& s, std::size_t rows) {
  return s.channels * ((rows - 1) * s.stride + s.mask) * s.width;
}

Bands cut_into_bands(const Shape& s) {
  std::size_t count = 1;
  std::size_t rows = s.out_height();
  while (rows > 1 && window_words(s, rows) * sizeof(unsigned) > window_bytes) {
    rows = blocks_for(s.out_height(), ++count);
  }
  const std::size_t needed = window_words(s, rows) * sizeof(unsigned);
  if (needed > window_bytes) {
    throw Error(ExitCode::environment,
                "conv/tensor_core: the inputs of one row of pixels take " + std::to_string(needed) +
                    " B, and the kernel has " + std::to_string(window_bytes) +
                    " B of shared memory. Use conv/register_tiled, which takes images of any size.");
  }
  return {.count = static_cast<unsigned>(blocks_for(s.out_height(), rows)),
          .rows = static_cast<unsigned>(rows),
          .channel_words = static_cast<unsigned>(window_words(s, rows) / s.channels)};
}

/// The device's compute capability as a number: 90 for 9.0.
int compute_capability() {
  int device = 0;
  int major = 0;
  int minor = 0;
  cuda::check(cudaGetDevice(&device));
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return major * 10 + minor;
}

cuda::DeviceBuffer<unsigned> copy_to_device(const std::vector<std::uint32_t>& words) {
  cuda::DeviceBuffer<unsigned> buffer(words.size());
  cuda::check(cudaMemcpy(buffer.data(), words.data(), buffer.bytes(), cudaMemcpyHostToDevice));
  return buffer;
}

template <class Precision>
class TensorCore final : public DeviceConvolution {
 public:
  TensorCore() {
    const int capability = compute_capability();
    if (capability >= Precision::min_capability) return;
    throw Error(ExitCode::environment, "conv/tensor_core: this precision needs a GPU of compute capability " +
                                           std::to_string(Precision::min_capability / 10) + "." +
                                           std::to_string(Precision::min_capability % 10) +
                                           ", and this one has " + std::to_string(capability / 10) + "." +
                                           std::to_string(capability % 10) +
                                           ". Use precision=fp16 from 7.5 on, or conv/register_tiled.");
  }

 protected:
  void allocate(const float* host_mask) override {
    bands_ = cut_into_bands(shape());
    map_tiles_ = shape().maps <= tile_maps ? 1 : 2;
    const Tables<Precision> tables(shape(), bands_, host_mask);
    steps_ = static_cast<unsigned>(tables.steps());
    offsets_ = copy_to_device(tables.offsets());
    weights_ = copy_to_device(tables.weights(map_tiles_));
  }

  void launch() override {
    if (map_tiles_ == 1) {
      launch_kernel<1>();
    } else {
      launch_kernel<2>();
    }
  }

  void release() override {
    offsets_ = {};
    weights_ = {};
  }

 private:
  template <unsigned map_tiles>
  void launch_kernel() {
    const Shape& s = shape();
    const dim3 grid(static_cast<unsigned>(s.batch * bands_.count),
                    static_cast<unsigned>(blocks_for(s.maps, map_tiles * tile_maps)));
    const std::size_t shared = s.channels * bands_.channel_words * sizeof(unsigned);
    conv_tensor_core<Precision, map_tiles><<<grid, block, shared>>>(
        input(), weights_.data(), reinterpret_cast<const uint2*>(offsets_.data()), output(), steps_, bands_,
        Divisor(static_cast<unsigned>(s.out_width())), DeviceShape(s));
  }

  Bands bands_{};
  unsigned map_tiles_ = 0;
  unsigned steps_ = 0;
  cuda::DeviceBuffer<unsigned> offsets_;
  cuda::DeviceBuffer<unsigned> weights_;
};

const Register registered{Declaration{
    .title = "Fused product on tensor cores",
    .idea = "The image goes into shared memory once, as TF32 or FP16; warps gather im2col fragments from it "
            "into registers and multiply them on tensor cores, summing in FP32.",
    .device = "cuda",
    .baseline = "conv/fused_matmul",
    .parameters = {{.name = "precision",
                    .meaning = "of inputs and weights; sums are FP32",
                    .default_value = "tf32",
                    .values = {"tf32", "fp16"}}},
    .expectations =
        {{.metric = "op_time",
          .op = "layer2",
          .direction = Direction::decreases,
          .factor = 5,
          .because = "One instruction makes 1024 multiply-adds, and 16 maps use each gathered input twice."},
         {.metric = "op_time",
          .op = "layer1",
          .direction = Direction::decreases,
          .factor = 5,
          .because = "No thread works on padding rows, though with 4 maps the gather sets the pace."},
         {.metric = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
          .direction = Direction::increases,
          .because = "fused_matmul multiplies on FP32 pipes and leaves the tensor pipe idle."},
         {.metric = "smsp__inst_executed.sum",
          .direction = Direction::decreases,
          .factor = 5,
          .because = "Four loads and two matrix instructions take the place of 64 rounds of a loop."}},
    .references = {"NVIDIA: PTX ISA, matrix fragments for mma.m16n8k8 and mma.m16n8k16, "
                   "https://docs.nvidia.com/cuda/parallel-thread-execution/",
                   "NVIDIA: CUTLASS, implicit GEMM convolution, https://docs.nvidia.com/cutlass/"},
    .tolerance = 2e-3,  // TF32 and FP16 alike: 10 bits of mantissa are stored, an error of 2^-11 at most
    .make = [](const Parameters& parameters) -> std::unique_ptr<Convolution> {
      if (parameters.at("precision") == "fp16") return std::make_unique<TensorCore<Fp16>>();
      return std::make_unique<TensorCore<Tf32>>();
    },
}};

}  // namespace
}  // namespace mprof::conv
