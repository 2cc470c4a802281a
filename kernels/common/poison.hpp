// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace mprof {

/// Whether `value` is neither NaN nor infinite. By its bits: -ffast-math lets a compiler drop std::isfinite.
[[nodiscard]] constexpr bool is_finite(float value) {
  constexpr std::uint32_t exponent = 0x7F80'0000;
  return (std::bit_cast<std::uint32_t>(value) & exponent) != exponent;
}
[[nodiscard]] constexpr bool is_finite(double value) {
  constexpr std::uint64_t exponent = 0x7FF0'0000'0000'0000;
  return (std::bit_cast<std::uint64_t>(value) & exponent) != exponent;
}

/// A quiet NaN that no arithmetic gives: x86 and CUDA make 0x7FC00000, 0xFFC00000 or 0x7FFFFFFF.
inline constexpr std::uint32_t poison_pattern = 0x7FC0'DEAD;

/// Fills memory with a pattern, on all threads.
void fill_bits(std::span<float> memory, std::uint32_t pattern);

/// Fills an op's output with poison, so that an element that a launch leaves out shows.
void poison(std::span<float> output);

}  // namespace mprof
