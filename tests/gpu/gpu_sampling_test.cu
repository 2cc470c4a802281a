// SPDX-License-Identifier: MIT
// Each metric that is sampled over time, compared with a kernel whose work is known.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <mma.h>

#include "cuda/check.hpp"
#include "cuda/cupti.hpp"
#include "cuda/gpu.hpp"
#include "cuda/pm_sampler.hpp"
#include "device/device.hpp"
#include "model/trace/gpu_samples.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

using trace::GpuMetric;

constexpr double interval = 100e-6;                   // s
constexpr long long busy_time = 100'000'000;          // ns, of each kernel of known work
constexpr std::size_t copied = std::size_t{1} << 30;  // B

__device__ long long nanoseconds() {
  long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Keeps its multiprocessor busy for a time.
__global__ void occupy(long long duration) {
  const long long start = nanoseconds();
  while (nanoseconds() - start < duration) {
  }
}

__global__ void copy_all(const float4* from, float4* to, std::size_t count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = from[i];
}

/// Four independent multiply-adds, again and again: a scheduler has one to issue in each cycle.
__global__ void multiply_add(long long duration, float* sum) {
  float a = 1, b = 2, c = 3, d = 4;
  const long long start = nanoseconds();
  while (nanoseconds() - start < duration) {
#pragma unroll 32  // more would not stay in the caches of instructions
    for (int i = 0; i < 4096; ++i) {
      a = fmaf(a, 0.999F, 0.1F);
      b = fmaf(b, 0.999F, 0.1F);
      c = fmaf(c, 0.999F, 0.1F);
      d = fmaf(d, 0.999F, 0.1F);
    }
  }
  if (a + b + c + d == 0) *sum = a;
}

__global__ void multiply_matrices(long long duration, float* sum) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[4];
  wmma::fill_fragment(a, __float2half(0.01F));
  wmma::fill_fragment(b, __float2half(0.01F));
  for (auto& one : c) wmma::fill_fragment(one, 0.0F);
  const long long start = nanoseconds();
  while (nanoseconds() - start < duration) {
    for (int i = 0; i < 64; ++i) {
      for (auto& one : c) wmma::mma_sync(one, a, b, one);
    }
  }
  float all = 0;
  for (auto& one : c) all += one.x[0];
  if (all == -1) *sum = all;
}

class GpuSamplingOfKnownWork : public ::testing::Test {
 protected:
  struct Seen {
    std::vector<std::string> metrics;
    std::vector<cuda::PmSampler::Sample> all;     ///< from before the work until after it
    std::vector<cuda::PmSampler::Sample> inside;  ///< wholly while it ran
    double seconds = 0;                           ///< of the work
  };

  void SetUp() override {
    if (const auto reason = cuda::cupti_unavailable()) GTEST_SKIP() << *reason;
    cuda::check(cudaGetDeviceProperties(&gpu_, 0));
    cuda::check(cudaMalloc(&from_, copied));
    cuda::check(cudaMalloc(&to_, copied));
    cuda::check(cudaMemset(from_, 1, copied));
    cuda::check(cudaDeviceSynchronize());
  }
  void TearDown() override {
    cudaFree(from_);
    cudaFree(to_);
  }

  [[nodiscard]] unsigned multiprocessors() const { return static_cast<unsigned>(gpu_.multiProcessorCount); }
  [[nodiscard]] float* sum() const { return static_cast<float*>(to_); }

  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  /// What the metrics say while `work` runs, which waits for its end.
  Seen sample(const std::vector<std::string>& metrics, const std::function<void()>& work) {
    work();  // loads the module, and wakes the clocks
    Seen seen;
    cuda::PmSampler sampler(metrics, interval);
    seen.metrics = sampler.metrics();
    if (seen.metrics.empty()) return seen;
    sampler.start();
    pause();
    const std::int64_t start = now();
    work();
    const std::int64_t end = now();
    pause();
    sampler.stop();
    for (bool is_first = true;;) {
      cuda::PmSampler::Decoded decoded = sampler.decode();
      EXPECT_FALSE(decoded.overflowed);
      for (cuda::PmSampler::Sample& one : decoded.samples) {
        if (!std::exchange(is_first, false)) seen.all.push_back(std::move(one));
      }
      if (!decoded.is_full) break;
    }
    for (const cuda::PmSampler::Sample& one : seen.all) {
      if (one.start >= start + margin && one.end <= end - margin) seen.inside.push_back(one);
    }
    seen.seconds = static_cast<double>(end - start) * 1e-9;
    return seen;
  }

