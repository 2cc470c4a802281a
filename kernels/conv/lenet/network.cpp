// SPDX-License-Identifier: MIT
#include "kernels/conv/lenet/network.hpp"

#include "kernels/common/vector.hpp"

namespace mprof::conv {
namespace {

constexpr std::size_t hidden_vectors = hidden / vector_lanes;
static_assert(hidden % vector_lanes == 0);

}  // namespace

Classifier::Classifier(const Weights& weights)
    : fc1_(features * hidden),
      fc1_bias_(weights.fc1_bias),
      fc2_(weights.fc2_weight),
      fc2_bias_(weights.fc2_bias) {
  for (std::size_t o = 0; o < hidden; ++o) {
    for (std::size_t i = 0; i < features; ++i) fc1_[i * hidden + o] = weights.fc1_weight[o * features + i];
  }
}

std::array<float, classes> Classifier::logits(const float* image_features) const {
  std::array<Vec, hidden_vectors> sums;
  for (std::size_t v = 0; v < hidden_vectors; ++v) sums[v] = load_vector(fc1_bias_.data() + v * vector_lanes);
  for (std::size_t i = 0; i < features; ++i) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < hidden_vectors; ++v) {
      sums[v] += image_features[i] * load_vector(fc1_.data() + i * hidden + v * vector_lanes);
    }
  }
  std::array<float, hidden> activations;
  for (std::size_t v = 0; v < hidden_vectors; ++v)
    store_vector(activations.data() + v * vector_lanes, sums[v]);
  for (float& activation : activations) activation = std::max(activation, 0.0F);

  std::array<float, classes> result;
  for (std::size_t o = 0; o < classes; ++o) {
    float sum = fc2_bias_[o];
    for (std::size_t i = 0; i < hidden; ++i) sum += fc2_[o * hidden + i] * activations[i];
    result[o] = sum;
  }
  return result;
}

std::uint8_t predicted_class(const std::array<float, classes>& logits) {
  return static_cast<std::uint8_t>(std::ranges::max_element(logits) - logits.begin());
}

}  // namespace mprof::conv
