// SPDX-License-Identifier: MIT
#include "report/analysis/program/drawn_step.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/run_file.hpp"
#include "report/page/report.hpp"
#include "report/wording/drawn_step.hpp"
#include "system/files.hpp"
#include "tests/report/fabricated_program.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using test::FabricatedProgram;

DrawnStep drawn(const FabricatedProgram& program, const DrawnLimits& limits = {}) {
  const auto steps = program.steps();
  EXPECT_TRUE(steps);
  auto step = drawn_step_of(program.made.trace, 0, *steps, limits);
  EXPECT_TRUE(step);
  return std::move(step).value_or(DrawnStep{});
}

std::vector<const DrawnLane*> lanes_of(const DrawnStep& step, LaneOf what) {
  std::vector<const DrawnLane*> lanes;
  for (const DrawnLane& lane : step.lanes) {
    if (lane.what == what) lanes.push_back(&lane);
  }
  return lanes;
}

/// "gemm 5-105, relu 105-125": times from the beginning of the step.
std::string blocks_of(const DrawnStep& step, const DrawnLane& lane) {
  std::string text;
  for (const DrawnBlock& block : lane.blocks) {
    const std::string& name = step.names[block.name];
    text += (text.empty() ? "" : ", ") + (name.empty() ? std::string(paint_name(block.paint)) : name) + " " +
            std::to_string(block.time.start - step.own.start) + "-" +
            std::to_string(block.time.end - step.own.start);
  }
  return text;
}

/// Ten steps of two kernels each, for which the host waits.
FabricatedProgram in_turn() {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.range("forward", [&] {
        program.launch("void gemm<float>(float*)", 100);
        program.launch("relu", 20);
      });
      program.wait();
      program.compute(30);
    });
  return program;
}

TEST(DrawnStep, HasLanesOfThreadsAndStreamsAndIdleTime) {
  const DrawnStep step = drawn(in_turn());
  ASSERT_EQ(step.lanes.size(), 5U);
  // The host's own code after the step before belongs to this one: it ends when the GPU is done.
  EXPECT_EQ(step.own.length(), 156);
  EXPECT_EQ(blocks_of(step, *lanes_of(step, LaneOf::ranges)[0]), "step 0-31, step 31-156");
  EXPECT_EQ(blocks_of(step, *lanes_of(step, LaneOf::ranges)[1]), "forward 31-41");
  EXPECT_EQ(blocks_of(step, *lanes_of(step, LaneOf::calls)[0]),
            "cudaDeviceSynchronize 0-1, cudaLaunchKernel 31-36, cudaLaunchKernel 36-41, "
            "cudaDeviceSynchronize 41-156");
  EXPECT_EQ(blocks_of(step, *lanes_of(step, LaneOf::stream)[0]), "gemm 36-136, relu 136-156");
  EXPECT_EQ(blocks_of(step, *lanes_of(step, LaneOf::idle)[0]),
            "idle: waits 0-1, idle: host code 1-31, idle: CUDA calls 31-36");
  EXPECT_EQ(step.merged, 0);
  EXPECT_TRUE(drawn_step_remarks(step).empty());
}

TEST(DrawnStep, JoinsKernelsToTheirLaunches) {
  const DrawnStep step = drawn(in_turn());
  const std::vector<DrawnBlock>& kernels = lanes_of(step, LaneOf::stream)[0]->blocks;
  const std::vector<DrawnBlock>& calls = lanes_of(step, LaneOf::calls)[0]->blocks;
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].launch, 2U);
  EXPECT_EQ(kernels[1].launch, 3U);
  EXPECT_EQ(calls[kernels[0].launch - 1].time.end, kernels[0].time.start);
}

TEST(DrawnStep, ColoursKernelsByTheirKindAndCopiesByTheirWay) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch("void gemm<float>(float*)", 100);
      program.made.transfer(8, {program.host, program.host + 50}, test::to_device);
      program.wait();
    });
  const DrawnStep step = drawn(program);
  const auto streams = lanes_of(step, LaneOf::stream);
  ASSERT_EQ(streams.size(), 2U);
  EXPECT_EQ(paint_name(streams[0]->blocks[0].paint), "matrix products");
  EXPECT_EQ(paint_name(streams[1]->blocks[0].paint), "copy to the GPU");
}

TEST(DrawnStep, OfAHostThatIsAheadHasTheTimeOfItsLaunches) {
  FabricatedProgram program;
  for (int step = 0; step < 20; ++step) program.range("step", [&] { program.launch("gemm", 1000, 400); });
  const DrawnStep step = drawn(program);
  EXPECT_EQ(step.view.length(), 1000) << "the step itself";
  EXPECT_GT(step.view.start, 0) << "and before it what the host did for it";
  ASSERT_EQ(drawn_step_remarks(step).size(), 1U);
  EXPECT_NE(drawn_step_remarks(step)[0].find("all work that runs here was launched before"),
            std::string::npos);
  const std::vector<DrawnBlock>& kernels = lanes_of(step, LaneOf::stream)[0]->blocks;
  EXPECT_NE(kernels.back().launch, 0U);
  EXPECT_EQ(drawn(program, {.view_alone = true}).view.start, 0);
}

