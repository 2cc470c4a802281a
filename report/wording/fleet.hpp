// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/machines/fleet.hpp"

/// What is said of the machines of a fleet.
namespace mprof {

/// "SLOW, WRONG BITS", "once slow"; "ok" where nothing is wrong.
[[nodiscard]] std::string fleet_standing(const FleetVerdict& verdict);

/// What differs from the fleet, the parts joined by "; ", without a full stop; empty of one that is not slow.
[[nodiscard]] std::string slow_gpu_cause(const FleetOfModel& fleet, const FleetVerdict& verdict);

/// What tells whether one that was once slow is slow, without a full stop.
[[nodiscard]] std::string what_tells(const FleetVerdict& once);

/// "SM clock 1.3 GHz (the fleet's 1.98 GHz), ...": the facts that both have; empty where they have none.
[[nodiscard]] std::string fleet_facts_text(const FleetOfModel& fleet, const FleetMember& member);

/// "NVIDIA H200 (3)"
[[nodiscard]] std::vector<std::string> too_few_gpus(const Fleet& fleet);

}  // namespace mprof
