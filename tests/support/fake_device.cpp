// SPDX-License-Identifier: MIT
#include "tests/support/fake_device.hpp"

namespace mprof::test {
namespace {

class FakeTimer final : public DeviceTimer {
 public:
  FakeTimer(FakeClock& clock, const FakeDevice& device) : clock_(clock), device_(device) {}
  void start(bool hold) override {
    is_holding_ = hold;
    start_ = clock_.now();
  }
  void stop() override { stop_ = clock_.now(); }
  [[nodiscard]] double seconds() override {
    clock_.advance(device_.wait_seconds);
    return stop_ - start_ - (was_held() ? device_.launch_gap : 0);
  }
  [[nodiscard]] bool can_hold() const override { return device_.can_hold; }
  [[nodiscard]] bool was_held() const override { return is_holding_ && !device_.waits; }

 private:
  FakeClock& clock_;
  const FakeDevice& device_;
  bool is_holding_ = false;
  double start_ = 0;
  double stop_ = 0;
};

}  // namespace

std::unique_ptr<DeviceTimer> FakeDevice::make_timer() const {
  return std::make_unique<FakeTimer>(clock_, *this);
}

}  // namespace mprof::test
