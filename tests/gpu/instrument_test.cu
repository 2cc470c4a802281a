// The instruments against work of a known size.
#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/handles.hpp"
#include "device/device.hpp"

namespace mprof {
namespace {

/// Lasts `nanoseconds` by the GPU's own clock, which has nothing to do with events.
__global__ void spin(unsigned long long nanoseconds) {
  unsigned long long start = 0;
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

TEST(Instrument, EventsMeasureAKernelOfKnownDurationWithinTwoPercent) {
  const std::unique_ptr<DeviceTimer> timer = Devices::instance().find("cuda")->make_timer();
  spin<<<1, 1>>>(1000);
  for (const double seconds : {0.002, 0.01, 0.05}) {
    std::vector<double> measured;
    for (int i = 0; i < 9; ++i) {
      timer->start();
      spin<<<1, 1>>>(static_cast<unsigned long long>(seconds * 1e9));
      timer->stop();
      measured.push_back(timer->seconds());
    }
    EXPECT_NEAR(median(measured) / seconds, 1, 0.02);
  }
}

__global__ void read_all(const float* values, std::size_t count, float* sum) {
  float part = 0;
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) part += values[i];
  if (part == 1.0F) *sum = part;
}

/// A read that is served by L2 is faster than one that a flush has sent to DRAM.
TEST(Instrument, AFlushedCacheIsCold) {
  const Device& device = *Devices::instance().find("cuda");
  const std::unique_ptr<DeviceTimer> timer = device.make_timer();
  const std::size_t count = std::size_t{1} << 20;  // 4 MiB: more than an L1 cache, less than L2
  const cuda::DeviceBuffer<float> values(count);
  const cuda::DeviceBuffer<float> sum(1);
  cuda::check(cudaMemset(values.data(), 0, values.bytes()));
  std::vector<double> cold;
  std::vector<double> hot;
  for (int i = 0; i < 15; ++i) {
    for (std::vector<double>* times : {&cold, &hot}) {
      if (times == &cold) device.flush_cache();
      device.synchronize();
      timer->start();
      read_all<<<1, 1024>>>(values.data(), count, sum.data());
      timer->stop();
      times->push_back(timer->seconds());
    }
  }
  EXPECT_LT(median(hot), 0.9 * median(cold));
}

}  // namespace
}  // namespace mprof
