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

/// Counts kernels of one context, one group of metrics at a time: a pass is what is launched between start()
/// and stop(), once, as it is; where launches are replayed, that is all passes. What goes wrong is told as a
/// sentence without its full stop; nullopt: nothing.
class RangeProfiler {
 public:
  using Obstacle = std::optional<std::string>;

  RangeProfiler(const CuptiFunctions& cupti, const ProfilerFunctions& functions,
                const journal::CounterRequest& request)
      : cupti_(cupti),
        functions_(functions),
        groups_(request.groups),
        replay_(request.replays ? CUPTI_KernelReplay : CUPTI_UserReplay),
        images_(groups_.size()) {}

  [[nodiscard]] Obstacle open(CUcontext context);
  void close();

  /// Forgets what was counted: the next pass is the first one of this group.
  [[nodiscard]] Obstacle begin(std::size_t group);
  [[nodiscard]] Obstacle start();
  [[nodiscard]] Obstacle stop();
  /// All passes are through.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  /// Makes data() of what was counted, once complete.
  [[nodiscard]] Obstacle decode();
  [[nodiscard]] std::string_view data() const {
    const Bytes& counted = images_[group_].data;
    return {reinterpret_cast<const char*>(counted.data()), counted.size()};
  }

 private:
  using Bytes = std::vector<std::uint8_t>;
  /// What CUPTI reads and writes, and looks at again when another group begins: made once, and kept where it
  /// is.
  struct Image {
    Bytes config;
    Bytes data;
  };

  [[nodiscard]] Obstacle tried(const char* what, CUptiResult result) const;
  [[nodiscard]] Obstacle make_room(std::size_t group);

  const CuptiFunctions& cupti_;
  const ProfilerFunctions& functions_;
  const std::vector<journal::MetricGroup>& groups_;
  CUpti_ProfilerReplayMode replay_;
  std::vector<Image> images_;  ///< of each group
  std::size_t group_ = 0;      ///< that was begun last
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool is_complete_ = false;
};

}  // namespace mprof::injection
