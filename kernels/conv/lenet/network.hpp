// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/common/vector.hpp"
#include "kernels/conv/lenet/lenet.hpp"

/// The network between and behind the convolutions: the same for every variant, and fast, so that what a
/// total time shows is the variant.
namespace mprof::conv {

[[gnu::always_inline]] inline Vec larger(Vec a, Vec b) {
  return a > b ? a : b;  // b where a is not a number
}

/// The larger of each two neighbours in `a`, then in `b`.
[[gnu::always_inline]] inline Vec larger_neighbours(Vec a, Vec b) {
  static_assert(vector_lanes == 8);
  return larger(__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
                __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15));
}

/// The largest of 0, which is the ReLU, and of each of vector_lanes windows [Pool][Pool] that lie side by
/// side from `rows` on.
template <std::size_t Pool>
[[gnu::always_inline]] inline Vec relu_max_windows(const float* rows, std::size_t width) {
  static_assert(std::has_single_bit(Pool));
  Vec columns[Pool] = {};
  for (std::size_t v = 0; v < Pool; ++v) {
    for (std::size_t dy = 0; dy < Pool; ++dy) {
      columns[v] = larger(load_vector(rows + dy * width + v * vector_lanes), columns[v]);
    }
  }
  for (std::size_t count = Pool; count > 1; count /= 2) {
    for (std::size_t v = 0; v < count / 2; ++v) {
      columns[v] = larger_neighbours(columns[2 * v], columns[2 * v + 1]);
    }
  }
  return columns[0];
}

/// What is read is asked for so far in advance: more lines of memory are then on their way than loads alone,
/// or a CPU's own guesses, would have.
inline constexpr std::size_t floats_ahead = 4096;

/// Begins to bring floats to the second-level cache; they need not exist.
[[gnu::always_inline]] inline void ask_for_floats(const float* from, std::size_t count) {
  constexpr std::size_t cache_line = 64 / sizeof(float);
  for (std::size_t i = 0; i < count; i += cache_line) __builtin_prefetch(from + i, 0, 2);
}

/// Where a result goes.
enum class Written : std::uint8_t {
  cached,       ///< it is read soon
  past_caches,  ///< it is read much later, or more than they hold; rows must begin at multiples of 16 bytes
};

/// ReLU and max-pool of `planes` planes [H][W] in one sweep: [H / Pool][W / Pool] each. Memory-bound: every
/// element is read once and nothing is kept in between.
template <std::size_t Pool, Written written = Written::cached>
void relu_max_pool(const float* in, std::size_t planes, std::size_t height, std::size_t width, float* out) {
  const std::size_t out_width = width / Pool;
  for (std::size_t plane = 0; plane < planes; ++plane, in += height * width) {
    for (std::size_t y = 0; y < height / Pool; ++y, out += out_width) {
      const float* rows = in + y * Pool * width;
      ask_for_floats(rows + floats_ahead, Pool * width);
      std::size_t x = 0;
      for (; x + vector_lanes <= out_width; x += vector_lanes) {
        const Vec largest = relu_max_windows<Pool>(rows + x * Pool, width);
        if constexpr (written == Written::past_caches)
          store_vector_past_caches(out + x, largest);
        else
          store_vector(out + x, largest);
      }
      for (; x < out_width; ++x) {
        float largest = 0.0F;
        for (std::size_t dy = 0; dy < Pool; ++dy) {
          for (std::size_t dx = 0; dx < Pool; ++dx) {
            largest = std::max(largest, rows[dy * width + x * Pool + dx]);
          }
        }
        out[x] = largest;
      }
    }
  }
  if constexpr (written == Written::past_caches) order_stores_past_caches();
}

/// FC 32 -> ReLU -> FC 10.
class Classifier {
 public:
  explicit Classifier(const Weights& weights);

  /// The logits of one image's `features` values. Softmax is left out: it changes neither order nor the
  /// largest.
  [[nodiscard]] std::array<float, classes> logits(const float* image_features) const;

 private:
  std::vector<float>
      fc1_;  ///< [features][hidden]: transposed, so that one feature meets all of its weights in a row
  std::vector<float> fc1_bias_;
  std::vector<float> fc2_;  ///< [classes][hidden]
  std::vector<float> fc2_bias_;
};

/// The index of the largest logit, the first of equal ones.
[[nodiscard]] std::uint8_t predicted_class(const std::array<float, classes>& logits);

}  // namespace mprof::conv
