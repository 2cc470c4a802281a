#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct CUctx_st;
struct CUpti_RangeProfiler_Object;

/// The side of CUPTI's profiler that counts on the GPU. Everything here throws Error(environment) when CUPTI
/// refuses.
namespace mprof::cuda {

/// The CUDA context of the calling thread; makes the primary one when there is none yet.
[[nodiscard]] CUctx_st* current_context();

/// Why the first GPU in its present mode (a virtual one, confidential computing, ...) cannot be profiled;
/// nullopt when it can. Says nothing of permissions: CUPTI tells these when counting starts.
[[nodiscard]] std::optional<std::string> profiling_unsupported();

/// Which counters may be read in the context, as ProfilerHost takes it; empty when CUPTI does not say.
[[nodiscard]] std::vector<std::uint8_t> counter_availability(CUctx_st* context);

/// Counts one kernel, whose launches the caller repeats until all passes of the counters are through ("auto
/// range" and "user replay"). Each launch is run once, as it is: no memory is saved and restored between two
/// of them, which would leave its traces in the caches, and no kernel is run again that waits for another.
class RangeProfiler {
 public:
  /// For kernels of `context`. `config_image` and `metrics` of one ProfilerHost.
  RangeProfiler(CUctx_st* context, std::vector<std::uint8_t> config_image,
                std::span<const std::string> metrics);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// Forgets what was counted: the next pass is the first one of another kernel.
  void begin_kernel();
  /// A pass is what is launched between start() and stop(), once.
  void start();
  void stop();
  /// Whether all passes are through.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  /// Makes counter_data() of what was counted, once complete; waits for the context.
  void decode();
  /// Whether counter_data() holds a kernel.
  [[nodiscard]] bool has_counted() const;
  [[nodiscard]] std::span<const std::uint8_t> counter_data() const { return data_; }

 private:
  void enable(CUctx_st* context);
  void disable();
  void make_room(std::span<const std::string> metrics);

  std::vector<std::uint8_t> config_;  // both must stay where they are until the object is gone
  std::vector<std::uint8_t> data_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool started_ = false;
  bool is_complete_ = false;
};

}  // namespace mprof::cuda
