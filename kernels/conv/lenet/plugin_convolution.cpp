// SPDX-License-Identifier: MIT
#include "kernels/conv/lenet/plugin_convolution.hpp"

#include <array>
#include <utility>

namespace mprof::conv {
namespace {

/// Those of the editions whose kernels have a stride.
constexpr std::array odd_shapes{
    Shape{.batch = 1, .channels = 3, .height = 224, .width = 224, .maps = 3, .mask = 3, .stride = 1},
    Shape{.batch = 2, .channels = 3, .height = 301, .width = 301, .maps = 3, .mask = 3, .stride = 2},
    Shape{.batch = 3, .channels = 3, .height = 196, .width = 196, .maps = 3, .mask = 3, .stride = 3},
    Shape{.batch = 4, .channels = 3, .height = 239, .width = 239, .maps = 3, .mask = 3, .stride = 4},
};

bool has(std::string_view source, std::string_view word) {
  return source.find(word) != std::string_view::npos;
}

}  // namespace

PluginConvolution::PluginConvolution(std::shared_ptr<const Plugin> plugin, const Parameters& parameters)
    : plugin_(std::move(plugin)), op_(plugin_, parameters) {}

void PluginConvolution::prepare(const Shape& s, const float* input, const float* mask, float* output) {
  op_.prepare({.sizes = {{"batch", s.batch},
                         {"channels", s.channels},
                         {"height", s.height},
                         {"width", s.width},
                         {"maps", s.maps},
                         {"mask", s.mask},
                         {"stride", s.stride}},
               .inputs = {{input, s.input_size()}, {mask, s.mask_size()}},
               .output = {output, s.output_size()}});
}

std::span<const Shape> PluginConvolution::other_shapes() const {
  return plugin_->is_for_odd_sizes() ? std::span<const Shape>(odd_shapes) : std::span<const Shape>();
}

void adopt_convolution(const std::string& id, const std::shared_ptr<const Plugin>& plugin) {
  const VariantInfo& info = plugin->info();
  declare<Convolution>(id, {.title = info.title,
                            .idea = info.idea,
                            .device = info.device,
                            .baseline = info.baseline,
                            .parameters = plugin->parameters(),
                            .tolerance = plugin->tolerance(),
                            .arithmetic = info.arithmetic,
                            .make = [plugin](const Parameters& parameters) {
                              return std::make_unique<PluginConvolution>(plugin, parameters);
                            }});
}

std::optional<SourceFrame> frame_of_course_file(std::string_view source) {
  if (has(source, "MPROF_")) return std::nullopt;
  if (has(source, "GPUInterface") && has(source, "conv_forward_gpu")) {
    return SourceFrame{"#include <mprof/course/gpu.hpp>\n",
                       "MPROF_PLUGIN(mprof::course::gpu_variant<GPUInterface>())\n"};
  }
  if (has(source, "conv_forward_cpu")) {
    return SourceFrame{"#include <mprof/course/cpu.hpp>\n",
                       "namespace {\nstruct MprofForward {\n  template <class... Arguments>\n"
                       "  auto operator()(Arguments... arguments) const\n"
                       "      -> decltype(::conv_forward_cpu(arguments...)) {\n"
                       "    return ::conv_forward_cpu(arguments...);\n  }\n};\n}  // namespace\n"
                       "MPROF_PLUGIN(mprof::course::cpu_variant<MprofForward>())\n"};
  }
  return std::nullopt;
}

}  // namespace mprof::conv
