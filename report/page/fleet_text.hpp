// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/analysis/machines/fleet.hpp"

namespace mprof {

/// What `mprof fleet` prints: what is bad, or everything. Plain text.
[[nodiscard]] std::string render_fleet_text(const Fleet& fleet, bool all);

}  // namespace mprof
