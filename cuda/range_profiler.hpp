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

/// Counts every kernel that is launched between start() and stop() on its own (a range each), running it as
/// often as the configuration needs and restoring the memory that it wrote in between ("auto range" and
/// "kernel replay", the only ones that count more than a pass holds without running the variant again).
class RangeProfiler {
 public:
  /// For kernels of `context`. `config_image` and `metrics` of one ProfilerHost; `max_ranges`: launches
  /// beyond these are left out, and counted by decode().
  RangeProfiler(CUctx_st* context, std::vector<std::uint8_t> config_image,
                std::span<const std::string> metrics, std::size_t max_ranges);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// Forgets what was counted and counts anew.
  void start();
  void stop();
  /// Makes counter_data() of what was counted, once stopped; waits for the context. Returns the number of
  /// launches that there was no room for.
  std::size_t decode();
  /// How many kernels are in counter_data(), in the order of their launches.
  [[nodiscard]] std::size_t ranges() const;
  [[nodiscard]] std::span<const std::uint8_t> counter_data() const { return data_; }

 private:
  void enable(CUctx_st* context);
  void disable();
  void make_room(std::span<const std::string> metrics);
  void configure();

  std::vector<std::uint8_t> config_;  // both must stay where they are until the object is gone
  std::vector<std::uint8_t> data_;
  std::size_t max_ranges_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool started_ = false;
};

}  // namespace mprof::cuda
