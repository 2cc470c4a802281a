// SPDX-License-Identifier: MIT
#include "cuda/pc_sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <fmt/format.h>

#include "cuda/check.hpp"
#include "cuda/cupti.hpp"
#include "cuda/gpu.hpp"
#include "cuda/line_tables.hpp"
#include "cuda/pc_sampling.hpp"
#include "system/error.hpp"

namespace mprof::cuda {
namespace {

/// A multiprocessor samples every 2^n cycles, n from 5 to 31. The longest used here still samples each
/// multiprocessor thousands of times a second.
constexpr std::uint32_t shortest_period = 9, longest_period = 18;
/// Samples of all multiprocessors together that tell lines apart which take half a percent of the time.
constexpr double wanted_samples = 400'000;
/// CUPTI's own default, 512 MiB, takes it a third of a second to set up.
constexpr std::size_t buffer_bytes = 128U << 20;

/// The functions of CUPTI that are used here.
struct SamplingFunctions {
  decltype(::cuptiEnableCallback)* enable_callback = nullptr;
  decltype(::cuptiUnsubscribe)* unsubscribe = nullptr;
  decltype(::cuptiPCSamplingEnable)* enable = nullptr;
  decltype(::cuptiPCSamplingDisable)* disable = nullptr;
  decltype(::cuptiPCSamplingSetConfigurationAttribute)* configure = nullptr;
  decltype(::cuptiPCSamplingGetNumStallReasons)* count_reasons = nullptr;
  decltype(::cuptiPCSamplingGetStallReasons)* name_reasons = nullptr;
  decltype(::cuptiPCSamplingStart)* start = nullptr;
  decltype(::cuptiPCSamplingStop)* stop = nullptr;
  decltype(::cuptiPCSamplingGetData)* data = nullptr;

  SamplingFunctions() {
    const SharedLibrary& library = cupti_library();
    library.import(enable_callback, "cuptiEnableCallback");
    library.import(unsubscribe, "cuptiUnsubscribe");
    library.import(enable, "cuptiPCSamplingEnable");
    library.import(disable, "cuptiPCSamplingDisable");
    library.import(configure, "cuptiPCSamplingSetConfigurationAttribute");
    library.import(count_reasons, "cuptiPCSamplingGetNumStallReasons");
    library.import(name_reasons, "cuptiPCSamplingGetStallReasons");
    library.import(start, "cuptiPCSamplingStart");
    library.import(stop, "cuptiPCSamplingStop");
    library.import(data, "cuptiPCSamplingGetData");
  }
};

const SamplingFunctions& functions() {
  static const SamplingFunctions all;
  return all;
}

/// The line tables of the modules that CUPTI knows of.
class Modules {
 public:
  void add(const CUpti_ModuleResourceData& module) {
    const std::lock_guard lock(mutex_);
    if (known_.insert({module.moduleId, module.cubinSize}).second)
      tables_.add({module.pCubin, module.cubinSize});
  }

  [[nodiscard]] SourcePlace place_of(const CUpti_PCSamplingPCData& sampled) const {
    const std::lock_guard lock(mutex_);
    if (sampled.functionName == nullptr) return {};
    return tables_.place_of(sampled.cubinCrc, sampled.functionName, sampled.pcOffset);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint32_t, std::size_t> known_;
  LineTables tables_;
};

void CUPTIAPI on_module(void* modules, CUpti_CallbackDomain /*resources*/, CUpti_CallbackId /*which*/,
                        const void* data) {
  try {
    const auto* resource = static_cast<const CUpti_ResourceData*>(data);
    const auto* module = static_cast<const CUpti_ModuleResourceData*>(resource->resourceDescriptor);
    if (module != nullptr) static_cast<Modules*>(modules)->add(*module);
  } catch (...) {  // out of memory: its lines stay unknown, and no exception may reach the driver
  }
}

}  // namespace

class PcSampler::Session {
 public:
  explicit Session(CUctx_st* context) : context_(context), subscriber_(subscribe(on_module, &modules_)) {
    try {
      enable();
    } catch (...) {
      functions().unsubscribe(subscriber_);
      throw;
    }
  }

