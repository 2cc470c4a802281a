// SPDX-License-Identifier: MIT
#pragma once

#include "cli/options.hpp"

/// `mprof run --suite FILE`
namespace mprof::cli {

/// Runs the programs of the suite. Returns mprof's exit code.
[[nodiscard]] int run_suite(const Arguments& arguments);

}  // namespace mprof::cli
