// SPDX-License-Identifier: MIT
#include "cuda/profiler_host.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <cuda_runtime_api.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "cuda/cupti.hpp"
#include "cuda/cupti_params.hpp"

namespace mprof::cuda {
namespace {

/// The functions of CUPTI that are used here.
struct HostFunctions {
  decltype(::cuptiProfilerInitialize)* start = nullptr;
  decltype(::cuptiDeviceGetChipName)* chip_name = nullptr;
  decltype(::cuptiProfilerHostInitialize)* initialize = nullptr;
  decltype(::cuptiProfilerHostDeinitialize)* deinitialize = nullptr;
  decltype(::cuptiProfilerHostConfigAddMetrics)* add_metrics = nullptr;
  decltype(::cuptiProfilerHostGetMetricProperties)* properties = nullptr;
  decltype(::cuptiProfilerHostGetConfigImageSize)* config_size = nullptr;
  decltype(::cuptiProfilerHostGetConfigImage)* config = nullptr;
  decltype(::cuptiProfilerHostGetNumOfPasses)* passes = nullptr;
  decltype(::cuptiProfilerHostEvaluateToGpuValues)* evaluate = nullptr;

  HostFunctions() {
    const SharedLibrary& library = cupti_library();
    library.import(start, "cuptiProfilerInitialize");
    library.import(chip_name, "cuptiDeviceGetChipName");
    library.import(initialize, "cuptiProfilerHostInitialize");
    library.import(deinitialize, "cuptiProfilerHostDeinitialize");
    library.import(add_metrics, "cuptiProfilerHostConfigAddMetrics");
    library.import(properties, "cuptiProfilerHostGetMetricProperties");
    library.import(config_size, "cuptiProfilerHostGetConfigImageSize");
    library.import(config, "cuptiProfilerHostGetConfigImage");
    library.import(passes, "cuptiProfilerHostGetNumOfPasses");
    library.import(evaluate, "cuptiProfilerHostEvaluateToGpuValues");
  }
};

const HostFunctions& host_functions() {
  static const HostFunctions functions;
  return functions;
}

std::vector<const char*> pointers_to(std::span<const std::string> texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace

std::string chip_name() {
  // Asked without a driver, or before the profiler is initialized, cuptiDeviceGetChipName crashes
  // (CUPTI 13.0).
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) return std::string(default_chip);
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, start);
  check(host_functions().start(&start));
  MPROF_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
  check(host_functions().chip_name(&params));
  return params.pChipName;
}

std::vector<std::string> unknown_metrics(std::string_view chip, std::span<const std::string> metrics,
                                         const std::vector<std::uint8_t>& availability) {
  std::vector<std::string> unknown;
  if (metrics.empty() || ProfilerHost(chip, availability).add(metrics)) return unknown;
  // CUPTI does not say which it was.
  for (const std::string& metric : metrics) {
    if (!ProfilerHost(chip, availability).add(std::span(&metric, 1))) unknown.push_back(metric);
  }
  return unknown;
}

double si_factor(std::string_view dimension) {
  constexpr std::array<std::pair<std::string_view, double>, 2> units{{
      {"nanosecond", 1e-9}, {"kilobyte", 1024},  // of shared memory and caches
  }};
  double factor = 1;
  const std::size_t slash = dimension.find('/');
  for (const auto& [unit, size] : units) {
    const std::size_t at = dimension.find(unit);
    if (at == std::string_view::npos) continue;
    factor = at > slash && slash != std::string_view::npos ? factor / size : factor * size;
  }
  return factor;
}

ProfilerHost::ProfilerHost(std::string_view chip, std::vector<std::uint8_t> availability, Use use)
    : availability_(std::move(availability)) {
  const std::string name(chip);
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
  params.profilerType =
      use == Use::ranges ? CUPTI_PROFILER_TYPE_RANGE_PROFILER : CUPTI_PROFILER_TYPE_PM_SAMPLING;
  params.pChipName = name.c_str();
  params.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  check(host_functions().initialize(&params));
  object_ = params.pHostObject;
}

ProfilerHost::~ProfilerHost() {
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = object_;
  host_functions().deinitialize(&params);
}

bool ProfilerHost::add(std::span<const std::string> metrics) {
  // CUPTI deals counters to passes as they come. To start a pass that reads units outside the multiprocessors
  // takes 13 to 48 ms, and one that does not 1.5 (H200): where those come last they share the fewest passes.
  std::vector<const char*> names = pointers_to(metrics);
  std::stable_partition(names.begin(), names.end(),
                        [](std::string_view name) { return name.starts_with("sm"); });
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, params);
  params.pHostObject = object_;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  return host_functions().add_metrics(&params) == CUPTI_SUCCESS;
}

std::string ProfilerHost::dimension(const std::string& metric) const {
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
  params.pHostObject = object_;
  params.pMetricName = metric.c_str();
  check(host_functions().properties(&params));
  return params.pDimUnit != nullptr ? params.pDimUnit : "";
}

std::vector<std::uint8_t> ProfilerHost::config_image() const {
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = object_;
  check(host_functions().config_size(&size));
  std::vector<std::uint8_t> image(size.configImageSize);
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, params);
  params.pHostObject = object_;
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  check(host_functions().config(&params));
  return image;
}

std::vector<double> ProfilerHost::evaluate(std::span<const std::uint8_t> counter_data, std::size_t range,
                                           std::span<const std::string> metrics) const {
  std::vector<const char*> names = pointers_to(metrics);
  std::vector<double> values(metrics.size());
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = object_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  check(host_functions().evaluate(&params));
  for (std::size_t i = 0; i < metrics.size(); ++i) values[i] *= factor(metrics[i]);
  return values;
}

double ProfilerHost::factor(const std::string& metric) const {
  const auto known = factors_.find(metric);
  if (known != factors_.end()) return known->second;
  return factors_[metric] = si_factor(dimension(metric));
}

std::size_t number_of_passes(std::span<const std::uint8_t> config_image) {
  std::vector<std::uint8_t> image(config_image.begin(), config_image.end());  // CUPTI takes no const
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, params);
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  check(host_functions().passes(&params));
  return params.numOfPasses;
}

}  // namespace mprof::cuda
