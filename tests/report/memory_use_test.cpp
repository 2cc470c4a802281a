// SPDX-License-Identifier: MIT
#include "report/analysis/program/memory_use.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/views/views.hpp"
#include "report/wording/memory_use.hpp"
#include "tests/report/fabricated_program.hpp"
#include "tests/report/traced_steps.hpp"

namespace mprof {
namespace {

using test::FabricatedProgram;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t mib = 1U << 20U;

/// A step of two ranges, and what happens in the first of them.
template <class InForward>
void train(FabricatedProgram& program, std::size_t steps, InForward in_forward) {
  for (std::size_t i = 0; i < steps; ++i) {
    program.range("forward", [&] {
      in_forward(i);
      program.launch("multiply", 500);
    });
    program.range("backward", [&] { program.launch("multiply_back", 900); });
    program.wait();
  }
}

MemoryUse use_of(const FabricatedProgram& program) {
  const ProgramPicture picture = program.picture();
  EXPECT_TRUE(picture.memory.use.has_value());
  return picture.memory.use.value_or(MemoryUse{});
}

/// Without no-break spaces.
std::string plain(std::string text) {
  const std::string space = "\u00a0";
  for (std::size_t at = text.find(space); at != text.npos; at = text.find(space, at))
    text.replace(at, space.size(), " ");
  return text;
}

std::string text_of(const ProgramPicture& picture) {
  return plain(memory_text(picture));
}

std::vector<std::string> remarks_of(const FabricatedProgram& program) {
  std::vector<std::string> remarks = memory_remarks(program.picture());
  for (std::string& remark : remarks) remark = plain(remark);
  return remarks;
}

TEST(MemoryUse, KnowsThePeakItsMomentAndWhoHeldWhatByRange) {
  FabricatedProgram program;
  program.range("model", [&] { program.allocate(100 * mib); });
  std::int64_t peak_time = 0;
  train(program, 8, [&](std::size_t step) {
    if (step != 0) return;
    std::uint64_t workspace = 0;
    program.range("attention", [&] {
      program.allocate(20 * mib);
      program.allocate(30 * mib);
      workspace = program.allocate(250 * mib, "cudaMallocAsync");
      peak_time = program.host - 1;
      program.compute(100'000);  // it warms up
    });
    program.release(workspace);
  });
  const MemoryUse use = use_of(program);
  EXPECT_EQ(use.peak, 400 * mib);
  EXPECT_EQ(use.peak_time, peak_time);
  EXPECT_EQ(use.peak_step, 0U);
  EXPECT_EQ(use.steady_peak, 150 * mib);
  EXPECT_EQ(use.from_pools, 250 * mib);
  ASSERT_EQ(use.holders.size(), 3U);
  EXPECT_THAT(use.holders[0].range, ElementsAre("forward", "attention"));
  EXPECT_EQ(use.holders[0].call, "cudaMallocAsync");
  EXPECT_EQ(use.holders[0].bytes, 250 * mib);
  EXPECT_THAT(use.holders[1].range, ElementsAre("model"));
  EXPECT_EQ(use.holders[1].bytes, 100 * mib);
  EXPECT_THAT(use.holders[2].range, ElementsAre("forward", "attention"));
  EXPECT_EQ(use.holders[2].allocations, 2U);
  EXPECT_EQ(use.holders[2].largest, 30 * mib);
  EXPECT_FALSE(use.growth);
  EXPECT_THAT(text_of(program.picture()),
              HasSubstr("Allocated in: forward / attention 75.0 % and model 25.0 %."));
}

TEST(MemoryUse, IsSaidByTheOutermostRangesThatDiffer) {
  FabricatedProgram program;
  train(program, 8, [&](std::size_t step) {
    if (step != 0) return;
    const auto allocate_in = [&](const char* outer, const char* inner, std::uint64_t size) {
      program.range(outer, [&] {
        program.range(inner, [&] { program.allocate(size); });
        program.compute(100);
      });
    };
    for (const char* const block : {"first", "second", "third"}) allocate_in(block, "attention", 20 * mib);
    allocate_in("first", "mlp", 40 * mib);
  });
  EXPECT_THAT(text_of(program.picture()),
              HasSubstr("Allocated in: forward / first 60.0 %, forward / second / attention 20.0 % and "
                        "forward / third / attention 20.0 %."));
}

TEST(MemoryUse, CountsWhatTheSteadyStepsAllocate) {
  FabricatedProgram program;
  train(program, 10, [&](std::size_t) {
    const std::uint64_t one = program.allocate(3 * mib), other = program.allocate(mib);
    program.release(one);
    program.release(other);
  });
  const ProgramPicture picture = program.picture();
  const MemoryTraffic traffic = picture.memory.use->traffic.value();
  const std::size_t steps = picture.steps->steady_steps();
  EXPECT_EQ(traffic.allocations, 2 * steps);
  EXPECT_EQ(traffic.releases, 2 * steps);
  EXPECT_EQ(traffic.bytes, 4 * mib * steps);
  EXPECT_EQ(picture.memory.use->steady_peak, 4 * mib);
  EXPECT_FALSE(picture.memory.use->growth);
  EXPECT_THAT(remarks_of(program),
              Contains("A steady step allocates 2.00 times, 4 MiB, and frees 2.00 times, on average."));
}

TEST(MemoryUse, WhatTheSteadyStepsSeldomAllocateStandsInSentencesOfTheirOwn) {
  FabricatedProgram once, twice;
  std::uint64_t kept = 0;
  train(once, 10, [&](std::size_t step) {
    if (step == 5) once.allocate(2 * mib);
  });
  train(twice, 10, [&](std::size_t step) {
    if (step == 4 || step == 6) kept = twice.allocate(mib);
    if (step == 8) twice.release(kept);
  });
  EXPECT_THAT(
      remarks_of(once),
      Contains(HasSubstr("steady steps allocate memory once. Together that is 2 MiB. They free none.")));
  EXPECT_THAT(remarks_of(twice),
              Contains(HasSubstr(
                  "steady steps allocate memory 2 times. Together that is 2 MiB. They free memory once.")));
}

TEST(MemoryUse, NamesALeakWithItsRangeAndRate) {
  FabricatedProgram program;
  program.allocate(64 * mib);
  train(program, 12, [&](std::size_t) {
    program.range("log", [&] { program.allocate(2 * mib); });
    program.release(program.allocate(8 * mib));
  });
  program.made.trace.gpus.push_back({.id = 0, .memory = 1024 * mib});
  const ProgramPicture picture = program.picture();
  ASSERT_TRUE(picture.memory.use->growth);
  const MemoryGrowth& growth = *picture.memory.use->growth;
  EXPECT_DOUBLE_EQ(growth.a_step, 2.0 * mib);
  EXPECT_EQ(growth.after - growth.before, 2 * mib * picture.steps->steady_steps());
  ASSERT_EQ(growth.holders.size(), 1U);
  EXPECT_THAT(growth.holders[0].range, ElementsAre("forward", "log"));
  EXPECT_EQ(growth.holders[0].allocations, picture.steps->steady_steps());
  EXPECT_THAT(text_of(picture), HasSubstr("It grows by 2 MiB a step."));
  // 64 MiB and 12 times 2 MiB are held of 1024 MiB: 468 steps more.
  EXPECT_THAT(remarks_of(program).front(), HasSubstr("full after at most 468 more steps"));
  EXPECT_THAT(remarks_of(program).front(), HasSubstr("in forward / log"));
}

TEST(MemoryUse, WhatGrowsAtFirstOrNowAndThenIsNoLeak) {
  FabricatedProgram at_first, in_the_middle, up_and_down;
  train(at_first, 12, [&](std::size_t step) {
    if (step < 5) at_first.allocate(mib);
  });
  train(in_the_middle, 12, [&](std::size_t step) {
    if (step == 6) in_the_middle.allocate(500 * mib);
  });
  std::uint64_t kept = 0;
  train(up_and_down, 12, [&](std::size_t step) {
    if (step % 2 == 0)
      kept = up_and_down.allocate(mib);
    else
      up_and_down.release(kept);
  });
  for (const FabricatedProgram* program : {&at_first, &in_the_middle, &up_and_down})
    EXPECT_FALSE(use_of(*program).growth);
}

TEST(MemoryUse, AddressesAreOfAProcessAndGpusOfTheirOwn) {
  FabricatedProgram program;
  program.allocate(10 * mib);
  program.allocate(40 * mib, "cudaMalloc", trace::MemoryKind::device, 1);
  program.made.trace.allocations.push_back({.time = {program.host, program.host},
                                            .process = std::int64_t{7} << 24U,
                                            .address = 2,
                                            .bytes = 5 * mib,
                                            .queue = {1, 1, 0},
                                            .kind = trace::MemoryKind::device});
  program.allocate(70 * mib, "cudaMallocHost", trace::MemoryKind::pinned);
  train(program, 8, [](std::size_t) {});
  const MemoryUse use = use_of(program);
  EXPECT_EQ(use.gpu, 1U);
  EXPECT_EQ(use.peak, 45 * mib) << "an address of another process is another one, and the host's is none";
  EXPECT_THAT(use.others, ElementsAre(10 * mib));
  EXPECT_THAT(remarks_of(program), Contains(HasSubstr("This is GPU 1, which held the most.")));
}

TEST(MemoryUse, PyTorchReservesUnlessEachStepAllocates) {
  FabricatedProgram keeps, asks;
  keeps.allocate(20 * mib);
  train(keeps, 8, [&](std::size_t) { keeps.launch("void at::native::add<float>(float*)", 100); });
  train(asks, 8, [&](std::size_t) {
    asks.launch("void at::native::add<float>(float*)", 100);
    asks.release(asks.allocate(20 * mib));
  });
  EXPECT_EQ(use_of(keeps).reserver, MemoryReserver::pytorch);
  EXPECT_THAT(remarks_of(keeps), Contains(StartsWith("PyTorch's allocator keeps")));
  EXPECT_EQ(use_of(asks).reserver, MemoryReserver::none);
}

TEST(MemoryUse, OfALargerBatchItSaysTheRoomAndWhatOneRunDoesNotTell) {
  FabricatedProgram program;
  program.allocate(256 * mib);
  train(program, 8, [](std::size_t) {});
  EXPECT_THAT(remarks_of(program), Contains(HasSubstr("How much memory the GPU has is not known.")));
  program.made.trace.gpus.push_back({.id = 0, .memory = 1024 * mib});
  EXPECT_THAT(remarks_of(program), Contains(HasSubstr("one 4.00× as large would fill it")));
  program.made.trace.gpus.back().memory = 260 * mib;
  EXPECT_THAT(remarks_of(program), Contains(HasSubstr("next to nothing is left")));
}

TEST(MemoryUse, OfALargerBatchItKnowsWhatWasThereBeforeTheFirstStep) {
  FabricatedProgram program;
  program.allocate(200 * mib);
  train(program, 8, [&](std::size_t step) {
    if (step == 0) program.allocate(56 * mib);
  });
  program.made.trace.gpus.push_back({.id = 0, .memory = 1024 * mib});
  EXPECT_THAT(remarks_of(program), Contains(HasSubstr("768 MiB more than the program held at the peak")));
  // 824 MiB are left for what takes 56.
  EXPECT_THAT(remarks_of(program),
              Contains(HasSubstr("If only what came since the first step began did (56 MiB), "
                                 "one 14.7× as large would.")));
}

TEST(MemoryUse, OfTheAbsentItSaysWhy) {
  FabricatedProgram silent, unrecorded;
  train(silent, 8, [](std::size_t) {});
  train(unrecorded, 8, [&](std::size_t) { unrecorded.made.call("cudaMalloc", {1, 2}); });
  for (const FabricatedProgram* program : {&silent, &unrecorded}) EXPECT_TRUE(remarks_of(*program).empty());
  EXPECT_FALSE(silent.picture().memory.use);
  EXPECT_THAT(text_of(silent.picture()), HasSubstr("no call that allocates memory of a GPU"));
  EXPECT_EQ(unrecorded.picture().memory.absent.calls, 8U);
  EXPECT_THAT(text_of(unrecorded.picture()),
              HasSubstr("cudaMalloc was called, and the trace does not say what it allocated"));
}

TEST(MemoryUse, WithoutStepsThereIsAPeakAndNoGrowth) {
  FabricatedProgram program;
  const std::uint64_t first = program.allocate(6 * mib);
  program.launch("scale", 500);
  program.release(first);
  program.allocate(4 * mib, "cudaMallocManaged", trace::MemoryKind::managed);
  program.launch("sum", 500);
  const MemoryUse use = use_of(program);
  EXPECT_EQ(use.peak, 6 * mib);
  EXPECT_FALSE(use.steady_peak);
  EXPECT_FALSE(use.traffic);
  EXPECT_EQ(use.points.back().bytes, 4 * mib);
  EXPECT_THAT(text_of(program.picture()), HasSubstr("Allocated by: cudaMalloc 100.0 %."));
  EXPECT_THAT(text_of(program.picture()), Not(HasSubstr("step")));
}

TEST(MemoryUse, OfUnseenMemoryThePeakIsALeastAndNoRoomIsTold) {
  FabricatedProgram program;
  program.allocate(2 * mib);
  program.made.call("cuMemCreate", {1, 2});
  train(program, 8, [](std::size_t) {});
  program.made.trace.gpus.push_back({.id = 0, .memory = 1024 * mib});
  EXPECT_EQ(use_of(program).unseen_calls, 1U);
  EXPECT_THAT(text_of(program.picture()), StartsWith("At least 2 MiB of GPU memory at its peak"));
  EXPECT_THAT(remarks_of(program), Contains(StartsWith("The peak is at least 2 MiB")));
  EXPECT_THAT(remarks_of(program), Contains(StartsWith("cuMemCreate was called once.")));
  EXPECT_THAT(remarks_of(program), Not(Contains(StartsWith("The GPU has"))));
  EXPECT_THAT(remarks_of(program), Not(Contains(HasSubstr("steady steps"))));
  const mprof::Run run = test::traced_run(program, "2026-01-01T00:00:00Z");
  Materials materials;
  materials.evidence = program.evidence();
  const nlohmann::json cards = milestone_page(analyse(run), materials).view["answers"][0]["cards"];
  EXPECT_EQ(plain(cards.back()["time"]), "at least 2 MiB");
}

TEST(MemoryUse, OfUnseenMemoryAloneItSaysThatNoRecordTells) {
  FabricatedProgram program, both;
  train(program, 8, [&](std::size_t) { program.made.call("cuMemCreate", {1, 2}); });
  train(both, 8, [&](std::size_t) {
    both.made.call("cuMemCreate", {1, 2});
    both.made.call("cudaMalloc", {1, 2});
  });
  EXPECT_EQ(program.picture().memory.absent.unseen_calls, 8U);
  EXPECT_EQ(text_of(program.picture()),
            "Not known: cuMemCreate was called, and no record tells how much memory it gave.");
  EXPECT_THAT(text_of(both.picture()), HasSubstr("cudaMalloc was called, and the trace does not say"));
  EXPECT_THAT(text_of(both.picture()), HasSubstr("cuMemCreate was called, and no record tells"));
}

/// Kernels of a framework, as many in each step.
void compute_as(FabricatedProgram& program, const std::string& kernel, std::size_t steps,
                std::size_t launches) {
  train(program, steps, [&](std::size_t) {
    for (std::size_t i = 0; i < launches; ++i) program.launch(kernel, 100);
  });
}

TEST(MemoryUse, OfXlaItSaysThatItReservesAndNothingOfALargerInput) {
  FabricatedProgram program;
  program.allocate(768 * mib);
  compute_as(program, "loop_add_fusion", 8, 2);
  program.made.range("TSL", "XlaModule:#hlo_module=jit_step#", {1, 2});
  program.made.trace.gpus.push_back({.id = 0, .memory = 1024 * mib});
  EXPECT_EQ(use_of(program).reserver, MemoryReserver::xla);
  EXPECT_THAT(remarks_of(program), Contains(HasSubstr("XLA_PYTHON_CLIENT_PREALLOCATE=false")));
  EXPECT_THAT(remarks_of(program), Not(Contains(HasSubstr("as large would fill it"))));
}

TEST(MemoryUse, GrowthThatDiesDownIsNoLeak) {
  const std::vector<std::uint64_t> quarters{4096, 2048, 1024, 100};
  FabricatedProgram cache;
  train(cache, 16, [&](std::size_t step) {
    if (step % 4 == 1) cache.allocate(quarters.at(step / 4) * mib);
  });
  EXPECT_EQ(cache.picture().steps->steady, 0U) << "the quarters are of four steps each";
  EXPECT_FALSE(use_of(cache).growth);
  FabricatedProgram leak;
  train(leak, 16, [&](std::size_t) { leak.allocate(mib); });
  EXPECT_TRUE(use_of(leak).growth);
}

TEST(MemoryUse, ALeakIsNotBlamedOnBuffersThatAreReplaced) {
  FabricatedProgram program;
  std::uint64_t kept = 0;
  program.range("cache", [&] { kept = program.allocate(100 * mib); });
  train(program, 12, [&](std::size_t) {
    program.release(kept);
    program.range("cache", [&] { kept = program.allocate(100 * mib); });
    program.range("log", [&] { program.allocate(2 * mib); });
  });
  const MemoryUse use = use_of(program);
  ASSERT_TRUE(use.growth);
  ASSERT_EQ(use.growth->holders.size(), 1U);
  EXPECT_THAT(use.growth->holders[0].range, ElementsAre("forward", "log"));
  EXPECT_EQ(use.growth->holders[0].bytes, use.growth->after - use.growth->before);
}

TEST(MemoryUse, OfSeveralProcessesUnderOneNumberNoShareIsTold) {
  FabricatedProgram program;
  program.allocate(200 * mib);
  train(program, 12, [&](std::size_t) { program.allocate(mib); });
  program.made.trace.gpus.push_back({.id = 0, .memory = 1024 * mib});
  EXPECT_THAT(text_of(program.picture()), HasSubstr("of what the GPU has"));
  FabricatedProgram two_gpus = program;
  two_gpus.made.trace.gpus.push_back({.id = 0, .memory = 1024 * mib});
  FabricatedProgram two_processes = program;
  two_processes.made.trace.allocations.push_back({.time = {1, 1},
                                                  .process = std::int64_t{7} << 24U,
                                                  .address = 1,
                                                  .bytes = 900 * mib,
                                                  .queue = {0, 1, 0},
                                                  .kind = trace::MemoryKind::device});
  EXPECT_EQ(use_of(two_processes).peak, 1112 * mib) << "more than the GPU has";
  for (const FabricatedProgram* one : {&two_gpus, &two_processes}) {
    EXPECT_FALSE(use_of(*one).of_gpu);
    EXPECT_TRUE(use_of(*one).is_of_several);
    EXPECT_THAT(text_of(one->picture()), Not(HasSubstr("of what the GPU has")));
    EXPECT_THAT(remarks_of(*one), Not(Contains(HasSubstr("full after"))));
    EXPECT_THAT(remarks_of(*one), Not(Contains(HasSubstr("larger"))));
    EXPECT_THAT(remarks_of(*one), Contains(HasSubstr(" together, ")));
  }
}

TEST(MemoryUse, ThatIsLittleLimitsNothingThatOneRunCouldTell) {
  FabricatedProgram program;
  program.allocate(mib);
  train(program, 8, [](std::size_t) {});
  program.made.trace.gpus.push_back({.id = 0, .memory = 1024 * mib});
  EXPECT_THAT(remarks_of(program), Contains("The GPU has 1 GiB, 1,024 times as much."));
}

TEST(MemoryUse, IsReservedByAFrameworkWithoutStepsAsWell) {
  FabricatedProgram inference;
  inference.allocate(20 * mib);
  for (const char* kernel : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"})
    inference.launch(std::string("void at::native::") + kernel + "<float>(float*)", 500);
  ASSERT_FALSE(inference.picture().steps);
  EXPECT_EQ(use_of(inference).reserver, MemoryReserver::pytorch);
  EXPECT_THAT(text_of(inference.picture()), HasSubstr("what the framework reserved"));
}

TEST(MemoryUse, TheStepsThatAreLeftAreNotRoundedUp) {
  FabricatedProgram program;
  train(program, 12, [&](std::size_t) { program.allocate(2 * mib); });
  program.made.trace.gpus.push_back({.id = 0, .memory = (24 + 3000 - 1) * mib});
  EXPECT_THAT(remarks_of(program).front(), HasSubstr("full after at most 1,499 more steps"));
}

}  // namespace
}  // namespace mprof
