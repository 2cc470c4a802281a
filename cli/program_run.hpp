// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "runner/program/program_run.hpp"

/// `mprof run -- PROGRAM ARGUMENT...`
namespace mprof::cli {

/// The options that only a program has.
[[nodiscard]] std::vector<Option> program_options();

/// Throws Error(usage) where one of them was given, and no program.
void refuse_program_options(const Arguments& arguments);

/// Keeps what a pipe gives on standard input, for each execution of a program, and tells of a pipe that gives
/// nothing.
void keep_input(const Arguments& arguments);

/// Runs the program of the command line. Returns mprof's exit code.
[[nodiscard]] int run_program(const Arguments& arguments);

/// What is measured of programs, beside their run.
struct MeasuredPrograms {
  std::string on_interrupt{};  ///< a sentence: how to go on
  std::function<CaseProgram(const Case& c, int interrupt_fd)>
      program_of{};  ///< as in ProgramContext; or none
};

/// Measures the programs of a run that was saved, and prints what came of it and of the comparison with
/// `baseline`. Returns mprof's exit code.
[[nodiscard]] int measure_and_tell(Run& run, ResultDirectory& directory, const Arguments& arguments,
                                   const std::optional<Run>& baseline, const MeasuredPrograms& programs);

}  // namespace mprof::cli
