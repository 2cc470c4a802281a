// SPDX-License-Identifier: MIT
#include "kernels/conv/lenet/family.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/axes.hpp"
#include "kernels/conv/lenet/execution.hpp"
#include "kernels/conv/lenet/host_convolution.hpp"
#include "kernels/conv/lenet/inputs.hpp"
#include "kernels/conv/lenet/lenet.hpp"
#include "kernels/conv/lenet/plugin_convolution.hpp"
#include "kernels/conv/lenet/variant.hpp"
#include "kernels/registry.hpp"

namespace mprof::conv {
namespace {

/// Gives what another process computed.
class ReplayedConvolution final : public HostConvolution {
 public:
  explicit ReplayedConvolution(Outputs outputs) : outputs_(std::move(outputs)) {}
  void forward() override {
    const auto layer =
        std::ranges::find_if(layers, [&](const Layer& one) { return one.one_image.maps == shape().maps; });
    const std::span<const float> given =
        layer == layers.end() ? std::span<const float>() : outputs_(layer->op);
    if (given.size() == shape().output_size()) std::ranges::copy(given, output(0));
  }

 private:
  Outputs outputs_;
};

class LenetWorkload final : public Workload {
 public:
  explicit LenetWorkload(Inputs inputs) : inputs_(std::move(inputs)) {}

  std::unique_ptr<Execution> bind(const std::string& variant, const Parameters& parameters) override {
    const Declaration& declaration = declaration_of<Convolution>(variant);
    const Parameters resolved = resolve_parameters(declaration.parameters, variant, parameters);
    return std::make_unique<LenetExecution>(inputs_, declaration, resolved,
                                            precision_of_plugin(variant, resolved));
  }

  std::unique_ptr<Execution> replay(const Outputs& outputs) override {
    const Declaration declaration{
        .title = {}, .idea = {}, .device = "cpu", .baseline = {}, .make = [outputs](const Parameters&) {
          return std::make_unique<ReplayedConvolution>(outputs);
        }};
    return std::make_unique<LenetExecution>(inputs_, declaration, Parameters{}, "");
  }

 private:
  Inputs inputs_;
};

const bool registered = [] {
  Registry::instance().add(std::make_unique<ConvFamily>());
  return true;
}();

AxisInfo batch_axis() {
  return {.name = "batch",
          .plural = "batches",
          .title = "Batch Size",
          .meaning = "images of one inference",
          .default_value = 1000,
          .max = max_batch};
}

/// The order of a summation alone may turn an image whose two best classes are as good as equal, hence the
/// tolerance: two images in a thousand.
QualityInfo share_of_images(std::string metric, std::string label, std::string meaning) {
  return {.metric = std::move(metric),
          .label = std::move(label),
          .meaning = std::move(meaning),
          .tolerance = 0.002};
}

FamilyInfo describe() {
  return {.id = "conv",
          .title = "Forward convolution of a LeNet on Fashion-MNIST",
          .axes = {batch_axis()},
          .nouns = {.item = "image",
                    .items = "images",
                    .whole = "inference",
                    .group = "layer",
                    .groups = "layers",
                    .op_time_title = "Op Time",
                    .group_time_title = "Layer Time",
                    .total_time_title = "Total Execution Time"},
          .qualities = {share_of_images("accuracy", "Accuracy",
                                        "Share of the batch's images whose predicted class is the labelled "
                                        "one."),
                        share_of_images("prediction_agreement", "Agreement with the reference",
                                        "Share of the batch's images whose predicted class is the one that "
                                        "PyTorch predicts in double precision.")}};
}

}  // namespace

const FamilyInfo& ConvFamily::info() const {
  static const FamilyInfo info = describe();
  return info;
}

std::vector<Problem> ConvFamily::default_problems(bool quick) const {
  std::vector<Problem> problems{{{{"batch", 100}}}, {{{"batch", 1000}}}};
  if (!quick) problems.insert(problems.end(), {{{{"batch", 5000}}}, {{{"batch", 10000}}}});
  return problems;
}

std::vector<OpInfo> ConvFamily::ops(const Problem& problem) const {
  const std::uint64_t batch = value_within(info(), problem, "batch");
  std::vector<OpInfo> result;
  for (const Layer& layer : layers) {
    const Shape shape = layer.shape(batch);
    result.push_back({.name = std::string(layer.op),
                      .title = fmt::format("layer {}: {}x{}, {} -> {} maps", result.size() + 1, shape.mask,
                                           shape.mask, shape.channels, shape.maps),
                      .flops = shape.flops(),
                      .bytes = shape.bytes(),
                      .items = static_cast<double>(shape.batch)});
  }
  return result;
}

std::vector<InputInfo> ConvFamily::inputs() const {
  return declared_inputs();
}

std::vector<InputFile> ConvFamily::validate(const InputPaths& inputs) const {
  return validate_inputs(inputs);
}

std::unique_ptr<Workload> ConvFamily::load(const Problem& problem, const InputPaths& inputs) const {
  return std::make_unique<LenetWorkload>(load_inputs(value_within(info(), problem, "batch"), inputs));
}

void ConvFamily::adopt(const std::string& id, const std::shared_ptr<const Plugin>& plugin) const {
  adopt_convolution(id, plugin);
}

std::optional<SourceFrame> ConvFamily::frame_of(std::string_view source) const {
  return frame_of_course_file(source);
}

}  // namespace mprof::conv
