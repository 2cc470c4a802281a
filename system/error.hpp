// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace mprof {

/// What the process tells its caller. The same table is in `mprof --help` and README.
enum class ExitCode : int {
  success = 0,
  regression = 1,    ///< compare found a regression
  usage = 2,         ///< usage, or input that cannot be read
  wrong_output = 3,  ///< a variant's output was wrong
  incomparable = 4,  ///< the runs cannot be compared or combined
  environment = 5,   ///< the machine lacks something that is required, such as room on a disk
  fault = 70,        ///< a fault of mprof itself
  interrupted = 130,
};

/// An error for a person: `what()` says what was tried, what was wrong with it and what to do next.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

}  // namespace mprof
