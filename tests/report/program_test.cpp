// SPDX-License-Identifier: MIT
#include "report/wording/program.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace/nsys_schema.hpp"
#include "report/analysis/program/kernel_hints.hpp"
#include "report/analysis/program/kernel_kinds.hpp"
#include "report/analysis/program/picture.hpp"
#include "report/views/program_parts.hpp"
#include "tests/report/counters.hpp"
#include "tests/report/fabricated_program.hpp"

namespace mprof {
namespace {

using Program = test::FabricatedProgram;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// --- Steps

TEST(ProgramSteps, AreRangesThatRepeat) {
  Program program;
  program.compute(1000);
  for (int step = 0; step < 8; ++step) {
    program.range("forward", [&] { program.launch("gemm", step == 0 ? 500 : 60); });
    program.range("backward", [&] { program.launch("gemm", 40); });
    program.wait();
  }
  const auto steps = program.steps();
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->mark, StepMark::ranges);
  EXPECT_EQ(steps->names, (std::vector<std::string>{"forward", "backward"}));
  EXPECT_EQ(steps->all.size(), 8U);
  EXPECT_EQ(steps->steady, 1U) << "the first one is slow";
  EXPECT_EQ(steps->all[3].launches, 2U);
  EXPECT_NEAR(steps->median_pace(), 106, 2) << "two kernels, a launch and the end of waiting";
}

TEST(ProgramSteps, ArePacedByTheGpuWhereTheHostRunsAhead) {
  Program program;
  for (int step = 0; step < 10; ++step)
    program.range("step " + std::to_string(step), [&] { program.launch("gemm", 1000); });
  const auto steps = program.steps();
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->names, std::vector<std::string>{"step #"});
  EXPECT_EQ(steps->median_pace(), 1000);
  EXPECT_EQ(steps->fastest_host(), 5);
}

TEST(ProgramSteps, LieBelowARangeAroundAll) {
  Program program;
  program.range("training", [&] {
    for (int step = 0; step < 6; ++step)
      program.range("step", [&] {
        program.compute(1);
        program.range("layer", [&] { program.launch("gemm", 100); });
      });
  });
  const auto steps = program.steps();
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->names, std::vector<std::string>{"step"});
}

TEST(ProgramSteps, OfOneLaunchHaveAHostsPartUntilTheNextOne) {
  Program program;
  for (int sweep = 0; sweep < 60; ++sweep) {
    program.launch("relax", 12);
    if (sweep % 20 == 19) program.wait();
  }
  const auto steps = program.steps();
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->mark, StepMark::launches);
  EXPECT_EQ(steps->fastest_host(), 5) << "what a launch takes; where the last one ends is not known";
}

TEST(ProgramSteps, AreNotTheRangesOfLibraries) {
  Program program;
  for (int i = 0; i < 20; ++i)
    program.range(
        "XlaCompile", [&] { program.compute(100); }, "TSL");
  EXPECT_FALSE(program.steps());
}

TEST(ProgramSteps, AreNotTheOperationsOfPyTorch) {
  Program program;
  for (int step = 0; step < 6; ++step) {
    for (int layer = 0; layer < 8; ++layer)
      program.range("aten::conv2d, op_id = " + std::to_string(8 * step + layer),
                    [&] { program.launch("conv", 100); });
    program.range("Optimizer.step#SGD.step", [&] { program.launch("update", 10); });
  }
  const auto steps = program.steps();
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->all.size(), 6U);
}

TEST(ProgramSteps, FastestHostIsOfAStepThatDidItsWork) {
  Program program;
  program.range("step", [&] { program.compute(1); });  // nothing to do yet
  for (int step = 0; step < 8; ++step)
    program.range("step", [&] {
      program.compute(200);
      program.launch("gemm", 1000);
    });
  const auto steps = program.steps();
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->fastest_host(), 205);
}

