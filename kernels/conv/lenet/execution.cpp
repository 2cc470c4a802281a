// SPDX-License-Identifier: MIT
#include "kernels/conv/lenet/execution.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/parallel.hpp"
#include "kernels/common/poison.hpp"
#include "kernels/conv/lenet/verification.hpp"

namespace mprof::conv {
namespace {

double share(std::size_t part, std::size_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

LenetExecution::LenetExecution(const Inputs& inputs, const Declaration& declaration,
                               const Parameters& parameters, std::optional<std::string> precision)
    : inputs_(inputs),
      tolerance_(tolerance(declaration, parameters, precision, single_precision_tolerance)),
      precision_(std::move(precision)),
      convolutions_{declaration.make(parameters), declaration.make(parameters)},
      classifier_(inputs.weights),
      convolved_(
          std::max(layers[0].shape(inputs.batch).output_size(), layers[1].shape(inputs.batch).output_size())),
      pooled_(inputs.batch * layers[0].pooled_size()),
      logits_(inputs.batch * classes),
      proofs_{OutputProof(inputs.turning), OutputProof(inputs.turning)} {}

ExecutionResult LenetExecution::run(StageObserver& observer, const Trial& trial) {
  ExecutionResult result;
  const std::size_t first = inputs_.turning.first(trial.turn);
  Buffer unseen;
  if (trial.unseen) observer.aside([&] { unseen = unseen_images(inputs_.batch, trial.seed); });
  const float* images = trial.unseen ? unseen.data() : inputs_.from(first).data();
  run_convolution(0, images, observer, trial, result.verification);
  pool_first_layer();
  run_convolution(1, pooled_.data(), observer, trial, result.verification);
  std::vector<QualityValue> qualities = classify(first);
  if (!trial.unseen) result.qualities = std::move(qualities);
  if (trial.proof == Proof::all_items && !trial.unseen)
    verify_other_shapes(observer, trial.seed, result.verification);
  return result;
}

bool LenetExecution::has_its_inputs() const {
  return fingerprint_of(inputs_) == inputs_.fingerprint_at_load;
}

void LenetExecution::run_convolution(std::size_t layer, const float* input, StageObserver& observer,
                                     const Trial& trial, std::vector<Verification>& verification) {
  const std::string_view op = layers[layer].op;
  const Shape shape = layers[layer].shape(inputs_.batch);
  const std::vector<float>& mask = inputs_.weights.masks[layer];
  const std::span<float> output = convolved_.span().first(shape.output_size());
  Convolution& convolution = *convolutions_[layer];
  run_stages(
      op, convolution, [&] { convolution.prepare(shape, input, mask.data(), output.data()); }, output,
      observer);
  if (trial.on_output) observer.aside([&] { trial.on_output(op, output); });
  if (trial.proof == Proof::none) return;
  observer.aside([&] {
    const OutputToVerify to_check =
        in_precision(to_verify(op, shape, {input, shape.input_size()}, mask, output, tolerance_), precision_);
    verification.push_back(proofs_[layer](to_check, trial));
  });
}

void LenetExecution::verify_other_shapes(StageObserver& observer, std::uint64_t seed,
                                         std::vector<Verification>& verification) {
  observer.aside([&] {
    Convolution& convolution = *convolutions_.front();
    for (const Shape& s : convolution.other_shapes()) {
      const Buffer input = drawn_values(s.input_size(), seed);
      const Buffer mask = drawn_values(s.mask_size(), ~seed);
      Buffer output(s.output_size());
      poison(output.span());
      convolution.prepare(s, input.data(), mask.data(), output.data());
      convolution.poison_output(poison_pattern);
      convolution.forward();
      convolution.finish();
      const std::string name = fmt::format("{}x{}x{}x{}, {} maps, mask {}, stride {}", s.batch, s.channels,
                                           s.height, s.width, s.maps, s.mask, s.stride);
      verification.push_back(verify(in_precision(
          to_verify(name, s, input.span(), mask.span(), std::as_const(output).span(), tolerance_),
          precision_)));
    }
  });
}

void LenetExecution::pool_first_layer() {
  constexpr const Layer& layer = layers[0];
  constexpr const Shape& shape = layer.one_image;
  static_assert(shape.out_width() / layer.pool % vector_lanes == 0 && __STDCPP_DEFAULT_NEW_ALIGNMENT__ >= 16);
  parallel_for(inputs_.batch, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    relu_max_pool<layer.pool, Written::past_caches>(
        convolved_.data() + begin * shape.out_image_size(), (end - begin) * shape.maps, shape.out_height(),
        shape.out_width(), pooled_.data() + begin * layer.pooled_size());
  });
}

std::vector<QualityValue> LenetExecution::classify(std::size_t first) {
  constexpr const Layer& layer = layers[1];
  constexpr const Shape& shape = layer.one_image;
  const std::vector<std::uint8_t>& expected = inputs_.reference_predictions;
  std::atomic<std::size_t> right = 0;
  std::atomic<std::size_t> agreed = 0;
  parallel_for(inputs_.batch, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      std::array<float, features> pooled;
      relu_max_pool<layer.pool>(convolved_.data() + b * shape.out_image_size(), shape.maps,
                                shape.out_height(), shape.out_width(), pooled.data());
      const std::array<float, classes> image_logits = classifier_.logits(pooled.data());
      std::ranges::copy(image_logits, logits_.data() + b * classes);
      const std::uint8_t predicted = predicted_class(image_logits);
      const std::size_t image = inputs_.turning.item(first, b);
      if (predicted == inputs_.labels[image]) ++right;
      if (!expected.empty() && predicted == expected[image]) ++agreed;
    }
  });
  std::vector<QualityValue> qualities{{"accuracy", share(right, inputs_.batch)}};
  if (!expected.empty()) qualities.push_back({"prediction_agreement", share(agreed, inputs_.batch)});
  return qualities;
}

}  // namespace mprof::conv
