#include "injection/range_profiler.hpp"

#include <algorithm>
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
    import(*this, cupti.library(), function, name);
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
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context;
  const CUptiResult result = functions_.enable(&params);
  object_ = params.pRangeProfilerObject;
  if (auto obstacle = tried("enable its profiler", result)) return obstacle;
  return make_room();
}

void RangeProfiler::close() {
  if (object_ == nullptr) return;
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
  params.pRangeProfilerObject = object_;
  functions_.disable(&params);
  object_ = nullptr;
}

/// Asked right before a counter data is made for the group, too: the call that makes it names no metrics.
RangeProfiler::Obstacle RangeProfiler::size_of(std::size_t group, std::size_t& bytes) const {
  std::vector<const char*> names;
  for (const std::string& metric : groups_[group].metrics) names.push_back(metric.c_str());
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, params);
  params.pRangeProfilerObject = object_;
  params.pMetricNames = names.data();
  params.numMetrics = names.size();
  params.maxNumOfRanges = 1;
  params.maxNumRangeTreeNodes = 1;
  auto obstacle = tried("make room for counters", functions_.data_size(&params));
  bytes = params.counterDataSize;
  return obstacle;
}

RangeProfiler::Obstacle RangeProfiler::make_room() {
  std::size_t config = 0, data = 0;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    std::size_t bytes = 0;
    if (auto obstacle = size_of(group, bytes)) return obstacle;
    data = std::max(data, bytes);
    config = std::max(config, groups_[group].config.size());
  }
  config_.resize(config);
  data_.resize(data);
  return std::nullopt;
}

RangeProfiler::Obstacle RangeProfiler::begin(std::size_t group) {
  is_complete_ = false;
  if (auto obstacle = size_of(group, size_)) return obstacle;
  const std::string& config = groups_[group].config;
  std::copy(config.begin(), config.end(), config_.begin());
  std::fill(data_.begin(), data_.end(), std::uint8_t{0});
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
  image.pRangeProfilerObject = object_;
  image.counterDataSize = size_;
  image.pCounterData = data_.data();
  if (auto obstacle = tried("prepare its counter data", functions_.clear(&image))) return obstacle;
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, params);
  params.pRangeProfilerObject = object_;
  params.configSize = config.size();
  params.pConfig = config_.data();
  params.counterDataImageSize = size_;
  params.pCounterDataImage = data_.data();
  params.range = CUPTI_AutoRange;
  params.replayMode = replay_;
  params.maxRangesPerPass = 1;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = 1;
  return tried("take the metrics", functions_.configure(&params));
}

RangeProfiler::Obstacle RangeProfiler::start() {
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
  params.pRangeProfilerObject = object_;
  return tried("begin to count", functions_.start(&params));
}

RangeProfiler::Obstacle RangeProfiler::stop() {
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
  MPROF_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = size_;
  if (auto obstacle = tried("look at its counters", functions_.info(&info))) return obstacle;
  if (info.numTotalRanges == 0) return "CUPTI counted nothing at its launches";
  return std::nullopt;
}

}  // namespace mprof::injection
