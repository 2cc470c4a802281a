// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/sources.hpp"
#include "model/run.hpp"
#include "runner/plan.hpp"
#include "runner/result_directory.hpp"
#include "system/error.hpp"

/// What `mprof run` and `mprof submit` make of the options that say what to run.
namespace mprof::cli {

/// Those options, without the families' own.
[[nodiscard]] std::vector<Option> plan_options();

/// What the options say of how to measure that every verb with a plan has: axes, parameters, inputs, passes,
/// rounds, the seed and times. Throws Error(usage) for values that cannot be.
[[nodiscard]] RunRequest measuring_request(const Arguments& arguments);

/// What all of plan_options() say. `sources` come from --source and are registered. Throws Error(usage) for
/// values that cannot be.
[[nodiscard]] RunRequest given_request(const Arguments& arguments, const std::vector<PluginSource>& sources);

/// The run that the options ask for with all of its cases, nothing of it measured, whatever this machine
/// lacks for it. Throws Error for what cannot be a plan.
[[nodiscard]] Run planned_run(const Arguments& arguments, Sources& sources);

/// The same, ready to run here: the cases of --shard, without any that this machine cannot run. Throws Error
/// for everything that can be wrong with the request, before a directory is made. `worker_command` starts the
/// process that looks at the machine, where --tuned needs to know it.
[[nodiscard]] Run new_run(const Arguments& arguments, Sources& sources,
                          const std::vector<std::string>& worker_command);

/// The run of --balance-by, when it is given.
[[nodiscard]] std::optional<Run> earlier_run(const Arguments& arguments);

/// Where the options contradict the plan of an existing run. Options that agree are allowed: for example the
/// command line that began the run.
[[nodiscard]] std::vector<Contradiction> plan_contradictions(const Arguments& arguments, const Run& run);

/// Throws Error(usage) with the first of them, if there is one.
void refuse_contradictions(const std::vector<Contradiction>& found, const std::string& directory);

/// Throws Error(incomparable) when the build of a run to go on with, or its machine, is another one.
void refuse_other_maker(const Run& run, const ResultDirectory& directory);

/// The record of a run to go on with, ready to go on. Throws Error when its build, machine or inputs are
/// other ones, or the options say another plan.
[[nodiscard]] Run resumed_run(const Arguments& arguments, const ResultDirectory& directory, Sources& sources);

/// How many cases are measured and how long at most, and what --quick would take, as a line to print before
/// long work; empty where it is short.
[[nodiscard]] std::string outlook(const Arguments& arguments, const Run& run);

/// What becomes of a run that is there already. Throws Error(usage) for options that exclude each other.
[[nodiscard]] ResultDirectory::Mode mode_of(const Arguments& arguments);

/// The exit code of a run at `path` that ended with `code`: of its comparison with the baseline, where one
/// was given and the comparison finds something.
[[nodiscard]] int compared_with(const std::optional<Run>& baseline, const Arguments& arguments,
                                const std::string& path, ExitCode code);

}  // namespace mprof::cli
