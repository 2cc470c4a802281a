// SPDX-License-Identifier: MIT
#include "report/trace/graph_captures.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/trace/launched_work.hpp"
#include "model/trace/nsys_schema.hpp"
#include "report/trace/range_nesting.hpp"

namespace mprof {
namespace {

constexpr trace::Interval always{std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};
/// More steps than there are ranges of any name: each name loses its numbers.
constexpr std::size_t many_steps = std::numeric_limits<std::size_t>::max();

using NodeRows = std::map<GraphNodeKey, const trace::GraphNode*>;

NodeRows node_rows(const trace::Trace& trace, trace::CaseIndex index) {
  NodeRows rows;
  for (const trace::CaseIndex of : cases_of_captures(index)) {
    for (const trace::GraphNode& node : trace::of_case(trace.graph_nodes, of)) {
      const trace::GraphNode*& row = rows[{trace::nsys::process_of(node.thread), node.id}];
      // A copy may be told of twice: as a new node, and as a copy.
      if (row == nullptr || (row->original == 0 && node.original != 0)) row = &node;
    }
  }
  return rows;
}

/// The node that is no copy; nullptr: the trace does not have it.
const trace::GraphNode* origin_of(const NodeRows& rows, const GraphNodeKey& key) {
  constexpr int most_copies = 64;  // of copies: what a file says may go in circles
  GraphNodeKey at = key;
  for (int i = 0; i < most_copies; ++i) {
    const auto found = rows.find(at);
    if (found == rows.end()) return nullptr;
    if (found->second->original == 0) return found->second;
    at.second = found->second->original;
  }
  return nullptr;
}

using GraphKey = std::pair<std::int64_t, std::uint64_t>;  // process, graph

GraphKey graph_of(const GraphNodeKey& node) {
  return {node.first, node.second >> 32U};
}

/// Which graphs are children of which, the innermost first. The nodes of a child are copied just before the
/// node that stands for them in the graph around it. A graph that is copied just before a new node of another
/// one is taken for its child too.
std::vector<std::pair<GraphKey, GraphKey>> child_graphs(const NodeRows& rows) {
  std::vector<std::pair<GraphNodeKey, const trace::GraphNode*>> nodes(rows.begin(), rows.end());
  std::ranges::stable_sort(
      nodes, {}, [](const auto& node) { return std::pair(node.second->thread, node.second->time.start); });
  std::map<GraphKey, std::size_t> last;
  for (std::size_t i = 0; i < nodes.size(); ++i) last[graph_of(nodes[i].first)] = i;
  std::vector<std::pair<GraphKey, GraphKey>> children;
  std::set<std::pair<GraphKey, GraphKey>> known;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const GraphKey graph = graph_of(nodes[i].first);
    const auto& [next, row] = nodes[i + 1];
    const bool is_child = last.at(graph) == i && nodes[i].second->original != 0 &&
                          row->thread == nodes[i].second->thread && graph_of(next) != graph &&
                          graph_of({next.first, row->original}) != graph;
    if (!is_child) continue;
    // A copy has the children of what it is a copy of.
    const bool is_copied =
        row->original == 0 || known.contains({graph_of({graph.first, nodes[i].second->original}),
                                              graph_of({next.first, row->original})});
    if (is_copied) known.insert(children.emplace_back(graph, graph_of(next)));
  }
  return children;
}

}  // namespace

std::string path_text(const RangePath& path) {
  return fmt::format("{}", fmt::join(path, " / "));
}

CapturePaths::CapturePaths(const trace::Trace& trace, trace::CaseIndex index) {
  const NodeRows rows = node_rows(trace, index);
  if (rows.empty()) return;
  const RangeNesting nesting = RangeNesting::of_captures(trace, index);
  std::map<RangePath, std::size_t> known;
  std::map<GraphNodeKey, std::size_t> of_origins;
  const auto path_of = [&](const trace::GraphNode& node) {
    const auto [entry, is_new] = of_origins.try_emplace({trace::nsys::process_of(node.thread), node.id});
    if (!is_new) return entry->second;
    RangePath path;
    if (!nesting.empty()) path = nesting.path(node.thread, node.time.start);
    const auto place = known.try_emplace(path, paths_.size()).first;
    if (place->second == paths_.size()) {
      paths_.push_back(std::move(path));
      nodes_.push_back(0);
    }
    ++nodes_[place->second];
    return entry->second = place->second;
  };
  std::map<GraphKey, std::set<std::optional<std::size_t>>> paths, of_children;
  for (const auto& [key, row] : rows) {
    const trace::GraphNode* const origin = origin_of(rows, key);
    if (origin != nullptr) origins_.emplace(key, Origin{origin->id, path_of(*origin)});
    paths[graph_of(key)].insert(origin != nullptr ? std::optional(path_of(*origin)) : std::nullopt);
  }
  for (const auto& [child, parent] : child_graphs(rows)) {
    std::set<std::optional<std::size_t>>& of_parent = of_children[parent];
    const auto add = [&](const std::set<std::optional<std::size_t>>& more) {
      for (const auto& path : more) {
        if (of_parent.size() < 2) of_parent.insert(path);  // more than one is as good as none
      }
    };
    add(paths[child]);
    add(of_children[child]);
  }
  for (const auto& [graph, found] : of_children) {
    if (found.size() == 1 && *found.begin()) of_children_.emplace(graph, **found.begin());
  }
}

