// SPDX-License-Identifier: MIT
#include "model/trace/interval_set.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace mprof::trace {

// The vector that is given becomes the set: a trace has millions of intervals.
IntervalSet::IntervalSet(std::vector<Interval> intervals) : intervals_(std::move(intervals)) {
  if (!std::ranges::is_sorted(intervals_, {}, &Interval::start))
    std::ranges::sort(intervals_, {}, &Interval::start);
  std::size_t kept = 0;
  for (const Interval next : intervals_) {
    if (next.length() <= 0) continue;
    if (kept > 0 && next.start <= intervals_[kept - 1].end) {
      intervals_[kept - 1].end = std::max(intervals_[kept - 1].end, next.end);
    } else {
      intervals_[kept++] = next;
    }
  }
  intervals_.resize(kept);
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
  rest.intervals_.reserve(intervals_.size());
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
  struct Next {
    std::vector<Interval>::const_iterator interval, end;
    bool operator<(const Next& other) const { return interval->start > other.interval->start; }  // a heap's
  };
  std::vector<Next> sources;
  for (const IntervalSet& set : sets) {
    if (!set.empty()) sources.push_back({set.intervals().begin(), set.intervals().end()});
  }
  std::make_heap(sources.begin(), sources.end());
  std::vector<Interval> several;
  std::int64_t covered = std::numeric_limits<std::int64_t>::min();  // by those before
  while (!sources.empty()) {
    std::pop_heap(sources.begin(), sources.end());
    Next& source = sources.back();
    const Interval& next = *source.interval;
    if (next.start < covered) several.push_back({next.start, std::min(next.end, covered)});
    covered = std::max(covered, next.end);
    if (++source.interval == source.end) {
      sources.pop_back();
    } else {
      std::push_heap(sources.begin(), sources.end());
    }
  }
  return IntervalSet(std::move(several));
}

}  // namespace mprof::trace
