// The same sums, in an order that the machine likes: all cores, full vectors, many chains.
//
// Idea        Keep a block of output in registers: up to four maps by up to three vectors of eight columns.
//             For each tap (channel, mask row, mask column) load the input vectors once, broadcast one weight
//             a map, and multiply-add all pairs. Images are dealt out to threads.
//
//                      input row   |-- v0 --|-- v1 --|-- v2 --|      3 loads
//                      weights     w0  w1  w2  w3                    4 broadcasts
//                      sums        4 x 3 registers                  12 multiply-adds
//
//             Twelve sums, three inputs and one weight are exactly AVX2's sixteen registers; twelve
//             independent chains hide a latency of four cycles at two multiply-adds a cycle; and seven loads
//             at two a cycle fit into the six cycles that the arithmetic takes. An output row whose width no
//             vector divides ends in a block that overlaps the one before it and computes some columns twice:
//             40 columns for the 34 of layer 2, which is cheaper than any scalar end.
//
// Cost        Layer 2 does 18 % more products than needed. Input and output still move once.
//
// The profile should show
//             against cpu_naive, a tenth of the instructions and less (eight products each instead of a fifth
//             of one), an op time that is lower by that and by the number of cores, and a FLOP rate of most
//             of the peak.
#include <algorithm>

#include "kernels/common/parallel.hpp"
#include "kernels/common/threads_parameter.hpp"
#include "kernels/common/vector.hpp"
#include "kernels/conv/lenet/host_convolution.hpp"

namespace mprof::conv {
namespace {

constexpr std::size_t max_maps = 4;
constexpr std::size_t max_vectors = 3;

/// Eight input elements, `stride` apart. A stride other than 1 costs a gather; LeNet has none.
template <bool Contiguous>
[[gnu::always_inline]] inline Vec load_input(const float* from, std::size_t stride) {
  if constexpr (Contiguous) return load_vector(from);
  Vec result;
  for (std::size_t i = 0; i < vector_lanes; ++i) result[i] = from[i * stride];
  return result;
}

/// Maps x Vectors sums at one place: `in` is the input under the block's first column, `mask` the first
/// map's, `out` the first element. The unrolling makes each sum a register; without it they live in memory,
/// four times slower.
template <std::size_t Maps, std::size_t Vectors, bool Contiguous>
void convolve_block(const Shape& s, const float* in, const float* mask, float* out) {
  Vec sums[Maps][Vectors] = {};
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t p = 0; p < s.mask; ++p) {
      const float* row = in + (c * s.height + p) * s.width;
      const float* weights = mask + (c * s.mask + p) * s.mask;
      for (std::size_t q = 0; q < s.mask; ++q) {
        Vec inputs[Vectors];
#pragma GCC unroll 3
        for (std::size_t v = 0; v < Vectors; ++v) {
          inputs[v] = load_input<Contiguous>(row + v * vector_lanes * s.stride + q, s.stride);
        }
#pragma GCC unroll 4
        for (std::size_t m = 0; m < Maps; ++m) {
          const float weight = weights[m * s.taps() + q];
#pragma GCC unroll 3
          for (std::size_t v = 0; v < Vectors; ++v) sums[m][v] += weight * inputs[v];
        }
      }
    }
  }
#pragma GCC unroll 4
  for (std::size_t m = 0; m < Maps; ++m) {
#pragma GCC unroll 3
    for (std::size_t v = 0; v < Vectors; ++v)
      store_vector(out + m * s.plane_size() + v * vector_lanes, sums[m][v]);
  }
}

using Block = void (*)(const Shape&, const float* in, const float* mask, float* out);

/// The block for a number of maps and vectors that are known only at run time.
template <bool Contiguous, std::size_t Maps = max_maps, std::size_t Vectors = max_vectors>
Block find_block(std::size_t maps, std::size_t vectors) {
  if constexpr (Maps > 1) {
    if (maps < Maps) return find_block<Contiguous, Maps - 1, Vectors>(maps, vectors);
  }
  if constexpr (Vectors > 1) {
    if (vectors < Vectors) return find_block<Contiguous, Maps, Vectors - 1>(maps, vectors);
  }
  return convolve_block<Maps, Vectors, Contiguous>;
}

