// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace mprof {

/// FNV-1a, 64 bits: the same everywhere and in each version, which std::hash is not. It names texts, and is
/// no defence. `before`: the hash of the text in front of this one.
[[nodiscard]] constexpr std::uint64_t text_hash(std::string_view text,
                                                std::uint64_t before = 0xcbf29ce484222325) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return before;
}

}  // namespace mprof
