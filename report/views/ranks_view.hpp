// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "report/analysis/ranks/world.hpp"
#include "report/views/page_plan.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

/// Pages, tables and data about the ranks of a distributed program.
namespace mprof {

inline constexpr double seconds_of_ns = 1e-9;

/// The view of ranks.html.mustache: sentences, the map of ranks and steps, the slowest step, tables.
[[nodiscard]] Page ranks_page(const World& world);

/// The ranks as data: the format of `mprof ranks --json`, explained in docs/formats/ranks-json.md.
[[nodiscard]] nlohmann::ordered_json ranks_json(const World& world);

/// A row a rank, its usual step; at most `most`, the late ones first, then by how little they wait.
[[nodiscard]] Table ranks_table(const World& world, std::size_t most);
[[nodiscard]] Table late_table(const World& world);
[[nodiscard]] Table rates_table(const World& world);

/// Exposed communication by rank and step, as shares of a step.
[[nodiscard]] nlohmann::json ranks_map(const World& world, Anchors& anchors);

/// The slowest step of all ranks, or of the ones that tell most, as SVG with the page's own colours; empty
/// where there is no step.
[[nodiscard]] std::string slowest_step_svg(const World& world);

}  // namespace mprof
