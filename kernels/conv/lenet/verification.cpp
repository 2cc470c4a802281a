// SPDX-License-Identifier: MIT
#include "kernels/conv/lenet/verification.hpp"

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

}  // namespace

OutputToVerify to_verify(std::string_view op, const Shape& shape, std::span<const float> input,
                         std::span<const float> mask, std::span<const float> output, double tolerance) {
  return {.op = op,
          .item = "image",
          .item_size = shape.out_image_size(),
          .output = output,
          .tolerance = tolerance,
          .reference =
              [=](std::size_t image) {
                return reference_convolution(
                    shape, input.subspan(image * shape.image_size(), shape.image_size()), mask);
              },
          .place = [=](std::size_t element) { return place(shape, element); }};
}

}  // namespace mprof::conv
