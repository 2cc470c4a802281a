// SPDX-License-Identifier: MIT
#include "report/analysis/program/launch_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/analysis/program/program_change.hpp"
#include "report/views/views.hpp"
#include "report/wording/launch_lines.hpp"
#include "report/wording/program_change.hpp"
#include "tests/report/fabricated_program.hpp"

namespace mprof {
namespace {

using test::FabricatedProgram;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* script = "/a/train.py";
constexpr const char* library = "/usr/lib/python3/dist-packages/torch/nn/modules/module.py";

/// A program whose launches have stacks.
struct StackedProgram : FabricatedProgram {
  trace::StackFrame python(const std::string& function, const std::string& file, std::uint32_t line) {
    return {.function = made.trace.names.index(function), .file = made.trace.names.index(file), .line = line};
  }
  trace::StackFrame native(const std::string& function, const std::string& module,
                           const std::string& file = "", std::uint32_t line = 0) {
    return {.function = made.trace.names.index(function),
            .module = made.trace.names.index(module),
            .file = file.empty() ? 0 : made.trace.names.index(file),
            .line = line,
            .address = 0x1000 + line};
  }
  /// Innermost first.
  void launch_from(const std::string& kernel, std::int64_t time,
                   const std::vector<trace::StackFrame>& stack) {
    launch(kernel, time);
    made.trace.calls.back().stack = made.trace.stacks.index(stack);
  }
  [[nodiscard]] std::optional<LaunchLines> lines() const { return launch_lines_of(made.trace, 0, {0, gpu}); }
};

std::vector<std::string> text_of(const LaunchLines& lines) {
  std::vector<std::string> all;
  for (const LaunchLine& line : lines.lines)
    all.push_back(place_text(line.place) + " in " + around_place(line.place) + ": " +
                  std::to_string(line.launches) + ", " + std::to_string(line.time) + ", " +
                  line.kernels.front().first);
  return all;
}

TEST(LaunchLines, AreTheUsersOwnNotThoseOfLibraries) {
  StackedProgram program;
  const auto main = program.python("<module>", script, 40);
  const auto call = program.python("Module._call_impl", library, 1762);
  const auto linear = program.python("Linear.forward", library, 125);
  const std::vector<trace::StackFrame> first{program.native("at::native::addmm", "/opt/libtorch_cuda.so"),
                                             linear,
                                             call,
                                             program.python("Model.forward", script, 12),
                                             call,
                                             main};
  const std::vector<trace::StackFrame> second{linear, call, program.python("Model.forward", script, 13), call,
                                              main};
  program.launch_from("gemm", 100, first);
  program.launch_from("relu", 20, first);
  program.launch_from("gemm", 300, second);
  program.launch_from(
      "sgd", 50,
      {program.python("step", library, 9), program.python("importing", "<frozen importlib._bootstrap>", 1)});
  program.launch("unknown", 30);
  const auto lines = program.lines();
  ASSERT_TRUE(lines);
  EXPECT_THAT(text_of(*lines),
              ElementsAre("train.py:13 in Model.forward: 1, 300, gemm",
                          "train.py:12 in Model.forward: 2, 120, gemm", "module.py:9 in step: 1, 50, sgd"));
  EXPECT_EQ(lines->time, 500);
  EXPECT_EQ(lines->unknown_time, 30);
  EXPECT_EQ(lines->outside_python_launches, 0U);
  EXPECT_EQ(lines_of_kernel(*lines, "gemm"), "train.py:13 75.0\u00a0%, train.py:12 25.0\u00a0%");
  EXPECT_EQ(lines_of_kernel(*lines, "sgd"), "module.py:9");
  EXPECT_EQ(lines_of_kernel(*lines, "unknown"), "");
  EXPECT_THAT(launch_lines_remarks(*lines), ElementsAre(HasSubstr("1 of 5 launches have no call stack")));
}

TEST(LaunchLines, OfGradientsStandAtTheirOperation) {
  StackedProgram program;
  program.launch_from("gemm", 100, {program.python("forward", script, 12)});
  program.launch_from(
      "gemm", 250,
      {program.native("at::native::addmm(at::Tensor const&)", "/opt/libtorch_cuda.so"),
       program.native("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)",
                      "/opt/libtorch_cpu.so"),
       program.native("torch::autograd::Engine::thread_main()", "/opt/libtorch_cpu.so")});
  const auto lines = program.lines();
  ASSERT_TRUE(lines);
  EXPECT_THAT(text_of(*lines), ElementsAre("AddmmBackward0 in autograd: 1, 250, gemm",
                                           "train.py:12 in forward: 1, 100, gemm"));
  EXPECT_EQ(lines->outside_python_time, 250);
  EXPECT_THAT(
      launch_lines_remarks(*lines),
      ElementsAre(AllOf(HasSubstr("71.4\u00a0% of the time is of kernels that threads without Python"),
                        HasSubstr("gradients in such threads, 71.4"))));
  ASSERT_EQ(lines->flame.inner.size(), 2U);
  EXPECT_EQ(place_text(lines->flame.inner[0].place), "AddmmBackward0");
  ASSERT_EQ(lines->flame.inner[0].inner.size(), 1U) << "the frames of the engine say nothing";
  EXPECT_TRUE(lines->flame.inner[0].inner[0].is_kernel);
}

TEST(LaunchLines, OfOtherThreadsWithoutPythonSayNothingOfGradients) {
  StackedProgram program;
  program.launch_from("gemm", 100, {program.python("forward", script, 12)});
  program.launch_from("fusion", 300, {program.native("xla::gpu::Thunk::Execute()", "/a/xla_extension.so")});
  const auto lines = program.lines();
  ASSERT_TRUE(lines);
  EXPECT_THAT(launch_lines_remarks(*lines),
              ElementsAre("75.0\u00a0% of the time is of kernels that threads without Python launched."));
}

TEST(LaunchLines, OfMachineCodeAreBelowTheCompilersStubs) {
  StackedProgram program;
  const std::string binary = "/a/solver";
  const auto main = program.native("main", binary, "/a/solver.cu", 90);
  program.launch_from(
      "step(float*)", 100,
      {program.native("cudaError cudaLaunchKernel<char>(char const*, dim3)", binary,
                      "/usr/local/cuda/targets/x86_64-linux/include/cuda_runtime.h", 216),
       program.native("__device_stub__Z4stepPf(float*)", binary, "tmpxft_1/solver.cudafe1.stub.c", 12),
       program.native("step(float*)", binary, "/a/solver.cu", 5),
       program.native("relax(float*, int)", binary, "/a/solver.cu", 44), main,
       program.native("__libc_start_main", "/lib/libc.so.6"), program.native("_start", binary)});
  program.launch_from("norm(float*)", 40,
                      {program.native("norm(float*)", binary), program.native("residual(float*)", binary),
                       program.native("main", binary)});
  const auto lines = program.lines();
  ASSERT_TRUE(lines);
  EXPECT_THAT(text_of(*lines),
              ElementsAre("solver.cu:44 in relax: 1, 100, step", "residual in solver: 1, 40, norm"));
  EXPECT_THAT(launch_lines_remarks(*lines), IsEmpty());
  const Flame& outermost = lines->flame.inner.front();
  EXPECT_EQ(outermost.place.function, "main");
  EXPECT_EQ(outermost.inner.front().place.function, "relax");
  EXPECT_TRUE(outermost.inner.front().inner.front().is_kernel);
}

TEST(LaunchLines, OfAGraphAreWhereItWasCaptured) {
  StackedProgram program;
  const trace::StackIndex captured = program.made.trace.stacks.index({program.python("forward", script, 12)});
  program.made.trace.graph_nodes.push_back({.time = {1, 1}, .thread = 1, .id = 11, .stack = captured});
  program.made.trace.graph_nodes.push_back({.time = {2, 2}, .thread = 1, .id = 22, .original = 11});
  program.launch_from("gemm", 100, {program.python("replay", script, 30)});
  program.made.trace.kernels.change(0, [](trace::Kernel& kernel) { kernel.graph_node = 22; });
  const auto lines = program.lines();
  ASSERT_TRUE(lines);
  EXPECT_THAT(text_of(*lines), ElementsAre("train.py:12 in forward: 1, 100, gemm"));
}

TEST(LaunchLines, AreNotSaidWithoutStacks) {
  StackedProgram program;
  program.launch("gemm", 100);
  EXPECT_FALSE(program.lines());
  EXPECT_FALSE(program.picture().launched_from);
}

TEST(LaunchLines, StandOnTheFirstScreen) {
  StackedProgram program;
  for (int i = 0; i < 20; ++i) {
    program.launch_from("gemm", 100, {program.python("forward", script, 12)});
    program.launch_from("sgd", 300, {program.python("update", script, 20)});
    program.wait();
  }
  const ProgramPicture picture = program.picture();
  const auto lines = program_lines(picture);
  const auto line = std::ranges::find(lines, "Launched from", &LedText::lead);
  ASSERT_NE(line, lines.end());
  EXPECT_EQ(
      line->text,
      "train.py:20 in update 75.0\u00a0% and train.py:12 in forward 25.0\u00a0% of the time of kernels.");
}

/// Ten steps, in which two functions launch kernels, from a file in this folder.
StackedProgram two_functions(std::int64_t forward, const std::string& folder, std::uint32_t line) {
  StackedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.launch_from("gemm", forward, {program.python("forward", folder + "/train.py", line)});
      program.launch_from("gemm", 1000, {program.python("forward", folder + "/train.py", line + 1)});
      program.launch_from("sgd", 2000, {program.python("update", folder + "/train.py", line + 20)});
    });
  return program;
}

