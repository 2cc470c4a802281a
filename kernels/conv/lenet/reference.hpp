// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/conv/lenet/lenet.hpp"
#include "kernels/conv/lenet/shape.hpp"

/// What is right, computed in double precision by the definition. Written to be obviously so, and just fast
/// enough to check every element of a batch of 10000.
namespace mprof::conv {

/// The convolution of one image [C][H][W] with `mask` [M][C][K][K]: [M][H_out][W_out].
[[nodiscard]] std::vector<double> reference_convolution(const Shape& shape, std::span<const float> image,
                                                        std::span<const float> mask);

/// The network's output for one image [1][86][86].
[[nodiscard]] std::array<double, classes> reference_logits(std::span<const float> image,
                                                           const Weights& weights);

}  // namespace mprof::conv