  static std::string name_of(GpuMetric metric) { return std::string(trace::info_of(metric).cupti); }

  /// The mean of a metric while the work ran, as a file has it: in per cent, or in MHz. Skips the test where
  /// the chip does not have it.
  std::optional<double> mean(GpuMetric metric, const std::function<void()>& work) {
    const Seen seen = sample({name_of(metric)}, work);
    if (seen.metrics.empty()) return std::nullopt;
    EXPECT_GE(seen.inside.size(), 100) << "of " << seen.all.size() << " samples";
    double total = 0;
    for (const cuda::PmSampler::Sample& one : seen.inside) total += one.values.front();
    const double mean = total / static_cast<double>(seen.inside.size()) * trace::info_of(metric).cupti_factor;
    std::printf("%s: %.3f over %zu samples\n", std::string(trace::info_of(metric).key).c_str(), mean,
                seen.inside.size());
    return mean;
  }

  /// All that a counter counted, and how long the work took.
  std::optional<std::pair<double, double>> total(const std::string& counter,
                                                 const std::function<void()>& work) {
    const Seen seen = sample({counter}, work);
    if (seen.metrics.empty()) return std::nullopt;
    double total = 0;
    for (const cuda::PmSampler::Sample& one : seen.all) total += one.values.front();
    std::printf("%s: %.4g in %.4f s\n", counter.c_str(), total, seen.seconds);
    return std::pair(total, seen.seconds);
  }

  void copy_often() const {
    for (int i = 0; i < times; ++i)
      copy_all<<<8 * multiprocessors(), 256>>>(static_cast<const float4*>(from_), static_cast<float4*>(to_),
                                               copied / sizeof(float4));
    cuda::check(cudaDeviceSynchronize());
  }
  [[nodiscard]] static double copied_bytes() { return static_cast<double>(copied) * times; }

  static constexpr int times = 100;
  static constexpr std::int64_t margin = 1'000'000;  // ns

  cudaDeviceProp gpu_{};
  void* from_ = nullptr;
  void* to_ = nullptr;

 private:
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
};

TEST_F(GpuSamplingOfKnownWork, MultiprocessorsAreActiveWhereABlockIs) {
  const unsigned blocks = multiprocessors() / 8;
  const auto active = mean(GpuMetric::sm_active, [&] {
    occupy<<<blocks, 32>>>(busy_time);
    cuda::check(cudaDeviceSynchronize());
  });
  if (!active) GTEST_SKIP() << "this chip does not have it";
  EXPECT_NEAR(*active, 100.0 * blocks / multiprocessors(), 1);
  const auto all = mean(GpuMetric::sm_active, [&] {
    occupy<<<multiprocessors(), 1024>>>(busy_time);
    cuda::check(cudaDeviceSynchronize());
  });
  EXPECT_NEAR(all.value_or(0), 100, 1);
}

TEST_F(GpuSamplingOfKnownWork, WarpsAreThoseOfTheBlocks) {
  const auto warps = mean(GpuMetric::warps, [&] {
    occupy<<<multiprocessors(), 1024>>>(busy_time);
    cuda::check(cudaDeviceSynchronize());
  });
  if (!warps) GTEST_SKIP() << "this chip does not have it";
  EXPECT_NEAR(*warps, 100.0 * 1024 / gpu_.maxThreadsPerMultiProcessor, 2);
}

