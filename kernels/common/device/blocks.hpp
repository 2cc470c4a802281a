// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace mprof {

/// Blocks of `size` that cover `count`.
[[nodiscard]] constexpr std::size_t blocks_for(std::size_t count, std::size_t size) {
  return (count + size - 1) / size;
}

}  // namespace mprof