TEST(DrawnStep, OfTooManyKernelsIsThinnedAndSaysSo) {
  constexpr std::size_t kernels = 50'000;
  FabricatedProgram program;
  for (int step = 0; step < 6; ++step)
    program.range("step", [&] {
      for (std::size_t i = 0; i < (step == 5 ? kernels : kernels / 100); ++i)
        program.launch(i % 3 == 0 ? "relu" : "void gemm<float>(float*)",
                       1000 + static_cast<std::int64_t>(i % 7));
      program.wait();
    });
  Steps steps = program.steps().value_or(Steps{});
  ASSERT_EQ(steps.all.size(), 6U);
  steps.steady = 5;  // the large one alone
  const DrawnLimits limits;
  const DrawnStep step = drawn_step_of(program.made.trace, 0, steps, limits).value_or(DrawnStep{});
  EXPECT_LE(step.blocks, limits.blocks);
  EXPECT_GT(step.blocks, limits.blocks / 8) << "and no more than it must";
  std::size_t count = 0;
  std::int64_t before = 0, busy = 0;
  for (const DrawnBlock& block : lanes_of(step, LaneOf::stream)[0]->blocks) {
    EXPECT_TRUE(block.count == 1 || block.time.length() <= step.merged);
    EXPECT_GE(block.time.start, before);
    before = block.time.end;
    count += block.count;
    busy += block.busy;
    EXPECT_EQ(paint_name(block.paint), "matrix products") << "two of three, and longer";
  }
  EXPECT_EQ(count, kernels);
  const auto one = [](std::size_t i) { return 1000 + static_cast<std::int64_t>(i % 7); };
  std::int64_t all = 0;
  for (std::size_t i = 0; i < kernels; ++i) all += one(i);
  EXPECT_EQ(busy, all);
  ASSERT_EQ(drawn_step_remarks(step).size(), 1U);
  EXPECT_NE(drawn_step_remarks(step)[0].find("stand in one block of at most this length"), std::string::npos);
}

TEST(DrawnStep, KeepsWithinItsLimitsWhateverAProgramDoes) {
  FabricatedProgram program;
  const auto down = [&](const auto& self, int depth) -> void {
    if (depth == 0) return program.launch("gemm", 100);
    program.range("deep", [&] { self(self, depth - 1); });
  };
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      down(down, 20);
      for (int i = 0; i < 30; ++i) {
        program.thread = 2 + i;
        program.launch("gemm", 10);
        program.made.kernel(static_cast<std::uint32_t>(100 + i), {program.host, program.host + 10});
      }
      program.thread = 1;
    });
  const DrawnStep step = drawn(program);
  EXPECT_EQ(lanes_of(step, LaneOf::ranges).size(), 8U);
  EXPECT_EQ(lanes_of(step, LaneOf::calls).size(), 6U);
  EXPECT_EQ(lanes_of(step, LaneOf::stream).size(), 12U);
  const auto is_about_missing = [](const std::string& one) { return one.starts_with("Not drawn: "); };
  EXPECT_EQ(std::ranges::count_if(drawn_step_remarks(step), is_about_missing), 3);
}

// --- The page

/// The page of the recorded program with another trace in place of its own.
std::string page_of(FabricatedProgram program) {
  const std::filesystem::path recorded = std::filesystem::path(MPROF_SOURCE_DIR) / "results/program";
  const mprof::Run run = read_run(recorded);
  program.made.trace.cases.front().id = run.cases.front().id;
  program.made.trace.cases.front().window = {0, std::max(program.host, program.gpu)};
  const test::TemporaryDirectory directory;
  samples::write_traces({program.made.trace}, directory.path() / "run");
  write_report(run, {{"html"}, directory.path() / "report", {}, directory.path() / "run"});
  return read_file(directory.path() / "report/milestone.html");
}

/// Thirty seconds of a training with a hundred thousand launches.
TEST(DrawnStep, KeepsThePageOfALongTrainingSmall) {
  FabricatedProgram program;
  program.compute(1'000'000);
  for (int step = 0; step < 100; ++step)
    program.range("step", [&] {
      for (int block = 0; block < 50; ++block)
        program.range("block " + std::to_string(block), [&] {
          for (int i = 0; i < 20; ++i)
            program.launch("void operation" + std::to_string(i) + "<float, 128>(float const*, float*, int)",
                           280'000, 15'000);
        });
      program.wait();
    });
  const std::string page = page_of(std::move(program));
  constexpr std::size_t most = 4'000'000;
  EXPECT_LT(page.size(), most);
  EXPECT_NE(page.find("One step, drawn"), std::string::npos);
  EXPECT_NE(page.find("block 49"), std::string::npos) << "the tree of ranges";
}

TEST(DrawnStep, IsSafeWhateverNamesAre) {
  const std::string attack = "</svg><img src=x onerror=alert(1)>\"'&";
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range(attack, [&] { program.range(attack, [&] { program.launch(attack, 1'000'000); }); });
  program.made.trace.threads.push_back({.id = 1, .name = attack});
  const std::string page = page_of(std::move(program));
  EXPECT_NE(page.find("One step, drawn"), std::string::npos);
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
}

}  // namespace
}  // namespace mprof
