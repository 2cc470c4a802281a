// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "tests/support/fake_clock.hpp"

namespace mprof::test {

/// A device that works in a test's clock, and counts what it is asked for.
class FakeDevice final : public Device {
 public:
  explicit FakeDevice(FakeClock& clock, std::string id = "cpu") : clock_(clock), id_(std::move(id)) {}

  [[nodiscard]] std::string_view id() const override { return id_; }
  [[nodiscard]] std::optional<std::string> unavailable() const override { return unavailable_reason; }
  [[nodiscard]] std::string name() const override { return "Fake device"; }
  [[nodiscard]] Environment fingerprint() const override {
    return {{id_, {{"model", std::string("Fake device")}, {"frequency", Absent{"it has none"}}}}};
  }
  [[nodiscard]] std::vector<Ceiling> measure_ceilings(double /*seconds*/) const override { return ceilings; }
  [[nodiscard]] std::unique_ptr<DeviceTimer> make_timer() const override;
  [[nodiscard]] int forwards_per_sample() const override { return forwards; }
  void synchronize() const override { ++synchronizations; }
  void flush_cache() const override {
    ++flushes;
    clock_.advance(flush_seconds);
  }

  std::optional<std::string> unavailable_reason;
  std::vector<Ceiling> ceilings;
  int forwards = 1;          ///< forwards_per_sample()
  double flush_seconds = 0;  ///< what flush_cache() takes
  bool can_hold = false;     ///< whether its timers can
  bool waits = false;        ///< whether work waits for the device, so that it cannot be held
  double launch_gap = 0;     ///< what holding takes off a time
  double wait_seconds = 0;   ///< what a timer's seconds() takes, as waiting for a device does
  mutable int flushes = 0;
  mutable int synchronizations = 0;

 private:
  FakeClock& clock_;
  std::string id_;
};

}  // namespace mprof::test
