// SPDX-License-Identifier: MIT
#include "collectors/cuda/counted_kernel.hpp"

#include <limits>

#include <driver_types.h>
#include <gtest/gtest.h>

namespace mprof {
namespace {

constexpr const char* cycles = "sm__cycles_active.avg";
constexpr const char* hits = "l1tex__t_sector_hit_rate.pct";
constexpr const char* stall = "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio";
constexpr const char* registers = "launch__registers_per_thread";
constexpr const char* theoretical = "sm__maximum_warps_per_active_cycle_pct";

/// Two ops on a GPU that has no counter `stall`; kernels as CUPTI's callbacks would have told of them.
class CountedKernels : public testing::Test {
 protected:
  CountedKernels() {
    gpu.major = 9;
    gpu.maxThreadsPerBlock = 1024;
    gpu.maxThreadsPerMultiProcessor = 2048;
    gpu.regsPerBlock = gpu.regsPerMultiprocessor = 65536;
    gpu.warpSize = 32;
    gpu.sharedMemPerBlock = 48 * 1024;
    gpu.sharedMemPerMultiprocessor = 228 * 1024;
    gpu.sharedMemPerBlockOptin = 227 * 1024;
    gpu.reservedSharedMemPerBlock = 1024;
    gpu.multiProcessorCount = 132;
    selection.chip = "GA100";
    selection.metrics = {cycles, registers, hits, stall, theoretical};
    selection.counted = {cycles, hits};
    selection.missing = {stall};
    ops.resize(2);
    ops[0].name = "layer1";
    ops[1].name = "layer2";
  }

  CountedKernel& kernel(const std::string& op, const std::string& symbol) {
    CountedKernel& k = kernels.emplace_back();
    k.op = op;
    k.launch.symbol = symbol;
    k.launch.grid = {100};
    k.launch.block = {256};
    k.counts = {1000, 75};
    k.attributes = cuda::KernelAttributes{.registers = 64, .max_threads_per_block = 1024};
    return k;
  }

  const Measurement& row(const std::string& metric, const std::string& op, const std::string& name) {
    if (rows.empty()) add_measurements(selection, ops, kernels, gpu, rows);
    for (const Measurement& m : rows) {
      if (m.metric == metric && m.op == op && m.kernel == name) return m;
    }
    throw std::logic_error("no row of " + metric + " for " + name + " in " + op);
  }

  cudaDeviceProp gpu{};
  CounterSelection selection;
  std::vector<OpInfo> ops;
  std::vector<CountedKernel> kernels;
  std::vector<Measurement> rows;
};

using Samples = std::vector<double>;

TEST_F(CountedKernels, GetARowAMetricInTheOrderAskedFor) {
  kernel("layer1", "_Z6unrollPf");
  kernel("layer1", "_Z6matmulPf").counts = {2000, 50};
  kernel("layer2", "_Z6matmulPf").counts = {3000, 25};
  EXPECT_EQ(row(cycles, "layer1", "unroll").samples, Samples{1000});
  EXPECT_EQ(row(cycles, "layer1", "matmul").samples, Samples{2000});
  EXPECT_EQ(row(hits, "layer2", "matmul").samples, Samples{25});
  EXPECT_EQ(row(registers, "layer2", "matmul").samples, Samples{64});
  EXPECT_EQ(row(theoretical, "layer2", "matmul").samples, Samples{50});
  ASSERT_EQ(rows.size(), 15U);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].metric, selection.metrics[i % 5]);
}

TEST_F(CountedKernels, SayWhatTheGpuDoesNotHave) {
  kernel("layer1", "k");
  EXPECT_TRUE(row(stall, "layer1", "k").samples.empty());
  EXPECT_NE(row(stall, "layer1", "k").absent.find("GA100"), std::string::npos);
}

TEST_F(CountedKernels, KeepTheirLaunchWhenCountingFailed) {
  CountedKernel& k = kernel("layer1", "k");
  k.counts.clear();
  k.uncounted = "the counters were busy";
  EXPECT_EQ(row(cycles, "layer1", "k").absent, "the counters were busy");
  EXPECT_EQ(row(registers, "layer1", "k").samples, Samples{64});
}

TEST_F(CountedKernels, KeepTheirCountsWithoutAttributes) {
  CountedKernel& k = kernel("layer1", "k");
  k.attributes.reset();
  k.unknown_attributes = "the driver does not say";
  EXPECT_EQ(row(registers, "layer1", "k").absent, "the driver does not say");
  EXPECT_EQ(row(cycles, "layer1", "k").samples, Samples{1000});
}

TEST_F(CountedKernels, HaveNoNumberWhereTheHardwareHasNone) {
  kernel("layer1", "k").counts = {1000, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_TRUE(row(hits, "layer1", "k").samples.empty());
  EXPECT_NE(row(hits, "layer1", "k").absent.find("no number"), std::string::npos);
  EXPECT_EQ(row(cycles, "layer1", "k").samples, Samples{1000});
}

TEST_F(CountedKernels, OfOneTemplateAreToldApart) {
  kernel("layer1", "_Z5tiledILj16EEvPf");
  kernel("layer1", "_Z5tiledILj32EEvPf").counts = {2000, 50};
  kernel("layer2", "_Z5tiledILj16EEvPf");
  EXPECT_EQ(row(cycles, "layer1", "tiled<32u>").samples, Samples{2000});
  EXPECT_EQ(row(cycles, "layer2", "tiled").samples, Samples{1000});
}

TEST_F(CountedKernels, AreMissedWhereAnOpHasNone) {
  kernel("layer1", "k");
  EXPECT_EQ(row(cycles, "layer2", "").absent, "no kernel was launched");
  rows.clear();
  selection.refusal = "permission denied";
  EXPECT_EQ(row(cycles, "layer2", "").absent, "permission denied");
}

}  // namespace
}  // namespace mprof
