// SPDX-License-Identifier: MIT
#pragma once

#include "inputs/suite_file.hpp"
#include "kernels/registry.hpp"

namespace mprof {

/// Registers a suite as a family and its programs as the variants. `registry` holds no other family: what is
/// selected in it is selected of the suite. Throws Error(usage) where mprof has a family of the suite's name.
void register_suite(const Suite& suite, Registry& registry);

}  // namespace mprof
