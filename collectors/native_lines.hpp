// SPDX-License-Identifier: MIT
#pragma once

#include "model/trace/trace.hpp"
#include "system/clock.hpp"

namespace mprof {

/// Finds the functions and lines of the machine code on a trace's call stacks, with addr2line. Functions that
/// the compiler inlined become frames of their own. What is not found keeps the symbol that the process knew.
/// Without addr2line, and for modules whose lines take too long, it leaves the stacks as they are.
void find_native_lines(trace::Trace& trace, const Clock& clock);

}  // namespace mprof
