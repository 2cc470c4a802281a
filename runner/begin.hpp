// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "model/run.hpp"

/// How a run begins, whichever verb records it.
namespace mprof {

/// A record that begins now: of this program, for this command line. It has no plan and no case.
[[nodiscard]] Run begin_record(std::vector<std::string> command_line);

/// A record of this plan with its families, variants and cases, nothing of it measured, whatever this machine
/// lacks for it.
[[nodiscard]] Run begin_run(Plan plan, const Registry& registry, std::vector<std::string> command_line);

/// Makes such a record ready to be measured here: skips what this machine cannot run, and notes the inputs.
/// Throws the family's Error when an input is missing or corrupt.
void prepare_run(Run& run, const Registry& registry);

}  // namespace mprof
