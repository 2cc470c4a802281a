// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/gpu_samples.hpp"
#include "model/trace/trace.hpp"

/// What a program's GPU was busy with, by the samples that were taken of it.
namespace mprof {

/// A metric over the whole time. Shares of the peak from 0 to 1, or Hz.
struct MetricLoad {
  trace::GpuMetric metric = trace::GpuMetric::sm_active;
  double mean = 0;
  double median = 0;
  double high = 0;  ///< nineteen of twenty samples are at most this
};

enum class LoadedPart : std::uint8_t {
  kernels,  ///< while any kernel ran
  op,       ///< while kernels of an op ran
  kernel,   ///< in launches of one kernel
};

/// The means of the samples that lie wholly in some part of that time.
struct PartLoad {
  LoadedPart what = LoadedPart::kernels;
  std::string name{};                          ///< of the op, or of the kernel: its whole name
  std::uint64_t samples = 0;                   ///< five or more
  std::vector<std::optional<double>> means{};  ///< of GpuLoad::metrics
};

struct GpuLoad {
  const trace::GpuSamples* samples = nullptr;
  std::uint64_t count = 0;       ///< of the samples that lie in the time
  double covered = 0;            ///< the share of the time that they cover
  std::optional<double> idle{};  ///< the share of them in which SMs were active for less than 1 % of it
  std::vector<MetricLoad> metrics{};
  std::vector<PartLoad> parts{};  ///< kernels first, then ops and kernels, each the longest first
  trace::Interval drawn{};        ///< what its curves show

  [[nodiscard]] const MetricLoad* of(trace::GpuMetric metric) const;
};

/// Of each GPU that was sampled in `time`, in which five samples or more lie. A sample counts for kernels
/// where they ran for nineteen twentieths of it or more. `step`: of the step to draw; its curves show more
/// steps where it is short.
[[nodiscard]] std::vector<GpuLoad> gpu_loads_of(const trace::Trace& trace, trace::CaseIndex index,
                                                const trace::Interval& time, const trace::Interval& step);

/// A curve in equal parts of `drawn`, as shares of the peak or Hz: the mean of the samples that reach into
/// each; nullopt where no sample does.
[[nodiscard]] std::vector<std::optional<double>> drawn_curve(const GpuLoad& load, trace::GpuMetric metric,
                                                             std::size_t parts);

}  // namespace mprof
