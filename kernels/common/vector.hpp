// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

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

/// Stores past the caches, to a multiple of 16 bytes: no line is read only to be overwritten. Other threads
/// may read it once order_stores_past_caches() has been called.
[[gnu::always_inline]] inline void store_vector_past_caches(float* to, Vec value) {
#if defined(__SSE2__)
  __m128 halves[2];
  std::memcpy(halves, &value, sizeof value);
  _mm_stream_ps(to, halves[0]);
  _mm_stream_ps(to + vector_lanes / 2, halves[1]);
#else
  store_vector(to, value);
#endif
}
inline void order_stores_past_caches() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace mprof
