// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace mprof::format {

/// A text with plain blanks and hyphens in the place of no-break and figure spaces and minus signs, which no
/// keyboard has: what searches it finds them.
[[nodiscard]] std::string plain_text(std::string_view text);

}  // namespace mprof::format
