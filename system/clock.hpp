// SPDX-License-Identifier: MIT
#pragma once

namespace mprof {

/// Host time. An interface, so that a test drives the runner with a clock of its own.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds since an arbitrary point; never goes back.
  [[nodiscard]] virtual double now() const = 0;
};

/// std::chrono::steady_clock.
[[nodiscard]] const Clock& steady_clock();

/// The kernel's CLOCK_MONOTONIC_RAW, asked for without any function that code loaded later could replace. Up
/// to 500 ppm from the steady clock, which is slewed to the time of day; a call takes about 0.1 us longer.
[[nodiscard]] const Clock& kernel_clock();

}  // namespace mprof
