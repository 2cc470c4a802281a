// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cli/options.hpp"
#include "cli/sources.hpp"
#include "runner/session/turns.hpp"

namespace mprof::cli {

/// A, B and the control of the command line of `mprof ab`, each with a new record. `seed`: of the inputs.
/// Throws Error for what is wrong with it.
[[nodiscard]] SessionArms make_arms(const Arguments& arguments, std::uint64_t seed, Sources& sources);

}  // namespace mprof::cli
