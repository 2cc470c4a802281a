// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "inputs/toml.hpp"

namespace mprof {

/// A TOML text that anybody may have written. `name` is what messages call it. Throws Error(usage)
/// "NAME:LINE: ..." for a text that is not TOML, or that nests too deep.
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& name);

}  // namespace mprof