TEST(ProgramSteps, AreFoundByTheirLaunchesToo) {
  Program program;
  program.launch("fill", 10);
  for (int step = 0; step < 12; ++step) {
    program.launch("load", 10);
    // Layers repeat within a step, and are none.
    for (int layer = 0; layer < 6; ++layer) program.launch("forward", 20);
    for (int layer = 0; layer < 6; ++layer) program.launch("backward", 40);
    program.launch("update", 5);
  }
  const auto steps = program.steps();
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->mark, StepMark::launches);
  EXPECT_EQ(steps->all.size(), 12U);
  EXPECT_EQ(steps->all[5].launches, 14U);
}

/// The last kernel on another GPU, or of another process; 0: of the one that launched it.
void change_last(Program& program, std::uint32_t gpu, std::uint32_t process) {
  trace::Kernels& kernels = program.made.trace.kernels;
  kernels.change(kernels.size() - 1, [&](trace::Kernel& one) {
    one.queue.device = gpu;
    if (process != 0) one.process = trace::nsys::global_process(process);
  });
}

/// Each step on GPU 0, and each tenth one on GPU 1 as well, in the same process.
Program two_gpus() {
  Program program;
  for (int step = 0; step < 50; ++step) {
    program.launch("gemm", 990);
    change_last(program, 0, 0);
    if (step % 10 != 0) continue;
    const std::int64_t busy_until = program.gpu;
    program.launch("gemm", 10);
    change_last(program, 1, 0);
    program.gpu = busy_until;
  }
  return program;
}

std::string line_of(const ProgramPicture& picture, const std::string& lead) {
  for (const LedText& line : program_lines(picture)) {
    if (line.lead == lead) return line.text;
  }
  return "";
}

TEST(ProgramSteps, AreOfOneGpu) {
  const auto steps = two_gpus().steps();
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->all.size(), 50U) << "what GPU 1 runs of the same kernel is no step";
}

TEST(ProgramSteps, OfLaunchesSayWhyRangesAreNotUsed) {
  Program program;
  for (int step = 0; step < 20; ++step) program.launch("gemm", 100);
  EXPECT_NE(line_of(program.picture(), "A step").find("NVTX ranges would name it"), std::string::npos);
  program.range("train step", [&] { program.launch("gemm", 100); });
  const std::string text = line_of(program.picture(), "A step");
  EXPECT_EQ(text.find("would name it"), std::string::npos) << text;
  EXPECT_NE(text.find("Its NVTX ranges are not used"), std::string::npos) << text;
}

TEST(ProgramLines, AreByGpuWhereSeveralWork) {
  const ProgramPicture picture = two_gpus().picture();
  const std::string where = line_of(picture, "Where a step goes"), bound = line_of(picture, "What bounds it");
  EXPECT_NE(where.find("GPU 0 runs kernels for "), std::string::npos) << where;
  EXPECT_NE(where.find("GPU 1 runs kernels for "), std::string::npos) << where;
  EXPECT_NE(bound.find("GPU 0, the busiest of 2: it runs kernels for "), std::string::npos) << bound;
  EXPECT_NE(bound.find("GPU 1 is idle for "), std::string::npos) << bound;
  EXPECT_NE(bound.find("Divide the work more evenly"), std::string::npos) << bound;
}

/// One of two always works, and each waits for the other half of the time.
TEST(ProgramLines, TheBusiestGpuBoundsThatWaitsForAnother) {
  Program program;
  for (int step = 0; step < 40; ++step) {
    program.launch("gemm", 300);
    change_last(program, 0, 0);
    program.launch("scale", 280);
    change_last(program, 1, 0);
  }
  const ProgramPicture picture = program.picture();
  EXPECT_NE(picture.bound, ProgramBound::kernels);
  const std::string bound = line_of(picture, "What bounds it");
  EXPECT_NE(bound.find(" of the time GPU 0, the busiest of 2, "), std::string::npos) << bound;
}

TEST(ProgramLines, SayHowMuchOfLoadingKeepsTheGpuIdle) {
  Program program;
  for (int step = 0; step < 20; ++step) {
    program.range("load", [&] { program.compute(100); });
    program.range("forward", [&] { program.launch("gemm", 295); });
    program.wait();
  }
  const ProgramPicture picture = program.picture();
  ASSERT_TRUE(picture.loader);
  EXPECT_EQ(picture.loader->first, "load");
  EXPECT_NE(line_of(picture, "Where a step goes")
                .find("In load, which by its name gets the input, the GPU has nothing to do for "
                      "24.9\u00a0% of "
                      "the time."),
            std::string::npos)
      << line_of(picture, "Where a step goes");
}

