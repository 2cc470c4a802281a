// SPDX-License-Identifier: MIT
#include "injection/context_sampler.hpp"

#include <dlfcn.h>

namespace mprof::injection {

using cuda::in_context;

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
  const CUptiResult result =
      cuda::read_stall_reasons(functions_.count_reasons, functions_.name_reasons, context_, reasons_);
  if (!succeeds("name stall reasons", result)) return false;
  rest_ = std::make_unique<cuda::SampleBuffer>(cuda::instructions_at_once, reasons_.size());
  fetched_ = std::make_unique<cuda::SampleBuffer>(cuda::instructions_at_once, reasons_.size());
  return true;
}

bool ContextSampler::configure(std::uint32_t period) {
  return succeeds(
      "set up sampling",
      cuda::set_up(
          functions_.configure, context_,
          {.period = period, .has_control = has_window_, .hardware_buffer = 0, .rest = rest_.get()}));
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
