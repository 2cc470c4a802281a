// SPDX-License-Identifier: MIT
// The same sums, in an order that the machine likes: all cores, full vectors, many chains.
//
// Idea        Keep a block of output in registers. With vectors of eight columns (AVX2) that is twelve sums:
//             four maps by three vectors, or six by two. With vectors of sixteen (AVX-512) it is twenty. For
//             each tap (channel, mask row, mask column) load the input vectors once, broadcast one weight a
//             map, and multiply-add all pairs. Images are dealt out to threads.
//
//                      input row   |-- v0 --|-- v1 --|-- v2 --|      3 loads
//                      weights     w0  w1  w2  w3                    4 broadcasts
//                      sums        4 x 3 registers                  12 multiply-adds
//
//             Twelve sums, three inputs and one weight are exactly AVX2's sixteen registers; twelve
//             independent chains hide a latency of four cycles at two multiply-adds a cycle; and seven loads
//             at two a cycle fit into the six cycles that the arithmetic takes. Three things keep the
//             arithmetic going. The taps are one list of offsets, so that a block is one loop and not three.
//             A block asks for the cache lines of its output before it computes, not when it stores. And
//             columns that fill no vector, two of the 34 in layer 2, are turned into rows:
//
//                      34 columns  |-- v --|-- v --|-- v --|-- v --|..|   34 rows of 32 columns
//                                                                   '---> 2 rows of 34 columns
//
// Cost        In layer 2 a copy of the 8 input columns that the last 2 output columns need, and of those 2.
//             Input and output still move once.
//
// The profile should show
//             against cpu_naive, a tenth of the instructions and less (eight or sixteen products each instead
//             of a fifth of one), an op time that is lower by that and by the number of cores, and a FLOP
//             rate of nine tenths of the peak in both layers, as long as the memory keeps up.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/common/parallel.hpp"
#include "kernels/common/threads_parameter.hpp"
#include "kernels/common/vector.hpp"
#include "kernels/conv/lenet/host_convolution.hpp"

namespace mprof::conv {
namespace {

constexpr std::size_t divide_up(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}

/// Where the elements of one image lie, so that its rows and what is turned into rows are walked alike.
/// Distances are in elements.
struct Layout {
  std::size_t rows = 0;     ///< of the output
  std::size_t columns = 0;  ///< of the output, those that are left over not counted
  std::size_t maps = 0;
  std::size_t in_row = 0;     ///< between the inputs of neighbouring output rows
  std::size_t in_column = 0;  ///< and columns
  std::size_t out_row = 0;
  std::size_t out_plane = 0;
  std::vector<std::size_t> taps;  ///< of each tap's input from the first tap's, in the mask's order
};

/// A vector of neighbouring inputs, `stride` elements apart. A stride other than 1 costs a gather; LeNet has
/// none.
template <bool Contiguous, class Vector>
[[gnu::always_inline]] inline void load_inputs(Vector& to, const float* from, std::size_t stride) {
  if constexpr (Contiguous) {
    std::memcpy(&to, from, sizeof to);
  } else {
    for (std::size_t i = 0; i < sizeof to / sizeof *from; ++i) to[i] = from[i * stride];
  }
}

/// Maps x Vectors sums at one place: `in` is the first tap's input of the block's first column, `weights`
/// [taps][maps] begins with the block's first map, `out` is the first element. The unrolling makes each sum a
/// register; without it they live in memory, four times slower.
template <class Registers, std::size_t Maps, std::size_t Vectors, bool Contiguous>
[[gnu::always_inline]] inline void convolve_block(const Layout& l, const float* in, const float* weights,
                                                  float* out) {
  using Vector = typename Registers::Vector;
#pragma GCC unroll 12
  for (std::size_t m = 0; m < Maps; ++m) {
#pragma GCC unroll 5
    for (std::size_t v = 0; v < Vectors; ++v) {
      __builtin_prefetch(out + m * l.out_plane + v * Registers::lanes, 1);  // to be written
    }
  }
  Vector sums[Maps][Vectors] = {};
  const std::size_t stride = Contiguous ? 1 : l.in_column;
  for (const std::size_t tap : l.taps) {
    Vector inputs[Vectors];
#pragma GCC unroll 5
    for (std::size_t v = 0; v < Vectors; ++v) {
      load_inputs<Contiguous>(inputs[v], in + tap + v * Registers::lanes * stride, stride);
    }
#pragma GCC unroll 12
    for (std::size_t m = 0; m < Maps; ++m) {
#pragma GCC unroll 5
      for (std::size_t v = 0; v < Vectors; ++v) sums[m][v] += weights[m] * inputs[v];
    }
    weights += l.maps;
  }
#pragma GCC unroll 12
  for (std::size_t m = 0; m < Maps; ++m) {
#pragma GCC unroll 5
    for (std::size_t v = 0; v < Vectors; ++v) {
      std::memcpy(out + m * l.out_plane + v * Registers::lanes, &sums[m][v], sizeof(Vector));
    }
  }
}

/// A convolution of a block or of an image: the first tap's input of the first element, the weights
/// [taps][maps] from the first map on, and the first element of the output.
using Convolve = void (*)(const Layout&, const float* in, const float* weights, float* out);

/// AVX2, or what else this is compiled for.
struct EightLanes {
  using Vector = Vec;
  static constexpr std::size_t lanes = vector_lanes;
  static constexpr std::size_t max_sums = 12;
  static constexpr std::size_t max_vectors = 3;
  static bool available() { return true; }

