// SPDX-License-Identifier: MIT
#include "system/clock.hpp"

#include <chrono>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

namespace mprof {
namespace {

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] double now() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

/// The clock's time from the kernel itself.
timespec ask_kernel(clockid_t clock) {
  timespec time{};
#if defined(__x86_64__)
  long result = SYS_clock_gettime;
  asm volatile("syscall" : "+a"(result) : "D"(clock), "S"(&time) : "rcx", "r11", "memory");
#else
  ::syscall(SYS_clock_gettime, clock, &time);
#endif
  return time;
}

class KernelClock final : public Clock {
 public:
  [[nodiscard]] double now() const override {
    const timespec time = ask_kernel(CLOCK_MONOTONIC_RAW);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
};

}  // namespace

const Clock& kernel_clock() {
  static const KernelClock clock;
  return clock;
}

const Clock& steady_clock() {
  static const SteadyClock clock;
  return clock;
}

}  // namespace mprof
