// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace mprof {

/// run_fma_chains() in 64-byte vectors. Only for a CPU with AVX-512F.
float run_fma_chains_avx512(std::uint64_t rounds, float start, float factor, float term);

}  // namespace mprof
