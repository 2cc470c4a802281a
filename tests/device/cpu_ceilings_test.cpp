// SPDX-License-Identifier: MIT
#include "device/cpu_ceilings.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "device/device.hpp"
#include "device/fma_chains.hpp"
#include "device/thread_team.hpp"
#include "model/facts.hpp"
#include "system/clock.hpp"
#include "system/error.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_device.hpp"

namespace mprof {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(FmaChains, DoEachMultiplyAdd) {
  constexpr float lanes = fma_chains * 4;  // four floats in 16 bytes
  constexpr float starts = 4 * 66;         // chain c starts from c, so that no two are the same
  EXPECT_EQ(run_fma_chains<16>(0, 1, 0.5F, 1), starts);
  EXPECT_EQ(run_fma_chains<16>(1, 1, 0.5F, 1), 0.5F * starts + lanes);
  EXPECT_EQ(run_fma_chains<16>(2, 1, 0.5F, 1), 0.25F * starts + 1.5F * lanes);
  EXPECT_EQ(run_fma_chains<16>(100, 1, 1, 1), starts + 100 * lanes);
}

TEST(FmaChains, OfTheWidestVectorsReachTheirFixedPoint) {
  const FmaWork work = widest_fma_work();
  EXPECT_EQ(work.run(1000, 1, 0.5F, 1), work.expected());
  EXPECT_NE(work.run(3, 1, 0.5F, 1), work.expected());
  EXPECT_EQ(work.flops(1000), 2.0 * 1000 * static_cast<double>(work.lanes()));
}

/// The seconds of each round, on a clock of its own, of which measuring may take `seconds`.
BestRate best_of(std::vector<double> rounds, double seconds) {
  test::FakeClock clock;
  std::size_t next = 0;
  return best_rate(12, seconds, clock, [&] {
    const double took = rounds.at(next++);
    clock.advance(took);
    return took;
  });
}

TEST(BestRate, IsThatOfTheShortestRound) {
  const BestRate best = best_of({4, 2, 3, 3}, 13);
  EXPECT_EQ(best.rate, 12.0 / 2);
  EXPECT_EQ(best.rounds, 4U);
}

TEST(BestRate, BeginsNoRoundThatWouldNotEndInTime) {
  EXPECT_EQ(best_of({3, 3, 3}, 11.5).rounds, 3U);
  EXPECT_EQ(best_of({3, 3, 3, 3}, 12.5).rounds, 4U);
}

TEST(BestRate, TakesTwoRoundsWhateverTheTime) {
  EXPECT_EQ(best_of({3, 3}, 1).rounds, 2U);
  EXPECT_EQ(best_of({3, 3}, 0).rounds, 2U);
}

TEST(Ceilings, OfTheCpuAreMeasuredOrAbsentWithTheReason) {
  const Device* const cpu = Devices::instance().find("cpu");
  ASSERT_NE(cpu, nullptr);
  const auto ceilings = cpu->measure_ceilings(0.1);
  ASSERT_EQ(ceilings.size(), 3U);
  EXPECT_EQ(ceilings[0].id, "fp32_flop_rate");
  EXPECT_EQ(ceilings[1].id, "special_function_rate");
  EXPECT_EQ(ceilings[2].id, "memory_bandwidth");
  EXPECT_FALSE(ceilings[1].value.has_value());
  EXPECT_FALSE(ceilings[1].absent.empty());
  for (const Ceiling& ceiling : {ceilings[0], ceilings[2]}) {
    ASSERT_TRUE(ceiling.value.has_value()) << ceiling.absent;
    EXPECT_EQ(ceiling.device, "cpu");
    EXPECT_FALSE(ceiling.method.empty());
    EXPECT_GT(*ceiling.value, 0) << ceiling.id;
    EXPECT_TRUE(std::isfinite(*ceiling.value)) << ceiling.id;
  }
}

TEST(Ceilings, EndWhenAnotherRoundWouldTakeTooLong) {
  test::FakeClock clock;
  const auto round = [&](double seconds) {
    return [&clock, seconds] {
      clock.advance(seconds);
      return seconds;
    };
  };
  const BestRate four = best_rate(6, 1, clock, round(0.23));
  EXPECT_EQ(four.rounds, 4U);
  EXPECT_DOUBLE_EQ(four.rate, 6 / 0.23);
  EXPECT_EQ(best_rate(6, 1, clock, round(5)).rounds, 2U);  // never fewer
}

TEST(Ceilings, WithoutMemoryAreAbsentWithTheReason) {
  const Ceiling ceiling = measure_memory_bandwidth(1, std::size_t{1} << 60, 0.1);
  EXPECT_FALSE(ceiling.value.has_value());
  EXPECT_NE(ceiling.absent.find("no memory for three arrays"), std::string::npos) << ceiling.absent;
}

TEST(BandwidthArrays, AreSeveralTimesTheCacheWithinReason) {
  const std::uint64_t plenty = std::uint64_t{1} << 40;
  EXPECT_EQ(bandwidth_array_bytes(100 * mebibyte, plenty), 200 * mebibyte);
  EXPECT_EQ(bandwidth_array_bytes(0, plenty), 64 * mebibyte);
  EXPECT_EQ(bandwidth_array_bytes(1000 * mebibyte, plenty), 1024 * mebibyte);
  EXPECT_EQ(bandwidth_array_bytes(32 * mebibyte, 240 * mebibyte), 10 * mebibyte);
  EXPECT_EQ(bandwidth_array_bytes(32 * mebibyte, 0), mebibyte);
}

TEST(ThreadTeam, RunsEachMemberOnceAndWaitsForAll) {
  std::atomic<unsigned> members = 0;
  const double seconds = run_together(4, [&](unsigned member) {
    members |= 1U << member;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  EXPECT_EQ(members, 0b1111U);
  EXPECT_GE(seconds, 0.020);
}

TEST(CpuDevice, TimesWithTheHostClock) {
  const Device* const cpu = Devices::instance().find("cpu");
  ASSERT_NE(cpu, nullptr);
  const auto timer = cpu->make_timer();
  const double before = steady_clock().now();
  timer->start(false);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  timer->stop();
  const double around = steady_clock().now() - before;
  EXPECT_GE(timer->seconds(), 0.020);
  EXPECT_LE(timer->seconds(), around);
  cpu->flush_cache();
  cpu->synchronize();
}

TEST(CpuDevice, DescribesThisMachine) {
  const Device* const cpu = Devices::instance().find("cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->unavailable(), std::nullopt);
  EXPECT_FALSE(cpu->name().empty());
  const Environment facts = cpu->fingerprint();
  EXPECT_GT(std::get<double>(facts.at("memory").at("total")), 1e8);
  EXPECT_FALSE(std::get<std::string>(facts.at("os").at("kernel")).empty());
}

/// What tells a machine from another one must be in the record, or no two are ever told apart.
TEST(CpuDevice, WritesTheFactsThatTellMachinesApart) {
  const Environment facts = Devices::instance().find("cpu")->fingerprint();
  int written = 0;
  for (const FactName& asked : identifying_facts) {
    if (std::string_view(asked.group) != fact::cpu) continue;
    EXPECT_NE(find_fact(facts, asked.group, asked.name), nullptr) << asked.name;
    ++written;
  }
  EXPECT_GT(written, 0);
}

TEST(Devices, PreferTheHighestThatIsAvailable) {
  test::FakeClock clock;
  auto gpu = std::make_unique<test::FakeDevice>(clock, "cuda");
  test::FakeDevice& cuda = *gpu;
  Devices devices;
  devices.add(std::make_unique<test::FakeDevice>(clock, "cpu"), 0);
  devices.add(std::move(gpu), 10);
  EXPECT_EQ(devices.preferred().id(), "cuda");
  EXPECT_EQ(devices.all().front()->id(), "cuda");
  cuda.unavailable_reason = "no driver";
  EXPECT_EQ(devices.preferred().id(), "cpu");
  EXPECT_EQ(devices.find("cuda"), &cuda);
  EXPECT_EQ(devices.find("tpu"), nullptr);
}

TEST(Devices, WithoutOneThatIsAvailableSayWhy) {
  test::FakeClock clock;
  auto device = std::make_unique<test::FakeDevice>(clock, "cuda");
  device->unavailable_reason = "no driver";
  Devices devices;
  devices.add(std::move(device), 0);
  try {
    static_cast<void>(devices.preferred());
    FAIL() << "no device is available";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string_view(error.what()).find("cuda: no driver"), std::string_view::npos);
  }
}

}  // namespace
}  // namespace mprof
