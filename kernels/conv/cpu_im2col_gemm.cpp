// SPDX-License-Identifier: MIT
// Convolution as a matrix product: copy the input so that a library built for something else can do the work.
//
// Idea        Write the C x K x K inputs of each output pixel into a column of a matrix ("im2col"). Then
//
//                      masks [M][C K K]  x  columns [C K K][H_out W_out]  =  output [M][H_out W_out]
//
//             which is one sgemm an image, and its result is already in NCHW order. The matrix is K x K times
//             the size of the input: 1.3 MB an image in layer 1 and 12.5 GB for all of 10000, so the batch is
//             cut into sections. Each thread unrolls a section of images, multiplies, and uses the same
//             memory again. OpenBLAS is told to stay on the calling thread: the products are too small to
//             share, images are plenty.
//
// Cost        Each input element is written 49 times and read 49 times. And M is 4 or 16: OpenBLAS's kernels
//             are made for square products and repack the big matrix, only to use each element M times.
//
// The profile should show
//             against cpu_naive, a small part of the instructions, yet two to three times the op time of
//             cpu_threads in layer 1, where the copying is not paid back. With larger sections the matrices
//             fall out of L2, then of L3: the cache misses grow and nothing is gained. Section 1 should be
//             the best or near it.
#include <algorithm>
#include <charconv>
#include <limits>

#include "kernels/common/openblas.hpp"
#include "kernels/common/parallel.hpp"
#include "kernels/conv/lenet/host_convolution.hpp"
#include "system/error.hpp"

namespace mprof::conv {
namespace {

/// One image as a matrix [C K K][H_out W_out].
void unroll(const Shape& s, const float* image, float* columns) {
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t p = 0; p < s.mask; ++p) {
      for (std::size_t q = 0; q < s.mask; ++q) {
        for (std::size_t y = 0; y < s.out_height(); ++y, columns += s.out_width()) {
          const float* row = image + (c * s.height + y * s.stride + p) * s.width + q;
          if (s.stride == 1) {
            std::copy_n(row, s.out_width(), columns);
          } else {
            for (std::size_t x = 0; x < s.out_width(); ++x) columns[x] = row[x * s.stride];
          }
        }
      }
    }
  }
}

class CpuIm2colGemm final : public HostConvolution {
 public:
  explicit CpuIm2colGemm(std::size_t section) : openblas_(OpenBlas::instance()), section_(section) {}

  void prepare(const Shape& shape, const float* input, const float* mask, float* output) override {
    HostConvolution::prepare(shape, input, mask, output);
    if (shape.plane_size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw Error(ExitCode::fault,
                  "conv/cpu_im2col_gemm: an output plane has more pixels than OpenBLAS can count");
    }
    const std::size_t sections = (shape.batch + section_ - 1) / section_;
    const std::size_t threads = std::min(hardware_threads(), sections);
    columns_.assign(threads, std::vector<float>(std::min(section_, shape.batch) * column_size()));
  }

  void forward() override {
    // Thread t takes the sections t, t + threads, ...: each keeps one matrix for all of them.
    const std::size_t step = section_ * columns_.size();
    parallel_for(columns_.size(), columns_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        for (std::size_t first = t * section_; first < shape().batch; first += step) {
          convolve_section(first, std::min(section_, shape().batch - first), columns_[t]);
        }
      }
    });
  }

  void finish() override { columns_.clear(); }

 private:
  [[nodiscard]] std::size_t column_size() const { return shape().taps() * shape().plane_size(); }

  void convolve_section(std::size_t first, std::size_t count, std::vector<float>& columns) const {
    for (std::size_t i = 0; i < count; ++i)
      unroll(shape(), input(first + i), columns.data() + i * column_size());
    for (std::size_t i = 0; i < count; ++i) multiply(columns.data() + i * column_size(), output(first + i));
  }

  void multiply(const float* columns, float* out) const {
    const auto maps = static_cast<int>(shape().maps);
    const auto taps = static_cast<int>(shape().taps());
    const auto pixels = static_cast<int>(shape().plane_size());
    openblas_.multiply(maps, pixels, taps, mask(), columns, out);
  }

  const OpenBlas& openblas_;
  std::size_t section_;
  std::vector<std::vector<float>> columns_;  ///< a section's matrices, for each thread
};

std::size_t parse_section(const std::string& text) {
  std::size_t section = 1;
  std::from_chars(text.data(), text.data() + text.size(), section);
  return section;
}

const Register registered{Declaration{
    .title = "im2col and OpenBLAS sgemm",
    .idea =
        "Unroll the input into a matrix, section by section, and let OpenBLAS multiply it with the masks.",
    .device = "cpu",
    .baseline = "conv/cpu_naive",
    .parameters = {{.name = "section",
                    .meaning = "images that a thread unrolls before it multiplies",
                    .default_value = "1",
                    .values = {"1", "2", "4", "8", "16", "32"}}},
    .expectations =
        {{.metric = "op_time",
          .op = "layer1",
          .factor = 5,
          .because = "OpenBLAS multiplies with vectors on every core, though with 4 maps it mostly copies."},
         {.metric = "op_time",
          .op = "layer2",
          .factor = 15,
          .because = "With 16 maps and 196 taps the product has enough arithmetic to pay for the unrolling."},
         {.metric = "instructions",
          .factor = 5,
          .because = "Vector arithmetic and copies of whole rows take the place of scalar products."}},
    .references =
        {"K. Chellapilla, S. Puri, P. Simard: High Performance Convolutional Neural Networks for Document "
         "Processing, IWFHR 2006",
         "OpenBLAS, https://www.openblas.net"},
    .libraries = {{"OpenBLAS", OpenBlas::config}, {"OpenBLAS core type", OpenBlas::core_type}},
    .environment = openblas_environment,
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<CpuIm2colGemm>(parse_section(parameters.at("section")));
        },
}};

}  // namespace
}  // namespace mprof::conv
