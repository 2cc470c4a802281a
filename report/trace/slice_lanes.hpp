// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "model/trace/trace.hpp"

namespace mprof {

/// Whether a slice may lie within another one of its lane.
enum class Nesting { allowed, none };

/// Lanes for slices, so that no two on a lane overlap unless one holds the other: a viewer drops or misplaces
/// what overlaps in part. Give the slices by their starts, of equal starts the longest first.
class SliceLanes {
 public:
  explicit SliceLanes(Nesting nesting) : nesting_(nesting) {}

  /// The first lane with room for the slice; lanes are added as they are needed.
  std::size_t place(const trace::Interval& slice);

 private:
  Nesting nesting_;
  std::vector<std::vector<std::int64_t>> open_;  ///< by lane: the ends of what is not over, the last inmost
};

}  // namespace mprof
