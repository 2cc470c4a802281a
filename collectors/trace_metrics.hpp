#pragma once

#include <vector>

#include "model/run.hpp"
#include "model/trace/trace.hpp"

namespace mprof::trace {

/// What an attributed trace says of a case: the rows "from the trace" of the metric catalogue, one sample
/// each. Per op: GPU time, copies, calls, overlap, and what the GPU did while the op's stages ran. Per kernel
/// of an op: its time. Of the case: the records that are missing.
[[nodiscard]] std::vector<Measurement> measure(const Trace& trace, const std::vector<OpInfo>& ops);

/// The case's layer time in this trace over its layer time in the timing pass, whose result `subject` holds.
[[nodiscard]] Measurement trace_overhead(const Case& subject, const std::vector<Measurement>& traced);

}  // namespace mprof::trace
