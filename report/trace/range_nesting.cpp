// SPDX-License-Identifier: MIT
#include "report/trace/range_nesting.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "model/trace/launched_work.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/op_name.hpp"

namespace mprof {
namespace {

/// A program may call itself without end.
constexpr std::size_t deepest_range = 64;

/// What a thread launched within a range of another thread.
struct LaunchSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t count = 0;
};

std::string text_with_domain(const trace::Trace& trace, const trace::Range& range) {
  const std::string_view text = trace::without_operation_ids(trace.text_of(range));
  if (range.domain == 0 || trace.names[range.domain].empty()) return std::string(text);
  return trace.names[range.domain] + ":" + std::string(text);
}

}  // namespace

std::vector<trace::CaseIndex> cases_of_captures(trace::CaseIndex index) {
  if (index == trace::no_case) return {index};
  return {index, trace::no_case};
}

std::int32_t ThreadRanges::around(std::int64_t moment) const {
  const auto next =
      std::ranges::upper_bound(instances, moment, {}, [](const NestedRange& one) { return one.time.start; });
  auto at = static_cast<std::int32_t>(next - instances.begin()) - 1;
  while (at >= 0 && (*this)[at].time.end <= moment) at = (*this)[at].parent;
  return at;
}

RangeNesting::RangeNesting(const trace::Trace& trace, trace::CaseIndex index, const Steps* steps_of_case,
                           trace::Interval window, std::size_t steps) {
  collect(trace, trace::of_case(trace.ranges, index), window, steps);
  if (threads_.empty()) return;
  trace::LaunchedWorks(trace, index).each([&](const trace::LaunchedWork& work) {
    if (work.call.start < window.start || work.call.start >= window.end) return;
    LaunchMoment& moment = work_.emplace_back(
        LaunchMoment{.thread = work.thread, .called = work.call.start, .gpu = work.time.length()});
    if (work.what == trace::LaunchedWork::What::kernel) {
      const trace::KernelRow& row = trace.kernels.rows()[work.row];
      moment.graph_node = trace.kernels.graph_node(row);
      moment.correlation = trace.kernels.correlation(row);
    } else if (work.what == trace::LaunchedWork::What::transfer) {
      moment.graph_node = trace.transfers[work.row].graph_node;
      moment.correlation = trace.transfers[work.row].correlation;
    }
  });
  find_main(steps_of_case);
  find_waits();
}

RangeNesting RangeNesting::of_captures(const trace::Trace& trace, trace::CaseIndex index) {
  RangeNesting nesting;
  std::vector<trace::Range> ranges;
  const std::int64_t part = index < trace.cases.size() ? trace.cases[index].window.start : 0;
  // What began before a part of a program stands here uncut, and in the case cut.
  std::set<std::pair<std::int64_t, trace::NameIndex>> uncut;
  for (const trace::Range& range : trace::of_case(trace.ranges, trace::no_case)) {
    if (index != trace::no_case && range.time.start < part && range.time.end > part)
      uncut.emplace(range.thread, range.name);
  }
  for (const trace::CaseIndex of : cases_of_captures(index)) {
    for (const trace::GraphNode& node : trace::of_case(trace.graph_nodes, of)) {
      if (node.original == 0) nesting.work_.push_back({.thread = node.thread, .called = node.time.start});
    }
    for (const trace::Range& range : trace::of_case(trace.ranges, of)) {
      const bool is_cut =
          of == index && range.time.start == part && uncut.contains({range.thread, range.name});
      if (!is_cut) ranges.push_back(range);
    }
  }
  if (nesting.work_.empty()) return nesting;
  nesting.collect(trace, ranges,
                  {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}, 0);
  if (nesting.threads_.empty()) return nesting;
  // A capture begins on the thread that asked for it; others, as autograd's, come later.
  nesting.main_ = std::ranges::min_element(nesting.work_, {}, &LaunchMoment::called)->thread;
  nesting.find_waits();
  return nesting;
}

void RangeNesting::collect(const trace::Trace& trace, std::span<const trace::Range> of,
                           trace::Interval window, std::size_t steps) {
  std::map<std::string, std::uint32_t> texts;
  std::vector<std::size_t> counts;
  for (const trace::Range& range : of) {
    const bool is_around = range.time.start < window.start && range.time.end > window.end;
    if (range.style != trace::RangeStyle::push_pop || trace.names[range.domain] == trace::own_domain ||
        range.time.end <= window.start || range.time.start >= window.end || is_around)
      continue;
    const auto [entry, is_new] =
        texts.try_emplace(text_with_domain(trace, range), static_cast<std::uint32_t>(names_.size()));
    if (is_new) {
      names_.push_back(entry->first);
      counts.push_back(0);
    }
    ++counts[entry->second];
    threads_[range.thread].instances.push_back(
        {.time = range.time,
         .text = entry->second,
         .sequence = trace::sequence_number(trace.text_of(range)),
         .is_backward = trace::is_backward_pass(trace.text_of(range))});
  }
  // "step 17" stands once, and is one of many alike; "block 3" stands in each step.
  std::map<std::string, std::uint32_t> alike;
  std::vector<std::uint32_t> first_alike;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (2 * counts[i] < steps) names_[i] = trace::without_numbers(names_[i]);
    first_alike.push_back(alike.try_emplace(names_[i], static_cast<std::uint32_t>(i)).first->second);
  }
  for (auto& [thread, ranges] : threads_) {
    for (NestedRange& one : ranges.instances) one.text = first_alike[one.text];
    nest(ranges);
  }
}

