// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/sanitizer.hpp"
#include "runner/sanitize/compute_sanitizer.hpp"
#include "system/clock.hpp"

/// `mprof sanitize -- PROGRAM`: a program of the user's under compute-sanitizer, as it is.
namespace mprof {

struct ProgramToSanitize {
  std::vector<std::string> command{};  ///< its path, and its arguments
  std::string name{};                  ///< how results call it
  double timeout = 0;                  ///< s, under one tool
  int interrupt_fd = -1;               ///< becomes readable when it is to stop; -1: never
};

/// What became of the program under one tool, with all processes that it starts.
struct SanitizedProgram {
  SanitizerResult result{};
  std::string output{};  ///< the end of what the program wrote
};

/// Runs it under one tool. nullopt when it was interrupted. No process is left behind. Throws Error(usage)
/// when it cannot be started.
[[nodiscard]] std::optional<SanitizedProgram> sanitize_program(const ProgramToSanitize& program,
                                                               SanitizerTool tool, const Sanitizer& sanitizer,
                                                               const Clock& clock);

}  // namespace mprof
