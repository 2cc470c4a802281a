// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace/steps.hpp"
#include "model/trace/trace.hpp"

/// The NVTX ranges of a case's threads, as they lie in each other, and which range a moment belongs to.
namespace mprof {

/// One range, as it lay in others.
struct NestedRange {
  trace::Interval time{};
  std::uint32_t text = 0;                   ///< its name, for RangeNesting::name()
  std::int32_t parent = -1;                 ///< its place among the ranges of its thread; -1: none
  std::int32_t node = -1;                   ///< for who makes a tree of them
  std::optional<std::uint64_t> sequence{};  ///< PyTorch's number of the operation
  bool is_backward = false;                 ///< it is the backward pass of that operation
};

/// The ranges of one thread, by their starts, of equal starts the longest first.
struct ThreadRanges {
  std::vector<NestedRange> instances{};

  /// The innermost one around a moment, by its place; -1: none.
  [[nodiscard]] std::int32_t around(std::int64_t moment) const;
  [[nodiscard]] const NestedRange& operator[](std::int32_t at) const {
    return instances[static_cast<std::size_t>(at)];
  }
};

/// Work of the GPU: by whom it was launched, and when.
struct LaunchMoment {
  std::int64_t thread = 0;
  std::int64_t called = 0;
  std::int64_t gpu = 0;          ///< ns that it took there
  std::uint64_t graph_node = 0;  ///< 0: it is of no graph
  std::int64_t correlation = 0;
};

/// Where the captures of a case's CUDA graphs stand. What a trace of a part of a program has from before that
/// part is of no case.
[[nodiscard]] std::vector<trace::CaseIndex> cases_of_captures(trace::CaseIndex index);

class RangeNesting {
 public:
  /// Of the ranges and launches within a window. A name that stands in fewer than half of `steps` loses its
  /// numbers. `steps_of_case` may be nullptr: then the thread that launched the most is the main one.
  RangeNesting(const trace::Trace& trace, trace::CaseIndex index, const Steps* steps_of_case,
               trace::Interval window, std::size_t steps);
  /// Of the whole case, with the moments at which its CUDA graphs were given nodes that are no copies. Names
  /// keep their numbers.
  [[nodiscard]] static RangeNesting of_captures(const trace::Trace& trace, trace::CaseIndex index);

  [[nodiscard]] bool empty() const { return threads_.empty(); }
  [[nodiscard]] std::map<std::int64_t, ThreadRanges>& threads() { return threads_; }
  [[nodiscard]] const std::string& name(std::uint32_t text) const { return names_.at(text); }
  /// In the window, as the trace has it.
  [[nodiscard]] const std::vector<LaunchMoment>& work() const { return work_; }
  /// The thread whose ranges make the steps; without such ranges, the one that launched the most.
  [[nodiscard]] std::int64_t main() const { return main_; }
  /// Whether a range lay too deep, and was left out.
  [[nodiscard]] bool is_cut() const { return is_cut_; }

  /// The range of the main thread that waits for what `thread` does at a moment, by its place; -1: none.
  [[nodiscard]] std::int32_t waiting_around(std::int64_t thread, std::int64_t moment) const;
  /// The names of the ranges that a moment of a thread lies in, from the outermost inwards. Where the main
  /// thread waits for what this one does, its ranges come first.
  [[nodiscard]] std::vector<std::string> path(std::int64_t thread, std::int64_t moment) const;

 private:
  RangeNesting() = default;
  void collect(const trace::Trace& trace, std::span<const trace::Range> of, trace::Interval window,
               std::size_t steps);
  void nest(ThreadRanges& ranges);
  void find_main(const Steps* steps);
  void find_waits();
  [[nodiscard]] bool is_of_main_process(std::int64_t thread) const;

  std::vector<std::string> names_;
  std::map<std::int64_t, ThreadRanges> threads_;
  std::vector<LaunchMoment> work_;
  std::int64_t main_ = 0;
  std::set<std::pair<std::int64_t, std::uint32_t>> waits_;  ///< for a thread, in main ranges of a name
  bool is_cut_ = false;
};

/// Where on the main thread something happens: how much of it lies in each chain of NVTX ranges.
class RangeShares {
 public:
  /// `nesting` must outlive it.
  explicit RangeShares(RangeNesting& nesting)
      : nesting_(nesting), ranges_(nesting.threads()[nesting.main()]) {}

  void add(std::int64_t moment, std::int64_t time);
  /// The innermost ranges that hold more than half of it, "step / load", and which share they hold. Empty:
  /// none do.
  [[nodiscard]] std::pair<std::string, double> most() const;

 private:
  RangeNesting& nesting_;
  const ThreadRanges& ranges_;
  std::unordered_map<std::int32_t, std::int64_t> of_place_;
  std::int64_t all_ = 0;
};

}  // namespace mprof
