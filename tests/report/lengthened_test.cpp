// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/lengthened.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

/// At most how many times as long a time became by what disturbed it.
namespace mprof {
namespace {

/// A pass of one round a text, each of three executions of 1 s with these CPU times and waits.
PassResult pass_of(const std::vector<std::string>& texts, double cpu, std::vector<double> waits) {
  PassResult pass;
  std::vector<double> totals, user, system, waited;
  std::vector<std::uint32_t> rounds;
  for (const std::string& text : texts) {
    pass.rounds.push_back({.host_disturbance = text});
    rounds.push_back(3);
    for (int i = 0; i < 3; ++i) {
      totals.push_back(1);
      user.push_back(cpu);
      system.push_back(0);
    }
    waited.insert(waited.end(), waits.begin(), waits.end());
  }
  pass.measurements = {{"total_time", "", "", Source::measured, totals, "", rounds},
                       {"user_time", "", "", Source::measured, user, "", rounds},
                       {"system_time", "", "", Source::measured, system, "", rounds}};
  if (!waits.empty()) pass.measurements.push_back({"cpu_wait", "", "", Source::measured, waited, "", rounds});
  for (Measurement& row : pass.measurements) row.derived.own().clock = ClockSource::host;
  return pass;
}

std::optional<double> lengthened(const std::vector<std::string>& texts, double cpu = 1,
                                 std::vector<double> waits = {0, 0, 0}) {
  const PassResult pass = pass_of(texts, cpu, std::move(waits));
  return most_lengthened(pass, pass.measurements.front());
}

const std::string busy = "other processes used the CPUs: 1.0 of the 4 usable ones busy";

TEST(MostLengthened, ByNeighboursThatTakeNoCpuIsTheWorstFactorOfThem) {
  EXPECT_NEAR(*lengthened({busy}), most_by_neighbours, 1e-12);
}

TEST(MostLengthened, WhatThreadsWaitedForACpuComesOnTop) {
  EXPECT_NEAR(*lengthened({busy}, 0.5, {0.1, 0.5, 0.9}), 2 * most_by_neighbours, 1e-12) << "the middle one";
}

TEST(MostLengthened, WithoutThatAllCpusMayHaveBeenWanted) {
  EXPECT_NEAR(*lengthened({busy}, 1, {}), 4 * most_by_neighbours, 1e-12) << "1 s of CPU time on four CPUs";
  EXPECT_NEAR(*lengthened({busy}, 3.2, {}), most_by_neighbours / 0.8, 1e-12);
  EXPECT_NEAR(*lengthened({busy}, 3.2, {0.9, 0.9, 0.9}), most_by_neighbours / 0.8, 1e-12)
      << "the smaller bound counts";
}

TEST(MostLengthened, RoundsThatNothingDisturbedCountAsTheyAre) {
  EXPECT_NEAR(*lengthened({busy, "", ""}), std::cbrt(most_by_neighbours), 1e-12);
}

TEST(MostLengthened, AHypervisorMayTakeItAllFromOneCpu) {
  const std::string stolen = "a hypervisor took CPU time: 5 % of the time of the 4 usable CPUs";
  EXPECT_NEAR(*lengthened({stolen}), most_by_neighbours / (1 - 2 * 0.05 * 4), 1e-12);
  EXPECT_FALSE(lengthened({"a hypervisor took CPU time: 15 % of the time of the 4 usable CPUs"}));
  EXPECT_FALSE(lengthened({"a hypervisor took CPU time: 5 %"})) << "of how many CPUs is not known";
}

TEST(MostLengthened, DevicesSideBySideMayShareWhatCopiesGoThrough) {
  const std::string beside = "8 devices of the host were measured side by side, each with CPUs of its own";
  EXPECT_NEAR(*lengthened({beside}), 8, 1e-12);
}

TEST(MostLengthened, OfAGpuAndOfWhatIsNotKnownNothingBoundsIt) {
  EXPECT_FALSE(lengthened({"something else"}));
  EXPECT_FALSE(lengthened({""})) << "nothing says what disturbed it";
  PassResult pass = pass_of({busy}, 1, {0, 0, 0});
  pass.rounds.front().disturbance = "the GPU throttled";
  EXPECT_FALSE(most_lengthened(pass, pass.measurements.front()));
}

TEST(MostLengthened, ATimeThatIsShorterThanTheWaitOfItsExecutionHasNoBound) {
  PassResult pass = pass_of({busy}, 0.5, {0.5, 0.5, 0.5});
  pass.measurements.push_back({"op_time", "map", "", Source::measured, {0.4, 0.4, 0.4}, "", {3}});
  pass.measurements.back().derived.own().clock = ClockSource::host;
  EXPECT_FALSE(most_lengthened(pass, pass.measurements.back()));
  pass.measurements.back().samples = {0.75, 0.75, 0.75};
  EXPECT_NEAR(*most_lengthened(pass, pass.measurements.back()), 3 * most_by_neighbours, 1e-12);
  pass.measurements.insert(pass.measurements.begin(),
                           {"cpu_wait", "map", "", Source::measured, {0.25, 0.25, 0.25}, "", {3}});
  EXPECT_NEAR(*most_lengthened(pass, pass.measurements.back()), 1.5 * most_by_neighbours, 1e-12)
      << "its own wait is known";
}

}  // namespace
}  // namespace mprof
