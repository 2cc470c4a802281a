// SPDX-License-Identifier: MIT
#include "report/analysis/program/range_tree.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/trace/launched_work.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/op_name.hpp"

namespace mprof {
namespace {

/// A program may make a name for each call, or call itself without end.
constexpr std::size_t most_range_nodes = 20'000, deepest_range = 64;

/// One range, as it lay in others.
struct Instance {
  trace::Interval time{};
  std::uint32_t text = 0;  ///< its name
  std::int32_t parent = -1;
  std::int32_t node = -1;
};

/// The ranges of one thread, by their starts, of equal starts the longest first.
struct ThreadRanges {
  std::vector<Instance> instances{};

  /// The innermost one around a moment, by its place; -1: none.
  [[nodiscard]] std::int32_t around(std::int64_t moment) const {
    const auto next =
        std::ranges::upper_bound(instances, moment, {}, [](const Instance& one) { return one.time.start; });
    auto at = static_cast<std::int32_t>(next - instances.begin()) - 1;
    while (at >= 0 && instances[static_cast<std::size_t>(at)].time.end <= moment)
      at = instances[static_cast<std::size_t>(at)].parent;
    return at;
  }
  [[nodiscard]] const Instance& operator[](std::int32_t at) const {
    return instances[static_cast<std::size_t>(at)];
  }
};

/// Work of the GPU: by whom it was launched, and when.
struct Launch {
  std::int64_t thread = 0;
  std::int64_t called = 0;
  std::int64_t gpu = 0;  ///< ns that it took there
};

/// What a thread launched within a range of another thread.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t count = 0;
};

class TreeBuilder {
 public:
  TreeBuilder(const trace::Trace& trace, trace::CaseIndex index, const Steps& steps)
      : trace_(trace), index_(index), steps_(steps) {
    window_ = {steps.all[steps.steady].host.start, steps.all.back().host.end};
    tree_.steps = steps.steady_steps();
    tree_.host = window_.length();
  }

  std::optional<RangeTree> tree() {
    collect_ranges();
    if (threads_.empty()) return std::nullopt;
    collect_work();
    find_main();
    find_waits();
    make_nodes(main_, true);
    for (auto& [thread, ranges] : threads_) {
      if (thread != main_) make_nodes(thread, false);
    }
    for (const Launch& work : work_) add_work(work);
    for (const std::int32_t root : children_[-1]) tree_.roots.push_back(finished(root));
    sort(tree_.roots);
    return std::move(tree_);
  }

 private:
  void collect_ranges() {
    std::map<std::string, std::uint32_t> texts;
    for (const trace::Range& range : trace::of_case(trace_.ranges, index_)) {
      const bool is_around = range.time.start < window_.start && range.time.end > window_.end;
      if (range.style != trace::RangeStyle::push_pop || trace_.names[range.domain] == trace::own_domain ||
          range.time.end <= window_.start || range.time.start >= window_.end || is_around)
        continue;
      const auto [entry, is_new] =
          texts.try_emplace(name_of(range), static_cast<std::uint32_t>(texts_.size()));
      if (is_new) texts_.emplace_back(entry->first, 0);
      ++texts_[entry->second].second;
      threads_[range.thread].instances.push_back({range.time, entry->second});
    }
    // "step 17" stands once, and is one of many alike; "block 3" stands in each step.
    std::map<std::string, std::uint32_t> alike;
    std::vector<std::uint32_t> names;
    for (auto& [text, count] : texts_) {
      if (2 * count < tree_.steps) text = trace::without_numbers(text);
      names.push_back(alike.try_emplace(text, static_cast<std::uint32_t>(names.size())).first->second);
    }
    for (auto& [thread, ranges] : threads_) {
      for (Instance& one : ranges.instances) one.text = names[one.text];
      nest(ranges);
    }
  }

  [[nodiscard]] std::string name_of(const trace::Range& range) const {
    const std::string_view text = trace::without_operation_ids(trace_.text_of(range));
    if (range.domain == 0 || trace_.names[range.domain].empty()) return std::string(text);
    return trace_.names[range.domain] + ":" + std::string(text);
  }

  /// What lies too deep is left out, and so is part of what it lies in.
  void nest(ThreadRanges& ranges) {
    std::ranges::stable_sort(ranges.instances, [](const Instance& a, const Instance& b) {
      return std::pair(a.time.start, -a.time.end) < std::pair(b.time.start, -b.time.end);
    });
    const std::vector<Instance> all = std::exchange(ranges.instances, {});
    std::vector<std::int32_t> open;
    for (Instance one : all) {
      while (!open.empty() && ranges[open.back()].time.end <= one.time.start) open.pop_back();
      if (open.size() == deepest_range) {
        tree_.at_limit = true;
        continue;
      }
      if (!open.empty()) one.parent = open.back();
      open.push_back(static_cast<std::int32_t>(ranges.instances.size()));
      ranges.instances.push_back(one);
    }
  }

  void collect_work() {
    trace::LaunchedWorks(trace_, index_).each([&](const trace::LaunchedWork& work) {
      if (work.call.start < window_.start || work.call.start >= window_.end) return;
      work_.push_back({work.thread, work.call.start, work.time.length()});
      tree_.gpu += work.time.length();
    });
  }