/// What lies too deep is left out, and so is part of what it lies in.
void RangeNesting::nest(ThreadRanges& ranges) {
  std::ranges::stable_sort(ranges.instances, [](const NestedRange& a, const NestedRange& b) {
    return std::pair(a.time.start, -a.time.end) < std::pair(b.time.start, -b.time.end);
  });
  const std::vector<NestedRange> all = std::exchange(ranges.instances, {});
  std::vector<std::int32_t> open;
  for (NestedRange one : all) {
    while (!open.empty() && ranges[open.back()].time.end <= one.time.start) open.pop_back();
    if (open.size() == deepest_range) {
      is_cut_ = true;
      continue;
    }
    if (!open.empty()) one.parent = open.back();
    open.push_back(static_cast<std::int32_t>(ranges.instances.size()));
    ranges.instances.push_back(one);
  }
}

void RangeNesting::find_main(const Steps* steps) {
  if (steps != nullptr && steps->mark == StepMark::ranges) {
    const std::int64_t begin = steps->all[steps->steady].host.start;
    for (const auto& [thread, ranges] : threads_) {
      if (std::ranges::any_of(ranges.instances,
                              [&](const NestedRange& one) { return one.time.start == begin; })) {
        main_ = thread;
        return;
      }
    }
  }
  std::map<std::int64_t, std::size_t> launches;
  for (const LaunchMoment& work : work_) ++launches[work.thread];
  const auto most = std::ranges::max_element(launches, {}, [](const auto& one) { return one.second; });
  main_ = most == launches.end() ? threads_.begin()->first : most->first;
}

/// In which ranges the main thread waits for which other threads.
void RangeNesting::find_waits() {
  const ThreadRanges& main = threads_[main_];
  std::vector<std::int64_t> own;
  std::map<std::pair<std::int64_t, std::int32_t>, LaunchSpan> spans;
  for (const LaunchMoment& work : work_) {
    if (work.thread == main_) own.push_back(work.called);
    if (work.thread == main_ || !is_of_main_process(work.thread)) continue;
    const std::int32_t around = main.around(work.called);
    if (around < 0) continue;
    LaunchSpan& span = spans[{work.thread, around}];
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

bool RangeNesting::is_of_main_process(std::int64_t thread) const {
  return trace::nsys::process_of(thread) == trace::nsys::process_of(main_);
}

std::int32_t RangeNesting::waiting_around(std::int64_t thread, std::int64_t moment) const {
  if (thread == main_ || !is_of_main_process(thread)) return -1;
  const ThreadRanges& main = threads_.at(main_);
  const std::int32_t around = main.around(moment);
  if (around < 0) return -1;
  return waits_.contains({thread, main[around].text}) ? around : -1;
}

std::vector<std::string> RangeNesting::path(std::int64_t thread, std::int64_t moment) const {
  std::vector<std::string> names;
  const auto add = [&](const ThreadRanges& ranges, std::int32_t at) {
    for (; at >= 0; at = ranges[at].parent) {
      names.push_back(name(ranges[at].text));
      moment = ranges[at].time.start;
    }
  };
  const auto own = threads_.find(thread);
  if (own != threads_.end()) add(own->second, own->second.around(moment));
  const std::int32_t waiting = waiting_around(thread, moment);
  if (waiting >= 0) add(threads_.at(main_), waiting);
  std::ranges::reverse(names);
  return names;
}

void RangeShares::add(std::int64_t moment, std::int64_t time) {
  of_place_[ranges_.around(moment)] += time;
  all_ += time;
}

std::pair<std::string, double> RangeShares::most() const {
  constexpr double enough = 0.5;
  std::map<std::vector<std::string>, std::int64_t> of_path;
  for (const auto& [place, time] : of_place_) {
    std::vector<std::string> path;
    for (std::int32_t at = place; at >= 0; at = ranges_[at].parent)
      path.insert(path.begin(), nesting_.name(ranges_[at].text));
    for (; !path.empty(); path.pop_back()) of_path[path] += time;
  }
  std::pair<std::vector<std::string>, std::int64_t> best;
  for (const auto& [path, time] : of_path) {
    if (static_cast<double>(time) > enough * static_cast<double>(all_) && path.size() > best.first.size())
      best = {path, time};
  }
  if (best.first.empty()) return {};
  std::string text = best.first.front();
  for (std::size_t i = 1; i < best.first.size(); ++i) text += " / " + best.first[i];
  return {text, static_cast<double>(best.second) / static_cast<double>(all_)};
}

}  // namespace mprof
