// SPDX-License-Identifier: MIT
#include <cstdint>

#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "cuda/sm_clock.hpp"

namespace mprof::cuda {
namespace {

constexpr std::uint64_t spin_nanoseconds = 1'000'000;

struct Span {
  long long cycles;
  std::uint64_t nanoseconds;
};

struct Moment {
  std::uint64_t nanoseconds;
  long long cycles;
};

/// When the timer moved on: on some GPUs it does so once in a microsecond.
__device__ Moment next_tick() {
  std::uint64_t start = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now == start);
  return {now, clock64()};
}

__global__ void spin(Span* span) {
  const Moment first = next_tick();
  Moment last = first;
  while (last.nanoseconds - first.nanoseconds < spin_nanoseconds) last = next_tick();
  *span = {last.cycles - first.cycles, last.nanoseconds - first.nanoseconds};
}

}  // namespace

double measured_sm_clock() {
  static const PinnedBuffer<Span> span(1);  // which the GPU writes by its host address
  spin<<<1, 1>>>(span.data());
  check_launch();
  check(cudaStreamSynchronize(nullptr));
  return static_cast<double>(span.data()->cycles) / (static_cast<double>(span.data()->nanoseconds) * 1e-9);
}

}  // namespace mprof::cuda
