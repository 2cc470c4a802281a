// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "inputs/suite_file.hpp"
#include "runner/plan.hpp"
#include "runner/program/program_run.hpp"

namespace mprof {

/// The run of a suite that is asked for, nothing of it measured. `registry` holds the suite
/// (register_suite()). Throws Error(usage) for an invalid selection.
[[nodiscard]] Run planned_suite_run(const RunRequest& request, const std::string& ranges,
                                    const Registry& registry, std::vector<std::string> command_line);

/// Runs what the suite says that builds these programs, the same command once, in the suite's folder.
/// `begins` is called for each. Throws Error(usage) with the last lines of one that fails.
void build_suite(const Suite& suite, const std::vector<std::string>& variants, const Clock& clock,
                 int interrupt_fd, const std::function<void(const std::string& command)>& begins);

/// Notes what the programs of the run's cases are. Throws Error(usage), with the line of the suite, for one
/// that is not there.
void find_programs(const Suite& suite, Run& run);

/// Throws Error(incomparable) where the suite or one of its programs is not what the run began with.
void require_unchanged(const Suite& suite, const Run& run);

/// How the program of a case is run.
[[nodiscard]] CaseProgram program_of_suite(const Suite& suite, const Run& run, const Case& c,
                                           const Clock& clock, int interrupt_fd);

/// The path of what a shell that is in `folder` would run by this word. Throws Error(usage) that says why it
/// is no program.
[[nodiscard]] std::string program_below(const std::filesystem::path& folder, const std::string& word);

}  // namespace mprof
