// SPDX-License-Identifier: MIT
#include "report/analysis/program/range_tree.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/wording/range_tree.hpp"
#include "tests/report/fabricated_program.hpp"

namespace mprof {
namespace {

using test::FabricatedProgram;

/// The whole tree as lines "name: calls, GPU/self, host/self", indented.
std::string text_of(const std::vector<RangeNode>& nodes, const std::string& indent = "") {
  std::string text;
  for (const RangeNode& node : nodes) {
    text += indent + range_name(node) + ": " + std::to_string(node.calls) + ", " + std::to_string(node.gpu) +
            "/" + std::to_string(node.gpu_self) + ", " + std::to_string(node.host) + "/" +
            std::to_string(node.host_self) + (node.elsewhere ? ", elsewhere" : "") + "\n";
    text += text_of(node.children, indent + "  ");
  }
  return text;
}

/// `program` has ten steps.
RangeTree tree_of(const FabricatedProgram& program) {
  const auto steps = program.steps();
  EXPECT_TRUE(steps);
  const auto tree = range_tree_of(program.made.trace, 0, *steps);
  EXPECT_TRUE(tree);
  return tree.value_or(RangeTree{});
}

TEST(RangeTree, AddsUpWhatWasLaunchedWithin) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step) {
    program.range("forward", [&] {
      program.launch("embed", 50);
      for (int block = 0; block < 2; ++block)
        program.range("block " + std::to_string(block), [&] {
          program.range("attention", [&] { program.launch("flash", 300); });
          program.launch("mlp", 100);
        });
    });
    program.range("update", [&] { program.launch("adam", 70); });
    program.wait();
  }
  const RangeTree tree = tree_of(program);
  EXPECT_EQ(tree.gpu, 10 * (50 + 2 * 400 + 70));
  EXPECT_EQ(tree.outside, 0);
  // Each launch takes the host 5 ns; names that stand in each step keep their numbers.
  EXPECT_EQ(text_of(tree.roots),
            "forward: 10, 8500/500, 250/50\n"
            "  block 0: 10, 4000/1000, 100/50\n"
            "    attention: 10, 3000/3000, 50/50\n"
            "  block 1: 10, 4000/1000, 100/50\n"
            "    attention: 10, 3000/3000, 50/50\n"
            "update: 10, 700/700, 50/50\n");
}

TEST(RangeTree, IsOfTheSteadyStepsAlone) {
  FabricatedProgram program;
  program.range("setup", [&] { program.launch("fill", 9); });
  for (int step = 0; step < 11; ++step)
    program.range("step " + std::to_string(step), [&] { program.launch("gemm", step == 0 ? 9000 : 1000); });
  const RangeTree tree = tree_of(program);
  EXPECT_EQ(tree.steps, 10U);
  EXPECT_EQ(text_of(tree.roots), "step #: 10, 10000/10000, 50/50\n") << "a number that counts steps is none";
}

TEST(RangeTree, LeavesOutWhatIsAroundAllSteps) {
  FabricatedProgram program;
  program.range("training", [&] {
    program.compute(5);
    for (int step = 0; step < 10; ++step) program.range("step", [&] { program.launch("gemm", 100); });
    program.compute(5);
  });
  EXPECT_EQ(text_of(tree_of(program).roots), "step: 10, 1000/1000, 50/50\n");
}

TEST(RangeTree, OfOperationsHasTheirNamesWithoutIds) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      for (int i = 0; i < 3; ++i)
        program.range("aten::mm, seq = " + std::to_string(3 * step + i) + ", op_id = 7",
                      [&] { program.launch("gemm", 100); });
    });
  EXPECT_EQ(text_of(tree_of(program).roots),
            "step: 10, 3000/0, 150/0\n"
            "  aten::mm: 30, 3000/3000, 150/150\n");
}

