// SPDX-License-Identifier: MIT
#include "collectors/gpu_sampling.hpp"

#include <deque>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using trace::Interval;
using Taken = GpuSampler::Taken;

const std::string busy = "CUPTI_ERROR_HARDWARE_BUSY (26). Another profiler holds the hardware counters.";

/// Gives what somebody made up, one a turn; one without readings and a refusal throws it.
class FakeSampler final : public GpuSampler {
 public:
  struct Turn {
    Taken taken{};
    std::string refusal{};
  };
  explicit FakeSampler(std::deque<Turn> turns) : turns_(std::move(turns)) {}
  [[nodiscard]] const std::vector<std::string>& metrics() const override { return metrics_; }
  void start() override {
    if (!refusal_at_start.empty()) throw Error(ExitCode::environment, refusal_at_start);
  }
  void stop() override { is_stopped = true; }
  [[nodiscard]] Taken take() override {
    if (turns_.empty()) return {};
    Turn turn = std::move(turns_.front());
    turns_.pop_front();
    if (!turn.refusal.empty()) throw Error(ExitCode::environment, turn.refusal);
    return std::move(turn.taken);
  }
  [[nodiscard]] std::size_t turns() const { return turns_.size(); }

  std::string refusal_at_start;
  bool is_stopped = false;

 private:
  std::deque<Turn> turns_;
  std::vector<std::string> metrics_{"SMs Active [Throughput %]", "GPC Clock Frequency [MHz]"};
};

Taken taken_at(std::initializer_list<Interval> times) {
  Taken taken;
  for (const Interval& time : times) taken.readings.push_back({time, {static_cast<float>(time.start), 1980}});
  return taken;
}

class GpuSamplingTest : public ::testing::Test {
 protected:
  /// As many turns as there are but for the last, which comes when sampling has ended.
  SamplingCounts record(FakeSampler& sampler) {
    return record_samples(
        sampler, file, [&] { has_started = true; }, [&] { return sampler.turns() > 1; });
  }
  SamplingCounts record(std::deque<FakeSampler::Turn> turns) {
    FakeSampler sampler(std::move(turns));
    return record(sampler);
  }
  [[nodiscard]] trace::GpuSamples samples() const { return read_samples(file); }

  test::TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "samples";
  bool has_started = false;
};

TEST_F(GpuSamplingTest, TheFirstSampleIsOfTheTimeBeforeItBegan) {
  FakeSampler sampler({{taken_at({{0, 900}, {900, 1000}})}, {taken_at({{1000, 1100}})}});
  const SamplingCounts counts = record(sampler);
  EXPECT_TRUE(has_started);
  EXPECT_TRUE(sampler.is_stopped);
  EXPECT_EQ(counts.samples, 2);
  EXPECT_THAT(notes_of(counts), IsEmpty());
  const trace::GpuSamples read = samples();
  EXPECT_THAT(read.times, ElementsAre(Interval{900, 1000}, Interval{1000, 1100}));
  ASSERT_EQ(read.curves.size(), 2);
  EXPECT_EQ(read.curves.front().name, "SMs Active [Throughput %]");
  EXPECT_THAT(read.curves.front().values, ElementsAre(900, 1000));
  EXPECT_THAT(read.curves.back().values, ElementsAre(1980, 1980));
}

TEST_F(GpuSamplingTest, WhatIsWaitingIsTakenAtOnce) {
  Taken full = taken_at({{0, 100}, {100, 200}});
  full.has_more = true;
  FakeSampler sampler({{full}, {full}, {taken_at({{200, 300}})}, {}});
  EXPECT_EQ(record(sampler).samples, 2) << "the second has the times of the first";
  EXPECT_EQ(sampler.turns(), 0);
}

TEST_F(GpuSamplingTest, GapsAreCountedAndKept) {
  const SamplingCounts counts =
      record({{taken_at({{0, 100}, {100, 200}, {200, 300}, {3'000'300, 3'000'400}})}, {}});
  EXPECT_EQ(counts.gaps, 1);
  EXPECT_EQ(counts.gap_time, 3'000'000);
  EXPECT_THAT(notes_of(counts), ElementsAre(HasSubstr("1 gap, 3 ms in all")));
  EXPECT_THAT(notes_of({.samples = 9, .gaps = 91, .gap_time = 2'200'000'000}),
              ElementsAre(HasSubstr("91 gaps, 2.2 s in all")));
  EXPECT_THAT(samples().times,
              ElementsAre(Interval{100, 200}, Interval{200, 300}, Interval{3'000'300, 3'000'400}));
}

TEST_F(GpuSamplingTest, AStepOfTheClockLeavesOutWhatItRepeats) {
  const SamplingCounts counts = record(
      {{taken_at(
           {{0, 1000}, {1000, 1100}, {1100, 1200}, {700, 800}, {800, 900}, {1200, 1300}, {1400, 1350}})},
       {}});
  EXPECT_EQ(counts.disordered, 3);
  EXPECT_EQ(counts.samples, 3);
  EXPECT_THAT(notes_of(counts), ElementsAre(HasSubstr("3 samples are left out")));
  EXPECT_THAT(samples().times, ElementsAre(Interval{1000, 1100}, Interval{1100, 1200}, Interval{1200, 1300}));
}

TEST_F(GpuSamplingTest, AnOverflowSaysWhatToDo) {
  Taken overflowed = taken_at({{0, 100}, {100, 200}});
  overflowed.overflowed = true;
  const SamplingCounts counts = record({{overflowed}, {}});
  EXPECT_EQ(counts.overflows, 1);
  EXPECT_THAT(notes_of(counts),
              ElementsAre(AllOf(HasSubstr("overflowed 1 time,"), HasSubstr("--sample=1ms"))));
}

TEST_F(GpuSamplingTest, HardwareThatSomebodyElseHasRefusesAtTheStart) {
  FakeSampler sampler({});
  sampler.refusal_at_start = busy;
  EXPECT_THROW(static_cast<void>(record(sampler)), Error);
  EXPECT_FALSE(has_started);
}

TEST_F(GpuSamplingTest, WhatWasReadUntilTheHardwareRefusedStays) {
  const SamplingCounts counts =
      record({{taken_at({{0, 100}, {100, 200}, {200, 300}})}, {{}, busy}, {taken_at({{300, 400}})}});
  EXPECT_EQ(counts.samples, 2);
  EXPECT_THAT(notes_of(counts),
              ElementsAre(AllOf(HasSubstr("ended before the program did"), HasSubstr("HARDWARE_BUSY"))));
  EXPECT_THAT(samples().times, ElementsAre(Interval{100, 200}, Interval{200, 300}));
}

TEST_F(GpuSamplingTest, AFileThatEndsWithinASampleIsReadUpToIt) {
  record({{taken_at({{0, 100}, {100, 200}, {200, 300}})}, {}});
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_THAT(samples().times, ElementsAre(Interval{100, 200}));
}

TEST_F(GpuSamplingTest, NoSampleAtAllIsSaid) {
  EXPECT_THAT(notes_of(record({{taken_at({{0, 100}})}, {}})),
              ElementsAre(HasSubstr("before the first sample")));
}

TEST_F(GpuSamplingTest, ABuildWithoutCudaSaysSo) {
  EXPECT_THROW(static_cast<void>(GpuSamplers().make(1e-4)), Error);
}

}  // namespace
}  // namespace mprof
