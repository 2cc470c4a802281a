// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/steps.hpp"
#include "model/trace/trace.hpp"

/// Why slow steps took longer than the others, as far as the trace shows it.
namespace mprof {

class SharedTime;  // of standing/time_budget.hpp

struct SlowCause {
  enum class What : std::uint8_t {
    // The GPU had nothing to do ...
    recording,           ///< while the profiler wrote its records: what it did is `name`
    compiling,           ///< while the driver compiled kernels
    loading_code,        ///< while CUDA loaded code, in the call `name` where that is known
    collecting_garbage,  ///< in an NVTX range `name` that is called so
    loader,              ///< while the host was in the system's `name`, in a range of a data loader
    system,              ///< while the host was in the system's `name`
    waiting,             ///< while the host waited for the GPU in `name`
    drained,             ///< after the host waited in `name`, as it does not in most steps
    allocating,          ///< while memory was allocated or freed by `name`
    calling,             ///< while the host was in the CUDA call `name`
    host,                ///< while the host ran its own code
    // Or it had more to do.
    larger_grids,   ///< kernels had larger grids, `name` most of all
    more_kernels,   ///< `count` more kernels ran than usual, of `name` most of all
    all_kernels,    ///< all kernels took `factor` times as long
    some_launches,  ///< `count` launches took longer than others of the same kernels, one of `name` the most
    one_kernel,     ///< the kernel `name` took `factor` times as long
    kernels,        ///< kernels ran for longer
    copies,         ///< only copies ran; `name` is their kind as the trace has it, `bytes` how much more
  };
  What what = What::host;
  std::int64_t more = 0;    ///< ns, than in the median step
  std::string name{};       ///< empty: not known
  std::string range{};      ///< the NVTX ranges that hold most of it, "load"; empty: none do
  std::uint64_t count = 0;  ///< of calls: how many more than in the median step
  double factor = 1;
  double bytes = 0;
  std::int64_t pause = 0;  ///< ns, of the host: the longest time without a call
  bool operator==(const SlowCause&) const = default;
};

/// A slow step against the medians of all steady ones. Times in ns.
struct SlowStep {
  std::size_t step = 0;
  std::int64_t pace = 0;
  std::int64_t more = 0;            ///< than the median pace
  std::int64_t more_launches = 0;   ///< their number
  std::vector<SlowCause> causes{};  ///< that explain a quarter of it or more, the most first
};

/// Of Steps::slow(), at most `most`, the slowest first.
[[nodiscard]] std::vector<SlowStep> slow_steps_of(const trace::Trace& trace, trace::CaseIndex index,
                                                  const Steps& steps, const SharedTime& time,
                                                  std::size_t most);

}  // namespace mprof
