// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include "cuda/stream_hold.hpp"
#include "device/device.hpp"

namespace mprof::cuda {

/// Seconds between two events of the default stream. All streams of the context wait for the first event, and
/// the second event waits for all streams. So work on a stream of a variant's own is measured as any other.
/// What the events take around nothing is left out.
///
/// The driver is called by the addresses of its own library, whatever symbols a variant defines.
class EventTimer final : public DeviceTimer {
 public:
  /// Throws Error when the GPU cannot be used. Measures the time of an empty op, and so takes some
  /// milliseconds.
  EventTimer();
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;
  ~EventTimer() override;

  void start(bool hold) override;
  void stop() override;
  [[nodiscard]] double seconds() override;
  [[nodiscard]] bool can_hold() const override { return true; }
  [[nodiscard]] bool was_held() const override { return is_holding_ && hold_.has_lasted(); }
  [[nodiscard]] double overhead() const override { return overhead_; }

 private:
  [[nodiscard]] double between_events() const;

  StreamHold hold_;
  bool is_holding_ = false;
  CUcontext context_ = nullptr;
  CUevent start_ = nullptr;
  CUevent all_ = nullptr;  ///< all that the context was given before stop()
  CUevent stop_ = nullptr;
  double overhead_ = 0;  ///< s
};

}  // namespace mprof::cuda
