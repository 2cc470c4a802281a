// SPDX-License-Identifier: MIT
#include "kernels/conv/lenet/reference.hpp"

#include <algorithm>
#include <cstring>

namespace mprof::conv {
namespace {

using Doubles = std::vector<double>;

/// The convolution by its definition: any shape.
void convolve_plainly(const Shape& shape, const double* image, const float* mask, double* output) {
  for (std::size_t y = 0; y < shape.out_height(); ++y) {
    for (std::size_t x = 0; x < shape.out_width(); ++x) {
      double sum = 0;
      const float* weight = mask;
      for (std::size_t c = 0; c < shape.channels; ++c) {
        for (std::size_t p = 0; p < shape.mask; ++p) {
          const double* in =
              image + (c * shape.height + y * shape.stride + p) * shape.width + x * shape.stride;
          for (std::size_t q = 0; q < shape.mask; ++q) sum += *weight++ * in[q];
        }
      }
      *output++ = sum;
    }
  }
}

#ifdef __AVX__
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif
using Vector = double __attribute__((vector_size(vector_bytes)));
constexpr std::size_t lanes = vector_bytes / sizeof(double);
constexpr std::size_t together = 4;    ///< maps that share what is loaded of the image
constexpr std::size_t neighbours = 8;  ///< pixels of a row, which move by one for each tap of the mask
constexpr std::size_t vectors = neighbours / lanes;

[[gnu::always_inline]] inline Vector load(const double* from) {
  Vector values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

/// The same sums, in the same order, of `neighbours` pixels of `together` maps at once: all of them stay in
/// registers. `weights` are [C][K][K][together].
void convolve_strip(const Shape& shape, const double* image, const double* weights, double* output) {
  Vector sums[together][vectors]{};
  for (std::size_t c = 0; c < shape.channels; ++c) {
    for (std::size_t p = 0; p < shape.mask; ++p) {
      const double* in = image + (c * shape.height + p) * shape.width;
      for (std::size_t q = 0; q < shape.mask; ++q, weights += together) {
        Vector pixels[vectors];
#pragma GCC unroll vectors
        for (std::size_t v = 0; v < vectors; ++v) pixels[v] = load(in + q + v * lanes);
#pragma GCC unroll together
        for (std::size_t m = 0; m < together; ++m) {
#pragma GCC unroll vectors
          for (std::size_t v = 0; v < vectors; ++v) sums[m][v] += weights[m] * pixels[v];
        }
      }
    }
  }
#pragma GCC unroll together
  for (std::size_t m = 0; m < together; ++m) {
#pragma GCC unroll vectors
    for (std::size_t v = 0; v < vectors; ++v)
      std::memcpy(output + m * shape.plane_size() + v * lanes, &sums[m][v], sizeof sums[m][v]);
  }
}

void convolve_together(const Shape& shape, const double* image, const float* mask, double* output) {
  const std::size_t taps = shape.channels * shape.mask * shape.mask;
  Doubles weights(taps * together);
  for (std::size_t tap = 0; tap < taps; ++tap) {
    for (std::size_t m = 0; m < together; ++m) weights[tap * together + m] = mask[m * taps + tap];
  }
  for (std::size_t y = 0; y < shape.out_height(); ++y) {
    for (std::size_t x = 0; x < shape.out_width(); x += neighbours) {
      const std::size_t begin = std::min(x, shape.out_width() - neighbours);  // the last one overlaps
      convolve_strip(shape, image + y * shape.width + begin, weights.data(),
                     output + y * shape.out_width() + begin);
    }
  }
}

Doubles convolve(const Shape& shape, std::span<const double> image, std::span<const float> mask) {
  Doubles output(shape.out_image_size());
  const std::size_t taps = shape.channels * shape.mask * shape.mask;
  const bool has_strips = shape.stride == 1 && shape.out_width() >= neighbours;
  for (std::size_t m = 0; m < shape.maps;) {
    double* const maps = output.data() + m * shape.plane_size();
    const bool are_together = has_strips && m + together <= shape.maps;
    (are_together ? convolve_together : convolve_plainly)(shape, image.data(), mask.data() + m * taps, maps);
    m += are_together ? together : 1;
  }
  return output;
}

Doubles relu_max_pool(std::span<const double> in, std::size_t maps, std::size_t height, std::size_t width,
                      std::size_t pool) {
  Doubles out(maps * (height / pool) * (width / pool), 0.0);  // starting from 0 is the ReLU
  for (std::size_t m = 0; m < maps; ++m) {
    for (std::size_t y = 0; y < height / pool * pool; ++y) {
      for (std::size_t x = 0; x < width / pool * pool; ++x) {
        double& largest = out[(m * (height / pool) + y / pool) * (width / pool) + x / pool];
        largest = std::max(largest, in[(m * height + y) * width + x]);
      }
    }
  }
  return out;
}

Doubles fully_connected(std::span<const double> in, std::span<const float> weight,
                        std::span<const float> bias) {
  Doubles out(bias.begin(), bias.end());
  for (std::size_t o = 0; o < out.size(); ++o) {
    for (std::size_t i = 0; i < in.size(); ++i) out[o] += weight[o * in.size() + i] * in[i];
  }
  return out;
}

}  // namespace

Doubles reference_convolution(const Shape& shape, std::span<const float> image, std::span<const float> mask) {
  return convolve(shape, Doubles(image.begin(), image.end()), mask);
}

std::array<double, classes> reference_logits(std::span<const float> image, const Weights& weights) {
  Doubles values(image.begin(), image.end());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Shape& shape = layers[i].one_image;
    values = convolve(shape, values, weights.masks[i]);
    values = relu_max_pool(values, shape.maps, shape.out_height(), shape.out_width(), layers[i].pool);
  }
  values = fully_connected(values, weights.fc1_weight, weights.fc1_bias);
  for (double& value : values) value = std::max(value, 0.0);
  values = fully_connected(values, weights.fc2_weight, weights.fc2_bias);
  std::array<double, classes> logits{};
  std::ranges::copy(values, logits.begin());
  return logits;
}

}  // namespace mprof::conv
