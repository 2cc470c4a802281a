// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "model/run.hpp"

namespace mprof {

/// The parameter `threads` of a CPU variant: "all", or a number up to 64. `shared` is what they share: "the
/// images".
[[nodiscard]] ParameterInfo threads_parameter(std::string_view shared);

/// Its value; "all" is hardware_threads().
[[nodiscard]] std::size_t threads_of(const Parameters& parameters);

}  // namespace mprof
