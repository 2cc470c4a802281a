// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "report/analysis/machines/fleet.hpp"

namespace mprof {

/// The fleet as one HTML file that needs nothing else: its maps, what is bad and why, all machines.
/// `templates`: a directory of the user's; empty: the embedded ones.
[[nodiscard]] std::string render_fleet(const Fleet& fleet, const std::filesystem::path& templates = {});

}  // namespace mprof
