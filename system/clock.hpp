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

}  // namespace mprof
