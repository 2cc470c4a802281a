// SPDX-License-Identifier: MIT
#include "injection/range_profiler.hpp"

#include <filesystem>

#include <dlfcn.h>

#include "cuda/cupti_params.hpp"

namespace mprof::injection {
namespace {

/// CUPTI opens these by name alone, and does not find them where only it was found by its path.
void open_helpers(const CuptiFunctions& cupti) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(cupti.version), &info) == 0 || info.dli_fname == nullptr) return;
  const std::filesystem::path folder = std::filesystem::path(info.dli_fname).parent_path();
  for (const char* const name : {"libnvperf_target.so", "libnvperf_host.so"}) {
    if (::dlopen(name, RTLD_LAZY | RTLD_LOCAL) == nullptr)
      ::dlopen((folder / name).c_str(), RTLD_LAZY | RTLD_LOCAL);
  }
}

template <class Function>
void import(ProfilerFunctions& functions, void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr) functions.obstacle = std::string("The process has a CUPTI without ") + name + ".";
}

}  // namespace

ProfilerFunctions::ProfilerFunctions(const CuptiFunctions& cupti) {
  open_helpers(cupti);
  const auto take = [&](auto*& function, const char* name) {
    import(*this, cupti.library().handle, function, name);
  };
  take(initialize, "cuptiProfilerInitialize");
  take(chip_name, "cuptiDeviceGetChipName");
  take(enable, "cuptiRangeProfilerEnable");
  take(disable, "cuptiRangeProfilerDisable");
  take(data_size, "cuptiRangeProfilerGetCounterDataSize");
  take(clear, "cuptiRangeProfilerCounterDataImageInitialize");
  take(configure, "cuptiRangeProfilerSetConfig");
  take(start, "cuptiRangeProfilerStart");
  take(stop, "cuptiRangeProfilerStop");
  take(decode, "cuptiRangeProfilerDecodeData");
  take(info, "cuptiRangeProfilerGetCounterDataInfo");
  if (!obstacle.empty()) return;
  MPROF_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
  const CUptiResult result = initialize(&params);
  if (result != CUPTI_SUCCESS) obstacle = cupti.described("initialize its profiler", result) + ".";
}

RangeProfiler::Obstacle RangeProfiler::tried(const char* what, CUptiResult result) const {
  if (result == CUPTI_SUCCESS) return std::nullopt;
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    return "hardware counters may not be read here (ERR_NVGPUCTRPERM): run as root, or have the "
           "administrator "
           "load the driver with NVreg_RestrictProfilingToAdminUsers=0";
  if (result == CUPTI_ERROR_HARDWARE_BUSY)
    return "another profiler has the hardware counters (DCGM's: dcgmi profile --pause)";
  return cupti_.described(what, result);
}

RangeProfiler::Obstacle RangeProfiler::open(CUcontext context) {
  context_ = context;
  if (auto obstacle = enable()) return obstacle;
  return make_room();
}

RangeProfiler::Obstacle RangeProfiler::enable() {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context_;
  const CUptiResult result = functions_.enable(&params);
  object_ = params.pRangeProfilerObject;
  return tried("enable its profiler", result);
}

/// The object of a session that was left before its last pass goes on with that pass in the next one
/// (CUPTI 13.0).
RangeProfiler::Obstacle RangeProfiler::enable_anew() {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
  params.pRangeProfilerObject = object_;
  if (auto obstacle = tried("leave a session", functions_.disable(&params))) return obstacle;
  if (auto obstacle = enable()) return obstacle;
  return make_room();
}

RangeProfiler::Obstacle RangeProfiler::make_room() {
  std::vector<const char*> names;
  for (const std::string& metric : request_.metrics) names.push_back(metric.c_str());
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, params);
  params.pRangeProfilerObject = object_;
  params.pMetricNames = names.data();
  params.numMetrics = names.size();
  params.maxNumOfRanges = static_cast<std::uint32_t>(most_ranges_);
  params.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most_ranges_);
  auto obstacle = tried("make room for counters", functions_.data_size(&params));
  data_.resize(params.counterDataSize);
  return obstacle;
}

RangeProfiler::Obstacle RangeProfiler::begin() {
  if (!is_complete_) {
    if (auto obstacle = enable_anew()) return obstacle;
  }
  is_complete_ = false;
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
  image.pRangeProfilerObject = object_;
  image.counterDataSize = data_.size();
  image.pCounterData = data_.data();
  if (auto obstacle = tried("prepare its counter data", functions_.clear(&image))) return obstacle;
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, params);
  params.pRangeProfilerObject = object_;
  params.configSize = request_.config.size();
  params.pConfig = reinterpret_cast<const std::uint8_t*>(request_.config.data());
  params.counterDataImageSize = data_.size();
  params.pCounterDataImage = data_.data();
  params.range = CUPTI_AutoRange;
  params.replayMode = request_.replays ? CUPTI_KernelReplay : CUPTI_UserReplay;
  params.maxRangesPerPass = most_ranges_;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = 1;
  return tried("take the metrics", functions_.configure(&params));
}

RangeProfiler::Obstacle RangeProfiler::start() {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
  params.pRangeProfilerObject = object_;
  auto obstacle = tried("begin to count", functions_.start(&params));
  is_started_ = !obstacle;
  return obstacle;
}

RangeProfiler::Obstacle RangeProfiler::stop() {
  is_started_ = false;
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
  params.pRangeProfilerObject = object_;
  const CUptiResult result = functions_.stop(&params);
  is_complete_ = params.isAllPassSubmitted != 0;
  return tried("end counting", result);
}

RangeProfiler::Obstacle RangeProfiler::decode() {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, params);
  params.pRangeProfilerObject = object_;
  if (auto obstacle = tried("read its counters", functions_.decode(&params))) return obstacle;
  if (ranges() == 0) return "CUPTI counted nothing at its launches";
  return std::nullopt;
}

std::size_t RangeProfiler::ranges() const {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, params);
  params.pCounterDataImage = data_.data();
  params.counterDataImageSize = data_.size();
  return functions_.info(&params) == CUPTI_SUCCESS ? params.numTotalRanges : 0;
}

}  // namespace mprof::injection
