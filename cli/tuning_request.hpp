// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "cli/options.hpp"
#include "cli/sources.hpp"
#include "report/analysis/standing/tuning.hpp"
#include "runner/tuning/point_search.hpp"

/// What the command line of `mprof tune` asks for. Each throws Error for what is wrong with it, before
/// anything is measured.
namespace mprof::cli {

[[nodiscard]] SearchSettings parse_search(const Arguments& arguments, std::uint64_t seed);

/// Every point of the variant, nothing of it measured.
[[nodiscard]] Run search_run(const Arguments& arguments, Sources& libraries);

/// nullopt: it was not said.
[[nodiscard]] std::optional<Objective> objective_of(const Arguments& arguments, const Run& run);

/// What each case costs, for a search. Without an objective, the first call sets the usual one in
/// `objective`, which must outlive the result.
[[nodiscard]] CostsOfCases costs_by(std::optional<Objective>& objective);

}  // namespace mprof::cli
