// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "report/analysis/program/picture.hpp"
#include "report/views/page_plan.hpp"

/// The parts of a program's report below its first screen.
namespace mprof {

/// The NVTX ranges of the steady steps: { caption, rows: [{ name, gpu, gpu_self, host, host_self, calls,
/// share, percent, elsewhere, unfolds, open, closes: [] }], remarks: [text], table }; false without ranges.
[[nodiscard]] nlohmann::json range_tree_view(const ProgramPicture& picture, const PageContext& page);

/// A step of median length: { id, title, svg, alt, file, data, legend: [{ class, name }], remarks: [text],
/// still_remarks: [text] }; false without steps.
[[nodiscard]] nlohmann::json drawn_step_view(const ProgramPicture& picture, const PageContext& page);

/// How long each steady step took: { chart, slow: [text: what a slow one has more of], more }; false without
/// steps.
[[nodiscard]] nlohmann::json pace_view(const ProgramPicture& picture, const PageContext& page);

/// The GPU memory that the program held: { chart, remarks: [text], table }; false where the trace does not
/// say.
[[nodiscard]] nlohmann::json memory_view(const ProgramPicture& picture, const PageContext& page);

}  // namespace mprof
