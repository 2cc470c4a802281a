// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace/trace.hpp"

/// In which NVTX ranges the work of CUDA graphs was captured, and in which ranges the graphs were launched.
namespace mprof {

/// The names of ranges, from the outermost inwards; empty: in none.
using RangePath = std::vector<std::string>;

/// "step / forward"; empty: in no range.
[[nodiscard]] std::string path_text(const RangePath& path);

using GraphNodeKey = std::pair<std::int64_t, std::uint64_t>;  ///< process, node
struct GraphNodeHash {
  std::size_t operator()(const GraphNodeKey& key) const {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
    return (static_cast<std::uint64_t>(key.first) * factor) ^ (key.second * factor);
  }
};

/// Which ranges each node of a graph was captured in. A copy was captured where the node was that it is a
/// copy of: graphs are copied when they are instantiated, and when they become a part of another one.
/// CUPTI numbers nodes by graph. Work of a child graph runs under numbers of the graph around it that it
/// never told of. Such work has the path of the child graphs, where they have only one.
class CapturePaths {
 public:
  CapturePaths(const trace::Trace& trace, trace::CaseIndex index);

  struct Origin {
    std::uint64_t node = 0;  ///< that was captured
    std::size_t path = 0;    ///< its place in paths()
  };
  /// nullopt: the trace does not say it.
  [[nodiscard]] std::optional<Origin> of(std::int64_t process, std::uint64_t node) const;
  [[nodiscard]] const std::vector<RangePath>& paths() const { return paths_; }
  /// How many nodes were captured in each of them.
  [[nodiscard]] const std::vector<std::uint64_t>& nodes() const { return nodes_; }

 private:
  std::unordered_map<GraphNodeKey, Origin, GraphNodeHash> origins_;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::size_t> of_children_;  ///< by process and graph
  std::vector<RangePath> paths_;
  std::vector<std::uint64_t> nodes_;
};

/// Work of graphs that was captured in one path and launched in another.
struct CapturedWork {
  std::optional<std::size_t> captured{};  ///< a path of the captures; nullopt: the trace does not say which
  RangePath launched{};                   ///< names without their numbers
  std::uint64_t nodes = 0;                ///< distinct ones, as they were captured
  std::uint64_t works = 0;                ///< how often they ran
  std::map<trace::NameIndex, std::vector<std::int64_t>> kernels{};  ///< ns, of each launch by the kernel
  std::int64_t time = 0;  ///< ns, of all of these, copies and memsets too, one after the other
};

struct GraphCaptures {
  std::vector<CapturedWork> work{};    ///< the longest first
  std::vector<RangePath> paths{};      ///< of captures
  std::vector<std::uint64_t> nodes{};  ///< captured in each
  std::vector<bool> ran{};             ///< whether any of them did
  std::uint64_t whole_graphs = 0;      ///< launches that were traced as one piece each
  std::int64_t whole_time = 0;         ///< ns, of these

  [[nodiscard]] bool empty() const { return work.empty() && paths.empty() && whole_graphs == 0; }
};

/// Of a case.
[[nodiscard]] GraphCaptures graph_captures(const trace::Trace& trace, trace::CaseIndex index);

}  // namespace mprof
