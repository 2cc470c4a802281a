// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cuda/line_tables.hpp"
#include "model/run.hpp"

namespace mprof {

/// The metric that says how often a kernel was sampled.
inline constexpr const char* sample_count = "smsp__pcsamp_sample_count";

/// What was sampled of one kernel.
struct SampledKernel {
  std::map<cuda::SourcePlace, SourceLine> lines{};
  std::uint64_t samples = 0;

  /// Samples at an instruction, by what the warp waited for.
  void add(const cuda::SourcePlace& place, const std::map<std::string, std::uint64_t>& stalls);
};

using SampledKernels = std::map<std::string, SampledKernel>;  ///< by their symbols

/// With the names that kernels have in measurements.
[[nodiscard]] std::vector<std::pair<std::string, const SampledKernel*>> named(const SampledKernels& kernels);

/// Adds the most sampled lines of each kernel of an op, and behind them its others together.
void add_most_sampled(const SampledKernels& kernels, const std::string& op, std::vector<SourceLine>& all);

}  // namespace mprof
