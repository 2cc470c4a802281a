// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace mprof {

/// A random number that depends on nothing but `counter`, so that threads can draw in any order. It is the
/// function that ends each step of SplitMix64 (G. Steele, D. Lea, C. Flood: Fast Splittable Pseudorandom
/// Number Generators, OOPSLA 2014).
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t counter) {
  std::uint64_t bits = (counter + 1) * 0x9E37'79B9'7F4A'7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58'476D'1CE4'E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D0'49BB'1331'11EB;
  return bits ^ (bits >> 31);
}

}  // namespace mprof