Block find_block(std::size_t maps, std::size_t vectors, std::size_t stride) {
  return stride == 1 ? find_block<true>(maps, vectors) : find_block<false>(maps, vectors);
}

/// Vectors of the next block when a row of `width` columns still needs `left`. One alone is avoided where it
/// can be, since its four chains stall; a block may not be wider than the row.
std::size_t next_vectors(std::size_t left, std::size_t width) {
  const std::size_t wanted = left == max_vectors + 1 ? 2 : std::min(left, max_vectors);
  return std::min(wanted, width / vector_lanes);
}

/// The rows of up to four maps of one image, where a row holds at least one vector.
void convolve_rows(const Shape& s, std::size_t maps, const float* in, const float* mask, float* out) {
  const std::size_t width = s.out_width();
  std::size_t end = 0;
  for (std::size_t left = (width + vector_lanes - 1) / vector_lanes, vectors = 0; left != 0;
       left -= vectors) {
    vectors = next_vectors(left, width);
    end = std::min(end + vectors * vector_lanes, width);
    const std::size_t x =
        end - vectors * vector_lanes;  // in the last block this may overlap the block before
    const Block block = find_block(maps, vectors, s.stride);
    for (std::size_t y = 0; y < s.out_height(); ++y) {
      block(s, in + y * s.stride * s.width + x * s.stride, mask, out + y * width + x);
    }
  }
}

/// The same, where a row is narrower than a vector.
void convolve_narrow_rows(const Shape& s, std::size_t maps, const float* in, const float* mask, float* out) {
  std::fill(out, out + maps * s.plane_size(), 0.0F);
  for (std::size_t m = 0; m < maps; ++m) {
    for (std::size_t tap = 0; tap < s.taps(); ++tap) {
      const std::size_t c = tap / (s.mask * s.mask);
      const std::size_t p = tap / s.mask % s.mask;
      const std::size_t q = tap % s.mask;
      for (std::size_t i = 0; i < s.plane_size(); ++i) {
        const std::size_t y = i / s.out_width() * s.stride + p;
        const std::size_t x = i % s.out_width() * s.stride + q;
        out[m * s.plane_size() + i] += mask[m * s.taps() + tap] * in[(c * s.height + y) * s.width + x];
      }
    }
  }
}

class CpuThreads final : public HostConvolution {
 public:
  explicit CpuThreads(std::size_t threads) : threads_(threads) {}

  void forward() override {
    parallel_for(shape().batch, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) convolve_image(b);
    });
  }

 private:
  void convolve_image(std::size_t image) const {
    const Shape& s = shape();
    const auto convolve = s.out_width() < vector_lanes ? convolve_narrow_rows : convolve_rows;
    for (std::size_t m = 0; m < s.maps; m += max_maps) {
      convolve(s, std::min(max_maps, s.maps - m), input(image), mask() + m * s.taps(),
               output(image) + m * s.plane_size());
    }
  }

  std::size_t threads_;
};

const Register registered{Declaration{
    .title = "Threads and vectors",
    .idea = "Direct convolution with a block of output in registers: four maps by 24 columns, all cores.",
    .device = "cpu",
    .baseline = "conv/cpu_naive",
    .parameters = {threads_parameter("the images")},
    .expectations =
        {{.metric = "op_time",
          .op = "layer1",
          .factor = 20,
          .because = "Twelve independent vector sums replace one scalar chain, on every core."},
         {.metric = "op_time",
          .op = "layer2",
          .factor = 20,
          .because = "Twelve independent vector sums replace one scalar chain, on every core."},
         {.metric = "instructions",
          .factor = 10,
          .because =
              "One instruction multiplies and adds eight elements, and a loaded vector serves four maps."}},
    .references =
        {"E. Georganas et al.: Anatomy of High-Performance Deep Learning Convolutions on SIMD Architectures, "
         "SC 2018, https://arxiv.org/abs/1808.05567"},
    .make = [](const Parameters& parameters) { return std::make_unique<CpuThreads>(threads_of(parameters)); },
}};

}  // namespace
}  // namespace mprof::conv
