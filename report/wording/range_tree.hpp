// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/program/range_tree.hpp"

/// What is said of the tree of NVTX ranges.
namespace mprof {

/// How to read its figures.
[[nodiscard]] std::string range_tree_caption(const RangeTree& tree);

/// What the figures alone do not say: work of other threads, work in no range, what was left out.
[[nodiscard]] std::vector<std::string> range_tree_remarks(const RangeTree& tree);

/// "3 more ranges" of a node without a name; otherwise its name on one line.
[[nodiscard]] std::string range_name(const RangeNode& node);

}  // namespace mprof
