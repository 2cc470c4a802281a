// SPDX-License-Identifier: MIT
#include "report/analysis/program/range_tree.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/op_name.hpp"
#include "report/trace/graph_captures.hpp"
#include "report/trace/range_nesting.hpp"

namespace mprof {
namespace {

/// A program may make a name for each call.
constexpr std::size_t most_range_nodes = 20'000;

class TreeBuilder {
 public:
  TreeBuilder(const trace::Trace& trace, trace::CaseIndex index, const Steps& steps)
      : window_{steps.all[steps.steady].host.start, steps.all.back().host.end},
        nesting_(trace, index, &steps, window_, steps.steady_steps()),
        captures_(trace, index) {
    tree_.steps = steps.steady_steps();
    tree_.host = window_.length();
    tree_.at_limit = nesting_.is_cut();
  }

  std::optional<RangeTree> tree() {
    if (nesting_.empty()) return std::nullopt;
    make_nodes(nesting_.main(), true);
    for (auto& [thread, ranges] : nesting_.threads()) {
      if (thread != nesting_.main()) make_nodes(thread, false);
    }
    find_operations();
    for (const LaunchMoment& work : nesting_.work()) add_work(work);
    for (const std::int32_t root : children_[-1]) tree_.roots.push_back(finished(root));
    sort(tree_.roots);
    return std::move(tree_);
  }

 private:
  /// What a node is made with.
  struct NodeKind {
    std::string name;
    bool elsewhere = false;
    bool captured = false;
  };

  void make_nodes(std::int64_t thread, bool is_main) {
    ThreadRanges& ranges = nesting_.threads()[thread];
    for (NestedRange& one : ranges.instances) {
      std::int32_t parent = one.parent < 0 ? -1 : ranges[one.parent].node;
      if (parent < 0 && !is_main) {
        const std::int32_t around = nesting_.waiting_around(thread, one.time.start);
        if (around >= 0) parent = main_node(around);
      }
      one.node = child(parent, {nesting_.name(one.text), !is_main});
      RangeNode& node = nodes_[static_cast<std::size_t>(one.node)];
      const std::int64_t host = std::min(one.time.end, window_.end) - std::max(one.time.start, window_.start);
      // Where the tree is full, a range is part of what it lies in.
      if (one.node == parent) continue;
      ++node.calls;
      node.host += host;
      node.host_self += host;
      if (one.parent >= 0) {
        std::int64_t& around = nodes_[static_cast<std::size_t>(ranges[one.parent].node)].host_self;
        around = std::max<std::int64_t>(around - host, 0);
      }
    }
  }

  /// The child of a node with the name and the kind of `like`, which is made where there is none.
  std::int32_t child(std::int32_t parent, const NodeKind& like) {
    const bool is_full = nodes_.size() >= most_range_nodes;
    const auto found = known_.find({parent, like.name, like.captured});
    if (found != known_.end()) return found->second;
    if (is_full && like.name != trace::other_ranges) {
      tree_.at_limit = true;
      return parent >= 0 ? parent : child(parent, {trace::other_ranges, like.elsewhere, like.captured});
    }
    const auto made = static_cast<std::int32_t>(nodes_.size());
    known_.emplace(std::tuple(parent, like.name, like.captured), made);
    nodes_.push_back({.name = like.name, .elsewhere = like.elsewhere, .captured = like.captured});
    parents_.push_back(parent);
    children_[parent].push_back(made);
    return made;
  }

  /// The names from the outermost range to a node, without numbers.
  [[nodiscard]] RangePath path_of(std::int32_t at) const {
    RangePath path;
    for (; at >= 0; at = parents_[static_cast<std::size_t>(at)])
      path.push_back(trace::without_numbers(nodes_[static_cast<std::size_t>(at)].name));
    std::ranges::reverse(path);
    return path;
  }

