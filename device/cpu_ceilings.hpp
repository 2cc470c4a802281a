// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "model/run.hpp"
#include "system/clock.hpp"

namespace mprof {

/// The best of some rounds of the same work.
struct BestRate {
  double rate = 0;  ///< units of work a second
  unsigned rounds = 0;
};

/// Repeats `round`, which returns seconds and does `work` units, until another round as long as the last
/// would not end within `seconds`. It runs at least twice, since the first round also wakes the cores up.
[[nodiscard]] BestRate best_rate(double work, double seconds, const Clock& clock,
                                 const std::function<double()>& round);

/// The highest rate of single-precision multiply-adds (two FLOPs each) that `threads` threads reached in
/// several rounds within about `seconds`: "fp32_flop_rate".
[[nodiscard]] Ceiling measure_fp32_flop_rate(unsigned threads, double seconds);

/// The highest rate of bytes read and written, by a copy and by a triad over arrays of `array_bytes` each
/// (three of them), that `threads` threads reached within about `seconds`: "memory_bandwidth".
[[nodiscard]] Ceiling measure_memory_bandwidth(unsigned threads, std::size_t array_bytes, double seconds);

/// Twice the last-level cache. So the two arrays of the copy are four times as large as the cache, and
/// nothing is left there from one round to the next. The three arrays take at most an eighth of
/// `usable_memory` together, and 1 GiB each.
[[nodiscard]] std::size_t bandwidth_array_bytes(std::size_t last_level_cache, std::uint64_t usable_memory);

/// One chunk of multiply-adds on this thread, in the widest vectors that the CPU has.
struct FmaWork {
  std::size_t vector_bytes = 0;
  float (*run)(std::uint64_t rounds, float start, float factor, float term) = nullptr;
  [[nodiscard]] std::size_t lanes() const;  ///< of all chains together
  [[nodiscard]] double flops(std::uint64_t rounds) const;
  /// What run() returns after enough rounds for factor 0.5 and term 1: each lane has reached the fixed
  /// point 2.
  [[nodiscard]] float expected() const;
};
[[nodiscard]] FmaWork widest_fma_work();

}  // namespace mprof
