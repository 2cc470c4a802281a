// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace/trace.hpp"

namespace mprof::trace {

/// mprof's own range `external` was the innermost on the thread that made the API call `correlation`.
struct ExternalCorrelation {
  std::int64_t correlation = 0;
  std::uint64_t external = 0;
};

/// A trace as it was recorded, and what tells the places of its rows. Files have the places alone.
struct Recording {
  Trace trace{};
  std::vector<ExternalCorrelation> external_correlations{};
};

/// Finds the place of every API call in a trace of one case, and with it of all GPU work and synchronization
/// that it led to. Fills the rows' places and the counts of what could not be attributed.
///
/// The external correlation id of a call names the range that was open on its thread. A thread on which mprof
/// opened no range is one that the variant started. Its call belongs to the innermost range that was open on
/// any thread when it was made. Stages follow one another, so there is only one. Where a call has an external
/// id, its thread and time are asked as well, and a different answer is counted. When the GPU was at work
/// says nothing: work is launched in one range and runs in a later one.
void attribute(Recording& recording);

}  // namespace mprof::trace
