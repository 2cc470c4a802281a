// SPDX-License-Identifier: MIT
#pragma once

#include "system/clock.hpp"

namespace mprof::test {

/// Time that passes only when a test says so. Seconds that are sums of powers of two add up exactly.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] double now() const override { return now_; }
  void advance(double seconds) { now_ += seconds; }

 private:
  double now_ = 1024;  // not 0: what forgets to subtract a start time must be noticed
};

}  // namespace mprof::test
