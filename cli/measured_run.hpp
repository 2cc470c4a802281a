// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "cli/baseline.hpp"
#include "cli/options.hpp"
#include "device/device.hpp"
#include "model/run.hpp"
#include "runner/result_directory.hpp"

namespace mprof::cli {

/// Measures what is left of a run of variants, tells how it went, and compares it with its baseline. `units`:
/// the devices that --devices named. Returns the exit code.
[[nodiscard]] int measure_and_compare(Run& run, ResultDirectory& directory, const Arguments& arguments,
                                      const std::vector<DeviceUnit>& units, Baseline baseline);

}  // namespace mprof::cli