  ~Session() {
    auto params = in_context<CUpti_PCSamplingDisableParams>(CUpti_PCSamplingDisableParamsSize, context_);
    functions().disable(&params);
    functions().unsubscribe(subscriber_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start(double expected_seconds) {
    const std::uint32_t wanted = sampling_period(expected_seconds, wanted_samples);
    // To configure takes CUPTI as long as many a case's sampling (the buffer): not for half or twice as many.
    const bool will_do = period_ != 0 && std::max(wanted, period_) - std::min(wanted, period_) <= 1;
    if (!will_do) {
      configure(wanted);
      period_ = wanted;
    }
    auto params = in_context<CUpti_PCSamplingStartParams>(CUpti_PCSamplingStartParamsSize, context_);
    check(functions().start(&params));
  }

  std::vector<SampledInstruction> stop() {
    auto params = in_context<CUpti_PCSamplingStopParams>(CUpti_PCSamplingStopParamsSize, context_);
    check(functions().stop(&params));
    std::vector<SampledInstruction> all;
    do {
      fetch();
      for (std::size_t i = 0; i < fetched_->data.totalNumPcs; ++i)
        all.push_back(described(fetched_->records[i]));
    } while (fetched_->data.remainingNumPcs > 0);
    const std::uint64_t samples = fetched_->data.totalSamples;  // a copy: CUPTI's records are packed
    if (all.empty() && samples > 0) {
      throw Error(ExitCode::environment,
                  fmt::format("CUPTI does not say at which instructions the {} samples were taken: it knows "
                              "nothing of the kernels' code",
                              samples));
    }
    return all;
  }

 private:
  void enable() {
    for (const auto id : {CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_PROFILED})
      check(functions().enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, id));
    auto params = in_context<CUpti_PCSamplingEnableParams>(CUpti_PCSamplingEnableParamsSize, context_);
    check(functions().enable(&params));
    name_reasons();
    unfetched_.emplace(instructions_at_once, all_reasons_);
    fetched_.emplace(instructions_at_once, all_reasons_);
  }

  void name_reasons() {
    StallReasons all;
    check(read_stall_reasons(functions().count_reasons, functions().name_reasons, context_, all));
    all_reasons_ = all.size();
    for (const auto& [id, name] : all) {
      if (const auto reason = stall_reason(name)) reasons_[id] = *reason;
    }
  }

  void configure(std::uint32_t period) {
    check(set_up(
        functions().configure, context_,
        {.period = period, .has_control = true, .hardware_buffer = buffer_bytes, .rest = &*unfetched_}));
  }

  void fetch() {
    auto params = in_context<CUpti_PCSamplingGetDataParams>(CUpti_PCSamplingGetDataParamsSize, context_);
    fetched_->empty();
    params.pcSamplingData = &fetched_->data;
    check(functions().data(&params));
    if (fetched_->data.hardwareBufferFull != 0 || fetched_->data.droppedSamples > 0) {
      throw Error(ExitCode::environment,
                  "the GPU's buffer of samples ran over, so that they do not stand for the whole kernel");
    }
  }

  /// CUPTI lets records share a function's name, and keeps using it: it is not ours to free.
  [[nodiscard]] SampledInstruction described(const CUpti_PCSamplingPCData& record) const {
    SampledInstruction sampled;
    if (record.functionName != nullptr) sampled.symbol = record.functionName;
    sampled.place = modules_.place_of(record);
    for (std::size_t i = 0; i < record.stallReasonCount; ++i) {
      const CUpti_PCSamplingStallReason& stall = record.stallReason[i];
      const auto reason = reasons_.find(stall.pcSamplingStallReasonIndex);
      if (reason != reasons_.end() && stall.samples > 0) sampled.samples[reason->second] += stall.samples;
    }
    return sampled;
  }

  CUctx_st* context_;
  Modules modules_;
  CUpti_SubscriberHandle subscriber_;
  std::uint32_t period_ = 0;                      ///< 2^n cycles; 0: none was set yet
  std::size_t all_reasons_ = 0;                   ///< that CUPTI counts, those of no interest here too
  std::map<std::uint32_t, std::string> reasons_;  ///< by CUPTI's numbers for them
  std::optional<SampleBuffer> unfetched_;         ///< what is left when sampling is switched off
  std::optional<SampleBuffer> fetched_;
};

std::uint32_t sampling_period(double seconds, double samples) {
  const double samples_a_cycle = gpu().multiProcessorCount;
  int kilohertz = 0;
  check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  const double cycles = seconds * 1e3 * kilohertz;
  const double exponent = std::log2(std::max(cycles * samples_a_cycle / samples, 1.0));
  return std::clamp(static_cast<std::uint32_t>(std::lround(exponent)), shortest_period, longest_period);
}

PcSampler::PcSampler(CUctx_st* context) : session_(std::make_unique<Session>(context)) {}

PcSampler::~PcSampler() = default;

void PcSampler::start(double expected_seconds) {
  session_->start(expected_seconds);
}

std::vector<SampledInstruction> PcSampler::stop() {
  return session_->stop();
}

}  // namespace mprof::cuda
