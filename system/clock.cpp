#include "system/clock.hpp"

#include <chrono>

namespace mprof {
namespace {

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] double now() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

}  // namespace

const Clock& steady_clock() {
  static const SteadyClock clock;
  return clock;
}

}  // namespace mprof
