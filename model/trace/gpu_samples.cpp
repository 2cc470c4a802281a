// SPDX-License-Identifier: MIT
#include "model/trace/gpu_samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace mprof::trace {
namespace {

using enum GpuMetric;

constexpr std::array metrics{
    GpuMetricInfo{sm_active, "sm_active", "SMs Active [Throughput %]",
                  "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SMs active"},
    GpuMetricInfo{sm_issue, "sm_issue", "SM Issue [Throughput %]",
                  "sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed", "Instructions issued"},
    GpuMetricInfo{tensor_active, "tensor_active", "Tensor Active [Throughput %]",
                  "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
                  "Tensor cores active"},
    GpuMetricInfo{warps, "warps", "Compute Warps in Flight [Throughput %]",
                  "tpc__warps_active_shader_cs_realtime.avg.pct_of_peak_sustained_elapsed",
                  "Warps in flight"},
    GpuMetricInfo{dram_read, "dram_read", "DRAM Read Bandwidth [Throughput %]",
                  "dram__read_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM read"},
    GpuMetricInfo{dram_write, "dram_write", "DRAM Write Bandwidth [Throughput %]",
                  "dram__write_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM write"},
    GpuMetricInfo{l2, "l2", "L2 Sectors [Throughput %]", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
                  "L2 cache"},
    GpuMetricInfo{pcie_read, "pcie_read", "PCIe RX Throughput [Throughput %]",
                  "pcie__read_bytes.avg.pct_of_peak_sustained_elapsed", "PCIe read"},
    GpuMetricInfo{pcie_write, "pcie_write", "PCIe TX Throughput [Throughput %]",
                  "pcie__write_bytes.avg.pct_of_peak_sustained_elapsed", "PCIe write"},
    GpuMetricInfo{nvlink_read, "nvlink_read", "NVLink RX Throughput [Throughput %]",
                  "nvlrx__bytes.avg.pct_of_peak_sustained_elapsed", "NVLink read"},
    GpuMetricInfo{nvlink_write, "nvlink_write", "NVLink TX Throughput [Throughput %]",
                  "nvltx__bytes.avg.pct_of_peak_sustained_elapsed", "NVLink write"},
    GpuMetricInfo{clock, "clock", "GPC Clock Frequency [MHz]", "gpc__cycles_elapsed.avg.per_second",
                  "Clock of the SMs", 1e6, 1e-6},
    GpuMetricInfo{dram, "dram", "DRAM Bandwidth [Throughput %]",
                  "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM"},
};

/// Over the usual length of a sample: what is longer lies around a gap.
constexpr double longest = 1.5;

/// Drops what does not come after the sample before it.
void keep_in_order(GpuSamples& samples) {
  std::vector<bool> kept(samples.times.size());
  std::optional<std::int64_t> last;
  for (std::size_t i = 0; i < samples.times.size(); ++i) {
    kept[i] = !last || samples.times[i].end > *last;
    if (kept[i]) last = samples.times[i].end;
  }
  const auto compact = [&](auto& rows) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (kept[i]) rows[to++] = rows[i];
    }
    rows.resize(to);
  };
  for (GpuCurve& curve : samples.curves) compact(curve.values);
  compact(samples.times);
}

}  // namespace

std::span<const GpuMetricInfo> gpu_metrics() {
  return metrics;
}

const GpuMetricInfo& info_of(GpuMetric id) {
  return *std::ranges::find(metrics, id, &GpuMetricInfo::id);
}

const GpuMetricInfo* gpu_metric_named(std::string_view name) {
  const auto* const found = std::ranges::find(metrics, name, &GpuMetricInfo::name);
  return found == metrics.end() ? nullptr : found;
}

const GpuCurve* find_curve(const GpuSamples& samples, GpuMetric id) {
  const auto found = std::ranges::find(samples.curves, info_of(id).name, &GpuCurve::name);
  return found == samples.curves.end() ? nullptr : &*found;
}

std::int64_t usual_length(std::vector<std::int64_t> lengths) {
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  return *middle;
}

void find_beginnings(GpuSamples& samples) {
  for (GpuCurve& curve : samples.curves) curve.values.resize(samples.times.size(), std::nanf(""));
  keep_in_order(samples);
  std::erase_if(samples.curves, [](const GpuCurve& curve) {
    return std::ranges::all_of(curve.values, [](float value) { return std::isnan(value); });
  });
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 1; i < samples.times.size(); ++i)
    lengths.push_back(samples.times[i].end - samples.times[i - 1].end);
  samples.interval = usual_length(std::move(lengths));
  const auto limit = static_cast<std::int64_t>(longest * static_cast<double>(samples.interval));
  for (std::size_t i = 0; i < samples.times.size(); ++i) {
    Interval& time = samples.times[i];
    const bool follows = i > 0 && time.end - samples.times[i - 1].end <= limit;
    time.start = follows ? samples.times[i - 1].end : time.end - samples.interval;
  }
}

void keep_within(GpuSamples& samples, const Interval& part) {
  const auto first = std::ranges::lower_bound(samples.times, part.start, {}, &Interval::start);
  const auto last = std::ranges::upper_bound(samples.times, part.end, {}, &Interval::end);
  const auto begin = first - samples.times.begin();
  const auto end = std::max(begin, last - samples.times.begin());
  const auto cut = [&](auto& rows) {
    rows.erase(rows.begin() + end, rows.end());
    rows.erase(rows.begin(), rows.begin() + begin);
  };
  for (GpuCurve& curve : samples.curves) cut(curve.values);
  cut(samples.times);
}

std::size_t first_after(const GpuSamples& samples, std::int64_t time) {
  return static_cast<std::size_t>(std::ranges::upper_bound(samples.times, time, {}, &Interval::end) -
                                  samples.times.begin());
}

}  // namespace mprof::trace
