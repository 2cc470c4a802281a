// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis/program/picture.hpp"
#include "report/views/page_plan.hpp"

/// The parts of a program's report below its first screen.
namespace mprof {

/// All that is said of a program with a trace: { cards, lines: [{ lead, text }], table of its kernels, parts:
/// false, and what the functions below give }.
[[nodiscard]] nlohmann::json program_screen(const ProgramPicture& picture, const PageContext& page);

/// How many of its functions make up nine tenths of the time of kernels, but at most fifteen.
[[nodiscard]] std::size_t kernels_worth_showing(const ProgramPicture& picture);

/// The names of these, made short, and still distinct.
[[nodiscard]] std::vector<std::string> shown_kernel_names(const ProgramPicture& picture);

/// The same functions one by one: { held: table of what holds each back, or false, list: [{ name, figure,
/// lines: [text], shapes: table, hot: table or false }] }; false without any. `shapes` has its launches by
/// instance, grid and block. `hot` has the lines of its source at which warps stood most often.
[[nodiscard]] nlohmann::json kernel_details_view(const ProgramPicture& picture, const PageContext& page);

/// The hottest lines of a kernel: a table, or false where none was sampled or its code has no line table.
[[nodiscard]] nlohmann::json kernel_lines_view(const FunctionTime& function, const std::string& kernel,
                                               const PageContext& page);

/// The NVTX ranges of the steady steps: { caption, has_backward, rows: [{ name, gpu, gpu_self, has_backward,
/// backward, host, host_self, calls, share, percent, elsewhere, captured, unfolds, open, closes: [] }],
/// remarks: [text], table }; false without ranges.
[[nodiscard]] nlohmann::json range_tree_view(const ProgramPicture& picture, const PageContext& page);

/// Which lines launch its kernels: { table, remarks: [text], chart: a flame graph }; false where no launch
/// has a call stack.
[[nodiscard]] nlohmann::json launch_lines_view(const ProgramPicture& picture, const PageContext& page);

/// Where the work of its CUDA graphs was captured and launched: { table or false, remarks: [text] }; false
/// without graphs.
[[nodiscard]] nlohmann::json captures_view(const ProgramPicture& picture, const PageContext& page);

/// A step of median length: { id, title, svg, alt, file, data, legend: [{ class, name }], remarks: [text],
/// still_remarks: [text] }; false without steps.
[[nodiscard]] nlohmann::json drawn_step_view(const ProgramPicture& picture, const PageContext& page);

/// Where a step, or the whole without steps, goes, as one bar: { svg, legend: [{ class, name, share }] }.
[[nodiscard]] nlohmann::json step_strip_view(const ProgramPicture& picture);

/// How long each steady step took: { chart, slow: [text: what a slow one has more of], more }; false without
/// steps.
[[nodiscard]] nlohmann::json pace_view(const ProgramPicture& picture, const PageContext& page);

/// What its GPUs were busy with over time, by samples: { gpus: [{ svg, caption, remarks: [text], table }] };
/// false where they were not sampled.
[[nodiscard]] nlohmann::json load_view(const ProgramPicture& picture, const PageContext& page);

/// The GPU memory that the program held: { chart, remarks: [text], table }; false where the trace does not
/// say.
[[nodiscard]] nlohmann::json memory_view(const ProgramPicture& picture, const PageContext& page);

}  // namespace mprof
