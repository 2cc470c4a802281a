// SPDX-License-Identifier: MIT
#include "report/trace/slice_lanes.hpp"

namespace mprof {

std::size_t SliceLanes::place(const trace::Interval& slice) {
  for (std::size_t lane = 0; lane < open_.size(); ++lane) {
    std::vector<std::int64_t>& ends = open_[lane];
    while (!ends.empty() && ends.back() <= slice.start) ends.pop_back();
    const bool fits = ends.empty() || (nesting_ == Nesting::allowed && slice.end <= ends.back());
    if (!fits) continue;
    ends.push_back(slice.end);
    return lane;
  }
  open_.push_back({slice.end});
  return open_.size() - 1;
}

}  // namespace mprof
