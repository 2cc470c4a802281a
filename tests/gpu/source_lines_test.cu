// SPDX-License-Identifier: MIT
// A kernel of which it is known at which line its warps stand, and what they wait for there.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectors/collector.hpp"
#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "device/device.hpp"

namespace mprof {
namespace {

constexpr unsigned blocks = 264, threads = 256, steps = 2000;

constexpr unsigned line_of_the_chase = __LINE__ + 5;
/// Each load needs the one before.
__global__ void chase(const unsigned* next, unsigned* last) {
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 0; i < steps; ++i) {
    at = next[at];
  }
  last[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

/// Waits for nothing but its own arithmetic, for a tenth of the time.
__global__ void reckon(unsigned* last) {
  float x = static_cast<float>(last[threadIdx.x]);
  for (unsigned i = 0; i < steps; ++i) x = fmaf(x, 1.0001F, 0.5F);
  last[blockIdx.x * blockDim.x + threadIdx.x] += static_cast<unsigned>(x);
}

/// In a process of its own: where CUPTI has counted before, it does not tell instructions apart.
class DISABLED_SourceLinesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const CollectorKind* each : CollectorKinds::instance().of(Pass::source, "cuda")) {
      if (each->id == "source_lines") kind_ = each;
    }
    ASSERT_NE(kind_, nullptr) << "there is no collector of source lines for CUDA";
    if (const auto reason = kind_->unavailable()) GTEST_SKIP() << *reason;
    const std::size_t count = std::size_t{blocks} * threads;
    next_ = cuda::DeviceBuffer<unsigned>(count);
    last_ = cuda::DeviceBuffer<unsigned>(count);
    std::vector<unsigned> next(count);
    for (std::size_t i = 0; i < count; ++i) next[i] = static_cast<unsigned>((i * 7919 + 104729) % count);
    cuda::check(cudaMemcpy(next_.data(), next.data(), next_.bytes(), cudaMemcpyHostToDevice));
    subject_.ops = {{.name = "first"}, {.name = "second"}};
  }

  void chase_and_reckon() const {
    chase<<<blocks, threads>>>(next_.data(), last_.data());
    cuda::check_launch();
    reckon<<<blocks, threads>>>(last_.data());
    cuda::check_launch();
  }

  /// What is sampled of one execution: both kernels in the first op, one in the second.
  std::vector<SourceLine> sampled(std::vector<Measurement>& measurements) {
    chase_and_reckon();  // loads the module
    const auto collector = kind_->make({subject_, *Devices::instance().find("cuda"), steady_clock(), plan_});
    const auto stage = [&](std::string_view op, const auto& work) {
      do {
        collector->begin_stage(op, Stage::forward);
        work();
        collector->end_stage(op, Stage::forward);
      } while (collector->again(op));
    };
    collector->begin_sample();
    stage("first", [&] { chase_and_reckon(); });
    stage("second", [&] { reckon<<<blocks, threads>>>(last_.data()); });
    collector->end_sample();
    EXPECT_FALSE(collector->wants_more());
    collector->finish(measurements);
    return collector->source_lines();
  }

  const CollectorKind* kind_ = nullptr;
  cuda::DeviceBuffer<unsigned> next_{1}, last_{1};
  Case subject_;
  Plan plan_;
};

TEST_F(DISABLED_SourceLinesTest, AreThoseAtWhichTheWarpsOfEachOpStand) {
  std::vector<Measurement> measurements;
  const std::vector<SourceLine> lines = sampled(measurements);
  for (const Measurement& row : measurements) EXPECT_EQ(row.absent, "") << row.op.text();
  ASSERT_FALSE(lines.empty());
  const SourceLine& hottest = lines.front();
  EXPECT_EQ(hottest.op, "first");
  EXPECT_EQ(hottest.kernel, "chase");
  EXPECT_EQ(hottest.file, "tests/gpu/source_lines_test.cu");
  EXPECT_EQ(hottest.line, line_of_the_chase);
  EXPECT_GT(hottest.samples, 1000U);
  const auto longest = std::ranges::max_element(hottest.stalls, {}, [](const auto& s) { return s.second; });
  EXPECT_EQ(longest->first, "long_scoreboard");
  for (const SourceLine& line : lines) {
    if (line.op == "second") EXPECT_EQ(line.kernel, "reckon") << "an op's samples are its own";
  }
  const auto chased = std::ranges::find(measurements, "chase", &Measurement::kernel);
  ASSERT_NE(chased, measurements.end());
  EXPECT_GT(static_cast<double>(hottest.samples), 0.8 * chased->samples.at(0));
}

TEST_F(DISABLED_SourceLinesTest, ASecondCaseFindsTheSame) {
  std::vector<Measurement> measurements;
  static_cast<void>(sampled(measurements));
  const std::vector<SourceLine> lines = sampled(measurements);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front().line, line_of_the_chase);
}

TEST(SourceLines, OfAKnownKernelAreFoundInAFreshProcess) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      "'" + self + "' --gtest_also_run_disabled_tests --gtest_filter='DISABLED_SourceLinesTest.*' >&2";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace mprof
