// SPDX-License-Identifier: MIT
#include "model/trace/interval_set.hpp"

#include <algorithm>
#include <utility>

namespace mprof::trace {

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
  if (!std::ranges::is_sorted(intervals, {}, &Interval::start))
    std::ranges::sort(intervals, {}, &Interval::start);
  for (const Interval& next : intervals) {
    if (next.length() <= 0) continue;
    if (!intervals_.empty() && next.start <= intervals_.back().end) {
      intervals_.back().end = std::max(intervals_.back().end, next.end);
    } else {
      intervals_.push_back(next);
    }
  }
}

std::int64_t IntervalSet::length() const {
  std::int64_t sum = 0;
  for (const Interval& interval : intervals_) sum += interval.length();
  return sum;
}

IntervalSet IntervalSet::operator&(const IntervalSet& other) const {
  IntervalSet common;
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    const Interval both{std::max(a->start, b->start), std::min(a->end, b->end)};
    if (both.length() > 0) common.intervals_.push_back(both);
    ++(a->end < b->end ? a : b);
  }
  return common;
}

IntervalSet IntervalSet::operator|(const IntervalSet& other) const {
  if (other.empty()) return *this;
  if (empty()) return other;
  std::vector<Interval> all(intervals_.size() + other.intervals_.size());
  std::ranges::merge(intervals_, other.intervals_, all.begin(), {}, &Interval::start, &Interval::start);
  return IntervalSet(std::move(all));
}

IntervalSet IntervalSet::operator-(const IntervalSet& other) const {
  IntervalSet rest;
  auto hole = other.intervals_.begin();
  for (Interval interval : intervals_) {
    while (hole != other.intervals_.end() && hole->end <= interval.start) ++hole;
    // A hole may reach into the next interval as well, so it is not stepped over here.
    for (auto at = hole; at != other.intervals_.end() && at->start < interval.end; ++at) {
      if (at->start > interval.start) rest.intervals_.push_back({interval.start, at->start});
      interval.start = std::max(interval.start, at->end);
    }
    if (interval.length() > 0) rest.intervals_.push_back(interval);
  }
  return rest;
}

IntervalSet in_several(const std::vector<IntervalSet>& sets) {
  struct Edge {
    std::int64_t time;
    int change;  // -1 sorts before +1: what begins where something else ends is not beside it
  };
  std::vector<Edge> edges;
  for (const IntervalSet& set : sets) {
    for (const Interval& interval : set.intervals()) {
      edges.push_back({interval.start, +1});
      edges.push_back({interval.end, -1});
    }
  }
  std::ranges::sort(edges, {}, [](const Edge& edge) { return std::pair(edge.time, edge.change); });
  std::vector<Interval> several;
  int sets_here = 0;
  for (const Edge& edge : edges) {
    if (edge.change > 0 && sets_here == 1) several.push_back({edge.time, edge.time});
    if (edge.change < 0 && sets_here == 2) several.back().end = edge.time;
    sets_here += edge.change;
  }
  return IntervalSet(std::move(several));
}

}  // namespace mprof::trace
