// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "device/probe.hpp"
#include "kernels/registry.hpp"
#include "system/clock.hpp"

namespace mprof {

/// What mprof can use here: the machine, and what it starts and reads beside it, which is compute-sanitizer,
/// the compilers of sources, and the inputs of each family at `paths`.
[[nodiscard]] std::vector<Probe> probe_machine_and_tools(const Registry& registry, const InputPaths& paths,
                                                         const Clock& clock);

}  // namespace mprof
