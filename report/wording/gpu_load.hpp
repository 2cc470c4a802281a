// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/program/gpu_load.hpp"

/// What is said of a GPU that was sampled.
namespace mprof {

/// "SMs active"
[[nodiscard]] std::string metric_name(trace::GpuMetric metric);
/// "31.2 %", "1.98 GHz", of a metric's share or Hz.
[[nodiscard]] std::string metric_text(trace::GpuMetric metric, double value);

/// "Kernels of `forward`"
[[nodiscard]] std::string part_name(const PartLoad& part);

/// What the samples say in short, how many there are, and what they lack. `of`: "steady steps".
[[nodiscard]] std::vector<std::string> load_remarks(const GpuLoad& load, const std::string& of);

}  // namespace mprof