TEST(LaunchLines, OfTwoRunsAreComparedByTheirFunctionsWhereverTheLinesAre) {
  const StackedProgram before = two_functions(5000, "/old", 12), after = two_functions(2000, "/new", 40);
  const auto a = compared_picture(*before.evidence().profile, 0),
             b = compared_picture(*after.evidence().profile, 0);
  ASSERT_TRUE(a && b);
  const auto change = program_change(*a, *b);
  ASSERT_TRUE(change);
  ASSERT_EQ(change->launchers.size(), 2U);
  const LauncherChange& largest = change->launchers[0];
  EXPECT_EQ(place_text(largest.place) + " in " + around_place(largest.place), "forward in train.py");
  EXPECT_NEAR(largest.before->time, 6000e-9, 1e-12);
  EXPECT_NEAR(largest.after->time, 3000e-9, 1e-12);
  EXPECT_NEAR(largest.after->launches, 2, 1e-9);
  EXPECT_EQ(change->launchers[1].difference(), 0);
  const std::vector<LedText> lines = traced_change_lines(*change);
  const auto line = std::ranges::find(lines, "Kernels by the function that launched them", &LedText::lead);
  ASSERT_NE(line, lines.end());
  EXPECT_EQ(line->text, "forward in train.py 6 → 3\u00a0µs.");
  EXPECT_EQ(program_change_json(*change).at("launchers").at(0).at("function"), "forward");
  FabricatedProgram without;
  without.launch("gemm", 100);
  EXPECT_TRUE(program_change(*compared_picture(*without.evidence().profile, 0),
                             *compared_picture(*without.evidence().profile, 0))
                  ->launchers.empty());
}

TEST(LaunchLines, TellLibrariesFromTheUsersFiles) {
  for (const char* own : {"/a/train.py", "train.py", "<stdin>", "<ipython-input-3-abc>", "/a/lib/model.py"})
    EXPECT_FALSE(is_library_source(own)) << own;
  for (const char* other :
       {"/usr/lib/python3.12/threading.py", "/opt/venv/lib/python3.12/site-packages/torch/x.py",
        "<frozen importlib._bootstrap>", "<eval_with_key>.1"})
    EXPECT_TRUE(is_library_source(other)) << other;
}

}  // namespace
}  // namespace mprof
