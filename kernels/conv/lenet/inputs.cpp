// SPDX-License-Identifier: MIT
#include "kernels/conv/lenet/inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "inputs/checksum.hpp"
#include "inputs/idx.hpp"
#include "inputs/resize.hpp"
#include "inputs/safetensors.hpp"
#include "kernels/common/fingerprint.hpp"
#include "kernels/common/poison.hpp"
#include "kernels/common/random.hpp"
#include "kernels/conv/lenet/reference.hpp"
#include "system/error.hpp"

namespace mprof::conv {
namespace {

const std::string data_input = "data";
const std::string weights_input = "weights";
constexpr std::string_view image_file = "t10k-images-idx3-ubyte.gz";
constexpr std::string_view label_file = "t10k-labels-idx1-ubyte.gz";
constexpr std::size_t pixels = pixel_side * pixel_side;
constexpr std::size_t image_pixels = image_side * image_side;

[[noreturn]] void fail_images(const std::filesystem::path& path, std::string_view problem) {
  throw Error(
      ExitCode::usage,
      fmt::format(
          "{}: {}. Install Debian's package dataset-fashion-mnist, or point --data at a folder that has "
          "its files.",
          path.string(), problem));
}

/// The test images and their labels, as the data set has them.
struct DataSet {
  IdxArray images;  ///< [count][28][28]
  IdxArray labels;  ///< [count], each below `classes`
};

DataSet read_data_set(const std::filesystem::path& directory) {
  const auto image_path = directory / image_file;
  const auto label_path = directory / label_file;
  DataSet data{.images = read_idx(image_path), .labels = read_idx(label_path)};
  const auto& shape = data.images.shape;
  if (shape.size() != 3) fail_images(image_path, fmt::format("{} dimensions, expected 3", shape.size()));
  if (shape[1] != pixel_side || shape[2] != pixel_side) {
    fail_images(image_path, fmt::format("images of {} x {} pixels, expected {} x {}", shape[1], shape[2],
                                        pixel_side, pixel_side));
  }
  if (data.labels.shape.size() != 1) {
    fail_images(label_path, fmt::format("{} dimensions, expected 1", data.labels.shape.size()));
  }
  if (data.labels.shape[0] != shape[0]) {
    fail_images(label_path, fmt::format("{} labels, expected one for each of the {} images",
                                        data.labels.shape[0], shape[0]));
  }
  const auto wrong =
      std::ranges::find_if(data.labels.values, [](std::uint8_t label) { return label >= classes; });
  if (wrong != data.labels.values.end()) {
    fail_images(label_path, fmt::format("label {} at index {}, expected 0 to {}", *wrong,
                                        wrong - data.labels.values.begin(), classes - 1));
  }
  return data;
}

/// What tells a file from another one at the same place.
struct FileState {
  std::filesystem::path path;
  std::filesystem::file_time_type written;
  std::uintmax_t size = 0;
  bool operator==(const FileState&) const = default;
};

/// nullopt where it cannot be told.
std::optional<FileState> state_of(const std::filesystem::path& path) {
  std::error_code no_time, no_size;
  FileState state{path, std::filesystem::last_write_time(path, no_time),
                  std::filesystem::file_size(path, no_size)};
  return no_time || no_size ? std::nullopt : std::optional(std::move(state));
}

/// Likewise, read once in a process as long as its files stay as they are: a worker loads a data set for each
/// of its problems, and to decompress one takes longer than most of them.
std::shared_ptr<const DataSet> data_set_of(const std::filesystem::path& directory) {
  static std::mutex mutex;
  static std::shared_ptr<const DataSet> kept;
  static std::array<std::optional<FileState>, 2> kept_of;
  const std::array files{state_of(directory / image_file), state_of(directory / label_file)};
  const std::lock_guard lock(mutex);
  const bool is_kept = kept != nullptr && files == kept_of && files[0] && files[1];
  if (!is_kept) {
    kept = std::make_shared<const DataSet>(read_data_set(directory));
    kept_of = files;
  }
  return kept;
}

/// Image `index` of the data set as the network sees it.
void resize_image(const DataSet& data, const BilinearResize& resize, std::size_t index,
                  std::span<float> out) {
  std::array<float, pixels> scaled;
  const auto source = std::span(data.images.values).subspan(index * pixels, pixels);
  std::ranges::transform(source, scaled.begin(),
                         [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; });
  resize(scaled, out);
}

Buffer resize_images(const DataSet& data, const Turning& turning) {
  const BilinearResize resize({pixel_side, pixel_side}, {image_side, image_side});
  Buffer images(turning.held() * image_pixels);
  parallel_for(turning.held(), hardware_threads(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      resize_image(data, resize, turning.item(0, i), images.span().subspan(i * image_pixels, image_pixels));
    }
  });
  return images;
}

/// A tensor of weights, of which each must be finite: one NaN would make every output NaN.
std::vector<float> finite_f32(const Safetensors& file, const std::filesystem::path& path,
                              const std::string& tensor, std::initializer_list<std::size_t> shape) {
  std::vector<float> values = file.f32(tensor, std::span(shape.begin(), shape.size()));
  const auto wrong = std::ranges::find_if_not(values, [](float value) { return is_finite(value); });
  if (wrong != values.end()) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}: tensor \"{}\" holds {} at index {}, expected finite weights. Restore the file from "
                    "mprof's repository, or make it again with tools/train_lenet.py.",
                    path.string(), tensor, *wrong, wrong - values.begin()));
  }
  return values;
}

