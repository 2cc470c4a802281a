// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "model/run.hpp"

namespace mprof::cli {

/// Prints how the run in the directory `candidate` compares with a baseline, which the reader knows as
/// `name`, and returns what `mprof compare` with its defaults would exit with. Throws like compare().
[[nodiscard]] int compare_with_baseline(const Run& baseline, const std::string& name,
                                        const std::string& candidate);

}  // namespace mprof::cli
