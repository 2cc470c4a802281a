// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/conv/lenet/variant.hpp"
#include "kernels/plugin.hpp"

namespace mprof::conv {

/// A convolution that a plug-in computes. Its sizes are batch, channels, height, width, maps, mask and
/// stride, its inputs the images and the masks.
class PluginConvolution final : public Convolution {
 public:
  PluginConvolution(std::shared_ptr<const Plugin> plugin, const Parameters& parameters);

  void prepare(const Shape& shape, const float* input, const float* mask, float* output) override;
  void forward() override { op_.forward(); }
  void finish() override { op_.finish(); }
  void poison_output(std::uint32_t pattern) override { op_.poison_output(pattern); }
  [[nodiscard]] std::span<const Shape> other_shapes() const override;

 private:
  std::shared_ptr<const Plugin> plugin_;
  PluginOp op_;
};

/// Lets declaration_of() find it.
void adopt_convolution(const std::string& id, const std::shared_ptr<const Plugin>& plugin);

/// How a source of the course's project becomes a plug-in, from any of its editions (course/gpu.hpp,
/// course/cpu.hpp); nullopt for any other source.
[[nodiscard]] std::optional<SourceFrame> frame_of_course_file(std::string_view source);

}  // namespace mprof::conv
