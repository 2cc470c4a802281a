// SPDX-License-Identifier: MIT
#include "collectors/clock_check.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace mprof {
namespace {

/// Reads around samples, never within one. The other clock is read before and after the one that is checked:
/// what puts the process aside between two readings makes the bounds wider, and nobody suspect.
class ClockCheck final : public Collector {
 public:
  ClockCheck(const Clock& clock, const Clock& other) : clock_(clock), other_(other) {}

  void begin_sample() override { start_ = read(); }
  void end_sample() override {
    const Reading end = read();
    seconds_ += end.time - start_.time;
    least_ += end.before - start_.after;
    most_ += end.after - start_.before;
  }

  [[nodiscard]] std::optional<std::string> suspicion() const override {
    constexpr double tolerance = 0.002;  // the steady clock may be slewed by a quarter of it
    constexpr double resolution = 1e-4;  // s, more than rounding leaves in the sums
    const double nearest = std::clamp(seconds_, least_, most_);
    if (std::abs(seconds_ - nearest) <= resolution + tolerance * nearest) return std::nullopt;
    return fmt::format(
        "the clock that times are taken by counted {:.4g} s while the kernel's counted {:.4g} s: something "
        "in its process replaced a clock",
        seconds_, nearest);
  }

  void finish(std::vector<Measurement>& /*measurements*/) override {}

 private:
  /// The checked clock's time, and the other's before and after it was read.
  struct Reading {
    double before = 0, time = 0, after = 0;
  };
  [[nodiscard]] Reading read() const {
    Reading reading;
    reading.before = other_.now();
    reading.time = clock_.now();
    reading.after = other_.now();
    return reading;
  }

  const Clock& clock_;
  const Clock& other_;
  Reading start_{};
  double seconds_ = 0;
  double least_ = 0, most_ = 0;  ///< that the other counted
};

const bool registered =
    (CollectorKinds::instance().add({
         "clock_check",
         Pass::timing,
         "",
         6,
         [] { return std::nullopt; },
         [](const CaseContext&) { return make_clock_check(steady_clock(), kernel_clock()); },
     }),
     true);

}  // namespace

std::unique_ptr<Collector> make_clock_check(const Clock& clock, const Clock& other) {
  return std::make_unique<ClockCheck>(clock, other);
}

}  // namespace mprof
