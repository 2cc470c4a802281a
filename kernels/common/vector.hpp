#pragma once

#include <cstddef>
#include <cstring>

namespace mprof {

/// Eight floats: one AVX register. GCC and Clang compile arithmetic on it for whatever -march says, so
/// nothing here is an intrinsic. Never passed by value between translation units: its ABI depends on -march.
using Vec = float __attribute__((vector_size(32)));
inline constexpr std::size_t vector_lanes = sizeof(Vec) / sizeof(float);

/// Loads and stores at any address, aligned or not.
[[gnu::always_inline]] inline Vec load_vector(const float* from) {
  Vec result;
  std::memcpy(&result, from, sizeof result);
  return result;
}
[[gnu::always_inline]] inline void store_vector(float* to, Vec value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace mprof
