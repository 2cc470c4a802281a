// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map/family.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/axes.hpp"
#include "kernels/elementwise/map/execution.hpp"
#include "kernels/elementwise/map/host_map.hpp"
#include "kernels/elementwise/map/plugin_map.hpp"
#include "kernels/elementwise/map/variant.hpp"
#include "kernels/registry.hpp"

namespace mprof::elementwise {
namespace {

constexpr std::uint64_t max_size = 32768;    // 4 GiB a buffer
constexpr std::uint64_t max_iterations = 8;  // beyond, nearly every tangent meets a pole

/// Gives what another process computed.
class ReplayedMap final : public HostMap {
 public:
  explicit ReplayedMap(Outputs outputs) : outputs_(std::move(outputs)) {}
  void forward() override {
    const std::span<const float> given = outputs_(op_name);
    if (given.size() == matrix().elements()) std::ranges::copy(given, output(0));
  }

 private:
  Outputs outputs_;
};

class MapWorkload final : public Workload {
 public:
  explicit MapWorkload(const Matrix& matrix) : inputs_(matrix) {}

  std::unique_ptr<Execution> bind(const std::string& variant, const Parameters& parameters) override {
    const Declaration& declaration = declaration_of<Map>(variant);
    const Parameters resolved = resolve_parameters(declaration.parameters, variant, parameters);
    return std::make_unique<MapExecution>(inputs_, declaration, resolved,
                                          precision_of_plugin(variant, resolved));
  }

  std::unique_ptr<Execution> replay(const Outputs& outputs) override {
    const Declaration declaration{
        .title = {}, .idea = {}, .device = "cpu", .baseline = {}, .make = [outputs](const Parameters&) {
          return std::make_unique<ReplayedMap>(outputs);
        }};
    return std::make_unique<MapExecution>(inputs_, declaration, Parameters{}, "");
  }

 private:
  Inputs inputs_;
};

const bool registered = [] {
  Registry::instance().add(std::make_unique<ElementwiseFamily>());
  return true;
}();

Problem problem_of(std::uint64_t size, std::uint64_t iterations) {
  return {{{"size", size}, {"iterations", iterations}}};
}

Matrix matrix_of(const FamilyInfo& family, const Problem& problem) {
  return {.size = value_within(family, problem, "size"),
          .iterations = static_cast<unsigned>(value_within(family, problem, "iterations"))};
}

FamilyInfo describe() {
  return {.id = "elementwise",
          .title = "Element-wise map of a matrix, with another function in each of four columns",
          .axes = {{.name = "size",
                    .plural = "sizes",
                    .title = "Size",
                    .meaning = "rows and columns of the matrix",
                    .default_value = 8192,
                    .max = max_size},
                   {.name = "iterations",
                    .plural = "iterations",
                    .title = "Iterations",
                    .meaning = "times that the map is applied to each element",
                    .default_value = 5,
                    .max = max_iterations}},
          .nouns = {.item = "element",
                    .items = "elements",
                    .whole = "transformation",
                    .op_time_title = "Op Time",
                    .total_time_title = "Total Time"}};
}

}  // namespace

const FamilyInfo& ElementwiseFamily::info() const {
  static const FamilyInfo info = describe();
  return info;
}

std::vector<Problem> ElementwiseFamily::default_problems(bool quick) const {
  if (quick) return {problem_of(512, 5), problem_of(1024, 5)};
  return {problem_of(1024, 5), problem_of(4096, 5), problem_of(8192, 5)};
}

std::vector<OpInfo> ElementwiseFamily::ops(const Problem& problem) const {
  const Matrix matrix = matrix_of(info(), problem);
  return {{.name = std::string(op_name),
           .title = fmt::format("v + sqrt(f(v) + 1), {} of {} x {} elements",
                                matrix.iterations == 1 ? "once" : fmt::format("{} times", matrix.iterations),
                                matrix.size, matrix.size),
           .flops = matrix.flops(),
           .bytes = matrix.bytes(),
           .special_operations = matrix.special_operations(),
           .items = static_cast<double>(matrix.size) * static_cast<double>(matrix.size)}};
}

std::unique_ptr<Workload> ElementwiseFamily::load(const Problem& problem,
                                                  const InputPaths& /*inputs*/) const {
  return std::make_unique<MapWorkload>(matrix_of(info(), problem));
}

void ElementwiseFamily::adopt(const std::string& id, const std::shared_ptr<const Plugin>& plugin) const {
  adopt_map(id, plugin);
}

}  // namespace mprof::elementwise
