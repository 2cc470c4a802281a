// SPDX-License-Identifier: MIT
#include <ctime>

#include <sys/mman.h>

#include "collectors/hardware_counters.hpp"
#include "collectors/sample_growth.hpp"
#include "tests/collectors/fixture.hpp"

namespace mprof {
namespace {

using Samples = std::vector<double>;

TEST(CollectorKinds, AreThoseOfThePassAndTheDeviceInOrder) {
  CollectorKinds kinds;
  const auto add = [&](std::string id, Pass pass, std::string device, int order) {
    kinds.add({std::move(id), pass, std::move(device), order, {}, {}});
  };
  add("late", Pass::timing, "", 50);
  add("cuda only", Pass::timing, "cuda", 20);
  add("b", Pass::timing, "cpu", 10);
  add("a", Pass::timing, "", 10);
  add("tracer", Pass::trace, "", 0);
  std::vector<std::string> ids;
  for (const CollectorKind* kind : kinds.of(Pass::timing, "cpu")) ids.push_back(kind->id);
  EXPECT_EQ(ids, (std::vector<std::string>{"a", "b", "late"}));
  EXPECT_EQ(kinds.of(Pass::timing, "cuda").size(), 3U);
  EXPECT_TRUE(kinds.of(Pass::counters, "cpu").empty());
}

using ResourceUsage = test::CollectorTest;

void burn_cpu(double seconds) {
  const auto cpu_seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double end = cpu_seconds() + seconds;
  while (cpu_seconds() < end) {
  }
}

/// Touches fresh pages: a minor fault each.
void touch_pages(std::size_t count) {
  const std::size_t bytes = count * 4096;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  auto* const bytes_of = static_cast<volatile char*>(memory);
  for (std::size_t page = 0; page < count; ++page) bytes_of[page * 4096] = 1;
  munmap(memory, bytes);
}

TEST_F(ResourceUsage, IsOfOneExecutionWithoutPauses) {
  const auto usage = make("resource_usage");
  usage->begin_sample();
  usage->begin_stage("layer1", Stage::forward);
  burn_cpu(0.05);
  touch_pages(500);
  usage->end_stage("layer1", Stage::forward);
  usage->pause();
  burn_cpu(0.3);
  touch_pages(5000);
  usage->resume();
  usage->begin_stage("layer1", Stage::forward);  // repeated: the last one counts
  burn_cpu(0.05);
  touch_pages(700);
  usage->end_stage("layer1", Stage::forward);
  usage->end_sample();
  usage->finish(measurements);
  const double cpu = test::row_of(measurements, "user_time").samples.at(0) +
                     test::row_of(measurements, "system_time").samples.at(0);
  EXPECT_GT(cpu, 0.04);
  EXPECT_LT(cpu, 0.2);
  const double faults = test::row_of(measurements, "minor_page_faults").samples.at(0);
  EXPECT_GE(faults, 700);
  EXPECT_LT(faults, 1200);
  EXPECT_EQ(test::row_of(measurements, "major_page_faults").samples.size(), 1U);
}

TEST_F(ResourceUsage, PeakMemoryIsOfTheProcessInBytes) {
  touch_pages(16384);  // 64 MiB, gone again
  const auto usage = make("resource_usage");
  usage->finish(measurements);
  EXPECT_GT(test::row_of(measurements, "peak_memory").samples.at(0), 64.0 * 1024 * 1024);
  EXPECT_EQ(test::row_of(measurements, "user_time").absent, "no sample was taken");
}

/// A counter whose readings a test lays down.
class ScriptedCounter final : public HardwareCounter {
 public:
  explicit ScriptedCounter(std::vector<CounterReading> readings) : readings_(std::move(readings)) {}
  [[nodiscard]] CounterReading read() override { return readings_.at(next_++); }

 private:
  std::vector<CounterReading> readings_;
  std::size_t next_ = 0;
};

using HardwareCounters = test::CollectorTest;

TEST_F(HardwareCounters, AreTheGrowthOverEachForwardScaledToTheWholeTime) {
  std::vector<CounterSlot> slots;
  slots.push_back({"cycles", std::make_unique<ScriptedCounter>(
                                 std::vector<CounterReading>{{100, 1, 1},
                                                             {350, 2, 2},  // all of the time
                                                             {400, 3, 3},
                                                             {500, 7, 5}})});  // counted for 2 s of 4 s
  const auto counters = make_hardware_counters(std::move(slots), {"layer1"});
  counters->begin_sample();
  stage(*counters, "layer1", Stage::prepare, 1);
  stage(*counters, "layer1", Stage::forward, 1);
  stage(*counters, "layer1", Stage::forward, 1);
  stage(*counters, "layer1", Stage::finish, 1);
  counters->end_sample();
  counters->finish(measurements);
  EXPECT_EQ(test::row_of(measurements, "cycles", "layer1").samples, (Samples{250, 200}));
}

TEST_F(HardwareCounters, ThatCannotBeHadAreAbsentAndTheOthersAreThere) {
  std::vector<CounterSlot> slots;
  slots.push_back(
      {"cycles", std::make_unique<ScriptedCounter>(std::vector<CounterReading>{{0, 0, 0}, {9, 1, 1}})});
  slots.push_back(
      {"instructions", std::make_unique<ScriptedCounter>(std::vector<CounterReading>{{0, 0, 0}, {0, 1, 0}})});
  slots.push_back({"cache_misses", Refusal{"No such counter", "Nothing to do."}});
  const auto counters = make_hardware_counters(std::move(slots), {"layer1", "layer2"});
  stage(*counters, "layer1", Stage::forward, 1);
  counters->finish(measurements);
  EXPECT_EQ(test::row_of(measurements, "cycles", "layer1").samples, Samples{9});
  EXPECT_EQ(test::row_of(measurements, "cycles", "layer2").absent, "no sample was taken");
  EXPECT_EQ(test::row_of(measurements, "instructions", "layer1").absent,
            "the kernel gave the counter no time: other users hold the hardware's counters");
  EXPECT_EQ(test::row_of(measurements, "cache_misses", "layer1").absent, "No such counter. Nothing to do.");
  EXPECT_EQ(measurements.size(), 6U);
}

TEST_F(HardwareCounters, OfThisMachineCountOrSayWhyNot) {
  const CollectorKind& counters = kind("hardware_counters", Pass::counters);
  EXPECT_EQ(counters.device, "cpu");
  if (const auto reason = counters.unavailable()) {
    EXPECT_NE(reason->find("perf_event_open: "), std::string::npos) << *reason;
    GTEST_SKIP() << *reason;
  }
  const auto collector = make("hardware_counters", Pass::counters);
  collector->begin_stage("layer1", Stage::forward);
  burn_cpu(0.02);
  collector->end_stage("layer1", Stage::forward);
  collector->finish(measurements);
  EXPECT_GT(test::row_of(measurements, "instructions", "layer1").samples.at(0), 1000);
}

}  // namespace
}  // namespace mprof
