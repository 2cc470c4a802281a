// SPDX-License-Identifier: MIT
// The instruments against work of a known size.
#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/check.hpp"
#include "cuda/cold_cache.hpp"
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
      timer->start(false);
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
      timer->start(false);
      read_all<<<1, 1024>>>(values.data(), count, sum.data());
      timer->stop();
      times->push_back(timer->seconds());
    }
  }
  EXPECT_LT(median(hot), 0.9 * median(cold));
}

/// Median time of 50 short kernels one after another.
double time_of_many(DeviceTimer& timer, bool hold) {
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) {
    timer.start(hold);
    for (int kernel = 0; kernel < 50; ++kernel) spin<<<1, 1>>>(1000);
    timer.stop();
    times.push_back(timer.seconds());
    EXPECT_EQ(timer.was_held(), hold);
  }
  return median(times);
}

TEST(Instrument, CachesAreMadeColdAndNothingElse) {
  const cuda::DeviceBuffer<float> values(1 << 20);
  cuda::check(cudaMemset(values.data(), 0x55, values.bytes()));
  cuda::clean_cache();
  cuda::start_cold_in_callback();
  std::vector<unsigned> after(values.size());
  cuda::check(cudaMemcpy(after.data(), values.data(), values.bytes(), cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::count(after.begin(), after.end(), 0x55555555U), static_cast<std::ptrdiff_t>(after.size()));
}

TEST(Instrument, HeldWorkHasNoGapsOfLaunching) {
  const std::unique_ptr<DeviceTimer> timer = Devices::instance().find("cuda")->make_timer();
  ASSERT_TRUE(timer->can_hold());
  time_of_many(*timer, false);
  const double launched = time_of_many(*timer, false), held = time_of_many(*timer, true);
  RecordProperty("launched", std::to_string(launched));
  RecordProperty("held", std::to_string(held));
  EXPECT_LT(held, launched);
  EXPECT_GT(held, 50 * 1e-6) << "it holds all the kernels";
}

TEST(Instrument, WorkThatWaitsForTheGpuIsNotHeldForEver) {
  const std::unique_ptr<DeviceTimer> timer = Devices::instance().find("cuda")->make_timer();
  timer->start(true);
  spin<<<1, 1>>>(1000);
  Devices::instance().find("cuda")->synchronize();
  timer->stop();
  static_cast<void>(timer->seconds());
  EXPECT_FALSE(timer->was_held());
  timer->start(true);
  spin<<<1, 1>>>(1000);
  timer->stop();
  static_cast<void>(timer->seconds());
  EXPECT_TRUE(timer->was_held()) << "the next one is";
}

/// What the op before left to be written is no business of the next one.
__global__ void write_all(float* values, std::size_t count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    values[i] = 1;
}

TEST(Instrument, AFlushedCacheIsClean) {
  const Device& device = *Devices::instance().find("cuda");
  const std::unique_ptr<DeviceTimer> timer = device.make_timer();
  const std::size_t count = std::size_t{1} << 24;  // 64 MiB, about an L2 cache
  const cuda::DeviceBuffer<float> mine(count), others(count);
  std::vector<double> clean, dirty;
  for (int i = 0; i < 15; ++i) {
    for (std::vector<double>* times : {&clean, &dirty}) {
      write_all<<<1024, 256>>>(others.data(), count);
      if (times == &clean) device.flush_cache();
      device.synchronize();
      timer->start(true);
      write_all<<<1024, 256>>>(mine.data(), count);
      timer->stop();
      times->push_back(timer->seconds());
    }
  }
  EXPECT_LT(median(clean), median(dirty));
}

}  // namespace
}  // namespace mprof
