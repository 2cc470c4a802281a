// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/buffer.hpp"
#include "kernels/common/turning.hpp"
#include "kernels/conv/lenet/lenet.hpp"
#include "kernels/workload.hpp"

namespace mprof::conv {

/// What an inference of one batch reads.
struct Inputs {
  std::size_t batch = 0;
  Turning turning{1};  ///< of the images
  Buffer images;       ///< [turning.held()][1][86][86], in [0, 1]: the first test images, in file order
  std::vector<std::uint8_t> labels;  ///< [batch]
  Weights weights;
  /// [batch]: the classes that PyTorch predicts in double precision, from <weights>_vectors.safetensors
  /// beside the weights. Empty when there is no such file, or it was made for other weights or images.
  std::vector<std::uint8_t> reference_predictions;
  std::uint64_t fingerprint_at_load = 0;  ///< of what the convolutions read

  /// [batch][1][86][86], beginning with an image.
  [[nodiscard]] std::span<const float> from(std::size_t image) const {
    const Shape shape = layers[0].shape(batch);
    return images.span().subspan(image * shape.image_size(), shape.input_size());
  }
};

/// Of the images and of the masks.
[[nodiscard]] std::uint64_t fingerprint_of(const Inputs& inputs);

/// In [0, 1), drawn by `seed`.
[[nodiscard]] Buffer drawn_values(std::size_t size, std::uint64_t seed);

/// [batch][1][86][86], in [0, 1]: images that nobody has seen, drawn by `seed`.
[[nodiscard]] Buffer unseen_images(std::size_t batch, std::uint64_t seed);

/// Reads the weights. Throws Error(usage) that names the file on anything missing, misshapen or not finite.
[[nodiscard]] Weights load_weights(const std::filesystem::path& path);

/// Reads, checks and resizes the first `batch` test images. Throws Error(usage) that names the file at fault.
[[nodiscard]] Inputs load_inputs(std::size_t batch, const InputPaths& paths);

/// The folder of test images and the file of weights that load_inputs() reads.
[[nodiscard]] std::vector<InputInfo> declared_inputs();

/// Reads and checks the same files, and resizes nothing.
[[nodiscard]] std::vector<InputFile> validate_inputs(const InputPaths& paths);

}  // namespace mprof::conv
