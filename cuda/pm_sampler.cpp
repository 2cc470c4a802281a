// SPDX-License-Identifier: MIT
#include "cuda/pm_sampler.hpp"

#include <algorithm>
#include <cmath>

#include <cuda_runtime_api.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <fmt/format.h>

#include "cuda/check.hpp"
#include "cuda/cupti.hpp"
#include "cuda/cupti_params.hpp"
#include "system/error.hpp"

namespace mprof::cuda {
namespace {

/// B, where the hardware puts samples until they are decoded.
constexpr std::size_t hardware_buffer = std::size_t{256} << 20;
/// s, for which one decoded image has room. An image has 12 to 24 kB a sample, all of which is cleared after
/// each decoding.
constexpr double decoded_at_once = 0.25;
constexpr double fewest_decoded = 64, most_decoded = 8192;

/// The functions of CUPTI that are used here.
struct SamplingFunctions {
  decltype(::cuptiProfilerInitialize)* initialize = nullptr;
  decltype(::cuptiPmSamplingGetCounterAvailability)* availability = nullptr;
  decltype(::cuptiPmSamplingEnable)* enable = nullptr;
  decltype(::cuptiPmSamplingDisable)* disable = nullptr;
  decltype(::cuptiPmSamplingSetConfig)* configure = nullptr;
  decltype(::cuptiPmSamplingStart)* start = nullptr;
  decltype(::cuptiPmSamplingStop)* stop = nullptr;
  decltype(::cuptiPmSamplingDecodeData)* decode = nullptr;
  decltype(::cuptiPmSamplingGetCounterDataSize)* data_size = nullptr;
  decltype(::cuptiPmSamplingCounterDataImageInitialize)* clear = nullptr;
  decltype(::cuptiPmSamplingGetCounterDataInfo)* info = nullptr;
  decltype(::cuptiPmSamplingCounterDataGetSampleInfo)* sample_info = nullptr;

  /// Initializes the profiler as well, which must precede everything else and is never undone.
  SamplingFunctions() {
    const SharedLibrary& library = cupti_library();
    library.import(initialize, "cuptiProfilerInitialize");
    library.import(availability, "cuptiPmSamplingGetCounterAvailability");
    library.import(enable, "cuptiPmSamplingEnable");
    library.import(disable, "cuptiPmSamplingDisable");
    library.import(configure, "cuptiPmSamplingSetConfig");
    library.import(start, "cuptiPmSamplingStart");
    library.import(stop, "cuptiPmSamplingStop");
    library.import(decode, "cuptiPmSamplingDecodeData");
    library.import(data_size, "cuptiPmSamplingGetCounterDataSize");
    library.import(clear, "cuptiPmSamplingCounterDataImageInitialize");
    library.import(info, "cuptiPmSamplingGetCounterDataInfo");
    library.import(sample_info, "cuptiPmSamplingCounterDataGetSampleInfo");
    MPROF_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
    check(initialize(&params));
  }
};

const SamplingFunctions& sampling_functions() {
  static const SamplingFunctions functions;
  return functions;
}

std::vector<std::uint8_t> sampling_availability() {
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_GetCounterAvailability_Params, params);
  // To a second sampler of one process CUPTI 13.0 says nothing else.
  const CUptiResult result = sampling_functions().availability(&params);
  check(result == CUPTI_ERROR_UNKNOWN ? CUPTI_ERROR_HARDWARE_BUSY : result);
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check(sampling_functions().availability(&params));
  return image;
}

std::uint32_t samples_at_once(double interval) {
  return static_cast<std::uint32_t>(std::clamp(decoded_at_once / interval, fewest_decoded, most_decoded));
}

}  // namespace

PmSampler::PmSampler(std::span<const std::string> metrics, double interval) {
  const std::string chip = chip_name();  // finds the driver as well
  availability_ = sampling_availability();
  choose(chip, metrics);
  if (metrics_.empty()) return;
  host_ = std::make_unique<ProfilerHost>(chip, availability_, ProfilerHost::Use::samples);
  try {
    enable(interval);
  } catch (...) {
    disable();  // or nobody else could sample while this process lives
    throw;
  }
}

