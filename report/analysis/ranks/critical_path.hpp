// SPDX-License-Identifier: MIT
#pragma once

#include "report/analysis/ranks/world.hpp"

namespace mprof {

/// From the end of a step backwards: what the rank that is done last does, until it waits in a collective.
/// There the path goes on with the rank that arrived last. Of many steps two hundred are walked.
[[nodiscard]] CriticalPath critical_path(const World& world);

}  // namespace mprof
