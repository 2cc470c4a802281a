// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kernels/conv/device/cudnn_engines.hpp"

/// The ways to give cuDNN a convolution: which layout and type its tensors have, and how many images a call.
namespace mprof::conv::cudnn {

struct Arrangement {
  Side input;
  Side output;
  std::size_t images = 0;  ///< of one call; divides the batch
};

/// "NHWC FP16 of 8 channels to NCHW FP32 of 16 channels, 50 images a call": tells it from all others for a
/// shape, in records too.
[[nodiscard]] std::string name_of(const Arrangement& arrangement);

/// Bytes of the tensors that an image needs beside the op's own, which are of FP32 planes.
struct StagedBytes {
  std::size_t input, output;

  StagedBytes(const Shape& s, const Arrangement& a);
  [[nodiscard]] std::size_t sum() const { return input + output; }
};

/// What is tried, the likeliest first, with the whole batch in one call.
[[nodiscard]] std::vector<Arrangement> arrangements(const Shape& s, Math math);

/// The same with fewer images a call, so that what is staged fills half of the L2 cache, or a quarter. Empty
/// where nothing is staged, or where the batch cannot be divided so.
[[nodiscard]] std::vector<Arrangement> in_sections(const Shape& s, const Arrangement& whole);

/// The masks, [M][C][K][K] on the host, as an arrangement has them; T is what its input's type says.
template <class T>
[[nodiscard]] std::vector<T> arranged_masks(const Shape& s, const Arrangement& a, const float* host_mask) {
  const std::size_t area = s.mask * s.mask;
  const bool is_interleaved = a.input.layout == CUDNN_TENSOR_NHWC;
  const std::size_t channel_step = is_interleaved ? 1 : area;
  const std::size_t tap_step = is_interleaved ? a.input.channels : 1;
  std::vector<T> masks(a.output.channels * a.input.channels * area, static_cast<T>(0.0F));
  for (std::size_t m = 0; m < s.maps; ++m) {
    for (std::size_t c = 0; c < s.channels; ++c) {
      for (std::size_t i = 0; i < area; ++i) {
        masks[m * a.input.channels * area + c * channel_step + i * tap_step] =
            static_cast<T>(host_mask[(m * s.channels + c) * area + i]);
      }
    }
  }
  return masks;
}

}  // namespace mprof::conv::cudnn
