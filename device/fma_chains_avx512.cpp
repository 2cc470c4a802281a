// SPDX-License-Identifier: MIT
// Compiled for AVX-512F (CMakeLists.txt), whatever the rest is compiled for; called only where the CPU has
// it.
#include "device/fma_chains_avx512.hpp"

#include "device/fma_chains.hpp"

namespace mprof {

float run_fma_chains_avx512(std::uint64_t rounds, float start, float factor, float term) {
  return run_fma_chains<64>(rounds, start, factor, term);
}

}  // namespace mprof
