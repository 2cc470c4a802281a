// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// Copies in host memory for what is written now and read much later.
namespace mprof {

/// Copies `count` floats past the caches where the CPU can (x86-64): the lines written to are not read first,
/// and push nothing out.
void copy_past_caches(const float* from, std::size_t count, float* to);

/// Whether this build's host code converts half precision (F16C, which -march=x86-64-v3 has).
[[nodiscard]] bool converts_halves();

/// IEEE half precision, to nearest even. Only where converts_halves().
void halves_from_floats(const float* from, std::size_t count, std::uint16_t* to);

/// The way back, past the caches. Only where converts_halves().
void floats_from_halves_past_caches(const std::uint16_t* from, std::size_t count, float* to);

}  // namespace mprof
