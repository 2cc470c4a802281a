#include "tests/support/fake_device.hpp"

namespace mprof::test {
namespace {

class FakeTimer final : public DeviceTimer {
 public:
  FakeTimer(FakeClock& clock, const FakeDevice& device) : clock_(clock), device_(device) {}
  void start() override { start_ = clock_.now(); }
  void stop() override { stop_ = clock_.now(); }
  [[nodiscard]] double seconds() override {
    clock_.advance(device_.wait_seconds);
    return stop_ - start_;
  }

 private:
  FakeClock& clock_;
  const FakeDevice& device_;
  double start_ = 0;
  double stop_ = 0;
};

}  // namespace

std::unique_ptr<DeviceTimer> FakeDevice::make_timer() const {
  return std::make_unique<FakeTimer>(clock_, *this);
}

}  // namespace mprof::test