TEST(ProgramKernels, OfOneNameAndTwoKindsAreToldApart) {
  Program program;
  for (int step = 0; step < 20; ++step)
    program.range("step", [&] {
      program.launch("void at::native::elementwise_kernel<128, 2, direct_copy_kernel_cuda>(int)", 295);
      program.launch("void at::native::elementwise_kernel<128, 2, CUDAFunctor_add<float>>(int)", 195);
      program.launch("gemm", 100);
    });
  EXPECT_THAT(shown_kernel_names(program.picture()),
              testing::ElementsAre("elementwise_kernel (copies and layout)",
                                   "elementwise_kernel (element-wise)", "gemm"));
}

TEST(ProgramLines, SayNothingOfALoaderThatIsNotThere) {
  Program program;
  for (int step = 0; step < 20; ++step) program.range("upload", [&] { program.launch("gemm", 295); });
  EXPECT_FALSE(program.picture().loader);
}

TEST(ProgramLines, NameProcessesThatUseOneGpu) {
  Program program;
  for (int step = 0; step < 20; ++step) {
    program.launch("gemm", 300);
    change_last(program, 0, 8);
    program.launch("scale", 100);
    change_last(program, 0, 9);
  }
  const std::string where = line_of(program.picture(), "Where a step goes");
  EXPECT_NE(where.find("2 processes have kernels on GPU 0: process 8 for "), std::string::npos) << where;
  EXPECT_NE(where.find(" and process 9 for "), std::string::npos) << where;
  EXPECT_EQ(line_of(two_gpus().picture(), "Where a step goes").find("processes"), std::string::npos);
}

TEST(ProgramSteps, AreNoneWhereNothingRepeats) {
  Program program;
  for (const char* kernel : {"a", "b", "c", "d", "a", "e", "f", "b"}) program.launch(kernel, 100);
  EXPECT_FALSE(program.steps());
}

TEST(ProgramSteps, ThatAreSlowAreTold) {
  Program program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] { program.launch("gemm", step == 7 ? 3000 : 1000); });
  const auto steps = program.steps();
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->slow(), std::vector<std::size_t>{7});
}

// --- What bounds it

TEST(ProgramBound, IsTheGpuThatIsBusy) {
  Program program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] { program.launch("gemm", 1'000'000, 5000); });
  const ProgramPicture picture = program.picture();
  EXPECT_EQ(picture.bound, ProgramBound::kernels);
  EXPECT_FALSE(picture.gain);
}

TEST(ProgramBound, IsLaunchingWhereGapsAreShort) {
  Program program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      for (int i = 0; i < 20; ++i) program.launch("axpy", 2000, 8000);
    });
  const ProgramPicture picture = program.picture();
  EXPECT_EQ(picture.bound, ProgramBound::launching);
  ASSERT_TRUE(picture.gain);
  EXPECT_NEAR(*picture.gain, 4.0, 0.1) << "2 us of work in 8";
}

TEST(ProgramBound, IsTheHostWhereGapsAreLong) {
  Program program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.compute(3'000'000);
      program.launch("gemm", 1'000'000, 5000);
      program.wait();
    });
  EXPECT_EQ(program.picture().bound, ProgramBound::host);
}

TEST(ProgramBound, IsCopiesThatNoKernelRunsBeside) {
  Program program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      const std::int64_t start = std::max(program.host, program.gpu);
      program.made.transfer(7, {start, start + 3'000'000}, test::to_device);
      program.gpu = start + 3'000'000;
      program.host = program.gpu;
      program.launch("gemm", 1'000'000, 5000);
      program.wait();
    });
  const ProgramPicture picture = program.picture();
  EXPECT_EQ(picture.bound, ProgramBound::copies);
}

/// Ten steps, each of which does this after a kernel of 1 ms.
template <class Do>
ProgramPicture ten_steps(Do what) {
  Program program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch("gemm", 1'000'000, 5000);
      what(program);
    });
  return program.picture();
}

