// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace mprof::cuda {

/// How often a kernel was launched, by its mangled name.
using LaunchCounts = std::map<std::string, std::uint64_t>;

/// Forgets what was counted before.
///
/// Launches are counted where this program's own code calls CUDA's runtime: the linker directs these calls
/// here. So no profiler is needed, and the counts can be compared with what a profiler sees. Libraries that
/// bring a runtime of their own (cuBLAS, cuDNN) are not seen, nor are the kernels of a graph.
void start_counting_launches();

/// What was launched since then. Counts no longer. Throws Error where the driver does not name a kernel.
[[nodiscard]] LaunchCounts stop_counting_launches();

/// Gives the mangled name of a kernel of its runtime, or nullptr.
using KernelNamer = const char* (*)(const void* kernel);

/// Counts a launch that goes through another copy of CUDA's runtime, such as a plug-in's, which alone can
/// name the kernel. One without a name is not among the counts.
void count_launch_elsewhere(const void* kernel, KernelNamer namer) noexcept;

}  // namespace mprof::cuda
