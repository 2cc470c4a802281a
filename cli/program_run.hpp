#pragma once

#include <vector>

#include "cli/options.hpp"

/// `mprof run -- PROGRAM ARGUMENT...`
namespace mprof::cli {

/// The options that only a program has.
[[nodiscard]] std::vector<Option> program_options();

/// Throws Error(usage) where one of them was given, and no program.
void refuse_program_options(const Arguments& arguments);

/// Runs the program of the command line. Returns mprof's exit code.
[[nodiscard]] int run_program(const Arguments& arguments);

}  // namespace mprof::cli
