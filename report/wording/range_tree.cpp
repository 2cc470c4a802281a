// SPDX-License-Identifier: MIT
#include "report/wording/range_tree.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

/// A node in which other threads launched work.
struct Helped {
  std::string name;
  std::int64_t gpu = 0;
};

void add_helped(const std::vector<RangeNode>& nodes, std::vector<Helped>& helped) {
  for (const RangeNode& node : nodes) {
    if (node.gpu_others > 0 && node.folded == 0) helped.push_back({range_name(node), node.gpu_others});
    add_helped(node.children, helped);
  }
}

bool has_captured(const std::vector<RangeNode>& nodes) {
  return std::ranges::any_of(
      nodes, [](const RangeNode& node) { return node.captured || has_captured(node.children); });
}

/// "38.5 ms" of a step.
std::string step_time(const RangeTree& tree, std::int64_t ns) {
  return format::nanoseconds(static_cast<double>(ns) / static_cast<double>(tree.steps));
}

}  // namespace

std::string range_name(const RangeNode& node) {
  return node.folded > 0 ? fmt::format("{} more", node.folded) : format::one_line(node.name);
}

std::string range_tree_caption(const RangeTree& tree) {
  return fmt::format(
      "NVTX ranges of {}, with means of a step. GPU: all work that was launched within, one piece after the "
      "other. Host: from the beginning of a range to its end. Self: without the ranges within.{}",
      tree.steps == 1 ? "the steady step" : fmt::format("the {} steady steps", tree.steps),
      tree.has_backward
          ? " Its backward pass: the GPU time of the backward pass of PyTorch's operations in "
            "it. The column GPU has that time where it was launched: in backward, and in what is "
            "around it."
          : "");
}

std::vector<std::string> range_tree_remarks(const RangeTree& tree) {
  constexpr std::size_t most = 3;
  constexpr std::size_t longest_range = 60;
  std::vector<std::string> remarks;
  std::vector<Helped> helped;
  add_helped(tree.roots, helped);
  std::ranges::stable_sort(helped, std::ranges::greater{}, &Helped::gpu);
  for (std::size_t i = 0; i < std::min(most, helped.size()); ++i) {
    remarks.push_back(fmt::format(
        "{}: another thread launched {} of its GPU time, while the thread of the range launched nothing.",
        format::elide(helped[i].name, longest_range), step_time(tree, helped[i].gpu)));
  }
  if (tree.outside > 0)
    remarks.push_back(
        fmt::format("Launched in no range: {} of GPU time a step.", step_time(tree, tree.outside)));
  if (has_captured(tree.roots))
    remarks.emplace_back(
        "Captured: work of CUDA graphs, under the ranges that it was captured in. It was launched in what "
        "these ranges stand in.");
  if (tree.at_limit)
    remarks.emplace_back(
        "There are too many ranges to keep all apart: some are part of the one that they lie in.");
  return remarks;
}

}  // namespace mprof
