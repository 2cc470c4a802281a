// SPDX-License-Identifier: MIT
// Kernels whose multiply-adds are known to the last one, and whose traffic to a few percent.
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectors/collector.hpp"
#include "cuda/gpu.hpp"
#include "cuda/handles.hpp"
#include "device/device.hpp"
#include "tests/support/measurements.hpp"

namespace mprof {
namespace {

constexpr unsigned blocks = 500;
constexpr unsigned threads = 96;
constexpr unsigned links = 1000;

__global__ void known_ffma(float* values, float factor, float term) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  float x = values[i];
  for (unsigned n = 0; n < links; ++n) x = fmaf(x, factor, term);
  values[i] = x;
}

__global__ void known_traffic(const float* a, const float* b, float* c, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) c[i] = a[i] + 3 * b[i];
}

/// Adds what it reads; the sums are written nowhere, and the compiler does not know that.
__global__ void known_reads(const float4* from, std::size_t count, float* sum) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  float part = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    part += from[i].x + from[i].y + from[i].z + from[i].w;
  if (part != 0) *sum = part;
}

class KnownKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const CollectorKind* each : CollectorKinds::instance().of(Pass::counters, "cuda")) {
      if (each->id == "kernel_counters") kind_ = each;
    }
    ASSERT_NE(kind_, nullptr) << "there is no collector of counters for CUDA";
    if (const auto reason = kind_->unavailable()) GTEST_SKIP() << *reason;
  }

  /// What the counters pass reads of one launch.
  template <class Launch>
  double count(const std::string& metric, const Launch& launch) {
    launch();  // loads the module
    const Device& device = *Devices::instance().find("cuda");
    device.synchronize();
    Case subject;
    subject.ops = {{"layer1", "", 1, 1}};
    Plan plan;
    plan.metrics = {metric};
    const auto collector = kind_->make({subject, device, steady_clock(), plan});
    collector->begin_sample();
    do {
      collector->begin_stage("layer1", Stage::forward);
      launch();
      collector->end_stage("layer1", Stage::forward);
    } while (collector->again("layer1"));
    collector->end_sample();
    std::vector<Measurement> measurements;
    collector->finish(measurements);
    const Measurement row = test::row_of(measurements, metric, "layer1");
    EXPECT_EQ(row.samples.size(), 1U) << row.absent;
    return row.samples.empty() ? -1 : row.samples.front();
  }

 private:
  const CollectorKind* kind_ = nullptr;
};

TEST_F(KnownKernel, ItsFfmaAreCountedExactly) {
  const cuda::DeviceBuffer<float> values(std::size_t{blocks} * threads);
  cuda::check(cudaMemset(values.data(), 0, values.bytes()));
  const double counted = count("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                               [&] { known_ffma<<<blocks, threads>>>(values.data(), 0.5F, 1.0F); });
  EXPECT_EQ(counted, 1.0 * blocks * threads * links);
}

/// A batch that is cut begins and ends with a small piece.
TEST_F(KnownKernel, OfLaunchesOfSeveralSizesTheLargestIsCounted) {
  const cuda::DeviceBuffer<float> values(std::size_t{blocks} * threads);
  cuda::check(cudaMemset(values.data(), 0, values.bytes()));
  const double counted = count("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", [&] {
    for (const unsigned part : {10U, 2U, 1U, 1U, 50U})
      known_ffma<<<blocks / part, threads>>>(values.data(), 0.5F, 1.0F);
  });
  EXPECT_EQ(counted, 1.0 * blocks * threads * links);
}

TEST_F(KnownKernel, ItsBytesFromDramAreCountedWithinThreePercent) {
  const std::size_t elements = std::size_t{1} << 26;  // 256 MiB each: several times the L2 cache
  const cuda::DeviceBuffer<float> a(elements);
  const cuda::DeviceBuffer<float> b(elements);
  const cuda::DeviceBuffer<float> c(elements);
  cuda::check(cudaMemset(a.data(), 0, a.bytes()));
  cuda::check(cudaMemset(b.data(), 0, b.bytes()));
  const double counted = count("dram__bytes_read.sum", [&] {
    known_traffic<<<static_cast<unsigned>(elements / 256), 256>>>(a.data(), b.data(), c.data(), elements);
  });
  EXPECT_NEAR(counted / static_cast<double>(a.bytes() + b.bytes()), 1, 0.03);
}

/// It drives everything out of the L2, so that whatever was dirty there would be written while it runs: what
/// a profiler has written of its own, too, which is not to be charged to the first launch that is counted.
TEST_F(KnownKernel, OneThatOnlyReadsWritesNothingToDram) {
  const cuda::DeviceBuffer<float4> words(std::size_t{1} << 24);  // 256 MiB
  const cuda::DeviceBuffer<float> sum(1);
  cuda::check(cudaMemset(words.data(), 0, words.bytes()));
  const auto count_writes = [&] {
    return count("dram__bytes_write.sum",
                 [&] { known_reads<<<1056, 256>>>(words.data(), words.size(), sum.data()); });
  };
  const double first = count_writes();
  const double second = count_writes();
  std::printf("bytes written by a kernel that only reads: %.0f, and counted again %.0f\n", first, second);
  constexpr double hardly_any = 256 << 10U;
  EXPECT_LE(first, hardly_any);
  EXPECT_LE(second, hardly_any);
}

/// It was launched just before, as it is for each of its passes, and in a program other kernels come between.
TEST_F(KnownKernel, ItsInstructionsAreNoLongerInTheCachesThatItIsCountedWith) {
  const cuda::DeviceBuffer<float> values(std::size_t{blocks} * threads);
  cuda::check(cudaMemset(values.data(), 0, values.bytes()));
  const double missed = count("sm__icc_requests_lookup_miss.sum",
                              [&] { known_ffma<<<blocks, threads>>>(values.data(), 0.5F, 1.0F); });
  EXPECT_GE(missed, cuda::gpu().multiProcessorCount) << "once on each multiprocessor at the least";
}

}  // namespace
}  // namespace mprof
