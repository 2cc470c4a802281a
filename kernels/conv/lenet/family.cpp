#include "kernels/conv/lenet/family.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/conv/lenet/execution.hpp"
#include "kernels/conv/lenet/inputs.hpp"
#include "kernels/conv/lenet/lenet.hpp"
#include "kernels/conv/lenet/variant.hpp"
#include "kernels/registry.hpp"
#include "system/error.hpp"

namespace mprof::conv {
namespace {

class LenetWorkload final : public Workload {
 public:
  explicit LenetWorkload(Inputs inputs) : inputs_(std::move(inputs)) {}

  std::unique_ptr<Execution> bind(const std::string& variant, const Parameters& parameters) override {
    const Declaration* declaration = find_declaration(variant);
    if (declaration == nullptr) {
      throw Error(
          ExitCode::usage,
          fmt::format("{} is no variant of the family conv. `mprof list` shows those there are.", variant));
    }
    return std::make_unique<LenetExecution>(inputs_, *declaration,
                                            resolve_parameters(*declaration, variant, parameters));
  }

 private:
  Inputs inputs_;
};

const bool registered = [] {
  Registry::instance().add(std::make_unique<ConvFamily>());
  return true;
}();

}  // namespace

std::string_view ConvFamily::title() const {
  return "Forward convolution of a LeNet on Fashion-MNIST";
}

std::vector<std::uint64_t> ConvFamily::default_batches(bool quick) const {
  if (quick) return {100, 1000};
  return {100, 1000, 5000, 10000};
}

std::uint64_t ConvFamily::max_batch() const {
  return conv::max_batch;
}

std::vector<OpInfo> ConvFamily::ops(std::uint64_t batch) const {
  std::vector<OpInfo> result;
  for (const Layer& layer : layers) {
    const Shape shape = layer.shape(batch);
    result.push_back({.name = std::string(layer.op),
                      .title = fmt::format("layer {}: {}x{}, {} -> {} maps", result.size() + 1, shape.mask,
                                           shape.mask, shape.channels, shape.maps),
                      .flops = shape.flops(),
                      .bytes = shape.bytes()});
  }
  return result;
}

void ConvFamily::validate(const DataPaths& data) const {
  validate_inputs(data);
}

std::unique_ptr<Workload> ConvFamily::load(std::uint64_t batch, const DataPaths& data) const {
  if (batch == 0 || batch > conv::max_batch) {
    throw Error(ExitCode::usage,
                fmt::format("batch {}: the family conv takes 1 to {} images.", batch, conv::max_batch));
  }
  return std::make_unique<LenetWorkload>(load_inputs(batch, data));
}

}  // namespace mprof::conv
