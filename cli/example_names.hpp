// SPDX-License-Identifier: MIT
#pragma once

#include "cli/options.hpp"
#include "kernels/registry.hpp"

namespace mprof::cli {

/// Puts names that every build of this program has into the examples of the verbs: {family}, and {baseline}
/// and {variant}, which is compared with it.
void name_examples(std::vector<Verb>& verbs, const Registry& registry);

}  // namespace mprof::cli