/// The steps' thread calls backward() and waits, while another thread launches.
FabricatedProgram with_autograd(bool in_ranges_of_its_own) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step) {
    program.range("forward", [&] { program.launch("gemm", 100); });
    program.range("backward", [&] {
      program.launch("fill", 10);
      program.thread = 2;
      for (int i = 0; i < 2; ++i) {
        if (in_ranges_of_its_own)
          program.range("MmBackward", [&] { program.launch("gemm", 150); });
        else
          program.launch("gemm", 150);
      }
      program.thread = 1;
      program.compute(5);
    });
    program.wait();
  }
  return program;
}

TEST(RangeTree, GivesARangeWhatAnotherThreadLaunchesForIt) {
  const RangeTree tree = tree_of(with_autograd(false));
  EXPECT_EQ(text_of(tree.roots),
            "backward: 10, 3100/3100, 200/200\n"
            "forward: 10, 1000/1000, 50/50\n");
  EXPECT_EQ(tree.roots[0].gpu_others, 3000);
  const std::vector<std::string> remarks = range_tree_remarks(tree);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0],
            "backward: another thread launched 300.0\u00a0ns of its GPU time, while the thread of the range "
            "launched nothing.");
}

TEST(RangeTree, GivesItThatThreadsRangesToo) {
  EXPECT_EQ(text_of(tree_of(with_autograd(true)).roots),
            "backward: 10, 3100/100, 200/200\n"
            "  MmBackward: 20, 3000/3000, 100/100, elsewhere\n"
            "forward: 10, 1000/1000, 50/50\n");
}

/// Two modules of one operation each, as PyTorch's emit_nvtx marks them, in steps that use new numbers.
FabricatedProgram with_numbered_operations(int skipped) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step) {
    const auto number = [&](int module) { return std::to_string(skipped + 2 * step + module); };
    program.range("forward", [&] {
      for (int module = 0; module < 2; ++module)
        program.range("module " + std::to_string(module), [&] {
          program.compute(1);
          program.range("aten::linear, seq = " + number(module) + ", op_id = 1, sizes = [[2, 3]]", [&] {
            program.compute(1);
            program.range("aten::addmm, seq = " + number(module) + ", op_id = 2",
                          [&] { program.launch("gemm", 100); });
          });
        });
    });
    program.range("backward", [&] {
      program.launch("fill", 10);
      program.thread = 2;
      for (int module = 1; module >= 0; --module)
        program.range("autograd::engine::evaluate_function: AddmmBackward0, seq = " + number(module), [&] {
          program.compute(1);
          program.range("AddmmBackward0, seq = " + number(module),
                        [&] { program.launch("gemm", module == 0 ? 150 : 250); });
        });
      program.thread = 1;
      program.compute(5);
    });
    program.wait();
  }
  return program;
}

const RangeNode* node_of(const std::vector<RangeNode>& nodes, std::string_view name) {
  for (const RangeNode& node : nodes) {
    if (node.name == name) return &node;
    if (const RangeNode* const found = node_of(node.children, name)) return found;
  }
  return nullptr;
}

TEST(RangeTree, JoinsABackwardPassToItsOperationByTheirNumber) {
  const RangeTree tree = tree_of(with_numbered_operations(0));
  EXPECT_TRUE(tree.has_backward);
  ASSERT_NE(node_of(tree.roots, "module 1"), nullptr);
  EXPECT_EQ(node_of(tree.roots, "module 0")->gpu, 1000);
  EXPECT_EQ(node_of(tree.roots, "module 0")->gpu_backward, 1500);
  EXPECT_EQ(node_of(tree.roots, "module 1")->gpu_backward, 2500);
  EXPECT_EQ(node_of(tree.roots, "aten::linear")->gpu_backward, 1500) << "the first module's";
  EXPECT_EQ(node_of(tree.roots, "aten::addmm")->gpu_backward, 0) << "its outermost range has it";
  EXPECT_EQ(node_of(tree.roots, "forward")->gpu_backward, 4000);
  EXPECT_EQ(node_of(tree.roots, "backward")->gpu, 4100) << "where it was launched, it counts as before";
  EXPECT_EQ(node_of(tree.roots, "backward")->gpu_backward, 0);
  EXPECT_NE(range_tree_caption(tree).find("Its backward pass:"), std::string::npos);
}

