// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "model/derive/subjects.hpp"

namespace mprof {
namespace {

/// Samples that differ by chance alone, by at most `spread`: a fixed sequence that is no series of its own.
std::vector<double> noisy(double middle, double spread, std::size_t count) {
  std::vector<double> samples;
  std::uint32_t state = 12345;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    samples.push_back(middle * (1 + spread * (2.0 * (state >> 8) / (1 << 24) - 1)));
  }
  return samples;
}

std::vector<double> joined(std::vector<double> first, const std::vector<double>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Measurement time_of(std::vector<double> samples, std::vector<std::uint32_t> rounds = {},
                    ClockSource clock = ClockSource::host) {
  Measurement row{"total_time", "", "", Source::measured, std::move(samples), "", std::move(rounds)};
  row.derived.own().clock = clock;
  return row;
}

TEST(SeriesNotes, FindAStepInItsRound) {
  const std::vector<double> steady = noisy(0.176, 0.01, 40);
  const std::vector<double> stepped = joined(noisy(0.176, 0.01, 25), noisy(0.197, 0.01, 15));
  const SeriesNotes notes = series_notes(time_of(joined(steady, stepped), {40, 40}));
  ASSERT_EQ(notes.steps.size(), 1U);
  EXPECT_EQ(notes.steps[0].round, 1U);
  EXPECT_EQ(notes.steps[0].at, 25U);
  EXPECT_NEAR(notes.steps[0].before, 0.176, 0.001);
  EXPECT_NEAR(notes.steps[0].after, 0.197, 0.001);
  EXPECT_EQ(notes.autocorrelation, 0) << "the step is said, not what follows from it";
}

TEST(SeriesNotes, FindAStepInTheTwentySamplesOfARound) {
  EXPECT_EQ(series_notes(time_of(joined(noisy(1, 0.01, 9), noisy(1.1, 0.01, 11)))).steps.size(), 1U);
}

TEST(SeriesNotes, AreSilentOnChanceAndOnWhatDiffersBetweenRounds) {
  EXPECT_EQ(series_notes(time_of(noisy(1, 0.2, 100))), SeriesNotes{});
  EXPECT_EQ(series_notes(time_of(joined(noisy(1, 0.02, 30), noisy(1.2, 0.02, 30)), {30, 30})), SeriesNotes{});
  EXPECT_EQ(series_notes(time_of({1, 1, 1})), SeriesNotes{});
  EXPECT_EQ(series_notes(time_of(std::vector<double>(50, 0.0))), SeriesNotes{});
}

TEST(SeriesNotes, AreSilentOnWhatNobodyWouldNotice) {
  const std::vector<double> by_two_percent = joined(noisy(1, 0.002, 30), noisy(1.02, 0.002, 30));
  EXPECT_EQ(series_notes(time_of(by_two_percent, {}, ClockSource::device)).steps.size(), 1U);
  EXPECT_TRUE(series_notes(time_of(by_two_percent, {}, ClockSource::host)).steps.empty());
}

TEST(SeriesNotes, FindNeighboursThatAreAlike) {
  std::vector<double> swinging;
  for (int i = 0; i < 64; ++i) swinging.push_back(1 + (i / 4 % 2 == 0 ? 0.1 : -0.1) + 0.001 * (i % 3));
  EXPECT_GT(series_notes(time_of(swinging)).autocorrelation, 0.5);
  for (double& sample : swinging) sample = 1 + (sample - 1) / 100;
  EXPECT_EQ(series_notes(time_of(swinging)).autocorrelation, 0) << "0.1 % of swing";
}

TEST(SeriesNotes, CountWhatLiesFarOut) {
  std::vector<double> samples = noisy(1, 0.01, 50);
  samples[7] = 3;
  samples[31] = 2;
  samples[40] = 1.025;  // not beyond the fences
  EXPECT_EQ(series_notes(time_of(samples)).far_out.size(), 2U);
}

/// A case of a GPU whose second round of three was disturbed.
mprof::Run disturbed_run(const std::string& disturbance, const std::string& host_disturbance) {
  mprof::Run run;
  run.variants.push_back({.id = "map/one", .family = "map", .device = "cuda"});
  Case& c = run.cases.emplace_back();
  c.key = {"map/one", {}, {{{"size", 1}}}};
  PassResult& pass = c.passes.emplace_back();
  pass.status = Status::ok;
  pass.rounds.resize(3);
  pass.rounds[1].disturbance = disturbance;
  pass.rounds[1].host_disturbance = host_disturbance;
  pass.measurements = {{"op_time", "map", "", Source::measured, {1, 2, 1}, "", {1, 1, 1}},
                       {"total_time", "", "", Source::measured, {1, 2, 1}, "", {1, 1, 1}},
                       {"gpu_power", "", "", Source::measured, {1, 2, 1}, "", {1, 1, 1}}};
  derive_variation(run);
  return run;
}

std::string disturbed(const mprof::Run& run, std::string_view metric, std::string_view op = {}) {
  return find_measurement(run.cases.front(), metric, op)->derived->disturbed;
}

TEST(Disturbance, OfTheDeviceIsOneOfAllTimes) {
  const mprof::Run run = disturbed_run("the GPU throttled", "");
  EXPECT_EQ(disturbed(run, "op_time", "map"), "the GPU throttled (in 1 of 3 rounds)");
  EXPECT_EQ(disturbed(run, "total_time"), "the GPU throttled (in 1 of 3 rounds)");
  EXPECT_EQ(disturbed(run, "gpu_power"), "") << "it is no time";
}

TEST(Disturbance, OfTheHostLeavesTheGpusClockAlone) {
  mprof::Run run = disturbed_run("", "others used the CPUs");
  EXPECT_EQ(disturbed(run, "op_time", "map"), "");
  EXPECT_EQ(disturbed(run, "total_time"), "others used the CPUs (in 1 of 3 rounds)");
  run.variants[0].device = "cpu";
  derive_variation(run);
  EXPECT_EQ(disturbed(run, "op_time", "map"), "others used the CPUs (in 1 of 3 rounds)");
}

TEST(Disturbance, OfOneRoundIsSaidAsItIs) {
  mprof::Run run = disturbed_run("", "");
  PassResult& pass = run.cases[0].passes[0];
  pass.rounds.clear();
  pass.sampling = Sampling{.disturbance = "the GPU throttled"};
  derive_variation(run);
  EXPECT_EQ(disturbed(run, "op_time", "map"), "the GPU throttled");
}

}  // namespace
}  // namespace mprof
