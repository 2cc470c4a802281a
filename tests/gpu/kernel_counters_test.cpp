// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "collectors/collector.hpp"
#include "cuda/cold_cache.hpp"
#include "cuda/fill.hpp"
#include "cuda/gpu.hpp"
#include "cuda/handles.hpp"
#include "cuda/kernel_launch.hpp"
#include "system/error.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/measurements.hpp"

namespace mprof {
namespace {

const CollectorKind& kind() {
  for (const CollectorKind* kind : CollectorKinds::instance().of(Pass::counters, "cuda")) {
    if (kind->id == "kernel_counters") return *kind;
  }
  throw std::logic_error("no collector kernel_counters");
}

/// What a kernel does that is known to the byte, counted by a real GPU.
class KernelCountersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = kind().unavailable()) GTEST_SKIP() << *reason;
    subject.ops.resize(2);
    subject.ops[0].name = "layer1";
    subject.ops[1].name = "layer2";
  }

  /// Fills `words` in a stage, `launches` times.
  static void stage(Collector& collector, std::string_view op, Stage stage, cuda::DeviceBuffer<float>& words,
                    int launches) {
    do {
      collector.begin_stage(op, stage);
      for (int i = 0; i < launches; ++i) cuda::fill(words.data(), words.size(), 7);
      collector.end_stage(op, stage);
    } while (stage == Stage::forward && collector.again(op));
  }

  [[nodiscard]] double value(std::string_view metric, std::string_view op) const {
    const Measurement row = test::row_of(measurements, metric, op);
    EXPECT_EQ(row.kernel, "fill_words") << metric;
    EXPECT_EQ(row.samples.size(), 1U) << metric << ": " << row.absent;
    return row.samples.empty() ? -1 : row.samples.front();
  }

  test::FakeClock clock;
  test::FakeDevice device{clock, "cuda"};
  Case subject;
  Plan plan;
  std::vector<Measurement> measurements;
};

