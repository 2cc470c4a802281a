// SPDX-License-Identifier: MIT
#include "kernels/conv/lenet/verification.hpp"

#include <cmath>

#include <fmt/format.h>

#include "kernels/conv/lenet/reference.hpp"

namespace mprof::conv {
namespace {

std::string place(const Shape& shape, std::size_t index) {
  const std::size_t within = index % shape.out_image_size();
  const std::size_t pixel = within % shape.plane_size();
  return fmt::format("[image {}, map {}, row {}, column {}]", index / shape.out_image_size(),
                     within / shape.plane_size(), pixel / shape.out_width(), pixel % shape.out_width());
}

std::vector<float> magnitudes_of(std::span<const float> factors) {
  std::vector<float> all(factors.begin(), factors.end());
  for (float& one : all) one = std::abs(one);
  return all;
}

std::vector<float> grown_by(const Arithmetic& arithmetic, std::span<const float> factors) {
  std::vector<float> all(factors.begin(), factors.end());
  for (float& one : all) one = static_cast<float>(grown(arithmetic, one));
  return all;
}

/// Of each element of an image's output.
std::vector<Magnitude> magnitudes(const Shape& shape, std::span<const float> image,
                                  std::span<const float> mask, const Arithmetic& arithmetic) {
  const std::vector<double> exact = reference_convolution(shape, magnitudes_of(image), magnitudes_of(mask));
  const std::vector<double> all_grown =
      reference_convolution(shape, grown_by(arithmetic, image), grown_by(arithmetic, mask));
  std::vector<Magnitude> all(exact.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {exact[i], all_grown[i]};
  return all;
}

}  // namespace

OutputToVerify to_verify(std::string_view op, const Shape& shape, std::span<const float> input,
                         std::span<const float> mask, std::span<const float> output, double tolerance) {
  return {.op = op,
          .item = "image",
          .items = "images",
          .item_size = shape.out_image_size(),
          .output = output,
          .tolerance = tolerance,
          .reference =
              [=](std::size_t image) {
                return reference_convolution(
                    shape, input.subspan(image * shape.image_size(), shape.image_size()), mask);
              },
          .place = [=](std::size_t element) { return place(shape, element); },
          .magnitudes =
              [=](std::size_t image, const Arithmetic& arithmetic) {
                return magnitudes(shape, input.subspan(image * shape.image_size(), shape.image_size()), mask,
                                  arithmetic);
              },
          .terms = shape.taps()};
}

}  // namespace mprof::conv