TEST_F(GpuSamplingOfKnownWork, SchedulersIssueWhereTheyHaveSomething) {
  const auto issued = mean(GpuMetric::sm_issue, [&] {
    multiply_add<<<2 * multiprocessors(), 512>>>(busy_time, sum());
    cuda::check(cudaDeviceSynchronize());
  });
  if (!issued) GTEST_SKIP() << "this chip does not have it";
  EXPECT_GT(*issued, 85);
  EXPECT_LE(*issued, 100.5);
}

TEST_F(GpuSamplingOfKnownWork, TensorCoresWorkInMatricesAlone) {
  const auto idle = mean(GpuMetric::tensor_active, [&] { copy_often(); });
  if (!idle) GTEST_SKIP() << "this chip does not have it";
  EXPECT_LT(*idle, 0.05);
  const auto active = mean(GpuMetric::tensor_active, [&] {
    multiply_matrices<<<4 * multiprocessors(), 256>>>(busy_time, sum());
    cuda::check(cudaDeviceSynchronize());
  });
  EXPECT_GT(active.value_or(0), 20);
  EXPECT_LE(active.value_or(0), 100.5);
}

/// The counters of bytes say how much the copies moved; the shares of the peak, how much of the bus that is.
TEST_F(GpuSamplingOfKnownWork, DramIsReadAndWrittenAsMuchAsIsCopied) {
  int kilohertz = 0, bits = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, 0), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0), cudaSuccess);
  const double of_the_bus = 2 * 1e3 * kilohertz * bits / 8;  // B/s, two transfers a cycle
  for (const auto& [counter, metric] : {std::pair{"dram__bytes_read.sum", GpuMetric::dram_read},
                                        std::pair{"dram__bytes_write.sum", GpuMetric::dram_write}}) {
    SCOPED_TRACE(counter);
    const auto bytes = total(counter, [&] { copy_often(); });
    if (!bytes) GTEST_SKIP() << "this chip does not have it";
    EXPECT_NEAR(bytes->first / copied_bytes(), 1, 0.05);
    const auto share = mean(metric, [&] { copy_often(); });
    const double expected = 100 * copied_bytes() / bytes->second / of_the_bus;
    EXPECT_NEAR(share.value_or(0) / expected, 1, 0.1) << "of a bus of " << of_the_bus << " B/s";
  }
}

TEST_F(GpuSamplingOfKnownWork, TheL2CachePassesOnWhatIsCopied) {
  const auto sectors = total("lts__t_sectors.sum", [&] { copy_often(); });
  if (!sectors) GTEST_SKIP() << "this chip does not have it";
  constexpr double sector = 32;  // B
  EXPECT_GT(sectors->first * sector / copied_bytes(), 1.9) << "each byte is read and written";
  const auto share = mean(GpuMetric::l2, [&] { copy_often(); });
  EXPECT_GT(share.value_or(0), 5);
  EXPECT_LT(share.value_or(0), 100);
}

TEST_F(GpuSamplingOfKnownWork, PcieCarriesWhatIsCopiedFromTheHost) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  constexpr int often = 8;
  void* host = nullptr;
  cuda::check(cudaMallocHost(&host, bytes));
  const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
    for (int i = 0; i < often; ++i) cuda::check(cudaMemcpyAsync(to, from, bytes, kind));
    cuda::check(cudaDeviceSynchronize());
  };
  const auto in = [&] { copy(to_, host, cudaMemcpyHostToDevice); };
  const auto out = [&] { copy(host, to_, cudaMemcpyDeviceToHost); };
  const auto read = total("pcie__read_bytes.sum", in);
  const auto written = total("pcie__write_bytes.sum", out);
  const auto read_share = mean(GpuMetric::pcie_read, in);
  const auto written_share = mean(GpuMetric::pcie_write, out);
  cuda::check(cudaFreeHost(host));
  if (!read || !written) GTEST_SKIP() << "this chip does not have it";
  const double copied_over = static_cast<double>(bytes) * often;
  for (const double one : {read->first, written->first}) {
    EXPECT_GT(one / copied_over, 0.97);
    EXPECT_LT(one / copied_over, 1.35) << "packets have heads";
  }
  for (const double share : {read_share.value_or(0), written_share.value_or(0)}) {
    EXPECT_GT(share, 20);
    EXPECT_LE(share, 100.5);
  }
}

