// SPDX-License-Identifier: MIT
#include "report/wording/gpu_load.hpp"

#include <cctype>

#include <fmt/format.h>

#include "model/kernel_name.hpp"
#include "model/trace/op_name.hpp"
#include "report/text/format.hpp"

namespace mprof {
namespace {

using enum trace::GpuMetric;

/// "tensor cores active 14.0 %": its mean; empty: it was not sampled.
std::string mean_of(const GpuLoad& load, trace::GpuMetric metric) {
  const MetricLoad* const one = load.of(metric);
  if (one == nullptr) return {};
  std::string name = metric_name(metric);
  // "SMs" and "DRAM" stay as they are.
  if (std::islower(static_cast<unsigned char>(name[1])) != 0)
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  return fmt::format("{} {}", name, metric_text(metric, one->mean));
}

/// "In the steady steps, on average: SMs active 61.0 %, ..."
std::string average_remark(const GpuLoad& load, const std::string& of) {
  std::vector<std::string> means;
  for (const trace::GpuMetric metric : {sm_active, tensor_active, dram_read, dram_write, dram}) {
    if (std::string mean = mean_of(load, metric); !mean.empty()) means.push_back(std::move(mean));
  }
  if (means.empty()) return {};
  std::string text = fmt::format("In the {}, on average: {}.", of, fmt::join(means, ", "));
  if (load.idle)
    text +=
        fmt::format(" In {} of the samples no SM, or next to none, had work.", format::percent(*load.idle));
  return text;
}

/// Where kernels leave most of the SMs without work. Empty: they do not, or it is not known.
std::string few_multiprocessors_remark(const GpuLoad& load) {
  constexpr double few = 0.5;
  constexpr std::uint64_t enough = 50;
  if (load.parts.empty() || load.parts.front().what != LoadedPart::kernels || load.metrics.empty()) return {};
  const PartLoad& kernels = load.parts.front();
  const std::optional<double>& active = kernels.means.front();
  if (load.metrics.front().metric != sm_active || !active || *active >= few || kernels.samples < enough)
    return {};
  return fmt::format(
      "While kernels ran, an SM had work for {} of the time on average ({}). Larger grids, or kernels at the "
      "same time on several streams, would use more of the GPU.",
      format::percent(*active), format::plural(kernels.samples, "sample"));
}

}  // namespace

std::string metric_name(trace::GpuMetric metric) {
  return std::string(trace::info_of(metric).label);
}

std::string metric_text(trace::GpuMetric metric, double value) {
  return metric == clock ? format::quantity(value, Unit::hertz) : format::percent(value);
}

std::string part_name(const PartLoad& part) {
  switch (part.what) {
    case LoadedPart::kernels:
      return "While a kernel runs";
    case LoadedPart::op:
      if (part.name.empty() || part.name == trace::outside_of_ranges) return "Kernels of no range";
      return "Kernels of " + format::short_id(part.name);
    case LoadedPart::kernel:
      break;
  }
  return kernel_name_of_demangled(part.name).brief;
}

std::vector<std::string> load_remarks(const GpuLoad& load, const std::string& of) {
  constexpr double nearly_all = 0.98, nano = 1e-9;
  std::vector<std::string> remarks;
  const auto add = [&](std::string text) {
    if (!text.empty()) remarks.push_back(std::move(text));
  };
  add(average_remark(load, of));
  add(few_multiprocessors_remark(load));
  add(fmt::format("GPU {} was sampled every {}, {}. The whole GPU is counted, whoever uses it.",
                  load.samples->device,
                  format::quantity(static_cast<double>(load.samples->interval) * nano, Unit::second),
                  format::plural(load.count, "sample") + " in the " + of));
  if (load.covered < nearly_all)
    add(fmt::format("The samples cover {} of this time: of the rest nothing is known.",
                    format::percent(load.covered)));
  return remarks;
}

}  // namespace mprof
