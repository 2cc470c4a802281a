// SPDX-License-Identifier: MIT
#include "kernels/common/host_copy.hpp"

#include <algorithm>
#include <array>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace mprof {
namespace {

constexpr std::size_t line = 64;  ///< bytes of a cache line
constexpr std::size_t line_floats = line / sizeof(float);

/// Floats before the first line of `to`, at most `count`.
[[maybe_unused]] std::size_t before_line(const float* to, std::size_t count) {
  const std::size_t over = reinterpret_cast<std::uintptr_t>(to) % line;
  return over == 0 ? 0 : std::min(count, (line - over) / sizeof(float));
}

}  // namespace

void copy_past_caches(const float* from, std::size_t count, float* to) {
#if defined(__SSE2__)
  std::size_t i = before_line(to, count);
  std::copy_n(from, i, to);
  for (; i + line_floats <= count; i += line_floats) {
    for (std::size_t j = 0; j < line_floats; j += 4) _mm_stream_ps(to + i + j, _mm_loadu_ps(from + i + j));
  }
  std::copy(from + i, from + count, to + i);
  _mm_sfence();  // other threads may read it once they hear that it is there
#else
  std::copy_n(from, count, to);
#endif
}

#if defined(__F16C__)

bool converts_halves() {
  return true;
}

void halves_from_floats(const float* from, std::size_t count, std::uint16_t* to) {
  constexpr std::size_t step = 8;
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  }
  std::array<float, step> rest{};
  std::array<std::uint16_t, step> halves{};
  std::copy(from + i, from + count, rest.begin());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(halves.data()),
                   _mm256_cvtps_ph(_mm256_loadu_ps(rest.data()), _MM_FROUND_TO_NEAREST_INT));
  std::copy_n(halves.begin(), count - i, to + i);
}

void floats_from_halves_past_caches(const std::uint16_t* from, std::size_t count, float* to) {
  std::size_t i = 0;
  for (const std::size_t head = before_line(to, count); i < head; ++i) to[i] = _cvtsh_ss(from[i]);
  for (; i + line_floats <= count; i += line_floats) {
    for (std::size_t j = 0; j < line_floats; j += 8) {
      _mm256_stream_ps(to + i + j,
                       _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + j))));
    }
  }
  for (; i < count; ++i) to[i] = _cvtsh_ss(from[i]);
  _mm_sfence();
}

#else

bool converts_halves() {
  return false;
}

void halves_from_floats(const float* /*from*/, std::size_t /*count*/, std::uint16_t* /*to*/) {}

void floats_from_halves_past_caches(const std::uint16_t* /*from*/, std::size_t /*count*/, float* /*to*/) {}

#endif

}  // namespace mprof
