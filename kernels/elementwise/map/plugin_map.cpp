// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map/plugin_map.hpp"

#include <utility>

#include "kernels/elementwise/map/variant.hpp"

namespace mprof::elementwise {
namespace {

class PluginMap final : public Map {
 public:
  PluginMap(std::shared_ptr<const Plugin> plugin, const Parameters& parameters)
      : op_(std::move(plugin), parameters) {}

  void prepare(const Matrix& matrix, const float* input, float* output) override {
    op_.prepare({.sizes = {{"size", matrix.size}, {"iterations", matrix.iterations}},
                 .inputs = {{input, matrix.elements()}},
                 .output = {output, matrix.elements()}});
  }
  void forward() override { op_.forward(); }
  void finish() override { op_.finish(); }
  void poison_output(std::uint32_t pattern) override { op_.poison_output(pattern); }

 private:
  PluginOp op_;
};

}  // namespace

void adopt_map(const std::string& id, const std::shared_ptr<const Plugin>& plugin) {
  const VariantInfo& info = plugin->info();
  declare<Map>(id, {.title = info.title,
                    .idea = info.idea,
                    .device = info.device,
                    .baseline = info.baseline,
                    .parameters = plugin->parameters(),
                    .tolerance = plugin->tolerance(),
                    .arithmetic = info.arithmetic,
                    .make = [plugin](const Parameters& parameters) {
                      return std::make_unique<PluginMap>(plugin, parameters);
                    }});
}

}  // namespace mprof::elementwise