TEST_F(KernelCountersTest, CountsEachKernelOfAnOpOnceAndRightly) {
  cuda::DeviceBuffer<float> large(std::size_t{1} << 26);  // 256 MiB, several times any L2 cache
  cuda::DeviceBuffer<float> small(large.size() / 4);
  cuda::fill(large.data(), large.size(), 7);  // loads the module
  plan.metrics = {"launch__grid_size",
                  "launch__block_size",
                  "dram__bytes_write.sum",
                  "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                  "gpu__time_duration.sum",
                  "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
                  "sm__warps_active.avg.pct_of_peak_sustained_active",
                  "sm__maximum_warps_per_active_cycle_pct"};
  const auto collector = kind().make({subject, device, clock, plan});
  int executions = 0;
  do {
    collector->begin_sample();
    stage(*collector, "layer1", Stage::forward, large, 3);
    cuda::fill(small.data(), small.size(), 7);  // between two stages: the runner's own
    stage(*collector, "layer1", Stage::finish, small, 1);
    stage(*collector, "layer2", Stage::prepare, small, 0);
    stage(*collector, "layer2", Stage::finish, small, 2);
    collector->end_sample();
    ++executions;
  } while (collector->wants_more());
  EXPECT_GT(executions, 1) << "what is no forward stage is run again with the whole";
  collector->finish(measurements);

  ASSERT_EQ(measurements.size(), 2 * plan.metrics.size());
  const auto bytes = static_cast<double>(large.bytes());
  // What is left in the L2 cache at the end is written later, and nobody else's writes are counted.
  EXPECT_GT(value("dram__bytes_write.sum", "layer1"), 0.5 * bytes);
  EXPECT_LT(value("dram__bytes_write.sum", "layer1"), 1.001 * bytes);
  EXPECT_GT(value("gpu__time_duration.sum", "layer1"), 2 * value("gpu__time_duration.sum", "layer2"));
  EXPECT_LT(value("gpu__time_duration.sum", "layer1"), 1) << "in seconds";
  EXPECT_EQ(value("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "layer1"), 0);
  EXPECT_NEAR(value("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", "layer2"), 32, 0.01);
  EXPECT_EQ(value("launch__grid_size", "layer1"), 1024);
  EXPECT_EQ(value("launch__block_size", "layer2"), 256);
  const double achieved = value("sm__warps_active.avg.pct_of_peak_sustained_active", "layer1");
  EXPECT_GT(achieved, 10);
  EXPECT_LE(achieved, value("sm__maximum_warps_per_active_cycle_pct", "layer1") + 0.5);
}

TEST_F(KernelCountersTest, ReadAllOfTheDefaultInManyPasses) {
  cuda::DeviceBuffer<float> words(1000);
  const auto collector = kind().make({subject, device, clock, plan});
  collector->begin_sample();
  stage(*collector, "layer1", Stage::forward, words, 1);
  collector->end_sample();
  EXPECT_FALSE(collector->wants_more());
  collector->finish(measurements);
  const auto is_there = [](const Measurement& row) { return row.op == "layer1" && !row.samples.empty(); };
  EXPECT_GT(std::ranges::count_if(measurements, is_there), 60);
}

class TwoKernels : public KernelCountersTest {
 protected:
  void SetUp() override {
    KernelCountersTest::SetUp();
    if (IsSkipped()) return;
    plan.metrics = {"dram__bytes_write.sum",
                    "dram__bytes_read.sum",
                    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                    "sm__warps_active.avg.pct_of_peak_sustained_active",
                    "l1tex__throughput.avg.pct_of_peak_sustained_active",
                    "launch__grid_size"};
    words.emplace(std::size_t{1} << 26);
    cuda::clean_cache();
    fill();
  }

  void fill() { cuda::fill(words->data(), words->size(), 7); }

  /// How often a forward stage with this work runs until all of it is counted.
  int runs_of(const std::function<void()>& work) {
    const auto collector = kind().make({subject, device, clock, plan});
    int runs = 0;
    collector->begin_sample();
    do {
      collector->begin_stage("layer1", Stage::forward);
      work();
      collector->end_stage("layer1", Stage::forward);
      ++runs;
    } while (collector->again("layer1"));
    collector->end_sample();
    EXPECT_FALSE(collector->wants_more());
    collector->finish(measurements);
    return runs;
  }

  double of(std::string_view metric, std::string_view kernel) {
    for (const Measurement& row : measurements) {
      if (row.metric != metric || row.kernel != kernel) continue;
      EXPECT_FALSE(row.samples.empty()) << metric << " of " << kernel << ": " << row.absent;
      return row.samples.empty() ? -1 : row.samples.front();
    }
    ADD_FAILURE() << "no " << metric << " of " << kernel;
    return -1;
  }

  /// What each of the two does to the byte.
  void expect_right() {
    const auto bytes = static_cast<double>(words->bytes());
    EXPECT_GT(of("dram__bytes_write.sum", "fill_words"), 0.5 * bytes);
    EXPECT_LT(of("dram__bytes_write.sum", "fill_words"), 1.001 * bytes);
    EXPECT_LT(of("dram__bytes_read.sum", "fill_words"), 0.001 * bytes);
    const double read = 2.0 * cuda::gpu().l2CacheSize;
    EXPECT_NEAR(of("dram__bytes_read.sum", "read_beyond_cache"), read, 0.01 * read);
    EXPECT_LT(of("dram__bytes_write.sum", "read_beyond_cache"), 0.01 * read);
    EXPECT_GT(of("sm__warps_active.avg.pct_of_peak_sustained_active", "read_beyond_cache"), 10);
  }

  std::optional<cuda::DeviceBuffer<float>> words;
};

TEST_F(TwoKernels, OfAStageAreCountedInTheSamePasses) {
  const int of_one = runs_of([&] { fill(); });
  measurements.clear();
  const int of_both = runs_of([&] {
    fill();
    fill();
    cuda::clean_cache();
    fill();
  });
  EXPECT_EQ(of_both, of_one);
  expect_right();
}

TEST_F(TwoKernels, AreCountedOneByOneWhereTheirOrderChanges) {
  const int of_one = runs_of([&] { fill(); });
  measurements.clear();
  int runs = 0;
  const int of_both = runs_of([&] {
    const bool is_first = ++runs < 3;
    if (is_first) fill();
    cuda::clean_cache();
    if (!is_first) fill();
  });
  EXPECT_GT(of_both, of_one) << "the passes of both were of no use";
  expect_right();
}

TEST_F(TwoKernels, AreCountedOneByOneWhereAnotherLaunchComesBetween) {
  const int of_one = runs_of([&] { fill(); });
  measurements.clear();
  int runs = 0;
  const int of_both = runs_of([&] {
    fill();
    if (++runs > 2) fill();
    cuda::clean_cache();
  });
  EXPECT_GT(of_both, of_one);
  expect_right();
}

TEST_F(TwoKernels, AreCountedOneByOneWhereOneIsNotAlwaysLaunched) {
  int runs = 0;
  const int all = runs_of([&] {
    cuda::clean_cache();
    if (++runs != 4) fill();
  });
  EXPECT_GT(all, 4);
  expect_right();
}

/// Of which one stage launches both, and a later one the first of them alone.
TEST_F(TwoKernels, OfAStageAreCountedThoughAnotherOneLaunchesOneOfThem) {
  const auto collector = kind().make({subject, device, clock, plan});
  int samples = 0;
  do {
    collector->begin_sample();
    collector->begin_stage("layer1", Stage::prepare);
    fill();
    cuda::clean_cache();
    collector->end_stage("layer1", Stage::prepare);
    collector->begin_stage("layer1", Stage::finish);
    fill();
    collector->end_stage("layer1", Stage::finish);
    collector->end_sample();
  } while (collector->wants_more() && ++samples < 100);
  EXPECT_LT(samples, 100);
  collector->finish(measurements);
  expect_right();
}

TEST_F(TwoKernels, OfWhichOneIsNeverLaunchedAgainLeaveTheOther) {
  const auto collector = kind().make({subject, device, clock, plan});
  int samples = 0;
  do {
    collector->begin_sample();
    collector->begin_stage("layer1", Stage::prepare);
    if (samples < 3) fill();
    collector->end_stage("layer1", Stage::prepare);
    collector->begin_stage("layer2", Stage::finish);
    cuda::clean_cache();
    collector->end_stage("layer2", Stage::finish);
    collector->end_sample();
  } while (collector->wants_more() && ++samples < 100);
  EXPECT_LT(samples, 100);
  collector->finish(measurements);
  const Measurement gone = test::row_of(measurements, "dram__bytes_write.sum", "layer1");
  EXPECT_NE(gone.absent.find("was not launched again"), std::string::npos) << gone.absent;
  const double read = 2.0 * cuda::gpu().l2CacheSize;
  EXPECT_NEAR(of("dram__bytes_read.sum", "read_beyond_cache"), read, 0.01 * read);
}

TEST_F(TwoKernels, AreCountedOneByOneWhereTwoThreadsLaunchThem) {
  const int of_one = runs_of([&] { fill(); });
  measurements.clear();
  const int of_both = runs_of([&] {
    fill();
    std::thread(cuda::clean_cache).join();
  });
  // One is a look, and the last pass of the one is in the same run as the first pass of the other.
  EXPECT_EQ(of_both, 2 * of_one - 2);
  expect_right();
}

/// As work that takes another way each time.
TEST_F(KernelCountersTest, AKernelThatIsNotLaunchedAgainSaysSo) {
  cuda::DeviceBuffer<float> words(1000);
  const auto collector = kind().make({subject, device, clock, plan});
  collector->begin_sample();
  stage(*collector, "layer1", Stage::finish, words, 1);
  collector->end_sample();
  EXPECT_TRUE(collector->wants_more());
  collector->begin_sample();
  stage(*collector, "layer1", Stage::finish, words, 0);
  collector->end_sample();
  EXPECT_FALSE(collector->wants_more());
  collector->finish(measurements);
  const Measurement row = test::row_of(measurements, "dram__bytes_write.sum", "layer1");
  EXPECT_NE(row.absent.find("was not launched again"), std::string::npos) << row.absent;
}

TEST_F(KernelCountersTest, ASecondSubscriberIsToldWhoTheFirstIs) {
  const auto collector = kind().make({subject, device, clock, plan});  // is attached as long as the process
  try {
    const cuda::LaunchCallbacks second;
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find("mprof\" is attached to this process"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace mprof
