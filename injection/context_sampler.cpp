// SPDX-License-Identifier: MIT
#include "injection/context_sampler.hpp"

#include <array>

#include <dlfcn.h>

namespace mprof::injection {
namespace {

/// The parameters of most of these functions: a size, and a context.
template <class Params>
Params in_context(std::size_t size, CUcontext context) {
  Params params{};
  params.size = size;
  params.ctx = context;
  return params;
}

}  // namespace

SamplingFunctions::SamplingFunctions(const CuptiFunctions& cupti) {
  const auto import = [&]<class Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(cupti.library().handle, name));
    if (function == nullptr && obstacle.empty())
      obstacle = std::string("CUPTI has no function ") + name + ", which sampling needs.";
  };
  import(checksum, "cuptiGetCubinCrc");
  import(enable, "cuptiPCSamplingEnable");
  import(disable, "cuptiPCSamplingDisable");
  import(configure, "cuptiPCSamplingSetConfigurationAttribute");
  import(count_reasons, "cuptiPCSamplingGetNumStallReasons");
  import(name_reasons, "cuptiPCSamplingGetStallReasons");
  import(start, "cuptiPCSamplingStart");
  import(stop, "cuptiPCSamplingStop");
  import(data, "cuptiPCSamplingGetData");
}

ContextSampler::ContextSampler(const CuptiFunctions& cupti, const SamplingFunctions& functions,
                               CUcontext context, std::uint32_t period, bool has_window)
    : cupti_(cupti), functions_(functions), context_(context), has_window_(has_window) {
  is_closed_ = !enable(period);
  is_on_ = !is_closed_ && !has_window_;
}

bool ContextSampler::succeeds(const char* what, CUptiResult result) {
  if (result != CUPTI_SUCCESS && obstacle_.empty()) obstacle_ = cupti_.described(what, result);
  return result == CUPTI_SUCCESS;
}

bool ContextSampler::enable(std::uint32_t period) {
  auto params = in_context<CUpti_PCSamplingEnableParams>(CUpti_PCSamplingEnableParamsSize, context_);
  if (!succeeds("sample program counters", functions_.enable(&params))) return false;
  if (name_reasons() && configure(period)) return true;
  auto end = in_context<CUpti_PCSamplingDisableParams>(CUpti_PCSamplingDisableParamsSize, context_);
  functions_.disable(&end);
  return false;
}

bool ContextSampler::name_reasons() {
  std::size_t count = 0;
  auto counted = in_context<CUpti_PCSamplingGetNumStallReasonsParams>(
      CUpti_PCSamplingGetNumStallReasonsParamsSize, context_);
  counted.numStallReasons = &count;
  if (!succeeds("count stall reasons", functions_.count_reasons(&counted))) return false;
  std::vector<std::uint32_t> ids(count);
  std::vector<std::array<char, CUPTI_STALL_REASON_STRING_SIZE>> names(count);
  std::vector<char*> addresses;
  for (auto& name : names) addresses.push_back(name.data());
  auto named =
      in_context<CUpti_PCSamplingGetStallReasonsParams>(CUpti_PCSamplingGetStallReasonsParamsSize, context_);
  named.numStallReasons = count;
  named.stallReasonIndex = ids.data();
  named.stallReasons = addresses.data();
  if (!succeeds("name stall reasons", functions_.name_reasons(&named))) return false;
  for (std::size_t i = 0; i < count; ++i) reasons_.emplace_back(ids[i], names[i].data());
  rest_ = std::make_unique<cuda::SampleBuffer>(cuda::instructions_at_once, count);
  fetched_ = std::make_unique<cuda::SampleBuffer>(cuda::instructions_at_once, count);
  return true;
}

bool ContextSampler::configure(std::uint32_t period) {
  std::array<CUpti_PCSamplingConfigurationInfo, 4> settings{};
  settings[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
  settings[0].attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  settings[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
  settings[1].attributeData.samplingPeriodData.samplingPeriod = period;
  settings[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL;
  settings[2].attributeData.enableStartStopControlData.enableStartStopControl = has_window_ ? 1 : 0;
  settings[3].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
  settings[3].attributeData.samplingDataBufferData.samplingDataBuffer = &rest_->data;
  auto params = in_context<CUpti_PCSamplingConfigurationInfoParams>(
      CUpti_PCSamplingConfigurationInfoParamsSize, context_);
  params.numAttributes = settings.size();
  params.pPCSamplingConfigurationInfo = settings.data();
  return succeeds("set up sampling", functions_.configure(&params));
}

void ContextSampler::start() {
  if (is_closed_ || is_on_) return;  // without a window it is always on
  auto params = in_context<CUpti_PCSamplingStartParams>(CUpti_PCSamplingStartParamsSize, context_);
  is_on_ = succeeds("start sampling", functions_.start(&params));
}

void ContextSampler::stop() {
  if (is_closed_ || !is_on_ || !has_window_) return;
  auto params = in_context<CUpti_PCSamplingStopParams>(CUpti_PCSamplingStopParamsSize, context_);
  succeeds("stop sampling", functions_.stop(&params));
  is_on_ = false;
}

void ContextSampler::give(cuda::SampleBuffer& buffer, const Take& take) {
  for (std::size_t i = 0; i < buffer.data.totalNumPcs && i < buffer.records.size(); ++i)
    take(buffer.records[i]);
  if (buffer.data.hardwareBufferFull != 0 || buffer.data.droppedSamples > 0) has_lost_ = true;
  buffer.empty();
}

void ContextSampler::take(const Take& take) {
  if (is_closed_) return;
  auto params = in_context<CUpti_PCSamplingGetDataParams>(CUpti_PCSamplingGetDataParamsSize, context_);
  params.pcSamplingData = &fetched_->data;
  bool goes_on = true;
  while (goes_on) {
    fetched_->empty();
    const CUptiResult result = functions_.data(&params);
    if (fetched_->data.hardwareBufferFull != 0) has_lost_ = true;
    if (result != CUPTI_SUCCESS) return;
    goes_on = fetched_->data.remainingNumPcs > 0 && fetched_->data.totalNumPcs > 0;
    give(*fetched_, take);
  }
}

void ContextSampler::close(const Take& take) {
  if (is_closed_) return;
  stop();
  this->take(take);
  auto params = in_context<CUpti_PCSamplingDisableParams>(CUpti_PCSamplingDisableParamsSize, context_);
  functions_.disable(&params);
  give(*rest_, take);
  is_closed_ = true;
}

}  // namespace mprof::injection
