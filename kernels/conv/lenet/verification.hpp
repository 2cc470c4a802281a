// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "kernels/common/verification.hpp"
#include "kernels/conv/lenet/shape.hpp"

namespace mprof::conv {

/// `output` [B][M][H_out][W_out] beside the reference, computed from the op's `input` and `mask` image by
/// image. Right when every element was written and is finite and no image's relative L2 error exceeds
/// `tolerance`.
[[nodiscard]] OutputToVerify to_verify(std::string_view op, const Shape& shape, std::span<const float> input,
                                       std::span<const float> mask, std::span<const float> output,
                                       double tolerance);

}  // namespace mprof::conv