std::filesystem::path vectors_path(const std::filesystem::path& weights) {
  std::filesystem::path path = weights;
  path.replace_filename(weights.stem().string() + "_vectors.safetensors");
  return path;
}

/// With size and checksum.
InputFile input_file(const std::string& input, const std::filesystem::path& path) {
  return {.family = "conv",
          .name = input,
          .path = path.string(),
          .size = std::filesystem::file_size(path),
          .checksum = sha256_of_file(path)};
}

bool all_near(std::span<const float> a, std::span<const float> b, float tolerance) {
  return std::ranges::equal(a, b, [&](float x, float y) { return std::abs(x - y) <= tolerance; });
}

/// The reference predictions, when they are for these weights and images: the first image is compared with
/// theirs, and so are the logits that these weights give for it.
std::vector<std::uint8_t> load_reference_predictions(const std::filesystem::path& path,
                                                     std::span<const float> image, const Weights& weights,
                                                     std::size_t batch) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  constexpr std::size_t vectors = 16;
  const Safetensors file = Safetensors::read(path);
  const auto images = file.f32("images", std::array{vectors, std::size_t{1}, image_side, image_side});
  const auto logits = file.f32("logits", std::array{vectors, classes});
  auto predictions = file.u8("predictions", std::array{max_batch});
  const std::array<double, classes> expected = reference_logits(image, weights);
  const std::vector<float> ours(expected.begin(), expected.end());
  if (!all_near(std::span(images).first(image_pixels), image, 1e-5F)) return {};
  if (!all_near(std::span(logits).first(classes), ours, 1e-3F)) return {};
  predictions.resize(batch);
  return predictions;
}

}  // namespace

Weights load_weights(const std::filesystem::path& path) {
  const Safetensors file = Safetensors::read(path);
  Weights weights;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Shape& shape = layers[i].one_image;
    weights.masks[i] = finite_f32(file, path, fmt::format("conv{}.weight", i + 1),
                                  {shape.maps, shape.channels, shape.mask, shape.mask});
  }
  weights.fc1_weight = finite_f32(file, path, "fc1.weight", {hidden, features});
  weights.fc1_bias = finite_f32(file, path, "fc1.bias", {hidden});
  weights.fc2_weight = finite_f32(file, path, "fc2.weight", {classes, hidden});
  weights.fc2_bias = finite_f32(file, path, "fc2.bias", {classes});
  return weights;
}

Inputs load_inputs(std::size_t batch, const InputPaths& paths) {
  const std::filesystem::path folder = paths.at(data_input);
  const std::filesystem::path weights = paths.at(weights_input);
  const std::shared_ptr<const DataSet> read = data_set_of(folder);
  const DataSet& set = *read;
  if (batch > set.labels.values.size()) {
    fail_images(folder / image_file,
                fmt::format("{} images, expected at least the batch of {}", set.labels.values.size(), batch));
  }
  Inputs inputs;
  inputs.batch = batch;
  inputs.weights = load_weights(weights);
  inputs.turning = Turning(batch);
  inputs.images = resize_images(set, inputs.turning);
  inputs.labels.assign(set.labels.values.begin(),
                       set.labels.values.begin() + static_cast<std::ptrdiff_t>(batch));
  inputs.reference_predictions = load_reference_predictions(
      vectors_path(weights), inputs.images.span().first(image_pixels), inputs.weights, batch);
  inputs.fingerprint_at_load = fingerprint_of(inputs);
  return inputs;
}

std::uint64_t fingerprint_of(const Inputs& inputs) {
  std::uint64_t sum = fingerprint(inputs.images.span());
  for (const std::vector<float>& mask : inputs.weights.masks) sum += fingerprint(mask);
  return sum;
}

Buffer drawn_values(std::size_t size, std::uint64_t seed) {
  constexpr int float_digits = 24;
  constexpr int unused_bits = 64 - float_digits;
  Buffer values(size);
  parallel_for(values.size(), hardware_threads(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      values.data()[i] = static_cast<float>(random_bits(seed + i) >> unused_bits) * 0x1p-24F;
    }
  });
  return values;
}

Buffer unseen_images(std::size_t batch, std::uint64_t seed) {
  return drawn_values(batch * image_pixels, seed);
}

std::vector<InputInfo> declared_inputs() {
  return {{.name = data_input,
           .value_name = "DIR",
           .meaning = "Folder with the Fashion-MNIST test images",
           .places = {"/usr/share/datasets/fashion-mnist", "../share/mprof"},
           .file = image_file},
          {.name = weights_input,
           .value_name = "FILE",
           .meaning = "Trained weights of the LeNet, in safetensors format",
           .places = {"../share/mprof/lenet.safetensors",  // a bundle: bin/mprof
                      "../../data/lenet.safetensors"}}};   // a build: build/<preset>/mprof
}

std::vector<InputFile> validate_inputs(const InputPaths& paths) {
  const std::filesystem::path folder = paths.at(data_input);
  const std::filesystem::path weights = paths.at(weights_input);
  static_cast<void>(read_data_set(folder));
  static_cast<void>(load_weights(weights));
  std::vector<InputFile> files{input_file(data_input, folder / image_file),
                               input_file(data_input, folder / label_file),
                               input_file(weights_input, weights)};
  std::error_code error;
  if (const auto vectors = vectors_path(weights); std::filesystem::exists(vectors, error)) {
    files.push_back(input_file(weights_input, vectors));
  }
  return files;
}

}  // namespace mprof::conv