std::string bound_text_of(const ProgramPicture& picture) {
  const std::vector<LedText> lines = program_lines(picture);
  return std::ranges::find(lines, "What bounds it", &LedText::lead)->text;
}

TEST(ProgramBound, IsWaitingThatGoesOnAfterTheWork) {
  const ProgramPicture picture = ten_steps([](Program& program) {
    program.range("log", [&] {
      const std::int64_t end = std::max(program.host, program.gpu) + 3'000'000;
      program.made.call("cudaStreamSynchronize", {program.host, end});
      program.host = end;
    });
  });
  EXPECT_EQ(picture.bound, ProgramBound::waiting);
  EXPECT_THAT(bound_text_of(picture),
              HasSubstr("It waits 1.0 times a step in cudaStreamSynchronize, mostly in step / log."));
}

TEST(ProgramBound, IsAllocation) {
  const ProgramPicture picture = ten_steps([](Program& program) {
    program.wait();
    program.range("buffers", [&] {
      program.made.call("cudaMalloc", {program.host, program.host + 3'000'000});
      program.host += 3'000'000;
    });
  });
  EXPECT_EQ(picture.bound, ProgramBound::allocation);
  EXPECT_THAT(bound_text_of(picture), HasSubstr("of that is in step / buffers."));
}

TEST(ProgramBound, IsTheSystemAndALoaderWhereItWaitsForOthers) {
  const auto with = [](const std::string& call) {
    return ten_steps([&](Program& program) {
      program.wait();
      program.range("load", [&] {
        program.made.system_call(call, {program.host, program.host + 3'000'000});
        program.host += 3'000'000;
      });
    });
  };
  const ProgramPicture loader = with("pthread_cond_timedwait"), file = with("read");
  EXPECT_EQ(loader.bound, ProgramBound::system);
  EXPECT_THAT(bound_text_of(loader), HasSubstr("of that is in step / load."));
  EXPECT_THAT(bound_text_of(loader), HasSubstr("a loader that is too slow looks like this"));
  EXPECT_EQ(file.bound, ProgramBound::system);
  EXPECT_THAT(bound_text_of(file), HasSubstr("calls such as read."));
  EXPECT_THAT(bound_text_of(file), Not(HasSubstr("loader")));
}

TEST(ProgramBound, IsTheHostInTheRangeWhereItComputes) {
  const ProgramPicture picture = ten_steps([](Program& program) {
    program.wait();
    program.compute(100'000);
    program.range("augment", [&] { program.compute(3'000'000); });
  });
  EXPECT_EQ(picture.bound, ProgramBound::host);
  EXPECT_EQ(picture.bounding_range, "step / augment");
  EXPECT_GT(picture.in_bounding_range, 0.9);
  EXPECT_LT(picture.in_bounding_range, 1.0) << "a part of it is in the step and in no range within";
}

TEST(ProgramBound, IsNotKnownWhereTracingTookTheTime) {
  const ProgramPicture picture = ten_steps([](Program& program) {
    program.wait();
    program.made.trace.overheads.push_back({.time = {program.host, program.host + 3'000'000}});
    program.host += 3'000'000;
  });
  EXPECT_EQ(picture.bound, ProgramBound::tracing);
  EXPECT_FALSE(picture.gain);
}

TEST(ProgramBound, IsCommunicationThatNoOtherKernelRunsBeside) {
  const auto with = [](std::int64_t other) {
    Program program;
    for (int step = 0; step < 10; ++step)
      program.range("step", [&] {
        program.launch("gemm", 1'000'000, 5000);
        const std::int64_t start = program.gpu;
        program.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 1'000'000, 5000);
        if (other > 0) program.made.kernel(8, {start, start + other}, 0, "gemm");
        program.wait();
      });
    return program.picture();
  };
  const ProgramPicture alone = with(0), hidden = with(1'000'000);
  EXPECT_EQ(alone.bound, ProgramBound::communication);
  ASSERT_TRUE(alone.gain);
  EXPECT_NEAR(*alone.gain, 2.0, 0.05);
  EXPECT_THAT(bound_text_of(alone), StartsWith("Communication: for 49."));
  EXPECT_EQ(hidden.bound, ProgramBound::kernels);
}

