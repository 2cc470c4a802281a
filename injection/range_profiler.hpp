// SPDX-License-Identifier: MIT
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
  decltype(::cuptiRangeProfilerDecodeData)* decode = nullptr;
  decltype(::cuptiRangeProfilerGetCounterDataInfo)* info = nullptr;
};

/// Counts launches of one context, each in a range of its own ("auto range"). A pass is what is launched
/// between start() and stop(). CUPTI puts the first launches of all passes of a session together, then the
/// second ones, and so on.
///
/// Each launch runs once, as it is ("user replay"). Where launches are replayed, each runs again for each
/// pass, and a session takes one launch alone ("kernel replay"). An obstacle is a sentence without its full
/// stop; nullopt: nothing went wrong.
class RangeProfiler {
 public:
  using Obstacle = std::optional<std::string>;

  /// A pass has at most `most_ranges`.
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
  /// Makes data() of what was counted.
  [[nodiscard]] Obstacle decode();
  [[nodiscard]] std::string_view data() const {
    return {reinterpret_cast<const char*>(data_.data()), data_.size()};
  }
  /// That data() has.
  [[nodiscard]] std::size_t ranges() const;

 private:
  [[nodiscard]] Obstacle tried(const char* what, CUptiResult result) const;
  [[nodiscard]] Obstacle enable();
  [[nodiscard]] Obstacle enable_anew();
  [[nodiscard]] Obstacle make_room();

  const CuptiFunctions& cupti_;
  const ProfilerFunctions& functions_;
  const journal::CounterRequest& request_;
  std::size_t most_ranges_;
  std::vector<std::uint8_t> data_{};  ///< CUPTI looks at an earlier session's data again: one for all
  CUcontext context_ = nullptr;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool is_started_ = false;
  bool is_complete_ = true;  ///< of the session that was begun last, if any
};

}  // namespace mprof::injection
