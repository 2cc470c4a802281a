#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.hpp"

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

  [[nodiscard]] IntervalSet operator&(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet operator|(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet operator-(const IntervalSet& other) const;

 private:
  std::vector<Interval> intervals_;
};

}  // namespace mprof::trace
