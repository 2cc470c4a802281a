// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace mprof {

/// Whether `text` is `pattern`, or matches it as a shell's wildcard. A text that holds brackets matches
/// itself.
[[nodiscard]] bool matches(const std::string& pattern, const std::string& text);

}  // namespace mprof
