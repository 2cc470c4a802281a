#include <string_view>

#include <gtest/gtest.h>

#include "device/device.hpp"
#include "model/facts.hpp"

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
  for (const char* name :
       {"name", "UUID", "compute capability", "multiprocessors", "driver", "CUDA runtime", "CUPTI",
        "SM clock", "SM clock maximum", "memory clock", "power limit", "ECC", "MIG", "PCIe generation"}) {
    ASSERT_NE(find_fact(facts, "gpu", name), nullptr) << name;
  }
  for (const FactName& asked : identifying_facts) {
    if (std::string_view(asked.group) != fact::gpu) continue;
    EXPECT_NE(find_fact(facts, asked.group, asked.name), nullptr) << asked.name;
  }
  EXPECT_GT(std::get<double>(*find_fact(facts, "gpu", "multiprocessors")), 0);
}

TEST(CudaDevice, MeasuresAllItsCeilings) {
  const std::vector<Ceiling> ceilings = Devices::instance().find("cuda")->measure_ceilings(0.5);
  EXPECT_EQ(ceilings.size(), 9U);
  for (const Ceiling& ceiling : ceilings) {
    ASSERT_TRUE(ceiling.value.has_value()) << ceiling.id << ": " << ceiling.absent;
    EXPECT_GT(*ceiling.value, 1e9) << ceiling.id;
  }
}

}  // namespace
}  // namespace mprof
