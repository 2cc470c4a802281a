// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "kernels/plugin.hpp"

namespace mprof::elementwise {

/// Lets declaration_of() find a map that a plug-in computes. Its sizes are size and iterations, its input the
/// matrix.
void adopt_map(const std::string& id, const std::shared_ptr<const Plugin>& plugin);

}  // namespace mprof::elementwise
