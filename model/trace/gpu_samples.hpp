// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/trace.hpp"

/// What a GPU counted at a fixed interval: which metrics there are, and how much of them lies in a time.
namespace mprof::trace {

/// The metrics that mprof samples and that analysis knows.
enum class GpuMetric : std::uint8_t {
  sm_active,
  sm_issue,
  tensor_active,
  warps,
  dram_read,
  dram_write,
  l2,
  pcie_read,
  pcie_write,
  nvlink_read,
  nvlink_write,
  clock,
  dram,  ///< instead of reads and writes, where these cannot be sampled
};

/// A metric in this trace, in files, in CUPTI and for people.
struct GpuMetricInfo {
  GpuMetric id = GpuMetric::sm_active;
  std::string_view key{};    ///< "sm_active"
  std::string_view name{};   ///< as exports of Nsight Systems have it, with the unit at the end
  std::string_view cupti{};  ///< CUPTI's name
  std::string_view label{};  ///< "SMs active"
  double si = 0.01;          ///< a value of the file times this is a share of the peak, or Hz
  double cupti_factor = 1;   ///< a value of CUPTI's times this is the file's
};

/// In the order in which they are shown. A sampler takes as many as one pass has room for, in this order.
[[nodiscard]] std::span<const GpuMetricInfo> gpu_metrics();
[[nodiscard]] const GpuMetricInfo& info_of(GpuMetric id);
/// By its name in a file; nullptr: analysis does not know it.
[[nodiscard]] const GpuMetricInfo* gpu_metric_named(std::string_view name);

/// nullptr: it was not sampled.
[[nodiscard]] const GpuCurve* find_curve(const GpuSamples& samples, GpuMetric id);

/// The median, of samples of one interval; 0 without any.
[[nodiscard]] std::int64_t usual_length(std::vector<std::int64_t> lengths);

/// A file tells when each sample ended. This finds when it began, and the interval: a sample begins where the
/// one before it ended, but for a gap of more than half an interval. Drops samples that do not end after the
/// one before them, and curves without a value.
void find_beginnings(GpuSamples& samples);

/// Leaves the samples that lie wholly in `part`.
void keep_within(GpuSamples& samples, const Interval& part);

/// The first sample that ends after `time`.
[[nodiscard]] std::size_t first_after(const GpuSamples& samples, std::int64_t time);

}  // namespace mprof::trace
