// SPDX-License-Identifier: MIT
#pragma once

#include "report/analysis/ranks/world.hpp"

namespace mprof {

/// Sets World::late, waited and waiting_cost. A rank is late when it arrives last more often than chance
/// explains, and the others wait for it for at least a hundredth of a step.
void find_late_ranks(World& world);

}  // namespace mprof
