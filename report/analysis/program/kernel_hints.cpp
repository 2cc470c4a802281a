// SPDX-License-Identifier: MIT
#include "report/analysis/program/kernel_hints.hpp"

#include <algorithm>

namespace mprof {
namespace {

constexpr double few_warps = 50;    // % of what a multiprocessor holds
constexpr double few_blocks = 0.5;  // waves: less than half of the GPU has something to do

/// A kernel whose blocks stay until the end fills the GPU about once, and wants no more of them.
bool has_few_blocks(const KernelResult& kernel) {
  const Value waves = kernel.counters.value("launch__waves_per_multiprocessor");
  return waves && waves->median < few_blocks;
}

std::optional<KernelHint> hint_of_stalls(const KernelResult& kernel) {
  const auto harms = std::ranges::find_if(kernel.stalls, &Stall::harms);
  const Value warps = kernel.counters.value("sm__warps_active.avg.pct_of_peak_sustained_active");
  const bool are_few = warps && warps->median < few_warps;
  if (harms == kernel.stalls.end()) return are_few ? std::optional(KernelHint::more_warps) : std::nullopt;
  if (harms->key == "barrier" || harms->key == "membar") return KernelHint::fewer_barriers;
  if (harms->key == "short_scoreboard" || harms->key == "mio_throttle") return KernelHint::shared_memory;
  if (are_few) return KernelHint::more_warps;
  if (harms->key == "long_scoreboard" || harms->key == "lg_throttle") return KernelHint::more_loads;
  return KernelHint::longer_chains;
}

}  // namespace

std::optional<KernelHint> hint_for(const KernelResult& kernel) {
  if (!kernel.bottleneck) return std::nullopt;
  const Bottleneck& bottleneck = *kernel.bottleneck;
  if (bottleneck.bound == Bound::latency)
    return has_few_blocks(kernel) ? std::optional(KernelHint::more_blocks) : hint_of_stalls(kernel);
  const bool is_of_memory = bottleneck.bound == Bound::memory || bottleneck.memory > bottleneck.compute;
  if (is_of_memory) {
    const bool is_dram = bottleneck.memory_part && bottleneck.memory_part->is_dram();
    return is_dram ? KernelHint::fewer_dram_bytes : KernelHint::fewer_cache_bytes;
  }
  if (bottleneck.compute_part && bottleneck.compute_part->moves_data()) return KernelHint::fewer_cache_bytes;
  return bottleneck.compute_part && bottleneck.compute_part->name == tensor_pipe
             ? KernelHint::less_tensor_work
             : KernelHint::fewer_instructions;
}

}  // namespace mprof