TEST_F(GpuSamplingOfKnownWork, TheClockIsOneThatTheGpuCanHave) {
  const auto megahertz = mean(GpuMetric::clock, [&] {
    occupy<<<multiprocessors(), 32>>>(busy_time);
    cuda::check(cudaDeviceSynchronize());
  });
  if (!megahertz) GTEST_SKIP() << "this chip does not have it";
  int kilohertz = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0), cudaSuccess);
  EXPECT_GT(*megahertz, 0.25 * 1e-3 * kilohertz);
  EXPECT_LT(*megahertz, 1.02 * 1e-3 * kilohertz);
}

/// Bursts of two milliseconds are found where the host launched and waited for them.
TEST_F(GpuSamplingOfKnownWork, ItsTimesAreTheHosts) {
  constexpr int bursts = 20;
  constexpr std::int64_t two_intervals = 200'000;  // ns
  std::vector<std::pair<std::int64_t, std::int64_t>> launched;
  const Seen seen = sample({name_of(GpuMetric::sm_active)}, [&] {
    launched.clear();
    for (int i = 0; i < bursts; ++i) {
      const std::int64_t start = now();
      occupy<<<multiprocessors(), 128>>>(2'000'000);
      cuda::check(cudaDeviceSynchronize());
      launched.emplace_back(start, now());
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  if (seen.metrics.empty()) GTEST_SKIP() << "this chip does not have it";
  for (const std::pair<std::int64_t, std::int64_t>& burst : launched) {
    const std::int64_t start = burst.first, end = burst.second;
    std::vector<cuda::PmSampler::Sample> busy;
    std::ranges::copy_if(seen.all, std::back_inserter(busy), [&](const cuda::PmSampler::Sample& one) {
      return one.start > start - 1'000'000 && one.end < end + 1'000'000 && one.values.front() > 50;
    });
    ASSERT_FALSE(busy.empty());
    EXPECT_NEAR(static_cast<double>(busy.front().start - start), 0, 2 * two_intervals);
    EXPECT_NEAR(static_cast<double>(end - busy.back().end), 0, 2 * two_intervals);
  }
}

TEST_F(GpuSamplingOfKnownWork, ASecondSamplerIsRefusedWithTheReason) {
  cuda::PmSampler first(std::vector{name_of(GpuMetric::sm_active)}, interval);
  first.start();
  try {
    cuda::PmSampler second(std::vector{name_of(GpuMetric::sm_active)}, interval);
    second.start();
    ADD_FAILURE() << "two at once";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("Another profiler"), std::string::npos) << error.what();
  }
}

/// What `mprof run --sample` takes, all at once.
TEST_F(GpuSamplingOfKnownWork, TheDefaultMetricsFitOnePass) {
  std::vector<std::string> metrics;
  for (const trace::GpuMetricInfo& one : trace::gpu_metrics()) {
    if (one.id != GpuMetric::dram) metrics.emplace_back(one.cupti);
  }
  const Seen seen = sample(metrics, [&] { copy_often(); });
  ASSERT_GE(seen.metrics.size(), 2);
  EXPECT_GE(seen.inside.size(), 100);
  for (std::size_t i = 0; i < seen.metrics.size(); ++i) {
    double total = 0;
    for (const cuda::PmSampler::Sample& one : seen.inside) total += one.values[i];
    std::printf("%s: %.4g\n", seen.metrics[i].c_str(), total / static_cast<double>(seen.inside.size()));
  }
}

}  // namespace
}  // namespace mprof
