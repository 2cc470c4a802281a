// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "report/analysis/analysis.hpp"
#include "report/views/page_plan.hpp"

namespace mprof {

/// The final answer of `mprof run --json` and of other verbs that make a run: docs/formats/verbs-json.md
/// explains it. `path` is where the run is.
[[nodiscard]] nlohmann::ordered_json run_json(const Run& run, const std::string& path);

/// The brief of `mprof report --json`: [{ family, lines: [{ lead, text }] }], and the findings.
[[nodiscard]] nlohmann::ordered_json brief_json(const RunAnalysis& analysis, const Materials& materials);

/// The lines of the brief of one family, [{ lead, text }]: of a program, or of variants, and of imports.
[[nodiscard]] nlohmann::json brief_lines(const FamilyResult& family, const PageContext& page);

}  // namespace mprof
