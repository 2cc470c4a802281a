// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectors/collector.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"

namespace mprof {

/// What a worker works with; in the product, the registries of the program.
struct WorkerContext {
  Registry& registry;  ///< variants of sources from outside are added to it
  const Devices& devices;
  const CollectorKinds& collectors;
  const Clock& clock;
};

/// The body of a worker process: reads one job from standard input, does it, and reports on what was standard
/// output when it was called. From then on standard output is standard error, so that a variant that prints
/// does no harm. Returns the process's exit code: 0 whatever the cases' outcomes; a case's failure is in its
/// result.
int run_worker(const WorkerContext& context);

/// The command line that starts a worker of this program.
[[nodiscard]] std::vector<std::string> own_worker();

}  // namespace mprof
