// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mprof {

/// Up to three of `known` that are spelled most like `text` (edit distance), nearest first; empty when none
/// is near.
[[nodiscard]] std::vector<std::string> nearest(std::string_view text, const std::vector<std::string>& known);

/// " Did you mean a, b or c?", or "" when nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view text, const std::vector<std::string>& known);

}  // namespace mprof
