// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runner/suite/printed_output.hpp"

namespace mprof {

/// Of each number by its metric, what the program printed, in its order; SI base units.
using PrintedValues = std::map<std::string, std::vector<double>>;

/// What a verification found.
struct OutputVerdict {
  std::string by{};             ///< how: "by `./compare 100`"
  std::string finding{};        ///< what is wrong, as a sentence without its end; empty: nothing
  bool is_interrupted = false;  ///< before it had found anything
};

/// Holds the output of a program that ended well against what the suite says that it must be. `printed` is
/// the file of all that the program wrote to its standard streams.
[[nodiscard]] OutputVerdict verify_output(const SuiteCase& of, const std::filesystem::path& printed,
                                          const PrintedValues& values);

}  // namespace mprof