  /// The node of the ranges that work of a graph was captured in, below the one of its launch. What both lie
  /// in stands once.
  std::int32_t captured_below(std::int32_t at, const LaunchMoment& work) {
    const auto origin = captures_.of(trace::nsys::process_of(work.thread), work.graph_node);
    if (!origin) return at;
    const RangePath& captured = captures_.paths()[origin->path];
    const RangePath around = path_of(at);
    // Ranges around all steps are in no tree.
    const auto first =
        around.empty() ? captured.end() : std::ranges::find_if(captured, [&](const std::string& name) {
          return trace::without_numbers(name) == around.front();
        });
    const std::size_t from = first == captured.end() ? 0 : static_cast<std::size_t>(first - captured.begin());
    std::size_t common = 0;
    while (common < std::min(captured.size() - from, around.size()) &&
           trace::without_numbers(captured[from + common]) == around[common])
      ++common;
    for (std::size_t i = from + common; i < captured.size(); ++i) {
      at = child(at, {captured[i], false, true});
      RangeNode& node = nodes_[static_cast<std::size_t>(at)];
      if (node.captured && launched_.emplace(at, work.correlation).second) ++node.calls;
    }
    return at;
  }

  /// The node of a range of the main thread.
  [[nodiscard]] std::int32_t main_node(std::int32_t at) {
    return nesting_.threads().at(nesting_.main())[at].node;
  }

  /// The outermost range of each numbered operation, but not of its backward pass.
  void find_operations() {
    for (const auto& [thread, ranges] : nesting_.threads()) {
      for (const NestedRange& one : ranges.instances) {
        if (!one.sequence || is_within_backward(ranges, one)) continue;
        const bool is_inner = one.parent >= 0 && ranges[one.parent].sequence == one.sequence;
        if (!is_inner)
          operations_[{trace::nsys::process_of(thread), *one.sequence}].push_back({one.time.start, one.node});
      }
    }
    for (auto& [key, all] : operations_) std::ranges::sort(all);
  }

  static bool is_within_backward(const ThreadRanges& ranges, const NestedRange& one) {
    bool is_one = one.is_backward;
    for (std::int32_t at = one.parent; at >= 0 && !is_one; at = ranges[at].parent)
      is_one = ranges[at].is_backward;
    return is_one;
  }

  /// Gives what a backward pass launched to the operation that it is of: the last one before it that has its
  /// number.
  void add_backward(const LaunchMoment& work, const ThreadRanges& ranges, std::int32_t own) {
    while (own >= 0 && !(ranges[own].is_backward && ranges[own].sequence)) own = ranges[own].parent;
    if (own < 0) return;
    const auto found = operations_.find({trace::nsys::process_of(work.thread), *ranges[own].sequence});
    if (found == operations_.end()) return;
    const auto next = std::ranges::upper_bound(found->second, ranges[own].time.start, {},
                                               &std::pair<std::int64_t, std::int32_t>::first);
    if (next == found->second.begin()) return;
    nodes_[static_cast<std::size_t>(std::prev(next)->second)].gpu_backward += work.gpu;
    tree_.has_backward = true;
  }

  void add_work(const LaunchMoment& work) {
    tree_.gpu += work.gpu;
    const auto of_thread = nesting_.threads().find(work.thread);
    const bool has_ranges = of_thread != nesting_.threads().end();
    const std::int32_t own = has_ranges ? of_thread->second.around(work.called) : -1;
    std::int32_t at = own < 0 ? -1 : of_thread->second[own].node;
    if (own < 0) {
      const std::int32_t waiting = nesting_.waiting_around(work.thread, work.called);
      if (waiting >= 0) at = main_node(waiting);
    }
    if (work.graph_node != 0) at = captured_below(at, work);
    if (at < 0) {
      tree_.outside += work.gpu;
      ++tree_.launches_outside;
      return;
    }
    if (own >= 0) add_backward(work, of_thread->second, own);
    RangeNode& node = nodes_[static_cast<std::size_t>(at)];
    node.gpu_self += work.gpu;
    ++node.launches;
    if (own < 0 && !node.captured) node.gpu_others += work.gpu;
  }

