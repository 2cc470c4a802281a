// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/steps.hpp"
#include "model/trace/trace.hpp"

/// The NVTX ranges of the steady steps as a tree, with what the GPU did for each of them.
namespace mprof {

/// Ranges of one name that lie within the same ranges. Times in ns, of all steady steps together.
struct RangeNode {
  std::string name{};  ///< empty: several that are folded into one
  std::uint64_t calls = 0;
  std::uint64_t launches = 0;  ///< of kernels, graphs, copies and memsets, in it and in what it holds
  std::int64_t gpu = 0;        ///< of this work, one piece after the other
  std::int64_t gpu_self = 0;   ///< of what was launched in none of its children
  std::int64_t gpu_others =
      0;  ///< of gpu_self: what another thread launched, while this one launched nothing
  /// Of the backward passes of PyTorch's operations in it, wherever they were launched: it is not part of
  /// `gpu`.
  std::int64_t gpu_backward = 0;
  std::int64_t host = 0;       ///< within the steady steps
  std::int64_t host_self = 0;  ///< less its children on the same thread
  bool elsewhere = false;      ///< on another thread than the steps
  /// Work of CUDA graphs that were captured in it, and launched in what is around it.
  bool captured = false;
  std::size_t folded = 0;             ///< how many nodes stand for one without a name
  std::vector<RangeNode> children{};  ///< the one that takes the most first
};

struct RangeTree {
  std::vector<RangeNode> roots{};  ///< the one that takes the most first
  std::int64_t gpu = 0;            ///< ns, of all work that was launched in the steady steps
  std::int64_t outside = 0;        ///< ns, of what was launched in no range
  std::uint64_t launches_outside = 0;
  std::int64_t host = 0;  ///< ns, from the beginning of the first steady step to the end of the last one
  std::size_t steps = 0;
  bool has_backward = false;  ///< of some node it is known what its backward pass takes
  bool at_limit = false;      ///< there are more names than the tree keeps apart

  /// What a node takes of the GPU's time or of the host's, whichever is more.
  [[nodiscard]] double weight(const RangeNode& node) const;
};

/// Work belongs to the innermost range in which its call lies, on the thread of the call. Another thread may
/// launch in no range of its own. Its work belongs to the innermost range of the steps' thread, if that
/// thread waits for it. A thread waits if it launches nothing between the first and the last of these
/// launches, in nine of ten such ranges. Work of a CUDA graph stands within the range of the graph's launch,
/// under the ranges that it was captured in. nullopt without ranges.
[[nodiscard]] std::optional<RangeTree> range_tree_of(const trace::Trace& trace, trace::CaseIndex index,
                                                     const Steps& steps);

/// Keeps of each node's children the largest ones that make up 95 % of what its children take; the others
/// become one node without a name. What is below a two-hundredth of the whole loses its children. No more
/// than `most` nodes are left.
[[nodiscard]] RangeTree folded(const RangeTree& tree, std::size_t most);

}  // namespace mprof
