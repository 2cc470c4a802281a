// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runner/suite/printed_output.hpp"

namespace mprof {

/// Of each number by its metric, what the program printed, in its order.
using PrintedNumbers = std::map<std::string, std::vector<PrintedNumber>>;

/// The last one whose whole pattern fits; nullptr where none does.
[[nodiscard]] const PrintedNumber* last_that_fits(const std::vector<PrintedNumber>& numbers);

/// What a verification found.
struct OutputVerdict {
  std::string by{};             ///< how: "by `./compare 100`"
  std::string finding{};        ///< what is wrong, as a sentence without its end; empty: nothing
  bool is_interrupted = false;  ///< before it had found anything
};

/// Holds the output of a program that ended well against what the suite says that it must be. `printed` is
/// the file of all that the program wrote to its standard streams.
[[nodiscard]] OutputVerdict verify_output(const SuiteCase& of, const std::filesystem::path& printed,
                                          const PrintedNumbers& numbers);

}  // namespace mprof
