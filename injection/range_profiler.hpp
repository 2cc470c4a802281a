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
        replay_(request.replays ? CUPTI_KernelReplay : CUPTI_UserReplay) {}

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
  [[nodiscard]] std::string_view data() const { return {reinterpret_cast<const char*>(data_.data()), size_}; }

 private:
  using Bytes = std::vector<std::uint8_t>;
  [[nodiscard]] Obstacle tried(const char* what, CUptiResult result) const;
  [[nodiscard]] Obstacle size_of(std::size_t group, std::size_t& bytes) const;
  [[nodiscard]] Obstacle make_room();

  const CuptiFunctions& cupti_;
  const ProfilerFunctions& functions_;
  const std::vector<journal::MetricGroup>& groups_;
  CUpti_ProfilerReplayMode replay_;
  // Made once, for the largest group: with places of their own all groups but the first came back without a
  // number (CUPTI 13.0), and CUPTI looks at those of an earlier group again.
  Bytes config_{};
  Bytes data_{};
  std::size_t size_ = 0;  ///< of data_, in bytes: what the group that was begun last needs
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool is_complete_ = false;
};

}  // namespace mprof::injection
