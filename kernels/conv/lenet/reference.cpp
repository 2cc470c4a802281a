#include "kernels/conv/lenet/reference.hpp"

#include <algorithm>

namespace mprof::conv {
namespace {

using Doubles = std::vector<double>;

Doubles convolve(const Shape& shape, std::span<const double> image, std::span<const float> mask) {
  const std::size_t width = shape.out_width();
  Doubles output(shape.out_image_size());
  for (std::size_t m = 0; m < shape.maps; ++m) {
    for (std::size_t y = 0; y < shape.out_height(); ++y) {
      // A whole row at a time, so that the innermost loop runs along x and the compiler can vectorise it.
      double* row = output.data() + (m * shape.out_height() + y) * width;
      for (std::size_t c = 0; c < shape.channels; ++c) {
        for (std::size_t p = 0; p < shape.mask; ++p) {
          const double* in = image.data() + (c * shape.height + y * shape.stride + p) * shape.width;
          for (std::size_t q = 0; q < shape.mask; ++q) {
            const double weight = mask[((m * shape.channels + c) * shape.mask + p) * shape.mask + q];
            for (std::size_t x = 0; x < width; ++x) row[x] += weight * in[x * shape.stride + q];
          }
        }
      }
    }
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
