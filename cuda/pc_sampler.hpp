// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda/line_tables.hpp"

struct CUctx_st;

/// The side of CUPTI that samples program counters: at regular intervals each multiprocessor tells at which
/// instruction one of its warps stands, and what it waits for. Everything here throws Error(environment) when
/// CUPTI refuses.
namespace mprof::cuda {

/// What was sampled at one instruction.
struct SampledInstruction {
  std::string symbol{};  ///< of the kernel, mangled
  SourcePlace place{};
  std::map<std::string, std::uint64_t> samples{};  ///< by what the warp waited for: "long_scoreboard"
};

/// How often to sample what takes so many s, so that all multiprocessors together take about so many samples:
/// each at every 2^n cycles, and this is n.
[[nodiscard]] std::uint32_t sampling_period(double seconds, double samples);

/// One at a time in a process, with no other user of CUPTI at the same time or earlier. It knows kernels that
/// have run before it is made, and the kernels of modules that are loaded while it lives.
class PcSampler {
 public:
  explicit PcSampler(CUctx_st* context);
  ~PcSampler();
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;

  /// Samples what is launched from now on and takes about so long, s: short work is sampled more often.
  void start(double expected_seconds);
  /// Call it when the work is over. What was sampled since start(), instruction by instruction.
  [[nodiscard]] std::vector<SampledInstruction> stop();

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace mprof::cuda