  template <std::size_t Maps, std::size_t Vectors, bool Contiguous>
  static void block(const Layout& l, const float* in, const float* weights, float* out) {
    convolve_block<EightLanes, Maps, Vectors, Contiguous>(l, in, weights, out);
  }
};

#if defined(__x86_64__)
/// AVX-512, where the CPU turns out to have it: registers of twice the width, and twice as many.
struct SixteenLanes {
  using Vector = float __attribute__((vector_size(64)));
  static constexpr std::size_t lanes = sizeof(Vector) / sizeof(float);
  static constexpr std::size_t max_sums = 20;
  static constexpr std::size_t max_vectors = 5;
  static bool available() { return __builtin_cpu_supports("avx512f") != 0; }

  template <std::size_t Maps, std::size_t Vectors, bool Contiguous>
  [[gnu::target("avx512f")]] static void block(const Layout& l, const float* in, const float* weights,
                                               float* out) {
    convolve_block<SixteenLanes, Maps, Vectors, Contiguous>(l, in, weights, out);
  }
};
#else
using SixteenLanes = EightLanes;
#endif

/// The most maps of a block of so many vectors. Twelve chains are enough, so one vector has no more.
template <class Registers>
constexpr std::size_t max_maps(std::size_t vectors) {
  return std::min<std::size_t>(12, Registers::max_sums / vectors);
}

/// The block for a number of maps and vectors that are known only at run time.
template <class Registers, bool Contiguous, std::size_t Vectors = Registers::max_vectors,
          std::size_t Maps = max_maps<Registers>(Vectors)>
Convolve find_block(std::size_t maps, std::size_t vectors) {
  if constexpr (Vectors > 1) {
    if (vectors < Vectors) return find_block<Registers, Contiguous, Vectors - 1>(maps, vectors);
  }
  if constexpr (Maps > 1) {
    if (maps < Maps) return find_block<Registers, Contiguous, Vectors, Maps - 1>(maps, vectors);
  }
  return Registers::template block<Maps, Vectors, Contiguous>;
}

/// Vectors of the next block when a row of `columns` still needs `left`. One alone is avoided where it can
/// be, since few maps then make too few chains; a block may not be wider than the row.
template <class Registers>
std::size_t next_vectors(std::size_t left, std::size_t columns) {
  constexpr std::size_t most = Registers::max_vectors;
  const std::size_t wanted = left == most + 1 ? most - 1 : std::min(left, most);
  return std::min(wanted, columns / Registers::lanes);
}

/// All rows and maps, where a row holds at least one vector.
template <class Registers>
void convolve_rows(const Layout& l, const float* in, const float* weights, float* out) {
  std::size_t end = 0;
  for (std::size_t left = divide_up(l.columns, Registers::lanes), vectors = 0; left != 0; left -= vectors) {
    vectors = next_vectors<Registers>(left, l.columns);
    end = std::min(end + vectors * Registers::lanes, l.columns);
    // In the last block this may overlap the block before.
    const std::size_t x = end - vectors * Registers::lanes;
    const std::size_t blocks = divide_up(l.maps, max_maps<Registers>(vectors));
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t first = l.maps * b / blocks;
      const std::size_t maps = l.maps * (b + 1) / blocks - first;
      const Convolve block = l.in_column == 1 ? find_block<Registers, true>(maps, vectors)
                                              : find_block<Registers, false>(maps, vectors);
      for (std::size_t y = 0; y < l.rows; ++y) {
        block(l, in + y * l.in_row + x * l.in_column, weights + first,
              out + first * l.out_plane + y * l.out_row + x);
      }
    }
  }
}

/// The same, where neither a row nor a column holds a vector.
void convolve_elements(const Layout& l, const float* in, const float* weights, float* out) {
  for (std::size_t m = 0; m < l.maps; ++m) {
    for (std::size_t y = 0; y < l.rows; ++y) {
      for (std::size_t x = 0; x < l.columns; ++x) {
        float sum = 0;
        for (std::size_t t = 0; t < l.taps.size(); ++t) {
          sum += weights[t * l.maps + m] * in[y * l.in_row + x * l.in_column + l.taps[t]];
        }
        out[m * l.out_plane + y * l.out_row + x] = sum;
      }
    }
  }
}

/// Output columns that no vector of so many lanes fills, when it is worth while to turn them into rows: as
/// rows they take fewer vectors than one for each row of the image.
std::size_t columns_to_turn(const Shape& s, std::size_t lanes) {
  const std::size_t columns = s.out_width() % lanes;
  if (s.out_height() < lanes) return 0;
  if (s.out_width() < lanes) return columns;
  return columns * divide_up(s.out_height(), lanes) < s.out_height() ? columns : 0;
}

/// For each tap the offset of its input, where neighbours in a channel, a mask column and a mask row are this
/// far apart.
std::vector<std::size_t> tap_offsets(const Shape& s, std::size_t channel, std::size_t row,
                                     std::size_t column) {
  std::vector<std::size_t> offsets;
  offsets.reserve(s.taps());
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t p = 0; p < s.mask; ++p) {
      for (std::size_t q = 0; q < s.mask; ++q) offsets.push_back(c * channel + p * row + q * column);
    }
  }
  return offsets;
}

