// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/steps.hpp"
#include "model/trace/trace.hpp"

/// The memory of a GPU that a program held, over time: how much at its peak, who held it, and whether it
/// grows from step to step.
namespace mprof {

/// What was held from a moment on. Times in ns, as the trace has them.
struct MemoryPoint {
  std::int64_t time = 0;
  std::uint64_t bytes = 0;
};

/// Allocations that one call made in one NVTX range, and that are held at a moment.
struct MemoryHolder {
  std::vector<std::string> range{};  ///< from the outermost range inwards; empty: it was made in none
  std::string call{};                ///< "cudaMalloc"; empty: not known
  std::size_t allocations = 0;
  std::uint64_t bytes = 0;
  std::uint64_t largest = 0;  ///< B, of one allocation
  trace::Interval made{};     ///< from the first to the last of them
};

/// More is held after each quarter of the steady steps than before it.
struct MemoryGrowth {
  std::uint64_t before = 0;             ///< B, where the steady steps begin
  std::uint64_t after = 0;              ///< B, where they end
  double a_step = 0;                    ///< B
  std::vector<MemoryHolder> holders{};  ///< by how much more they hold at the end, the most first
};

/// What allocates and frees in the steady steps.
struct MemoryTraffic {
  std::uint64_t allocations = 0;
  std::uint64_t releases = 0;
  std::uint64_t bytes = 0;  ///< that were allocated
};

/// Who may hold more than it uses, so that what is held is what it reserved.
enum class MemoryReserver : std::uint8_t { none, pytorch, xla };

struct MemoryUse {
  std::uint32_t gpu = 0;                  ///< the one that the program held the most of
  std::vector<std::uint64_t> others{};    ///< peaks of other GPUs, by their numbers
  std::optional<std::uint64_t> of_gpu{};  ///< B, all that the GPU has; nullopt where is_of_several
  std::size_t processes = 0;              ///< that allocated memory of it
  bool is_of_several = false;           ///< processes or GPUs stand under this number: the sum may be of both
  std::vector<MemoryPoint> points{};    ///< by time, one for each moment that changed it
  std::uint64_t peak = 0;               ///< B; at least, where there are unseen_calls
  std::int64_t peak_time = 0;           ///< when it was first reached
  std::vector<MemoryHolder> holders{};  ///< of the peak, the most first
  std::uint64_t from_pools = 0;         ///< B of the peak, by calls such as cudaMallocAsync
  std::uint64_t managed = 0;            ///< B of the peak that may lie on the host
  std::uint64_t unseen_calls = 0;       ///< of cuMemCreate, whose memory no record tells of
  MemoryReserver reserver = MemoryReserver::none;
  // Of programs with steps.
  std::optional<std::uint64_t> before_steps{};  ///< B that were held when the first step began
  std::optional<std::uint64_t> steady_peak{};
  std::optional<std::size_t> peak_step{};  ///< on the host; nullopt: it was in none
  std::optional<MemoryTraffic> traffic{};  ///< in the steady steps
  std::optional<MemoryGrowth> growth{};
};

/// Why a trace does not say what a program held.
struct NoMemoryUse {
  std::uint64_t calls = 0;         ///< that allocate, of which the trace has no record
  std::string call{};              ///< the most frequent one
  std::uint64_t unseen_calls = 0;  ///< of cuMemCreate, whose memory no trace tells of
};

/// One of both.
struct MemoryReading {
  std::optional<MemoryUse> use{};
  NoMemoryUse absent{};
};

/// `steps` may be nullptr.
[[nodiscard]] MemoryReading memory_use_of(const trace::Trace& trace, trace::CaseIndex index,
                                          const Steps* steps);

}  // namespace mprof
