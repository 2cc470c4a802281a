// SPDX-License-Identifier: MIT
#include "cuda/range_profiler.hpp"

#include <array>
#include <utility>

#include <cuda.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <fmt/format.h>

#include "cuda/check.hpp"
#include "cuda/cupti.hpp"
#include "cuda/cupti_params.hpp"
#include "cuda/driver.hpp"

namespace mprof::cuda {
namespace {

/// The functions of CUPTI that are used here.
struct RangeFunctions {
  decltype(::cuptiProfilerInitialize)* initialize = nullptr;
  decltype(::cuptiProfilerDeviceSupported)* device_supported = nullptr;
  decltype(::cuptiProfilerGetCounterAvailability)* availability = nullptr;
  decltype(::cuptiRangeProfilerEnable)* enable = nullptr;
  decltype(::cuptiRangeProfilerDisable)* disable = nullptr;
  decltype(::cuptiRangeProfilerGetCounterDataSize)* data_size = nullptr;
  decltype(::cuptiRangeProfilerCounterDataImageInitialize)* clear = nullptr;
  decltype(::cuptiRangeProfilerSetConfig)* configure = nullptr;
  decltype(::cuptiRangeProfilerStart)* start = nullptr;
  decltype(::cuptiRangeProfilerStop)* stop = nullptr;
  decltype(::cuptiRangeProfilerDecodeData)* decode = nullptr;
  decltype(::cuptiRangeProfilerGetCounterDataInfo)* info = nullptr;

  /// Initializes the profiler as well, which must precede everything else and is never undone.
  RangeFunctions() {
    const SharedLibrary& library = cupti_library();
    library.import(initialize, "cuptiProfilerInitialize");
    library.import(device_supported, "cuptiProfilerDeviceSupported");
    library.import(availability, "cuptiProfilerGetCounterAvailability");
    library.import(enable, "cuptiRangeProfilerEnable");
    library.import(disable, "cuptiRangeProfilerDisable");
    library.import(data_size, "cuptiRangeProfilerGetCounterDataSize");
    library.import(clear, "cuptiRangeProfilerCounterDataImageInitialize");
    library.import(configure, "cuptiRangeProfilerSetConfig");
    library.import(start, "cuptiRangeProfilerStart");
    library.import(stop, "cuptiRangeProfilerStop");
    library.import(decode, "cuptiRangeProfilerDecodeData");
    library.import(info, "cuptiRangeProfilerGetCounterDataInfo");
    MPROF_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
    check(initialize(&params));
  }
};

const RangeFunctions& range_functions() {
  static const RangeFunctions functions;
  return functions;
}

using Support = CUpti_Profiler_Support_Level;

bool forbids(Support level) {
  return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED || level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
}

}  // namespace

CUctx_st* current_context() {
  check(cudaFree(nullptr));  // makes the runtime's context
  CUcontext context = nullptr;
  driver().check(driver().current_context(&context));
  return context;
}

std::optional<std::string> profiling_unsupported() {
  MPROF_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
  params.cuDevice = 0;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  check(range_functions().device_supported(&params));
  if (!forbids(params.isSupported)) return std::nullopt;
  const std::array<std::pair<Support, std::string_view>, 6> obstacles{{
      {params.architecture, "it is older than compute capability 7.5"},
      {params.vGpu, "it is a virtual GPU: allow profiling in the settings of the host's hypervisor"},
      {params.confidentialCompute, "it is in confidential-computing mode: leave that mode"},
      {params.sli, "SLI is on: switch it off"},
      {params.cmp, "it is a mining card"},
      {params.wsl, "Windows' subsystem for Linux does not support it here: update the driver"},
  }};
  for (const auto& [level, why] : obstacles) {
    if (forbids(level)) return fmt::format("This GPU's hardware counters cannot be read: {}.", why);
  }
  return "This GPU's hardware counters cannot be read, and CUPTI does not say why.";
}

std::vector<std::uint8_t> counter_availability(CUctx_st* context) {
  MPROF_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  params.ctx = context;
  if (range_functions().availability(&params) != CUPTI_SUCCESS) return {};
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  return range_functions().availability(&params) == CUPTI_SUCCESS ? image : std::vector<std::uint8_t>{};
}

RangeProfiler::RangeProfiler(CUctx_st* context, std::vector<std::uint8_t> config_image,
                             std::span<const std::string> metrics, std::size_t most_launches)
    : most_launches_(most_launches), config_(std::move(config_image)) {
  enable(context);
  try {
    make_room(metrics);
  } catch (...) {
    disable();
    throw;
  }
}

RangeProfiler::~RangeProfiler() {
  if (started_) {
    MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = object_;
    range_functions().stop(&params);
  }
  disable();
}

void RangeProfiler::enable(CUctx_st* context) {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context;
  check(range_functions().enable(&params));
  object_ = params.pRangeProfilerObject;
}

void RangeProfiler::disable() {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
  params.pRangeProfilerObject = object_;
  range_functions().disable(&params);
}

void RangeProfiler::make_room(std::span<const std::string> metrics) {
  std::vector<const char*> names;
  for (const std::string& metric : metrics) names.push_back(metric.c_str());
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, params);
  params.pRangeProfilerObject = object_;
  params.pMetricNames = names.data();
  params.numMetrics = names.size();
  params.maxNumOfRanges = most_launches_;
  params.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most_launches_);
  check(range_functions().data_size(&params));
  data_.resize(params.counterDataSize);
}

void RangeProfiler::begin() {
  is_complete_ = false;
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
  image.pRangeProfilerObject = object_;
  image.counterDataSize = data_.size();
  image.pCounterData = data_.data();
  check(range_functions().clear(&image));
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, params);
  params.pRangeProfilerObject = object_;
  params.configSize = config_.size();
  params.pConfig = config_.data();
  params.counterDataImageSize = data_.size();
  params.pCounterDataImage = data_.data();
  params.range = CUPTI_AutoRange;
  params.replayMode = CUPTI_UserReplay;
  params.maxRangesPerPass = most_launches_;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = 1;
  check(range_functions().configure(&params));
}

void RangeProfiler::start() {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
  params.pRangeProfilerObject = object_;
  check(range_functions().start(&params));
  started_ = true;
}

void RangeProfiler::stop() {
  started_ = false;
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
  params.pRangeProfilerObject = object_;
  check(range_functions().stop(&params));
  is_complete_ = params.isAllPassSubmitted != 0;
}

void RangeProfiler::leave_passes(const std::function<void()>& launch) {
  while (!is_complete_) {
    if (!started_) start();
    launch();
    stop();
  }
  decode();
}

void RangeProfiler::decode() {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, params);
  params.pRangeProfilerObject = object_;
  check(range_functions().decode(&params));
}

std::size_t RangeProfiler::counted_launches() const {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, params);
  params.pCounterDataImage = data_.data();
  params.counterDataImageSize = data_.size();
  check(range_functions().info(&params));
  return params.numTotalRanges;
}

}  // namespace mprof::cuda