class CpuThreads final : public HostConvolution {
 public:
  CpuThreads(std::size_t threads, bool widest)
      : sixteen_lanes_(widest && SixteenLanes::available()), threads_(threads) {}

  void prepare(const Shape& shape, const float* input, const float* mask, float* output) override {
    HostConvolution::prepare(shape, input, mask, output);
    weights_.resize(shape.mask_size());
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      weights_[i % shape.taps() * shape.maps + i / shape.taps()] = mask[i];
    }
    const bool wide = sixteen_lanes_ && shape.out_width() >= SixteenLanes::lanes;
    const std::size_t lanes = wide ? SixteenLanes::lanes : EightLanes::lanes;
    const std::size_t to_turn = columns_to_turn(shape, lanes);
    kept_ = shape.out_width() - to_turn;
    convolve_rows_ = wide ? convolve_rows<SixteenLanes> : convolve_rows<EightLanes>;
    convolve_kept_ = kept_ < lanes ? convolve_elements : convolve_rows_;
    turned_in_columns_ = to_turn == 0 ? 0 : (to_turn - 1) * shape.stride + shape.mask;
    image_ = {.rows = shape.out_height(),
              .columns = kept_,
              .maps = shape.maps,
              .in_row = shape.stride * shape.width,
              .in_column = shape.stride,
              .out_row = shape.out_width(),
              .out_plane = shape.plane_size(),
              .taps = tap_offsets(shape, shape.height * shape.width, shape.width, 1)};
    turned_ = {.rows = to_turn,
               .columns = shape.out_height(),
               .maps = shape.maps,
               .in_row = shape.stride * shape.height,
               .in_column = shape.stride,
               .out_row = shape.out_height(),
               .out_plane = to_turn * shape.out_height(),
               .taps = tap_offsets(shape, turned_in_columns_ * shape.height, 1, shape.height)};
  }

  void forward() override {
    parallel_for(shape().batch, threads_, [&](std::size_t begin, std::size_t end) {
      std::vector<float> turned_in(shape().channels * turned_in_columns_ * shape().height);
      std::vector<float> turned_out(shape().maps * turned_.out_plane);
      for (std::size_t b = begin; b < end; ++b) {
        convolve_kept_(image_, input(b), weights_.data(), output(b));
        if (!turned_out.empty()) convolve_turned_columns(b, turned_in.data(), turned_out.data());
      }
    });
  }

 private:
  /// The columns behind the kept ones, by way of a copy of what they need in which columns are rows.
  void convolve_turned_columns(std::size_t image, float* turned_in, float* turned_out) const {
    const Shape& s = shape();
    const float* in = input(image) + kept_ * s.stride;
    for (std::size_t c = 0; c < s.channels; ++c) {
      for (std::size_t y = 0; y < s.height; ++y) {
        for (std::size_t x = 0; x < turned_in_columns_; ++x) {
          turned_in[(c * turned_in_columns_ + x) * s.height + y] = in[(c * s.height + y) * s.width + x];
        }
      }
    }
    convolve_rows_(turned_, turned_in, weights_.data(), turned_out);
    float* out = output(image) + kept_;
    for (std::size_t m = 0; m < s.maps; ++m) {
      for (std::size_t y = 0; y < s.out_height(); ++y) {
        for (std::size_t x = 0; x < turned_.rows; ++x) {
          out[(m * s.out_height() + y) * s.out_width() + x] =
              turned_out[(m * turned_.rows + x) * s.out_height() + y];
        }
      }
    }
  }

  bool sixteen_lanes_;
  StandingThreads threads_;
  std::vector<float> weights_;  ///< [C][K][K][M]: in the order in which a block uses them
  std::size_t kept_ = 0;        ///< output columns that are computed where they lie; the rest is turned
  std::size_t turned_in_columns_ = 0;
  Convolve convolve_rows_ = nullptr;
  Convolve convolve_kept_ = nullptr;
  Layout image_;
  Layout turned_;
};

