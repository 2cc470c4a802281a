// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace mprof {

/// A word as a shell takes it for one, in quotes only where it needs them.
[[nodiscard]] std::string shell_quoted(std::string_view word);

}  // namespace mprof
