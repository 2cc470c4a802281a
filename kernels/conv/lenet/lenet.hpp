// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "kernels/conv/lenet/shape.hpp"

/// The network of the family, as tools/train_lenet.py defines and trains it:
/// conv 1 -> ReLU -> max-pool 2 -> conv 2 -> ReLU -> max-pool 4 -> FC 32 -> ReLU -> FC 10.
namespace mprof::conv {

inline constexpr std::size_t pixel_side = 28;  ///< of an image as the data set has it
inline constexpr std::size_t image_side = 86;  ///< of an image as the network sees it
inline constexpr std::size_t hidden = 32;
inline constexpr std::size_t classes = 10;
inline constexpr std::size_t max_batch = 10000;

/// A convolution and the ReLU and max-pool behind it. The convolution alone is the op that variants compete
/// at.
struct Layer {
  std::string_view op;
  Shape one_image;  ///< the convolution, for batch 1
  std::size_t
      pool;  ///< side and stride of the max-pool; rows and columns that do not fill a window are dropped

  [[nodiscard]] constexpr Shape shape(std::size_t batch) const {
    Shape result = one_image;
    result.batch = batch;
    return result;
  }
  /// Elements of one image behind the max-pool: [M][H_out / pool][W_out / pool].
  [[nodiscard]] constexpr std::size_t pooled_size() const {
    return one_image.maps * (one_image.out_height() / pool) * (one_image.out_width() / pool);
  }
};

inline constexpr std::array layers{
    Layer{"layer1",
          {.batch = 1, .channels = 1, .height = image_side, .width = image_side, .maps = 4, .mask = 7},
          2},
    Layer{"layer2", {.batch = 1, .channels = 4, .height = 40, .width = 40, .maps = 16, .mask = 7}, 4},
};
static_assert(layers[0].pooled_size() == layers[1].one_image.image_size());

inline constexpr std::size_t features = layers[1].pooled_size();  ///< what the fully connected layers see

/// All weights, in PyTorch's layouts.
struct Weights {
  std::array<std::vector<float>, layers.size()> masks;  ///< [M][C][K][K] of each convolution
  std::vector<float> fc1_weight;                        ///< [hidden][features]
  std::vector<float> fc1_bias;                          ///< [hidden]
  std::vector<float> fc2_weight;                        ///< [classes][hidden]
  std::vector<float> fc2_bias;                          ///< [classes]
};

}  // namespace mprof::conv
