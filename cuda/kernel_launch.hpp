// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

struct CUfunc_st;
struct CUpti_Subscriber_st;

namespace mprof::cuda {

/// Threads in a block, or blocks in a grid.
struct Extent {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// A launch of a kernel, as the driver receives it.
struct KernelLaunch {
  std::string symbol{};  ///< mangled
  CUfunc_st* function = nullptr;
  Extent grid{};
  Extent block{};
  unsigned dynamic_shared_memory = 0;  ///< B
};

/// Called for each launch right before and right after the call, on the thread that launches. Neither
/// function may throw.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual void launching(const KernelLaunch& launch) = 0;
  virtual void launched() = 0;
};

/// Tells of every kernel that any thread of the process launches, by CUPTI's callbacks, as long as it lives.
/// Launches of different threads wait for one another. Kernels in CUDA graphs are not told of.
class LaunchCallbacks {
 public:
  /// Throws Error(environment) when another tool is attached to this process already.
  LaunchCallbacks();
  ~LaunchCallbacks();
  LaunchCallbacks(const LaunchCallbacks&) = delete;
  LaunchCallbacks& operator=(const LaunchCallbacks&) = delete;

  /// Whom to tell from now on; nullptr: nobody. Waits for the launch that another one is being told of.
  void tell(LaunchObserver* observer);
  /// What CUPTI calls; `call` is a CUpti_CallbackData.
  void on_call(std::uint32_t function, const void* call);

 private:
  LaunchObserver* observer_ = nullptr;
  std::mutex one_at_a_time_;         // held from before a launch until after it
  std::uint32_t correlation_ = 0;    // of the launch that holds it
  CUpti_Subscriber_st* subscriber_;  // the last: what its callbacks use is there before it
};

/// What the compiler and the program's settings say of a kernel.
struct KernelAttributes {
  int registers = 0;                  ///< per thread
  int static_shared_memory = 0;       ///< B per block
  int max_dynamic_shared_memory = 0;  ///< B per block
  int max_threads_per_block = 0;      ///< with these registers
  int shared_memory_carveout = -1;    ///< % of the L1 cache's memory; -1: the driver's choice
};

/// Throws Error when the driver does not say.
[[nodiscard]] KernelAttributes attributes_of(const KernelLaunch& launch);

}  // namespace mprof::cuda