TEST(RangeTree, HasNoBackwardPassWithoutNumbers) {
  EXPECT_FALSE(tree_of(with_autograd(true)).has_backward);
  EXPECT_EQ(range_tree_caption(tree_of(with_autograd(true))).find("backward"), std::string::npos);
}

/// A thread that copies while the steps' thread goes on launching works for nobody in particular.
TEST(RangeTree, GivesNoRangeWhatAThreadBesidesLaunches) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      for (int i = 0; i < 3; ++i) {
        program.launch("gemm", 100);
        program.thread = 2;
        program.launch("prefetch", 20);
        program.thread = 1;
      }
      program.launch("gemm", 100);
    });
  const RangeTree tree = tree_of(program);
  EXPECT_EQ(text_of(tree.roots), "step: 10, 4000/4000, 350/350\n");
  EXPECT_EQ(tree.outside, 600);
  EXPECT_EQ(range_tree_remarks(tree),
            std::vector<std::string>{"Launched in no range: 60.00\u00a0ns of GPU time a step."});
}

TEST(RangeTree, IsNoneWithoutRanges) {
  FabricatedProgram program;
  for (int step = 0; step < 12; ++step) {
    program.launch("load", 10);
    program.launch("update", 20);
  }
  const auto steps = program.steps();
  ASSERT_TRUE(steps);
  EXPECT_FALSE(range_tree_of(program.made.trace, 0, *steps));
}

TEST(RangeTree, FoldsWhatTakesLittle) {
  FabricatedProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      program.range("large", [&] { program.launch("gemm", 100'000, 2000); });
      program.range("middle", [&] { program.launch("gemm", 50'000, 1000); });
      for (int i = 0; i < 4; ++i)
        program.range("little " + std::to_string(i), [&] { program.launch("gemm", 1000); });
    });
  const RangeTree tree = folded(tree_of(program), 100);
  EXPECT_EQ(text_of(tree.roots),
            "step: 10, 1540000/0, 30200/0\n"
            "  large: 10, 1000000/1000000, 20000/20000\n"
            "  middle: 10, 500000/500000, 10000/10000\n"
            "  4 more: 40, 40000/40000, 200/200\n");
  const RangeTree small = folded(tree_of(program), 3);
  EXPECT_EQ(text_of(small.roots),
            "step: 10, 1540000/0, 30200/0\n"
            "  large: 10, 1000000/1000000, 20000/20000\n"
            "  5 more: 50, 540000/540000, 10200/10200\n");
}

std::string in_letters(int number) {
  std::string text;
  for (; number > 0; number /= 26) text += static_cast<char>('a' + number % 26);
  return text;
}

TEST(RangeTree, KeepsWithinItsLimitsWhateverAProgramDoes) {
  FabricatedProgram program;
  int names = 0;
  const auto down = [&](const auto& self, int depth) -> void {
    if (depth == 0) return program.launch("gemm", 100);
    program.range("deep", [&] { self(self, depth - 1); });
  };
  for (int step = 0; step < 10; ++step)
    program.range("step", [&] {
      down(down, 300);
      for (int i = 0; i < 3000; ++i) program.range(in_letters(++names), [&] { program.launch("gemm", 10); });
    });
  const RangeTree tree = tree_of(program);
  EXPECT_TRUE(tree.at_limit);
  ASSERT_EQ(tree.roots.size(), 1U);
  EXPECT_EQ(tree.roots[0].gpu, tree.gpu) << "nothing is lost";
  EXPECT_LE(folded(tree, 50).roots[0].children.size(), 50U);
}

}  // namespace
}  // namespace mprof
