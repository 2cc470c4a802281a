// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "model/rounds.hpp"
#include "tests/report/fabricated_program.hpp"
#include "tests/report/traced_steps.hpp"

/// How often two runs of one program are told apart by their step times, at jitter of a known size.
namespace mprof {
namespace {

using test::FabricatedProgram;

/// What differs from one execution to the next, as standard deviations over the time.
struct Jitter {
  double device = 0;
  double host = 0;
};

/// Twelve steps of 8 ms, of which kernels run for a share. An execution has its own speeds of GPU and host.
/// Steps also differ within it, by as much.
FabricatedProgram jittery(double share, const Jitter& jitter, std::mt19937& random) {
  constexpr double step_time = 8e6, launching = 5;
  std::normal_distribution<double> normal;
  const auto factor = [&](double deviation) { return std::exp(deviation * normal(random)); };
  const double gpu = factor(jitter.device), host = factor(jitter.host);
  FabricatedProgram program;
  for (int step = 0; step < 12; ++step)
    program.range("step", [&] {
      const double kernel = share * step_time * gpu * factor(jitter.device);
      const double code = std::max(0.0, (1 - share) * step_time - launching) * host * factor(jitter.host);
      program.launch("gemm", std::llround(kernel));
      program.wait();
      program.compute(std::llround(code));
    });
  return program;
}

/// Of how many pairs the verdict is faster or slower, although nothing was changed.
double false_verdicts(double share, const Jitter& jitter, int pairs) {
  std::mt19937 random(4711);
  int wrong = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    const Run before = test::traced_run(jittery(share, jitter, random), "2026-01-01T00:00:00Z");
    const Run after = test::traced_run(jittery(share, jitter, random), "2026-01-02T00:00:00Z");
    if (is_change(test::step_time(compare(before, after, {})).speed_up.verdict)) ++wrong;
  }
  return static_cast<double>(wrong) / pairs;
}

/// `MPROF_CALIBRATE=5000` takes as many pairs, and prints the table of docs/how-it-works/programs.md.
int pairs_of_calibration() {
  const char* const asked = std::getenv("MPROF_CALIBRATE");  // NOLINT(concurrency-mt-unsafe): no other thread
  return asked == nullptr ? 150 : std::atoi(asked);
}

TEST(StepCalibration, VerdictsAreRarelyFalseAtTheAssumedJitterAndOftenAtThreeTimesIt) {
  const int pairs = pairs_of_calibration();
  const bool prints = std::getenv("MPROF_CALIBRATE") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const Jitter assumed{assumed_deviation(ClockSource::device, true),
                       assumed_deviation(ClockSource::host, true)};
  // With so many pairs a rate of 5 % is seen as more than this in one of a thousand tests.
  const double bound = 0.05 + 3.1 * std::sqrt(0.05 * 0.95 / pairs);
  for (const double share : {1.0, 0.95, 0.5, 0.1}) {
    std::array<double, 4> rates{};
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double times = std::array{0.5, 1.0, 2.0, 3.0}.at(i);
      rates.at(i) = false_verdicts(share, {times * assumed.device, times * assumed.host}, pairs);
    }
    if (prints)
      std::printf("| %.0f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", 100 * share, 100 * rates[0],
                  100 * rates[1], 100 * rates[2], 100 * rates[3]);
    EXPECT_LE(rates[0], bound) << share;
    EXPECT_LE(rates[1], bound) << share;
    EXPECT_GT(rates[3], rates[1]) << "an assumption that no jitter contradicts would be none: " << share;
  }
}

}  // namespace
}  // namespace mprof
