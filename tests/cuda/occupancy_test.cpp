// SPDX-License-Identifier: MIT
#include "cuda/occupancy.hpp"

#include <gtest/gtest.h>

namespace mprof::cuda {
namespace {

/// Compute capability 9.0: 65536 registers, 228 KiB of shared memory, 64 warps and 32 blocks a
/// multiprocessor; a block reserves 1 KiB of shared memory for the system.
cudaDeviceProp h200() {
  cudaDeviceProp gpu{};
  gpu.major = 9;
  gpu.minor = 0;
  gpu.maxThreadsPerBlock = 1024;
  gpu.maxThreadsPerMultiProcessor = 2048;
  gpu.regsPerBlock = 65536;
  gpu.regsPerMultiprocessor = 65536;
  gpu.warpSize = 32;
  gpu.sharedMemPerBlock = 48 * 1024;
  gpu.sharedMemPerMultiprocessor = 228 * 1024;
  gpu.sharedMemPerBlockOptin = 227 * 1024;
  gpu.reservedSharedMemPerBlock = 1024;
  gpu.multiProcessorCount = 132;
  return gpu;
}

struct Row {
  int registers;
  unsigned threads;
  int static_shared;
  unsigned dynamic_shared;
  int limit_registers, limit_shared, limit_warps;
  int blocks;
  double percent;
};

class OccupancyTest : public testing::TestWithParam<Row> {};

TEST_P(OccupancyTest, IsTheHandComputed) {
  const Row& row = GetParam();
  const KernelAttributes kernel{.registers = row.registers,
                                .static_shared_memory = row.static_shared,
                                .max_dynamic_shared_memory = 200 * 1024,
                                .max_threads_per_block = 1024};
  const KernelLaunch launch{
      .grid = {100}, .block = {row.threads}, .dynamic_shared_memory = row.dynamic_shared};
  const auto found = occupancy(h200(), kernel, launch);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->limit_registers, row.limit_registers);
  EXPECT_EQ(found->limit_shared_memory, row.limit_shared);
  EXPECT_EQ(found->limit_warps, row.limit_warps);
  EXPECT_EQ(found->limit_blocks, 32);
  EXPECT_EQ(found->blocks, row.blocks);
  EXPECT_DOUBLE_EQ(found->percent, row.percent);
}

INSTANTIATE_TEST_SUITE_P(
    ComputeCapability90, OccupancyTest,
    testing::Values(
        // 8 warps of 32 x 32 registers: 8192 a block, so 8 blocks, which are 64 warps.
        Row{32, 256, 0, 0, 8, 228, 8, 8, 100},
        // Twice the registers, half the blocks.
        Row{64, 256, 0, 0, 4, 228, 8, 4, 50},
        // 255 registers count as 256: 2 warps in each of the 4 register files of 16384, hence 8 warps.
        Row{255, 256, 0, 0, 1, 228, 8, 1, 12.5},
        // 1280 registers a warp: 12 warps in a register file, 48 in all, 16 blocks of 3 warps.
        Row{40, 96, 0, 0, 16, 228, 21, 16, 75},
        // Blocks of one warp: 32 blocks are only half the warps.
        Row{16, 32, 0, 0, 128, 228, 64, 32, 50},
        // 32 + 1 KiB a block: 6 blocks, the rest of the 228 KiB is lost.
        Row{32, 256, 32 * 1024, 0, 8, 6, 8, 6, 75},
        // 100 + 1 KiB a block: 2 blocks of 32 warps.
        Row{32, 1024, 0, 100 * 1024, 2, 2, 2, 2, 100},
        // Threads beyond a multiple of 32 hold a whole warp: 65 are 3 warps, and 21 blocks 63 warps.
        Row{32, 65, 0, 0, 21, 228, 21, 21, 98.4375}));

TEST(Occupancy, IsNoneWhereTheLaunchCannotRun) {
  const KernelAttributes kernel{
      .registers = 32, .max_dynamic_shared_memory = 48 * 1024, .max_threads_per_block = 1024};
  const KernelLaunch launch{.grid = {100}, .block = {256}, .dynamic_shared_memory = 64 * 1024};
  const auto found = occupancy(h200(), kernel, launch);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->blocks, 0);
  EXPECT_EQ(launch_metric("launch__waves_per_multiprocessor", found, kernel, launch), std::nullopt);
}

TEST(Occupancy, IsUnknownForAnUnknownGpu) {
  cudaDeviceProp gpu = h200();
  gpu.major = 99;
  const KernelAttributes kernel{.registers = 32, .max_threads_per_block = 1024};
  EXPECT_EQ(occupancy(gpu, kernel, {.grid = {100}, .block = {256}}).has_value(), false);
}

TEST(LaunchMetric, IsNamedAsNsightComputeDoes) {
  const KernelAttributes kernel{.registers = 32,
                                .static_shared_memory = 2048,
                                .max_dynamic_shared_memory = 48 * 1024,
                                .max_threads_per_block = 1024};
  const KernelLaunch launch{.grid = {33, 10, 4}, .block = {16, 16}, .dynamic_shared_memory = 512};
  const auto found = occupancy(h200(), kernel, launch);
  const auto value = [&](std::string_view id) { return launch_metric(id, found, kernel, launch); };
  EXPECT_EQ(value("launch__grid_size"), 1320);
  EXPECT_EQ(value("launch__block_size"), 256);
  EXPECT_EQ(value("launch__registers_per_thread"), 32);
  EXPECT_EQ(value("launch__shared_mem_per_block_static"), 2048);
  EXPECT_EQ(value("launch__shared_mem_per_block_dynamic"), 512);
  EXPECT_EQ(value("launch__occupancy_limit_registers"), 8);
  EXPECT_EQ(value("launch__occupancy_limit_blocks"), 32);
  EXPECT_EQ(value("sm__maximum_warps_per_active_cycle_pct"), 100);
  EXPECT_EQ(value("launch__waves_per_multiprocessor"), 1.25);  // 1320 blocks, 132 x 8 at a time
  EXPECT_EQ(value("launch__unknown"), std::nullopt);
}

}  // namespace
}  // namespace mprof::cuda
