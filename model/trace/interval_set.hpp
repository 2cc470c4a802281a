// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/trace.hpp"

namespace mprof::trace {

/// A set of moments: disjoint intervals in order.
class IntervalSet {
 public:
  IntervalSet() = default;
  /// The union of intervals that may overlap and come in any order; empty and reversed ones add nothing.
  explicit IntervalSet(std::vector<Interval> intervals);

  /// ns in all.
  [[nodiscard]] std::int64_t length() const;
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  /// Disjoint, none of them empty, in order.
  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

  [[nodiscard]] IntervalSet operator&(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet operator|(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet operator-(const IntervalSet& other) const;
  /// ns that both have: the length of `*this & other`.
  [[nodiscard]] std::int64_t length_in(const IntervalSet& other) const;
  /// Takes out what is in `other` too, and returns that.
  IntervalSet take(const IntervalSet& other);

 private:
  std::vector<Interval> intervals_;
};

/// The moments that are in two of the sets or more.
[[nodiscard]] IntervalSet in_several(const std::vector<IntervalSet>& sets);

}  // namespace mprof::trace