  /// The thread whose ranges make the steps; without such ranges, the one that launched the most.
  void find_main() {
    const std::int64_t begin = window_.start;
    for (const auto& [thread, ranges] : threads_) {
      if (steps_.mark == StepMark::ranges && std::ranges::any_of(ranges.instances, [&](const Instance& one) {
            return one.time.start == begin;
          })) {
        main_ = thread;
        return;
      }
    }
    std::map<std::int64_t, std::size_t> launches;
    for (const Launch& work : work_) ++launches[work.thread];
    const auto most = std::ranges::max_element(launches, {}, [](const auto& one) { return one.second; });
    main_ = most == launches.end() ? threads_.begin()->first : most->first;
  }

  /// In which ranges the main thread waits for which other threads.
  void find_waits() {
    const ThreadRanges& main = threads_[main_];
    std::vector<std::int64_t> own;
    std::map<std::pair<std::int64_t, std::int32_t>, Span> spans;
    for (const Launch& work : work_) {
      if (work.thread == main_) own.push_back(work.called);
      if (work.thread == main_ || !is_of_main_process(work.thread)) continue;
      const std::int32_t around = main.around(work.called);
      if (around < 0) continue;
      Span& span = spans[{work.thread, around}];
      span.first = span.count == 0 ? work.called : std::min(span.first, work.called);
      span.last = std::max(span.last, work.called);
      ++span.count;
    }
    std::ranges::sort(own);
    struct Seen {
      std::size_t ranges = 0, waiting = 0;
    };
    std::map<std::pair<std::int64_t, std::uint32_t>, Seen> seen;
    for (const auto& [place, span] : spans) {
      Seen& one = seen[{place.first, main[place.second].text}];
      ++one.ranges;
      const auto next = std::ranges::lower_bound(own, span.first);
      if (span.count > 1 && (next == own.end() || *next > span.last)) ++one.waiting;
    }
    constexpr std::size_t of_ten = 9;
    for (const auto& [place, one] : seen) {
      if (10 * one.waiting >= of_ten * one.ranges) waits_.insert(place);
    }
  }

  [[nodiscard]] bool is_of_main_process(std::int64_t thread) const {
    return trace::nsys::process_of(thread) == trace::nsys::process_of(main_);
  }

  /// The range of the main thread that waits for what `thread` does at a moment, by its place; -1: none.
  [[nodiscard]] std::int32_t waiting_around(std::int64_t thread, std::int64_t moment) const {
    if (thread == main_ || !is_of_main_process(thread)) return -1;
    const ThreadRanges& main = threads_.at(main_);
    const std::int32_t around = main.around(moment);
    if (around < 0) return -1;
    return waits_.contains({thread, main[around].text}) ? around : -1;
  }

  void make_nodes(std::int64_t thread, bool is_main) {
    ThreadRanges& ranges = threads_[thread];
    for (Instance& one : ranges.instances) {
      std::int32_t parent = one.parent < 0 ? -1 : ranges[one.parent].node;
      if (parent < 0 && !is_main) {
        const std::int32_t around = waiting_around(thread, one.time.start);
        if (around >= 0) parent = threads_[main_][around].node;
      }
      one.node = child(parent, texts_[one.text].first, !is_main);
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

  /// The child of a node with this name, which is made where there is none.
  std::int32_t child(std::int32_t parent, const std::string& name, bool elsewhere) {
    const bool is_full = nodes_.size() >= most_range_nodes;
    const auto found = known_.find({parent, name});
    if (found != known_.end()) return found->second;
    if (is_full && name != trace::other_ranges) {
      tree_.at_limit = true;
      return parent >= 0 ? parent : child(parent, trace::other_ranges, elsewhere);
    }
    const auto made = static_cast<std::int32_t>(nodes_.size());
    known_.emplace(std::pair(parent, name), made);
    nodes_.push_back({.name = name, .elsewhere = elsewhere});
    children_[parent].push_back(made);
    return made;
  }

  void add_work(const Launch& work) {
    const auto of_thread = threads_.find(work.thread);
    const std::int32_t own = of_thread == threads_.end() ? -1 : of_thread->second.around(work.called);
    std::int32_t at = own < 0 ? -1 : of_thread->second[own].node;
    if (own < 0) {
      const std::int32_t waiting = waiting_around(work.thread, work.called);
      if (waiting >= 0) at = threads_[main_][waiting].node;
    }
    if (at < 0) {
      tree_.outside += work.gpu;
      ++tree_.launches_outside;
      return;
    }
    RangeNode& node = nodes_[static_cast<std::size_t>(at)];
    node.gpu_self += work.gpu;
    ++node.launches;
    if (own < 0) node.gpu_others += work.gpu;
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
    }
    sort(node.children);
    return node;
  }

  void sort(std::vector<RangeNode>& nodes) const {
    std::ranges::stable_sort(nodes, std::ranges::greater{},
                             [&](const RangeNode& node) { return tree_.weight(node); });
  }

  const trace::Trace& trace_;
  trace::CaseIndex index_;
  const Steps& steps_;
  trace::Interval window_{};
  std::vector<std::pair<std::string, std::size_t>> texts_;  ///< names, with how often they stand
  std::map<std::int64_t, ThreadRanges> threads_;
  std::vector<Launch> work_;
  std::int64_t main_ = 0;
  std::set<std::pair<std::int64_t, std::uint32_t>> waits_;  ///< for a thread, in main ranges of a name
  std::vector<RangeNode> nodes_;
  std::map<std::int32_t, std::vector<std::int32_t>> children_;
  std::map<std::pair<std::int32_t, std::string>, std::int32_t> known_;
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
      rest.host += node.host;
      rest.host_self += node.host_self;
      rest.elsewhere = (rest.folded == 1 || rest.elsewhere) && node.elsewhere;
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
