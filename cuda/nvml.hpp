// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cuda/gpu_processes.hpp"
#include "model/run.hpp"

namespace mprof::cuda {

/// What a GPU was doing at one moment. A value that it does not tell is absent.
struct GpuState {
  std::optional<double> sm_clock;                    ///< Hz
  std::optional<double> memory_clock;                ///< Hz
  std::optional<double> temperature;                 ///< degrees Celsius, of the GPU
  std::optional<double> power;                       ///< W
  std::optional<std::uint64_t> clock_event_reasons;  ///< NVML's bits: why the clocks are what they are
};

/// The reasons among `bits` that make a GPU slower than it could be (power cap, thermal or hardware
/// slowdown), in words; may be empty. Idling and clocks that a user has set are no throttling.
[[nodiscard]] std::vector<std::string> throttle_reasons(std::uint64_t bits);

/// NVIDIA's management library, opened at run time. It needs no CUDA context.
class Nvml {
 public:
  static const Nvml& instance();

  /// Why it cannot be used, or nullopt.
  [[nodiscard]] const std::optional<std::string>& unavailable() const { return unavailable_; }
  /// The state of the GPU with this UUID ("GPU-..."): nothing in it when NVML or the GPU cannot be asked.
  [[nodiscard]] GpuState state(const std::string& uuid) const;
  /// The processes that have a context on the GPU now, compute and graphics, each with its share of the
  /// multiprocessors' time since `since`, microseconds of the system's clock. A share is absent where the
  /// driver does not tell it (MIG, no permission). nullopt when the GPU's processes cannot be asked for.
  [[nodiscard]] std::optional<std::vector<GpuProcess>> processes(const std::string& uuid,
                                                                 std::uint64_t since) const;
  /// Clocks, modes, limits and the driver, each a fact or absent with NVML's reason.
  [[nodiscard]] std::map<std::string, Fact> facts(const std::string& uuid) const;

 private:
  Nvml();
  struct Functions;

  const Functions* functions_ = nullptr;
  std::optional<std::string> unavailable_;
};

}  // namespace mprof::cuda