PmSampler::~PmSampler() {
  if (started_) {
    MPROF_CUPTI_PARAMS(CUpti_PmSampling_Stop_Params, stop);
    stop.pPmSamplingObject = object_;
    sampling_functions().stop(&stop);
  }
  disable();
}

void PmSampler::disable() {
  if (object_ == nullptr) return;
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_Disable_Params, params);
  params.pPmSamplingObject = object_;
  sampling_functions().disable(&params);
}

void PmSampler::choose(const std::string& chip, std::span<const std::string> metrics) {
  for (const std::string& metric : metrics) {
    std::vector<std::string> chosen = metrics_;
    chosen.push_back(metric);
    ProfilerHost host(chip, availability_, ProfilerHost::Use::samples);
    if (!host.add(chosen)) continue;
    std::vector<std::uint8_t> config = host.config_image();
    if (number_of_passes(config) != 1) continue;
    metrics_ = std::move(chosen);
    config_ = std::move(config);
  }
}

void PmSampler::enable(double interval) {
  constexpr double nano = 1e-9;
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_Enable_Params, enabled);
  check(sampling_functions().enable(&enabled));
  object_ = enabled.pPmSamplingObject;
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_SetConfig_Params, params);
  params.pPmSamplingObject = object_;
  params.configSize = config_.size();
  params.pConfig = config_.data();
  params.hardwareBufferSize = hardware_buffer;
  params.samplingInterval = static_cast<std::uint64_t>(std::llround(interval / nano));
  params.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  params.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  check(sampling_functions().configure(&params));
  std::vector<const char*> names;
  for (const std::string& metric : metrics_) names.push_back(metric.c_str());
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataSize_Params, size);
  size.pPmSamplingObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxSamples = samples_at_once(interval);
  check(sampling_functions().data_size(&size));
  data_.resize(size.counterDataSize);
  clear();
}

void PmSampler::clear() {
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, params);
  params.pPmSamplingObject = object_;
  params.counterDataSize = data_.size();
  params.pCounterData = data_.data();
  check(sampling_functions().clear(&params));
}

void PmSampler::start() {
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_Start_Params, params);
  params.pPmSamplingObject = object_;
  check(sampling_functions().start(&params));
  started_ = true;
}

void PmSampler::stop() {
  started_ = false;
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_Stop_Params, params);
  params.pPmSamplingObject = object_;
  check(sampling_functions().stop(&params));
}

PmSampler::Sample PmSampler::sample_at(std::size_t index) const {
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params, params);
  params.pPmSamplingObject = object_;
  params.pCounterDataImage = data_.data();
  params.counterDataImageSize = data_.size();
  params.sampleIndex = index;
  check(sampling_functions().sample_info(&params));
  return {static_cast<std::int64_t>(params.startTimestamp), static_cast<std::int64_t>(params.endTimestamp),
          host_->evaluate(data_, index, metrics_)};
}

PmSampler::Decoded PmSampler::decode() {
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_DecodeData_Params, params);
  params.pPmSamplingObject = object_;
  params.pCounterDataImage = data_.data();
  params.counterDataImageSize = data_.size();
  const CUptiResult result = sampling_functions().decode(&params);
  if (result == CUPTI_ERROR_OUT_OF_MEMORY)
    throw Error(
        ExitCode::environment,
        "CUPTI has no memory left for samples: they come faster than they are read. Sample less often: "
        "--sample=1ms.");
  check(result);
  Decoded decoded{
      .overflowed = params.overflow != 0,
      .is_full = params.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL};
  MPROF_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  check(sampling_functions().info(&info));
  for (std::size_t i = 0; i < info.numCompletedSamples; ++i) decoded.samples.push_back(sample_at(i));
  clear();
  return decoded;
}

}  // namespace mprof::cuda