std::optional<CapturePaths::Origin> CapturePaths::of(std::int64_t process, std::uint64_t node) const {
  const auto found = origins_.find({process, node});
  if (found != origins_.end()) return found->second;
  const auto children = of_children_.find(graph_of({process, node}));
  return children == of_children_.end() ? std::nullopt : std::optional(Origin{node, children->second});
}

namespace {

class CaptureSums {
 public:
  CaptureSums(const trace::Trace& trace, trace::CaseIndex index)
      : trace_(trace), captures_(trace, index), launches_(trace, index, nullptr, always, many_steps) {}

  void add(const trace::LaunchedWork& work, std::int64_t process, std::uint64_t node) {
    const auto origin = captures_.of(trace::nsys::process_of(process), node);
    Sum& sum = sum_of(origin ? std::optional(origin->path) : std::nullopt, work);
    sum.nodes.insert({process, origin ? origin->node : node});
    ++sum.of.works;
    sum.of.time += work.time.length();
    if (work.what == trace::LaunchedWork::What::kernel)
      sum.of.kernels[trace_.kernels.shared(trace_.kernels.rows()[work.row]).name].push_back(
          work.time.length());
  }

  [[nodiscard]] GraphCaptures result() {
    GraphCaptures all{.paths = captures_.paths(), .nodes = captures_.nodes()};
    all.ran.resize(all.paths.size());
    for (auto& [key, sum] : sums_) {
      std::tie(sum.of.captured, sum.of.launched) = key;
      sum.of.nodes = sum.nodes.size();
      if (sum.of.captured) all.ran[*sum.of.captured] = true;
      all.work.push_back(std::move(sum.of));
    }
    std::ranges::stable_sort(all.work, std::ranges::greater{}, &CapturedWork::time);
    return all;
  }

 private:
  struct Sum {
    CapturedWork of{};
    std::unordered_set<GraphNodeKey, GraphNodeHash> nodes{};
  };

  /// The work of a graph comes one after the other.
  Sum& sum_of(std::optional<std::size_t> captured, const trace::LaunchedWork& work) {
    const std::pair call(work.thread, work.call.start);
    if (call != last_call_) {
      last_call_ = call;
      last_launched_ = {};
      if (!launches_.empty() && work.thread != 0)
        last_launched_ = launches_.path(work.thread, work.call.start);
    }
    return sums_[{captured, last_launched_}];
  }

  const trace::Trace& trace_;
  CapturePaths captures_;
  RangeNesting launches_;
  std::optional<std::pair<std::int64_t, std::int64_t>> last_call_{};  ///< its thread and start
  RangePath last_launched_{};
  std::map<std::pair<std::optional<std::size_t>, RangePath>, Sum> sums_;
};

bool has_graphs(const trace::Trace& trace, trace::CaseIndex index) {
  const auto is_kernel_of_graph = [&](const trace::KernelRow& row) {
    return trace.kernels.graph_node(row) != 0;
  };
  const auto is_of_graph = [](const trace::Transfer& row) { return row.graph_node != 0; };
  return !trace::of_case(trace.graph_nodes, index).empty() ||
         std::ranges::any_of(trace::of_case(trace.kernels.rows(), index), is_kernel_of_graph) ||
         std::ranges::any_of(trace::of_case(trace.transfers, index), is_of_graph);
}

}  // namespace

GraphCaptures graph_captures(const trace::Trace& trace, trace::CaseIndex index) {
  GraphCaptures all;
  if (has_graphs(trace, index)) {
    CaptureSums sums(trace, index);
    trace::LaunchedWorks(trace, index).each([&](const trace::LaunchedWork& work) {
      if (work.what == trace::LaunchedWork::What::kernel) {
        const trace::KernelRow& row = trace.kernels.rows()[work.row];
        if (const std::uint64_t node = trace.kernels.graph_node(row); node != 0)
          sums.add(work, trace.kernels.shared(row).process, node);
      } else if (work.what == trace::LaunchedWork::What::transfer) {
        const trace::Transfer& row = trace.transfers[work.row];
        if (row.graph_node != 0) sums.add(work, row.process, row.graph_node);
      }
    });
    all = sums.result();
  }
  for (const trace::GraphExecution& graph : trace::of_case(trace.graphs, index)) {
    ++all.whole_graphs;
    all.whole_time += graph.time.length();
  }
  return all;
}

}  // namespace mprof
