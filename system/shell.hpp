// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mprof {

/// A word as a shell takes it for one, in quotes only where it needs them.
[[nodiscard]] std::string shell_quoted(std::string_view word);

/// The words of a command as a shell finds them: quotes, variables, globs and ~, but no other command in it.
/// Throws Error(usage) for what only a shell can do, such as | and >, and for a command without words.
[[nodiscard]] std::vector<std::string> shell_words(const std::string& command);

}  // namespace mprof
