// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct CUctx_st;
struct CUpti_RangeProfiler_Object;

/// The side of CUPTI's profiler that counts on the GPU. Everything here throws Error(environment) when CUPTI
/// refuses.
namespace mprof::cuda {

/// The CUDA context of the calling thread; makes the primary one if the thread has no context yet.
[[nodiscard]] CUctx_st* current_context();

/// Why the first GPU in its present mode (a virtual one, confidential computing, ...) cannot be profiled;
/// nullopt when it can. Says nothing of permissions: CUPTI tells these when counting starts.
[[nodiscard]] std::optional<std::string> profiling_unsupported();

/// Which counters may be read in the context, as ProfilerHost takes it; empty when CUPTI does not say.
[[nodiscard]] std::vector<std::uint8_t> counter_availability(CUctx_st* context);

/// Counts some launches in a row, each for itself. The caller repeats them until all passes of the counters
/// are through ("auto range" and "user replay"). Each launch runs once, as it is. No memory is saved and
/// restored between two launches, which would leave traces in the caches. No kernel that waits for another is
/// run again.
///
/// To start and stop a pass takes 13.5 ms, and each launch in it 0.9 ms (H200, the 20 passes of the default
/// metrics).
class RangeProfiler {
 public:
  /// For kernels of `context`. `config_image` and `metrics` come from one ProfilerHost. A pass has at most
  /// `most_launches`, and others are not counted. CUPTI keeps 1.8 MB of each, and clears them in 0.5 ms (the
  /// default metrics, H200).
  RangeProfiler(CUctx_st* context, std::vector<std::uint8_t> config_image,
                std::span<const std::string> metrics, std::size_t most_launches);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// Forgets what was counted: the next pass is the first one of other launches. Where passes were begun and
  /// not all ended, these would get no numbers: leave_passes() ends them.
  void begin();
  /// A pass is what is launched between start() and stop(), once.
  void start();
  void stop();
  /// Whether all passes are through.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  /// Runs `launch` in passes until all are through, and leaves what was counted alone.
  void leave_passes(const std::function<void()>& launch);
  /// Makes counter_data() of what was counted, once complete; waits for the context.
  void decode();
  /// How many launches counter_data() holds, in their order.
  [[nodiscard]] std::size_t counted_launches() const;
  [[nodiscard]] std::span<const std::uint8_t> counter_data() const { return data_; }

 private:
  void enable(CUctx_st* context);
  void disable();
  void make_room(std::span<const std::string> metrics);

  std::size_t most_launches_;
  std::vector<std::uint8_t> config_;  // both must stay where they are until the object is gone
  std::vector<std::uint8_t> data_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool started_ = false;
  bool is_complete_ = false;
};

}  // namespace mprof::cuda
