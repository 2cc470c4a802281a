// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.hpp"

/// Where the inputs of families are.
namespace mprof {

/// The inputs of all families under one name, in the order in which the names come.
using InputsByName = std::vector<std::pair<std::string, std::vector<InputInfo>>>;
[[nodiscard]] InputsByName inputs_of(const Registry& registry);

/// MPROF_<NAME>.
[[nodiscard]] std::string input_variable(const std::string& input);

/// Where every input is. The first of these counts: `named`, the path in `known` if it exists, what
/// MPROF_<NAME> names, and the first of its places that exists. Otherwise it is the first place, for a
/// message to name.
[[nodiscard]] InputPaths locate_inputs(InputPaths named, const Registry& registry,
                                       const InputPaths& known = {});

}  // namespace mprof
