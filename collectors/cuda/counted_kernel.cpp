// SPDX-License-Identifier: MIT
#include "collectors/cuda/counted_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <driver_types.h>
#include <fmt/format.h>

#include "cuda/occupancy.hpp"
#include "model/kernel_name.hpp"
#include "model/metric_presets.hpp"

namespace mprof {
namespace {

/// A number, or why there is none.
struct Value {
  std::optional<double> number;
  std::string absent;
};

Value computed(const CountedKernel& kernel, const std::string& id,
               const std::optional<cuda::Occupancy>& occupancy) {
  if (!kernel.attributes) return {std::nullopt, kernel.unknown_attributes};
  return {cuda::launch_metric(id, occupancy, *kernel.attributes, kernel.launch),
          "CUDA's occupancy calculator does not know this GPU, or the launch cannot run on it"};
}

Value counted(const CounterSelection& selection, const CountedKernel& kernel, const std::string& id) {
  if (std::ranges::count(selection.missing, id) > 0) {
    return {std::nullopt,
            fmt::format("this GPU ({}) has no such counter, or does not let it be read", selection.chip)};
  }
  const auto why = kernel.uncounted_metrics.find(id);
  if (why != kernel.uncounted_metrics.end()) return {std::nullopt, why->second};
  const auto at = std::ranges::find(selection.counted, id);
  if (at == selection.counted.end() || kernel.counts.empty()) {
    return {std::nullopt, kernel.uncounted.empty() ? "its launch did not come to an end" : kernel.uncounted};
  }
  const double count = kernel.counts[static_cast<std::size_t>(at - selection.counted.begin())];
  if (std::isfinite(count)) return {count, ""};
  return {std::nullopt, std::string(no_number_by_hardware)};
}

Measurement row(const std::string& id, const std::string& op, const std::string& kernel, const Value& value) {
  Measurement out{id, op, kernel, Source::measured, {}, value.number ? "" : value.absent};
  if (value.number) out.samples.push_back(*value.number);
  return out;
}

}  // namespace

void add_measurements(const CounterSelection& selection, const CountedKernel& kernel, const std::string& name,
                      const cudaDeviceProp& gpu, std::vector<Measurement>& measurements) {
  std::optional<cuda::Occupancy> occupancy;
  if (kernel.attributes) occupancy = cuda::occupancy(gpu, *kernel.attributes, kernel.launch);
  for (const std::string& id : selection.metrics) {
    const Value value =
        is_launch_metric(id) ? computed(kernel, id, occupancy) : counted(selection, kernel, id);
    measurements.push_back(row(id, kernel.op, name, value));
  }
}

void add_measurements(const CounterSelection& selection, std::span<const OpInfo> ops,
                      std::span<const CountedKernel> kernels, const cudaDeviceProp& gpu,
                      std::vector<Measurement>& measurements) {
  for (const OpInfo& op : ops) {
    std::vector<const CountedKernel*> own;
    std::vector<std::string> symbols;
    for (const CountedKernel& kernel : kernels) {
      if (kernel.op != op.name) continue;
      own.push_back(&kernel);
      symbols.push_back(kernel.launch.symbol);
    }
    const std::vector<std::string> names = distinct_kernel_names(symbols);
    for (std::size_t i = 0; i < own.size(); ++i) {
      add_measurements(selection, *own[i], names[i], gpu, measurements);
    }
    if (!own.empty()) continue;
    const Value none{std::nullopt, selection.refusal.empty() ? "no kernel was launched" : selection.refusal};
    for (const std::string& id : selection.metrics) measurements.push_back(row(id, op.name, "", none));
  }
}

}  // namespace mprof
