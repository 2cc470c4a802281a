#pragma once

#include "model/trace/trace.hpp"

namespace mprof::trace {

/// Finds the place of every API call, and with it of all GPU work and synchronization that it led to, and
/// fills Trace::places' indices and the counts of what could not be attributed.
///
/// The external correlation id of a call names the range that was open on its thread. A call of a thread on
/// which mprof opened no range (one that the variant started) belongs to the innermost range that was open
/// on any thread when it was made: stages follow one another, so there is only one. Where a call has an
/// external id, its thread and time are asked as well, and a different answer is counted. When the GPU was
/// at work says nothing: work is launched in one range and runs in a later one.
void attribute(Trace& trace);

}  // namespace mprof::trace
