#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cuda.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "injection/cupti_functions.hpp"
#include "model/trace/counter_request.hpp"

namespace mprof::injection {

/// CUPTI's functions that count.
struct ProfilerFunctions {
  /// Of the library that `cupti` has. Initializes the profiler as well, which is never undone.
  explicit ProfilerFunctions(const CuptiFunctions& cupti);

  std::string obstacle{};  ///< why they cannot be used, a sentence; empty when they can

  decltype(::cuptiProfilerInitialize)* initialize = nullptr;
  decltype(::cuptiDeviceGetChipName)* chip_name = nullptr;
  decltype(::cuptiRangeProfilerEnable)* enable = nullptr;
  decltype(::cuptiRangeProfilerDisable)* disable = nullptr;
  decltype(::cuptiRangeProfilerGetCounterDataSize)* data_size = nullptr;
  decltype(::cuptiRangeProfilerCounterDataImageInitialize)* clear = nullptr;
  decltype(::cuptiRangeProfilerSetConfig)* configure = nullptr;
  decltype(::cuptiRangeProfilerStart)* start = nullptr;
  decltype(::cuptiRangeProfilerStop)* stop = nullptr;
  decltype(::cuptiRangeProfilerPushRange)* push = nullptr;
  decltype(::cuptiRangeProfilerPopRange)* pop = nullptr;
  decltype(::cuptiRangeProfilerDecodeData)* decode = nullptr;
  decltype(::cuptiRangeProfilerGetCounterDataInfo)* info = nullptr;
  decltype(::cuptiRangeProfilerCounterDataGetRangeInfo)* range = nullptr;
};

/// Counts kernels of one context. A session counts several of them in as many passes as the metrics need:
/// each launch that is counted is run once, as it is, in a range that is named by the number of its kernel,
/// by which CUPTI finds together what its passes have counted (user range and user replay). Where launches
/// are replayed, a session counts one, and CUPTI runs it again for each pass (auto range and kernel replay).
/// What goes wrong is told as a sentence without its full stop; nullopt: nothing.
class RangeProfiler {
 public:
  using Obstacle = std::optional<std::string>;

  /// A session has at most `most_ranges`.
  RangeProfiler(const CuptiFunctions& cupti, const ProfilerFunctions& functions,
                const journal::CounterRequest& request, std::size_t most_ranges)
      : cupti_(cupti), functions_(functions), request_(request), most_ranges_(most_ranges) {}

  [[nodiscard]] Obstacle open(CUcontext context);

  /// Forgets what was counted: the next pass is the first one of a session.
  [[nodiscard]] Obstacle begin();
  /// A pass.
  [[nodiscard]] Obstacle start();
  [[nodiscard]] Obstacle stop();
  [[nodiscard]] bool is_started() const { return is_started_; }
  /// All passes are through.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  /// Stand around the launch of a kernel, in a pass.
  [[nodiscard]] Obstacle push(std::uint64_t kernel);
  [[nodiscard]] Obstacle pop();

  /// Makes data() of what was counted.
  [[nodiscard]] Obstacle decode();
  [[nodiscard]] std::string_view data() const {
    return {reinterpret_cast<const char*>(data_.data()), data_.size()};
  }
  /// The kernels of its ranges, in their order; of a replayed one 0.
  [[nodiscard]] std::vector<std::uint64_t> kernels() const;

 private:
  [[nodiscard]] Obstacle tried(const char* what, CUptiResult result) const;
  [[nodiscard]] Obstacle enable();
  [[nodiscard]] Obstacle enable_anew();
  [[nodiscard]] Obstacle make_room();
  [[nodiscard]] std::size_t ranges() const;

  const CuptiFunctions& cupti_;
  const ProfilerFunctions& functions_;
  const journal::CounterRequest& request_;
  std::size_t most_ranges_;
  std::vector<std::uint8_t> data_{};  ///< CUPTI looks at that of an earlier session again: one for all
  CUcontext context_ = nullptr;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool is_started_ = false;
  bool is_complete_ = true;  ///< of the session that was begun last, if any
};

}  // namespace mprof::injection
