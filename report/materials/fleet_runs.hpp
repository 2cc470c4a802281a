// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "report/analysis/machines/fleet.hpp"

/// The runs of many GPUs, read one at a time: of their samples nothing is kept.
namespace mprof {

struct FleetRuns {
  std::vector<FleetMember> members;  ///< of each GPU its newest run among the judged ones
  std::map<std::string, std::vector<std::filesystem::path>> by_gpu;  ///< all runs by the UUID of their GPU
};

/// The runs in these directories, which are runs or hold some. `earlier`: of other days, which are not judged
/// themselves. What has no UUID is a machine of its own each time. Throws Error(usage) for a directory
/// without a run.
[[nodiscard]] FleetRuns read_fleet(const std::vector<std::string>& directories,
                                   const std::vector<std::string>& earlier);

/// The judged histories of the GPUs that have earlier runs.
[[nodiscard]] std::vector<FleetHistory> read_histories(const FleetRuns& runs);

}  // namespace mprof