TEST(ProgramBound, OfTheGpuSaysWhichUnitItIs) {
  ProgramPicture picture = ten_steps([](Program& program) { program.launch("softmax", 500'000, 5000); });
  KernelResult gemm, softmax;
  gemm.bottleneck = Bottleneck{.bound = Bound::latency, .compute = 10, .memory = 20};
  softmax.bottleneck =
      Bottleneck{.bound = Bound::memory, .compute = 10, .memory = 90, .memory_part = BusyPart{"DRAM", 90}};
  EXPECT_THAT(bound_text_of(picture), Not(HasSubstr("What holds them back"))) << "nothing was counted";
  EXPECT_EQ(bound_remark(picture), "");
  picture.functions[0].counted = &gemm;
  picture.functions[1].counted = &softmax;
  EXPECT_THAT(
      bound_text_of(picture),
      HasSubstr(
          "What holds them back: latency for 66.7\u00a0% of their time and DRAM for 33.3\u00a0%. Latency: "));
  EXPECT_EQ(bound_remark(picture), "latency for 66.7\u00a0% of kernel time");
  picture.functions[0].counted = nullptr;
  EXPECT_THAT(bound_text_of(picture), Not(HasSubstr("Latency:")));
}

TEST(ProgramBound, OfLaunchingSaysWhetherALargerInputFits) {
  const auto with = [](std::uint64_t memory) {
    Program program;
    program.allocate(1 << 20);
    program.made.trace.gpus.push_back({.id = 0, .memory = memory});
    for (int step = 0; step < 10; ++step)
      program.range("step", [&] {
        for (int i = 0; i < 20; ++i) program.launch("axpy", 2000, 8000);
      });
    return bound_text_of(program.picture());
  };
  EXPECT_THAT(with(8 << 20), HasSubstr("A larger input a step"));
  EXPECT_THAT(with(1 << 20), Not(HasSubstr("A larger input a step")));
}

TEST(ProgramSteps, AreNotWhatRepeatsWithinSomethingLonger) {
  // Two bursts of launches: what lies between them is most of the time.
  Program program;
  for (int burst = 0; burst < 2; ++burst) {
    for (int i = 0; i < 10; ++i) program.launch("convolve", 1'000'000, 5000);
    program.wait();
    program.compute(200'000'000);
  }
  EXPECT_FALSE(program.steps());
  Program even;
  for (int i = 0; i < 20; ++i) even.launch("convolve", 1'000'000, 5000);
  EXPECT_TRUE(even.steps());
}

TEST(ProgramPicture, KnowsInWhichWaysAFunctionIsLaunched) {
  Program program;
  const auto launch = [&](const std::string& kernel, std::int64_t time, std::int32_t blocks,
                          std::uint32_t stream) {
    program.launch(kernel, time);
    program.made.trace.kernels.change(program.made.trace.kernels.size() - 1, [&](trace::Kernel& one) {
      one.grid = trace::Size{blocks, 1, 1};
      one.block = trace::Size{128, 1, 1};
      one.queue.stream = stream;
    });
  };
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      launch("void gemm<128>(float*)", 600'000, 64, 7);
      launch("void gemm<128>(float*)", 200'000, 64, 8);
      launch("void gemm<128>(float*)", 100'000, 8, 7);
      launch("void gemm<64>(float*)", 300'000, 64, 7);
    });
  const ProgramPicture picture = program.picture();
  ASSERT_EQ(picture.functions.size(), 1U);
  const std::vector<LaunchShape>& shapes = picture.functions[0].shapes;
  ASSERT_EQ(shapes.size(), 3U) << "a stream makes no other way";
  EXPECT_EQ(shapes[0].name, "gemm<128>");
  EXPECT_EQ(shapes[0].launches, 20U);
  EXPECT_EQ(shapes[0].time, 10 * 800'000);
  EXPECT_EQ(shapes[0].grid, (trace::Size{64, 1, 1}));
  EXPECT_EQ(shapes[1].name, "gemm<64>");
  EXPECT_EQ(shapes[2].grid, (trace::Size{8, 1, 1}));
}

TEST(KernelHint, IsToldByTheBottleneckAndByWhatWarpsWaitFor) {
  KernelResult kernel;
  EXPECT_FALSE(hint_for(kernel)) << "nothing was counted";
  kernel.bottleneck = Bottleneck{.bound = Bound::latency, .under_one_wave = true};
  kernel.counters.values[test::counter::waves] = derived_value(0.1);
  EXPECT_EQ(hint_for(kernel), KernelHint::more_blocks);
  kernel.counters.values[test::counter::waves] = derived_value(0.95);
  EXPECT_FALSE(hint_for(kernel)) << "what warps wait for was not counted";
  kernel.stalls = {{"not_selected", "not selected", 9}, {"long_scoreboard", "long scoreboard", 5}};
  EXPECT_EQ(hint_for(kernel), KernelHint::more_loads) << "that another warp was taken does no harm";
  kernel.counters.values[test::counter::occupancy] = derived_value(20);
  EXPECT_EQ(hint_for(kernel), KernelHint::more_warps);
  kernel.stalls[1].key = "barrier";
  EXPECT_EQ(hint_for(kernel), KernelHint::fewer_barriers);
  kernel.bottleneck = Bottleneck{.bound = Bound::memory, .memory = 90, .memory_part = BusyPart{"L2", 90}};
  EXPECT_EQ(hint_for(kernel), KernelHint::fewer_cache_bytes);
  kernel.bottleneck =
      Bottleneck{.bound = Bound::compute, .compute = 90, .compute_part = BusyPart{tensor_pipe, 90}};
  EXPECT_EQ(hint_for(kernel), KernelHint::less_tensor_work);
  kernel.bottleneck->compute_part = BusyPart{issue_slots, 90};
  EXPECT_EQ(hint_for(kernel), KernelHint::fewer_instructions);
}

TEST(ProgramPicture, AddsUpKernelsByKindAndFunction) {
  Program program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch("void gemm<float, 128>(float*)", 600'000);
      program.launch("void gemm<float, 64>(float*)", 200'000);
      program.launch("void at::native::reduce_kernel<512>(float*)", 200'000);
    });
  const ProgramPicture picture = program.picture();
  ASSERT_EQ(picture.kinds.size(), 2U);
  EXPECT_EQ(picture.kinds[0].kind, KernelKind::matrix_product);
  EXPECT_NEAR(picture.share_of_kernels(picture.kinds[0].time), 0.8, 1e-9);
  ASSERT_EQ(picture.functions.size(), 2U);
  EXPECT_EQ(picture.functions[0].name, "gemm");
  EXPECT_EQ(picture.functions[0].instances, 2U);
}

TEST(ProgramPicture, IsOfAProgramThatEndedAsItShould) {
  Program program;
  program.launch("gemm", 100);
  CaseResult result;
  result.id = "program/p";
  result.status = Status::ok;
  EXPECT_TRUE(picture_of(FamilyResult{}, result, program.evidence()));
  result.status = Status::failed;
  EXPECT_FALSE(picture_of(FamilyResult{}, result, program.evidence()));
}

TEST(ProgramPicture, SaysWhatItsPartsAre) {
  Program program;
  program.compute(5'000'000);
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] { program.launch("gemm", step == 0 ? 9'000'000 : 1'000'000); });
  const std::vector<LedText> lines = program_lines(program.picture());
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0].lead, "A step");
  EXPECT_NE(lines[0].text.find("1.000\u00a0ms (median of 9 steps"), std::string::npos) << lines[0].text;
  EXPECT_NE(lines[2].text.find("The GPU: kernels run for 100.0"), std::string::npos) << lines[2].text;
  EXPECT_EQ(lines[3].lead, "The next gain");
  EXPECT_EQ(lines[5].lead, "Memory");
  EXPECT_NE(lines[6].text.find("5.000\u00a0ms before its first CUDA call"), std::string::npos)
      << lines[6].text;
  EXPECT_NE(lines[6].text.find("of warming up (1 step). Then "), std::string::npos) << lines[6].text;
}

TEST(ProgramPicture, HasPartsThatAddUpWhereAStepBeginsBeforeTheFirstCall) {
  Program program;
  program.compute(5'000'000);
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.compute(2'000'000);
      program.launch("gemm", 1'000'000);
    });
  const std::string text = program_lines(program.picture()).back().text;
  EXPECT_THAT(text, HasSubstr("5.000\u00a0ms before the first step"));
  EXPECT_THAT(text, Not(HasSubstr("first CUDA call")));
}

TEST(ProgramPicture, SaysFromWhereItsTimeIsWithoutSteps) {
  Program program;
  program.launch("gemm", 1'000'000);
  EXPECT_THAT(program_lines(program.picture()).back().text,
              HasSubstr(" from its first CUDA call to its end"));
  Program later;
  later.compute(5'000'000);
  later.launch("gemm", 1'000'000);
  EXPECT_THAT(
      program_lines(later.picture()).back().text,
      HasSubstr("5.000\u00a0ms before its first CUDA call. Then 1.000\u00a0ms from there to its end"));
}

TEST(ProgramPicture, KnowsWhatWarmingUpHasMoreOf) {
  Program program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      if (step == 0) program.compute(4'000'000);
      program.launch("gemm", step == 0 ? 9'000'000 : 1'000'000);
    });
  const auto parts = program.picture().more_in_warming_up();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].first, BudgetPart::kernels);
  EXPECT_EQ(parts[1].first, BudgetPart::idle_host);
  EXPECT_NEAR(parts[1].second, 4e6, 1e4);
  Program even;
  for (int step = 0; step < 10; ++step) even.range("step", [&] { even.launch("gemm", 1'000'000); });
  EXPECT_TRUE(even.picture().more_in_warming_up().empty());
}