  [[nodiscard]] RangeNode finished(std::int32_t at) {
    RangeNode node = std::move(nodes_[static_cast<std::size_t>(at)]);
    node.gpu = node.gpu_self;
    const auto children = children_.find(at);
    if (children == children_.end()) return node;
    for (const std::int32_t one : children->second) {
      node.children.push_back(finished(one));
      node.gpu += node.children.back().gpu;
      node.launches += node.children.back().launches;
      node.gpu_backward += node.children.back().gpu_backward;
    }
    sort(node.children);
    return node;
  }

  void sort(std::vector<RangeNode>& nodes) const {
    std::ranges::stable_sort(nodes, std::ranges::greater{},
                             [&](const RangeNode& node) { return tree_.weight(node); });
  }

  trace::Interval window_{};
  RangeNesting nesting_;
  CapturePaths captures_;
  std::vector<RangeNode> nodes_;
  std::map<std::int32_t, std::vector<std::int32_t>> children_;
  std::vector<std::int32_t> parents_;
  std::map<std::tuple<std::int32_t, std::string, bool>, std::int32_t> known_;
  std::set<std::pair<std::int32_t, std::int64_t>> launched_;  ///< captured nodes, by graph launches
  /// By process and number: when each began, and its node.
  std::map<std::pair<std::int64_t, std::uint64_t>, std::vector<std::pair<std::int64_t, std::int32_t>>>
      operations_;
  RangeTree tree_;
};

/// Leaves of the children what counts, from `least` of the whole on.
void fold(const RangeTree& tree, std::vector<RangeNode>& nodes, double least) {
  constexpr double enough = 0.95;
  double all = 0, covered = 0;
  for (const RangeNode& node : nodes) all += tree.weight(node);
  std::vector<RangeNode> kept;
  RangeNode rest;
  for (RangeNode& node : nodes) {
    const double weight = tree.weight(node);
    // A line that says "1 more" is no shorter than the one.
    const bool is_last = rest.folded == 0 && &node == &nodes.back() && weight >= least;
    if ((covered < enough * all && weight >= least) || is_last) {
      kept.push_back(std::move(node));
    } else {
      ++rest.folded;
      rest.calls += node.calls;
      rest.launches += node.launches;
      rest.gpu += node.gpu;
      rest.gpu_self += node.gpu_self;
      rest.gpu_others += node.gpu_others;
      rest.gpu_backward += node.gpu_backward;
      rest.host += node.host;
      rest.host_self += node.host_self;
      rest.elsewhere = (rest.folded == 1 || rest.elsewhere) && node.elsewhere;
      rest.captured = (rest.folded == 1 || rest.captured) && node.captured;
    }
    covered += weight;
  }
  if (rest.folded > 0 && !kept.empty()) kept.push_back(std::move(rest));
  nodes = std::move(kept);
  for (RangeNode& node : nodes) fold(tree, node.children, least);
}

std::size_t nodes_in(const std::vector<RangeNode>& nodes) {
  std::size_t count = nodes.size();
  for (const RangeNode& node : nodes) count += nodes_in(node.children);
  return count;
}

}  // namespace

double RangeTree::weight(const RangeNode& node) const {
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  return std::max(share(node.gpu, gpu), share(node.host, host));
}

std::optional<RangeTree> range_tree_of(const trace::Trace& trace, trace::CaseIndex index,
                                       const Steps& steps) {
  return TreeBuilder(trace, index, steps).tree();
}

RangeTree folded(const RangeTree& tree, std::size_t most) {
  constexpr double smallest = 0.005;
  for (double least = smallest;; least *= 2) {
    RangeTree smaller = tree;
    fold(smaller, smaller.roots, least);
    if (nodes_in(smaller.roots) <= most || least >= 1) return smaller;
  }
}

}  // namespace mprof
