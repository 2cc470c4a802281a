// SPDX-License-Identifier: MIT
#include "collectors/clock_check.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace mprof {
namespace {

/// Reads around samples, never within one.
class ClockCheck final : public Collector {
 public:
  ClockCheck(const Clock& clock, const Clock& other) : clock_(clock), other_(other) {}

  void begin_sample() override {
    start_ = clock_.now();
    other_start_ = other_.now();
  }
  void end_sample() override {
    seconds_ += clock_.now() - start_;
    other_seconds_ += other_.now() - other_start_;
  }

  [[nodiscard]] std::optional<std::string> suspicion() const override {
    constexpr double tolerance = 0.002;  // the steady clock may be slewed by a quarter of it
    constexpr double allowance = 1e-3;   // s, for a process that is put aside between two readings
    if (std::abs(seconds_ - other_seconds_) <= allowance + tolerance * other_seconds_) return std::nullopt;
    return fmt::format(
        "the clock that times are taken by counted {:.4g} s while the kernel's counted {:.4g} s: something "
        "in its process replaced a clock",
        seconds_, other_seconds_);
  }

  void finish(std::vector<Measurement>& /*measurements*/) override {}

 private:
  const Clock& clock_;
  const Clock& other_;
  double start_ = 0;
  double other_start_ = 0;
  double seconds_ = 0;
  double other_seconds_ = 0;
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
