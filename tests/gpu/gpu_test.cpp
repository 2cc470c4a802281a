// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "cuda/sm_clock.hpp"
#include "device/device.hpp"
#include "model/facts.hpp"
#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// Skips this whole program, with the reason, on a machine without a GPU.
class NeedsGpu final : public ::testing::Environment {
 public:
  void SetUp() override {
    const auto reason = Devices::instance().find("cuda")->unavailable();
    if (reason) GTEST_SKIP() << *reason;
  }
};

const ::testing::Environment* const environment = ::testing::AddGlobalTestEnvironment(new NeedsGpu);

TEST(CudaDevice, IsPreferredAndKnown) {
  const Device& device = Devices::instance().preferred();
  EXPECT_EQ(device.id(), "cuda");
  EXPECT_FALSE(device.name().empty());
  const Environment facts = device.fingerprint();
  for (const char* name : {"name", "UUID", "compute capability", "multiprocessors", "driver", "CUDA runtime",
                           "CUPTI", "SM clock", "SM clock maximum", "SM clock step", "memory clock",
                           "power limit", "ECC", "MIG", "PCIe generation"}) {
    ASSERT_NE(find_fact(facts, "gpu", name), nullptr) << name;
  }
  for (const FactName& asked : identifying_facts) {
    if (std::string_view(asked.group) != fact::gpu) continue;
    EXPECT_NE(find_fact(facts, asked.group, asked.name), nullptr) << asked.name;
  }
  EXPECT_GT(std::get<double>(*find_fact(facts, "gpu", "multiprocessors")), 0);
}

TEST(CudaDevice, KnowsTheStepOfItsClock) {
  const Environment facts = Devices::instance().find("cuda")->fingerprint();
  const Fact& step = *find_fact(facts, "gpu", fact::gpu_sm_clock_step.name);
  ASSERT_TRUE(std::holds_alternative<double>(step));
  EXPECT_GE(std::get<double>(step), 1e6);
  EXPECT_LE(std::get<double>(step), 100e6);
}

/// A GPU that was woken runs near the highest clock that NVML lists, or below it where it throttles.
TEST(MeasuredSmClock, IsOneThatTheGpuCanHave) {
  const Environment facts = Devices::instance().find("cuda")->fingerprint();
  const auto of = [&](const FactName& name) {
    return std::get<double>(*find_fact(facts, name.group, name.name));
  };
  const double highest = of(fact::gpu_sm_clock_maximum), step = of(fact::gpu_sm_clock_step);
  for (int warming = 0; warming < 500; ++warming) static_cast<void>(cuda::measured_sm_clock());
  std::vector<double> clocks(21);
  for (double& clock : clocks) clock = cuda::measured_sm_clock();
  EXPECT_LE(median(clocks), highest + 2 * step);
  EXPECT_GE(median(clocks), highest / 4);
  const auto [least, most] = std::ranges::minmax(clocks);
  EXPECT_LE(most - least, 3 * step) << "a spin is long enough to tell a step";
}

TEST(CudaDevice, MeasuresAllItsCeilings) {
  const std::vector<Ceiling> ceilings = Devices::instance().find("cuda")->measure_ceilings(0.5);
  EXPECT_EQ(ceilings.size(), 9U);
  for (const Ceiling& ceiling : ceilings) {
    ASSERT_TRUE(ceiling.value.has_value()) << ceiling.id << ": " << ceiling.absent;
    EXPECT_GT(*ceiling.value, 1e9) << ceiling.id;
  }
  int kilohertz = 0, bits = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, 0), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0), cudaSuccess);
  const double of_the_bus = 2 * 1e3 * kilohertz * bits / 8;  // two transfers a cycle
  const auto memory = std::ranges::find(ceilings, "memory_bandwidth", &Ceiling::id);
  ASSERT_NE(memory, ceilings.end());
  EXPECT_GT(*memory->value, 0.7 * of_the_bus) << "the bus could do " << of_the_bus << " B/s";
  EXPECT_LT(*memory->value, of_the_bus);
}

}  // namespace
}  // namespace mprof
