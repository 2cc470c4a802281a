// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// The arithmetic of the FP32 peak. Included by one source file for each vector width, since the width that
/// the compiler may use is a property of the file. Keep it free of other headers: an inline function that is
/// emitted here for AVX-512 could be the copy that the linker keeps for all.
namespace mprof {
namespace {

/// Independent chains hide the latency of a multiply-add (4 to 5 cycles, two a cycle: at least 10 chains).
/// The 16 vector registers of AVX2 hold 12 sums, the factor and the term.
constexpr std::size_t fma_chains = 12;

template <std::size_t Bytes>
struct VectorOf {
  using Type [[gnu::vector_size(Bytes)]] = float;
};

/// Does `rounds` of sum = sum * factor + term in each lane of each chain and returns the sum of all lanes.
/// Chain c starts from c * start: chains that start alike are one and the same chain to an optimizer, which
/// then runs it once.
template <std::size_t VectorBytes>
float run_fma_chains(std::uint64_t rounds, float start, float factor, float term) {
  using Vector = typename VectorOf<VectorBytes>::Type;
  const Vector factors = Vector{} + factor;
  const Vector terms = Vector{} + term;
  Vector sums[fma_chains];
  for (std::size_t chain = 0; chain < fma_chains; ++chain) {
    sums[chain] = Vector{} + start * static_cast<float>(chain);
  }
  for (std::uint64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (std::size_t chain = 0; chain < fma_chains; ++chain) sums[chain] = sums[chain] * factors + terms;
  }
  float total = 0;
  for (const Vector& sum : sums) {
    for (std::size_t lane = 0; lane < VectorBytes / sizeof(float); ++lane) total += sum[lane];
  }
  return total;
}

}  // namespace
}  // namespace mprof
