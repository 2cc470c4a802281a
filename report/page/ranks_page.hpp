// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "report/analysis/ranks/world.hpp"

namespace mprof {

/// The ranks as one HTML file that needs nothing else: the answer, a map of ranks and steps, the slowest
/// step, tables. `templates`: a directory of the user's; empty: the embedded ones.
[[nodiscard]] std::string render_ranks(const World& world, const std::filesystem::path& templates = {});

/// The same for a terminal of so many columns (0: as wide as it is), without pictures. `all`: every rank.
[[nodiscard]] std::string render_ranks_text(const World& world, bool all, std::size_t width);

}  // namespace mprof
