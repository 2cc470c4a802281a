#pragma once

#include "cli/options.hpp"

/// `mprof watch mprof.toml`
namespace mprof::cli {

/// Measures the programs of the suite each time that it, or what they are made of, is saved; until it is
/// interrupted.
void watch_suite(const Arguments& arguments);

}  // namespace mprof::cli
