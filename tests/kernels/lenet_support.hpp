// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "kernels/conv/lenet/inputs.hpp"
#include "kernels/conv/lenet/lenet.hpp"
#include "tests/kernels/support.hpp"

namespace mprof::conv::test {

using mprof::test::random_values;

/// The trained weights of the repository or of $MPROF_WEIGHTS, and the images of $MPROF_DATA or of Debian's
/// package.
inline InputPaths input_paths() {
  const char* images = std::getenv("MPROF_DATA");
  const char* weights = std::getenv("MPROF_WEIGHTS");
  return {{"data", images != nullptr ? images : "/usr/share/datasets/fashion-mnist"},
          {"weights", weights != nullptr ? weights : MPROF_SOURCE_DIR "/data/lenet.safetensors"}};
}

/// Why tests on real images cannot run here, or nullopt.
inline std::optional<std::string> images_missing() {
  const std::filesystem::path images = input_paths().at("data");
  if (std::filesystem::exists(images / "t10k-images-idx3-ubyte.gz")) return std::nullopt;
  return images.string() +
         " has no images: install Debian's package dataset-fashion-mnist, or set MPROF_DATA";
}

/// The problem of one batch.
inline Problem batch_of(std::uint64_t images) {
  return {{{"batch", images}}};
}

/// Random images and weights, for tests that need no real ones.
inline Inputs random_inputs(std::size_t batch) {
  Inputs inputs;
  inputs.batch = batch;
  inputs.turning = Turning(batch);
  const std::size_t image_size = layers[0].one_image.image_size();
  inputs.images = Buffer(inputs.turning.held() * image_size);
  const std::vector<float> images = random_values(batch * image_size, 1);
  for (std::size_t i = 0; i < inputs.images.size(); ++i) inputs.images.data()[i] = images[i % images.size()];
  inputs.labels.assign(batch, 0);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    inputs.weights.masks[i] = random_values(layers[i].one_image.mask_size(), 2 + static_cast<unsigned>(i));
  }
  inputs.weights.fc1_weight = random_values(hidden * features, 4);
  inputs.weights.fc1_bias = random_values(hidden, 5);
  inputs.weights.fc2_weight = random_values(classes * hidden, 6);
  inputs.weights.fc2_bias = random_values(classes, 7);
  inputs.fingerprint_at_load = fingerprint_of(inputs);
  return inputs;
}

}  // namespace mprof::conv::test

/// Skips the test, with the reason, on a machine without the images.
#define MPROF_NEED_IMAGES() \
  if (const auto reason = mprof::conv::test::images_missing()) GTEST_SKIP() << *reason
