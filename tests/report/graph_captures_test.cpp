// SPDX-License-Identifier: MIT
#include "report/trace/graph_captures.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/analysis/program/range_tree.hpp"
#include "report/trace/profile_tables.hpp"
#include "report/wording/graph_captures.hpp"
#include "report/wording/range_tree.hpp"
#include "tests/report/fabricated_program.hpp"

namespace mprof {
namespace {

using test::FabricatedProgram;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A program whose CUDA graphs are given nodes, and launch them.
struct GraphProgram : FabricatedProgram {
  void node(std::uint64_t id, std::uint64_t original = 0) {
    made.trace.graph_nodes.push_back(
        {.time = {host, host}, .thread = thread, .id = id, .original = original});
    host += 1;
  }
  struct Ran {
    std::uint64_t node = 0;
    std::string kernel;
    std::int64_t time = 0;
  };
  void graph(const std::vector<Ran>& kernels) {
    ++launches;
    made.call("cudaGraphLaunch", {host, host + 5}, trace::Api::runtime, thread);
    made.trace.calls.back().correlation = launches;
    std::int64_t start = std::max(host + 5, gpu);
    for (const Ran& one : kernels) {
      made.kernel(7, {start, start + one.time}, 0, one.kernel);
      made.trace.kernels.change(made.trace.kernels.size() - 1, [&](trace::Kernel& kernel) {
        kernel.correlation = launches;
        kernel.graph_node = one.node;
      });
      start += one.time;
    }
    gpu = start;
    host += 5;
  }
  [[nodiscard]] GraphCaptures captures() const { return graph_captures(made.trace, 0); }
};

constexpr std::uint64_t high = std::uint64_t{7} << 32U;  // as CUPTI numbers nodes: by graph

/// Two layers are captured, with a child graph in the second; copies of the graph run in ten steps.
GraphProgram captured_training() {
  GraphProgram program;
  program.range("child", [&] { program.node(1); });
  program.range("capture", [&] {
    program.range("layer 0", [&] {
      program.node(high + 1);
      program.node(high + 2);
    });
    program.range("layer 1", [&] {
      program.node(high + 3);
      program.node(high + 4, 1);  // the child graph's, copied into this one
    });
  });
  for (std::uint64_t id = 1; id <= 4; ++id) program.node(2 * high + id, high + id);  // instantiated
  for (int step = 0; step < 10; ++step)
    program.range("step " + std::to_string(step), [&] {
      program.launch("load", 10);
      program.graph({{2 * high + 1, "gemm", 100},
                     {2 * high + 2, "relu", 20},
                     {2 * high + 3, "gemm", 200},
                     {2 * high + 4, "norm", 30}});
      program.wait();
    });
  return program;
}

std::vector<std::string> lines_of(const GraphCaptures& captures) {
  std::vector<std::string> lines;
  for (const CapturedWork& work : captures.work)
    lines.push_back(captured_in(captures, work) + " -> " + launched_in(work) + ": " +
                    std::to_string(work.nodes) + " nodes, " + std::to_string(work.works) + " times, " +
                    std::to_string(work.time));
  return lines;
}

TEST(GraphCaptures, FollowCopiesToWhereTheFirstNodeWasCaptured) {
  EXPECT_THAT(lines_of(captured_training().captures()),
              ElementsAre("capture / layer 1 -> step #: 1 nodes, 10 times, 2000",
                          "capture / layer 0 -> step #: 2 nodes, 20 times, 1200",
                          "child -> step #: 1 nodes, 10 times, 300"));
}

TEST(GraphCaptures, AreSaidInASentence) {
  const auto remarks = captures_remarks(captured_training().captures());
  EXPECT_THAT(remarks, ElementsAre("capture / layer 1 captured one node for CUDA graphs. It ran 10 times in "
                                   "step #: 2.000\u00a0µs in all."));
}

TEST(GraphCaptures, StandInTheTreeUnderTheRangeOfTheLaunch) {
  const GraphProgram program = captured_training();
  const auto tree = range_tree_of(program.made.trace, 0, *program.steps());
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->roots.size(), 1U);
  const RangeNode& step = tree->roots[0];
  EXPECT_EQ(step.gpu, 3600);
  EXPECT_EQ(step.gpu_self, 100) << "what is of no graph";
  ASSERT_EQ(step.children.size(), 2U);
  const RangeNode& capture = step.children[0];
  EXPECT_EQ(capture.name, "capture");
  EXPECT_TRUE(capture.captured);
  EXPECT_EQ(capture.calls, 10U) << "launches of the graph";
  EXPECT_EQ(capture.host, 0);
  ASSERT_EQ(capture.children.size(), 2U);
  EXPECT_EQ(capture.children[0].name, "layer 1");
  EXPECT_EQ(capture.children[0].gpu_self, 2000);
  EXPECT_EQ(capture.children[1].gpu_self, 1200);
  EXPECT_EQ(step.children[1].name, "child");
  EXPECT_THAT(range_tree_remarks(*tree), testing::Contains(HasSubstr("Captured: work of CUDA graphs")));
}

/// "step" stands once where the capture was in a step as well.
TEST(GraphCaptures, DoNotRepeatWhatTheLaunchLiesInToo) {
  GraphProgram program;
  for (int step = 0; step < 10; ++step)
    program.range("step " + std::to_string(step), [&] {
      if (step == 0) program.range("forward", [&] { program.node(1); });
      program.launch("load", 10);
      program.graph({{1, "gemm", 100}});
    });
  const auto tree = range_tree_of(program.made.trace, 0, *program.steps());
  ASSERT_TRUE(tree);
  const RangeNode& step = tree->roots.at(0);
  ASSERT_FALSE(step.children.empty());
  EXPECT_EQ(step.children[0].name, "forward");
  EXPECT_TRUE(step.children[0].captured);
}

TEST(GraphCaptures, OfAutogradsThreadBelongToTheRangeThatWaits) {
  GraphProgram program;
  program.range("forward", [&] { program.node(1); });
  program.range("backward", [&] {
    program.thread = 2;
    program.node(2);
    program.node(3);
    program.thread = 1;
    program.compute(5);
  });
  program.graph({{1, "gemm", 100}, {2, "gemm", 150}, {3, "gemm", 50}});
  EXPECT_THAT(lines_of(program.captures()), ElementsAre("backward -> in no range: 2 nodes, 2 times, 200",
                                                        "forward -> in no range: 1 nodes, 1 times, 100"));
}

TEST(GraphCaptures, SayWhatNeverRan) {
  GraphProgram program;
  program.range("layer", [&] {
    program.node(1);
    program.node(2);
  });
  const GraphCaptures captures = program.captures();
  EXPECT_THAT(captures.work, IsEmpty());
  EXPECT_THAT(
      captures_remarks(captures),
      ElementsAre("layer captured 2 nodes. No kernel, copy or memset of them ran while the program was "
                  "traced."));
}

/// As CUDA 13 tells of it: the kernels of a child graph run as nodes 4 and 5 of graph 6, of which it does not
/// tell. Graph 7 is the child's copy.
GraphProgram child_in_a_graph(bool in_one_range) {
  const auto id = [](std::uint64_t graph, std::uint64_t node) { return (graph << 32U) + node; };
  GraphProgram program;
  program.range("child", [&] { program.node(id(1, 0)); });
  program.range(in_one_range ? "child" : "other", [&] { program.node(id(1, 1)); });
  program.range("capture", [&] { program.node(id(2, 0)); });
  for (std::uint64_t node : {0U, 1U}) program.node(id(3, node), id(1, node));  // as a child of graph 2
  program.node(id(2, 1));                                                      // which stands for it
  program.node(id(6, 0), id(2, 0));                                            // instantiated
  for (std::uint64_t node : {0U, 1U}) program.node(id(7, node), id(3, node));
  program.node(id(6, 1), id(2, 1));
  program.range("later", [&] { program.node(id(8, 0)); });
  program.range("step", [&] {
    program.graph({{id(6, 0), "gemm", 100}, {id(6, 2), "norm", 30}, {id(6, 3), "norm", 30}});
  });
  return program;
}

TEST(GraphCaptures, OfAChildGraphAreOfItsOnlyRange) {
  const GraphCaptures captures = child_in_a_graph(true).captures();
  EXPECT_THAT(lines_of(captures),
              ElementsAre("capture -> step: 1 nodes, 1 times, 100", "child -> step: 2 nodes, 2 times, 60"));
  EXPECT_THAT(captures_remarks(captures), testing::Not(testing::Contains(HasSubstr("child captured"))));
}

TEST(GraphCaptures, OfAChildGraphInSeveralRangesAreNotKnown) {
  const GraphCaptures captures = child_in_a_graph(false).captures();
  EXPECT_THAT(lines_of(captures), ElementsAre("capture -> step: 1 nodes, 1 times, 100",
                                              "not known -> step: 2 nodes, 2 times, 60"));
  EXPECT_THAT(captures_remarks(captures), testing::Contains(HasSubstr("child graphs")));
}

TEST(GraphCaptures, SayWhereNobodySawTheCapture) {
  GraphProgram program;
  program.node(2, 1);  // a copy of what was made before
  program.range("step", [&] { program.graph({{2, "gemm", 100}, {9, "gemm", 100}}); });
  const GraphCaptures captures = program.captures();
  EXPECT_THAT(lines_of(captures), ElementsAre("not known -> step: 2 nodes, 2 times, 200"));
  EXPECT_THAT(captures_remarks(captures), ElementsAre(HasSubstr("2 nodes of CUDA graphs ran whose capture")));
}

TEST(GraphCaptures, OfCopiesInACircleAreNotKnown) {
  GraphProgram program;
  program.node(1, 2);
  program.node(2, 1);
  program.graph({{1, "gemm", 100}});
  EXPECT_THAT(lines_of(program.captures()), ElementsAre("not known -> in no range: 1 nodes, 1 times, 100"));
}

/// CUPTI may tell of a copy twice: as it is made, and of what.
TEST(GraphCaptures, OfANodeThatIsToldOfTwiceAreOfItsOriginal) {
  GraphProgram program;
  program.range("layer", [&] { program.node(1); });
  program.range("instantiate", [&] {
    program.node(2);
    program.node(2, 1);
  });
  program.graph({{2, "gemm", 100}});
  EXPECT_THAT(lines_of(program.captures()), ElementsAre("layer -> in no range: 1 nodes, 1 times, 100"));
}

TEST(GraphCaptures, OfGraphsThatWereTracedAsAWholeAreNotKnown) {
  GraphProgram program;
  for (int i = 0; i < 3; ++i) program.made.trace.graphs.push_back({.time = {i, i + 500}});
  const GraphCaptures captures = program.captures();
  EXPECT_FALSE(captures.empty());
  EXPECT_THAT(
      captures_remarks(captures),
      ElementsAre("3 launches of CUDA graphs were traced as a whole, 1.500\u00a0µs in all. The kernels "
                  "in them are not known, nor where they were captured. Nsight Systems records them "
                  "with --cuda-graph-trace=node."));
}

TEST(GraphCaptures, AreNoneWithoutGraphs) {
  GraphProgram program;
  program.range("step", [&] { program.launch("gemm", 100); });
  EXPECT_TRUE(program.captures().empty());
}

TEST(GraphCaptures, AreATableByKernel) {
  const GraphProgram program = captured_training();
  const ProfileTable table = profile_report("cuda_graph_capture_sum").table(program.made.trace);
  ASSERT_EQ(table.rows, 4U);
  const ProfileRow first = table.row(0);
  EXPECT_EQ(std::get<std::string>(first[0]), "capture / layer 1");
  EXPECT_EQ(std::get<std::string>(first[1]), "step #");
  EXPECT_EQ(std::get<std::int64_t>(first[2]), 10);
  EXPECT_EQ(std::get<std::int64_t>(first[3]), 2000);
  EXPECT_EQ(std::get<std::string>(first[9]), "gemm");
  EXPECT_EQ(std::get<std::string>(table.row(3)[9]), "relu");
}

}  // namespace
}  // namespace mprof
