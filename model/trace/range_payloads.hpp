// SPDX-License-Identifier: MIT
#pragma once

#include "model/trace/journal_reader.hpp"
#include "model/trace/trace.hpp"

namespace mprof::trace {

/// Gives the ranges of one process the payloads that its journal has. CUPTI's records of ranges do not have
/// them, so both are put together by thread, order and time; a payload without its range is left out.
void add_payloads(Trace& trace, const journal::Journal& journal);

}  // namespace mprof::trace
