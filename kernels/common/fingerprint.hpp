// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/random.hpp"

namespace mprof {

/// What the value at `index` adds to a fingerprint: 32 bits of the index, then 32 bits of the value, mixed.
[[nodiscard]] constexpr std::uint64_t fingerprint_term(std::size_t index, float value) {
  constexpr unsigned bits_of_a_value = 32;
  return random_bits(std::uint64_t{index} << bits_of_a_value ^ std::bit_cast<std::uint32_t>(value));
}

/// The sum of the terms and of how many there are, modulo 2^64, so that any order of adding gives the same.
/// A number that another one would be if any of `values` were another one, or at another place: to notice
/// what was overwritten, not to withstand who computes collisions. As fast as memory, on all threads.
[[nodiscard]] std::uint64_t fingerprint(std::span<const float> values);

}  // namespace mprof
