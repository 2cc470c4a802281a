#pragma once

#include "cli/options.hpp"
#include "model/run.hpp"
#include "runner/result_directory.hpp"

namespace mprof::cli {

/// The run that the options of `mprof run` ask for, nothing of it measured yet. Everything that can be wrong
/// with the request is found here, before a directory is made: throws Error.
[[nodiscard]] Run new_run(const Arguments& arguments);

/// The record of a run to go on with, ready to go on. Throws Error when its build, machine or inputs are
/// other ones, or the options say another plan.
[[nodiscard]] Run resumed_run(const Arguments& arguments, const ResultDirectory& directory);

}  // namespace mprof::cli
