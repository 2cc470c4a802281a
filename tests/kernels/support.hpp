#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/conv/lenet/inputs.hpp"
#include "kernels/conv/lenet/lenet.hpp"
#include "model/data_paths.hpp"

namespace mprof::conv::test {

/// The trained weights of the repository or of $MPROF_WEIGHTS, and the images of $MPROF_DATA or of Debian's
/// package.
inline DataPaths data_paths() {
  const char* images = std::getenv("MPROF_DATA");
  const char* weights = std::getenv("MPROF_WEIGHTS");
  return {.images = images != nullptr ? images : "/usr/share/datasets/fashion-mnist",
          .weights = weights != nullptr ? weights : MPROF_SOURCE_DIR "/data/lenet.safetensors"};
}

/// Why tests on real images cannot run here, or nullopt.
inline std::optional<std::string> images_missing() {
  if (std::filesystem::exists(data_paths().images / "t10k-images-idx3-ubyte.gz")) return std::nullopt;
  return data_paths().images.string() +
         " has no images: install Debian's package dataset-fashion-mnist, or set MPROF_DATA";
}

/// Values in [-1, 1), the same on every machine.
inline std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(generator() % 20001) / 10000.0F - 1.0F;
  return values;
}

/// Random images and weights, for tests that need no real ones.
inline Inputs random_inputs(std::size_t batch) {
  Inputs inputs;
  inputs.batch = batch;
  inputs.images = Buffer(layers[0].shape(batch).input_size());
  std::ranges::copy(random_values(inputs.images.size(), 1), inputs.images.data());
  inputs.labels.assign(batch, 0);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    inputs.weights.masks[i] = random_values(layers[i].one_image.mask_size(), 2 + static_cast<unsigned>(i));
  }
  inputs.weights.fc1_weight = random_values(hidden * features, 4);
  inputs.weights.fc1_bias = random_values(hidden, 5);
  inputs.weights.fc2_weight = random_values(classes * hidden, 6);
  inputs.weights.fc2_bias = random_values(classes, 7);
  return inputs;
}

}  // namespace mprof::conv::test

/// Skips the test, with the reason, on a machine without the images.
#define MPROF_NEED_IMAGES() \
  if (const auto reason = mprof::conv::test::images_missing()) GTEST_SKIP() << *reason
