// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/trace/graph_captures.hpp"

/// What is said of the work of CUDA graphs: where it was captured, and where it ran.
namespace mprof {

/// How to read the table of them.
[[nodiscard]] std::string captures_caption();

/// "forward / block 1", "in no range", or "not known" without a path.
[[nodiscard]] std::string captured_in(const GraphCaptures& captures, const CapturedWork& work);

/// "step", or "in no range".
[[nodiscard]] std::string launched_in(const CapturedWork& work);

/// What the table does not say: ranges whose nodes never ran, nodes that nobody saw captured, and graphs that
/// were traced as a whole.
[[nodiscard]] std::vector<std::string> captures_remarks(const GraphCaptures& captures);

}  // namespace mprof