const Register registered{Declaration{
    .title = "Threads and vectors",
    .idea =
        "Direct convolution with a block of output in registers: maps by neighbouring columns, all cores.",
    .device = "cpu",
    .baseline = "conv/cpu_naive",
    .parameters = {threads_parameter("the images"),
                   {.name = "lanes",
                    .meaning = "floats in a vector; widest: 16 where the CPU has AVX-512, otherwise 8",
                    .default_value = "widest",
                    .values = {"widest", "8"}}},
    .expectations = {{.metric = "op_time",
                      .op = "layer1",
                      .factor = 20,
                      .because =
                          "Twelve and more independent vector sums replace one scalar chain, on every core."},
                     {.metric = "op_time",
                      .op = "layer2",
                      .factor = 20,
                      .because =
                          "Twelve and more independent vector sums replace one scalar chain, on every core."},
                     {.metric = "instructions",
                      .factor = 10,
                      .because = "One instruction multiplies and adds at least eight elements, and a loaded "
                                 "vector serves four maps."}},
    .references =
        {"E. Georganas et al.: Anatomy of High-Performance Deep Learning Convolutions on SIMD Architectures, "
         "SC 2018, https://arxiv.org/abs/1808.05567"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<CpuThreads>(threads_of(parameters), parameters.at("lanes") == "widest");
        },
}};

}  // namespace
}  // namespace mprof::conv
