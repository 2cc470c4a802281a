// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "runner/sanitize/sanitize.hpp"
#include "system/error.hpp"

/// What `mprof sanitize` does for a program behind "--", and what it has in common with runs.
namespace mprof::cli {

/// Throws Error(usage) for a tool that compute-sanitizer does not have.
[[nodiscard]] std::vector<SanitizerTool> parse_sanitizer_tools(const std::string& text);

[[nodiscard]] ExitCode exit_code_of_sanitizing(const SanitizeOutcome& outcome);

/// The results of `mprof sanitize --json`.
[[nodiscard]] nlohmann::ordered_json sanitizer_json(const std::vector<SanitizerResult>& results);

/// Runs the program under each tool. Returns the exit code. Throws Error(usage) for options that are for runs
/// alone.
[[nodiscard]] int sanitize_own_program(const Arguments& arguments);

}  // namespace mprof::cli
