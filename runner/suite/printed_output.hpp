// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "inputs/suite_file.hpp"
#include "runner/program/program_run.hpp"

namespace mprof {

/// A program of a suite at a problem, as its verification needs to know it.
struct SuiteCase {
  const Suite* suite = nullptr;
  const SuiteProgram* program = nullptr;
  Problem problem{};
  ProgramLaunch launch{};  ///< of the program; its variables, folder and limits are its verification's too
  const Clock* clock = nullptr;
};

/// Reads the suite's numbers of what the program prints, in the timing pass, and verifies its output, in
/// every pass.
[[nodiscard]] std::unique_ptr<OutputReader> make_printed_output(SuiteCase of, Pass pass);

}  // namespace mprof
