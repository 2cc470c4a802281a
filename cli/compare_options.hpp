// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "cli/options.hpp"
#include "report/analysis/judgement/compare.hpp"

/// Options of the verbs that compare runs.
namespace mprof::cli {

/// --threshold in percent, as a ratio; throws Error(usage) for any other text.
[[nodiscard]] double parse_threshold(const std::string& text);

/// --format: text, md, html or json; throws Error(usage) with the nearest of them. `what` is what has that
/// format.
[[nodiscard]] std::string parse_comparison_format(const std::string& text, std::string_view what);

/// What `mprof compare` compares, and what of it fails. Throws Error(usage) for what does not go together.
[[nodiscard]] CompareOptions parse_compare_options(const Arguments& arguments);

}  // namespace mprof::cli
