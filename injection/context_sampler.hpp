// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <cupti.h>
#include <cupti_pcsampling.h>

#include "cuda/pc_sampling.hpp"
#include "injection/cupti_functions.hpp"

namespace mprof::injection {

/// CUPTI's functions that sample program counters.
struct SamplingFunctions {
  explicit SamplingFunctions(const CuptiFunctions& cupti);

  std::string obstacle{};  ///< why they cannot be used, a sentence; empty: they can
  decltype(::cuptiGetCubinCrc)* checksum = nullptr;
  decltype(::cuptiPCSamplingEnable)* enable = nullptr;
  decltype(::cuptiPCSamplingDisable)* disable = nullptr;
  decltype(::cuptiPCSamplingSetConfigurationAttribute)* configure = nullptr;
  decltype(::cuptiPCSamplingGetNumStallReasons)* count_reasons = nullptr;
  decltype(::cuptiPCSamplingGetStallReasons)* name_reasons = nullptr;
  decltype(::cuptiPCSamplingStart)* start = nullptr;
  decltype(::cuptiPCSamplingStop)* stop = nullptr;
  decltype(::cuptiPCSamplingGetData)* data = nullptr;
};

/// Samples the kernels of one context of the program. Called by one thread at a time.
class ContextSampler {
 public:
  using Take = std::function<void(const CUpti_PCSamplingPCData&)>;  ///< gets each instruction

  /// `period`: every 2^n cycles. `has_window`: it samples between start() and stop() alone.
  ContextSampler(const CuptiFunctions& cupti, const SamplingFunctions& functions, CUcontext context,
                 std::uint32_t period, bool has_window);

  /// Why it cannot sample, without a full stop; empty: it does.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
  /// CUPTI's names of what a warp may wait for, by its numbers.
  [[nodiscard]] const cuda::StallReasons& reasons() const { return reasons_; }

  void start();
  /// What was sampled since start() must be taken after it.
  void stop();
  [[nodiscard]] bool is_on() const { return is_on_; }
  /// What was sampled since the last time. It waits for nothing that runs on the GPU.
  void take(const Take& take);
  /// Ends sampling, and gives the rest.
  void close(const Take& take);
  /// Whether the GPU's buffer has run over.
  [[nodiscard]] bool has_lost() const { return has_lost_; }

 private:
  bool enable(std::uint32_t period);
  bool name_reasons();
  bool configure(std::uint32_t period);
  bool succeeds(const char* what, CUptiResult result);
  void give(cuda::SampleBuffer& buffer, const Take& take);

  const CuptiFunctions& cupti_;
  const SamplingFunctions& functions_;
  CUcontext context_;
  bool has_window_;
  std::string obstacle_{};
  cuda::StallReasons reasons_{};
  bool is_on_ = false;
  bool is_closed_ = false;
  bool has_lost_ = false;
  std::unique_ptr<cuda::SampleBuffer> rest_{};     ///< what CUPTI fills by itself
  std::unique_ptr<cuda::SampleBuffer> fetched_{};  ///< what it fills when it is asked
};

}  // namespace mprof::injection
