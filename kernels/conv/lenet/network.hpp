#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/conv/lenet/lenet.hpp"

/// The network between and behind the convolutions: the same for every variant, and fast, so that what a
/// total time shows is the variant.
namespace mprof::conv {

/// ReLU and max-pool of `planes` planes [H][W] in one sweep: [H / Pool][W / Pool] each. Memory-bound: every
/// element is read once and nothing is kept in between.
template <std::size_t Pool>
void relu_max_pool(const float* in, std::size_t planes, std::size_t height, std::size_t width, float* out) {
  const std::size_t out_width = width / Pool;
  for (std::size_t plane = 0; plane < planes; ++plane, in += height * width) {
    for (std::size_t y = 0; y < height / Pool; ++y, out += out_width) {
      const float* rows = in + y * Pool * width;
      for (std::size_t x = 0; x < out_width; ++x) {
        float largest = 0.0F;  // starting from 0 is the ReLU
        for (std::size_t dy = 0; dy < Pool; ++dy) {
          for (std::size_t dx = 0; dx < Pool; ++dx) {
            largest = std::max(largest, rows[dy * width + x * Pool + dx]);
          }
        }
        out[x] = largest;
      }
    }
  }
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
