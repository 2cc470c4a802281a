// SPDX-License-Identifier: MIT
#include "collectors/gpu_sampling.hpp"

#include <algorithm>
#include <utility>

#include "collectors/cuda/gpu_profiling.hpp"
#include "cuda/pm_sampler.hpp"
#include "model/trace/gpu_samples.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

class CuptiSampler final : public GpuSampler {
 public:
  explicit CuptiSampler(double interval) : sampler_(make(interval)) {
    for (const std::string& metric : sampler_->metrics()) {
      const trace::GpuMetricInfo& info =
          *std::ranges::find(trace::gpu_metrics(), metric, &trace::GpuMetricInfo::cupti);
      names_.emplace_back(info.name);
      factors_.push_back(info.cupti_factor);
    }
    if (names_.empty())
      throw Error(ExitCode::environment, "CUPTI knows none of the metrics that mprof samples on this GPU");
  }

  [[nodiscard]] const std::vector<std::string>& metrics() const override { return names_; }
  void start() override { sampler_->start(); }
  void stop() override { sampler_->stop(); }
  [[nodiscard]] Taken take() override {
    cuda::PmSampler::Decoded decoded = sampler_->decode();
    Taken taken{.overflowed = decoded.overflowed, .has_more = decoded.is_full};
    for (const cuda::PmSampler::Sample& sample : decoded.samples) {
      Reading& reading = taken.readings.emplace_back(Reading{.time = {sample.start, sample.end}});
      for (std::size_t i = 0; i < sample.values.size(); ++i)
        reading.values.push_back(static_cast<float>(sample.values[i] * factors_[i]));
    }
    return taken;
  }

 private:
  static std::vector<std::string> names_of(bool few) {
    using enum trace::GpuMetric;
    std::vector<std::string> names;
    for (const trace::GpuMetricInfo& info : trace::gpu_metrics()) {
      const bool is_one_of_few = info.id == sm_active || info.id == dram;
      if (few ? is_one_of_few : info.id != dram) names.emplace_back(info.cupti);
    }
    return names;
  }

  /// A chip may refuse the usual metrics together though CUPTI says that they fit one pass. Two fit
  /// everywhere.
  static std::unique_ptr<cuda::PmSampler> make(double interval) {
    try {
      return std::make_unique<cuda::PmSampler>(names_of(false), interval);
    } catch (const Error& refusal) {
      try {
        return std::make_unique<cuda::PmSampler>(names_of(true), interval);
      } catch (const Error&) {
        throw refusal;
      }
    }
  }

  std::unique_ptr<cuda::PmSampler> sampler_;
  std::vector<std::string> names_;
  std::vector<double> factors_;  ///< from CUPTI's values to a file's
};

std::unique_ptr<GpuSampler> make_cupti_sampler(double interval) {
  if (const auto reason = gpu_profiling_unavailable()) throw Error(ExitCode::environment, *reason);
  return std::make_unique<CuptiSampler>(interval);
}

const bool registered = (GpuSamplers::instance().set({.make = make_cupti_sampler}), true);

}  // namespace
}  // namespace mprof