// --- Kinds

TEST(FunctionName, IsWhatInstancesHaveInCommonAndWhatCutlassRuns) {
  EXPECT_EQ(function_name("reduce_kernel<512, 1, at::native::ReduceOp<float> >"), "reduce_kernel");
  EXPECT_EQ(function_name("splitKreduce_kernel, grid 64 x 8 x 1, block 32 x 16 x 1"), "splitKreduce_kernel");
  EXPECT_EQ(function_name("Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x5_nt_align4>"),
            "cutlass_80_tensorop_s1688gemm_128x128_32x5_nt_align4");
  EXPECT_EQ(
      function_name("device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int>, float> >"),
      "GemmUniversal");
  EXPECT_EQ(function_name("Kernel<float>"), "Kernel") << "somebody's own";
  EXPECT_EQ(function_name("Kernel2"), "Kernel2");
}

TEST(KernelKind, IsToldByTheNamesOfLibraries) {
  using enum KernelKind;
  const std::vector<std::pair<std::string, KernelKind>> kinds{
      {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_cublas", matrix_product},
      {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTN", matrix_product},
      {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>(Params)", matrix_product},
      {"sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw__5x_cudnn", convolution},
      {"void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5>(int)", convolution},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512>(float)", normalization},
      {"void cudnn::ops::nchwToNhwcKernel<float, float, float>(int)", layout},
      {"void pytorch_flash::flash_fwd_kernel<Traits>(Params)", attention},
      {"fmha_cutlassF_f32_aligned_64x64_rf_sm80", attention},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
       elementwise},
      {"void at::native::elementwise_kernel<128, direct_copy_kernel_cuda>(int)", layout},
      {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float>(int)",
       random},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)", reduction},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<Functor>(int)", optimizer},
      {"void (anonymous namespace)::softmax_warp_forward<float, float, 4>(float*)", softmax},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)", communication},
      {"void cub::DeviceRadixSortOnesweepKernel<Policy>(int)", sorting},
      {"triton_poi_fused_add_relu_0", elementwise},
      {"triton_red_fused_mean_2", reduction},
      {"loop_add_fusion_3", elementwise},
      {"time_loop_step(double*)", other},
      {"regular_fft_1024<8>", transform},
      {"jacobi(float*, float*, int)", other},
  };
  for (const auto& [name, kind] : kinds) EXPECT_EQ(kind_name(kernel_kind(name)), kind_name(kind)) << name;
}

}  // namespace
}  // namespace mprof
