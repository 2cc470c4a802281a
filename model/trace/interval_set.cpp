// SPDX-License-Identifier: MIT
#include "model/trace/interval_set.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace mprof::trace {
namespace {

using Position = std::vector<Interval>::const_iterator;

/// The first one that reaches beyond a moment: a part of a long trace has few of all.
Position first_beyond(const std::vector<Interval>& all, std::int64_t moment) {
  return std::ranges::upper_bound(all, moment, {}, &Interval::end);
}

/// Calls `use` with each interval that two sets have in common, in order.
template <class Use>
void for_each_common(const std::vector<Interval>& of_a, const std::vector<Interval>& of_b, const Use& use) {
  if (of_a.empty() || of_b.empty()) return;
  auto a = first_beyond(of_a, of_b.front().start), b = first_beyond(of_b, of_a.front().start);
  while (a != of_a.end() && b != of_b.end()) {
    const Interval both{std::max(a->start, b->start), std::min(a->end, b->end)};
    if (both.length() > 0) use(both);
    ++(a->end < b->end ? a : b);
  }
}

/// Calls `use` with each interval that a set has and another one does not, in order.
template <class Use>
void for_each_rest(const std::vector<Interval>& intervals, const std::vector<Interval>& holes,
                   const Use& use) {
  if (intervals.empty()) return;
  auto hole = first_beyond(holes, intervals.front().start);
  for (Interval interval : intervals) {
    while (hole != holes.end() && hole->end <= interval.start) ++hole;
    // A hole may reach into the next interval as well, so it is not stepped over here.
    for (auto at = hole; at != holes.end() && at->start < interval.end; ++at) {
      if (at->start > interval.start) use(Interval{interval.start, at->start});
      interval.start = std::max(interval.start, at->end);
    }
    if (interval.length() > 0) use(interval);
  }
}

}  // namespace

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
  // Counted first: a list that grows takes twice its memory meanwhile.
  std::size_t count = 0;
  for_each_common(intervals_, other.intervals_, [&](const Interval&) { ++count; });
  IntervalSet common;
  common.intervals_.reserve(count);
  for_each_common(intervals_, other.intervals_,
                  [&](const Interval& both) { common.intervals_.push_back(both); });
  return common;
}

std::int64_t IntervalSet::length_in(const IntervalSet& other) const {
  std::int64_t sum = 0;
  for_each_common(intervals_, other.intervals_, [&](const Interval& both) { sum += both.length(); });
  return sum;
}

IntervalSet IntervalSet::take(const IntervalSet& other) {
  IntervalSet taken = *this & other;
  if (!taken.empty()) *this = *this - taken;
  return taken;
}

IntervalSet IntervalSet::operator|(const IntervalSet& other) const {
  if (other.empty()) return *this;
  if (empty()) return other;
  std::vector<Interval> all(intervals_.size() + other.intervals_.size());
  std::ranges::merge(intervals_, other.intervals_, all.begin(), {}, &Interval::start, &Interval::start);
  return IntervalSet(std::move(all));
}

IntervalSet IntervalSet::operator-(const IntervalSet& other) const {
  std::size_t count = 0;
  for_each_rest(intervals_, other.intervals_, [&](const Interval&) { ++count; });
  IntervalSet rest;
  rest.intervals_.reserve(count);
  for_each_rest(intervals_, other.intervals_, [&](const Interval& left) { rest.intervals_.push_back(left); });
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
