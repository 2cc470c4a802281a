// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

/// Nsight Compute, which is not ours.
namespace mprof::test {

[[nodiscard]] bool has_ncu();

/// A launch that it counted.
struct NcuLaunch {
  std::string kernel;                     ///< as it writes it: with template arguments and parameters
  std::string grid;                       ///< as written: "(500, 1, 1)"
  std::string block;                      ///< as written
  std::map<std::string, double> metrics;  ///< in their base units: B, ns, percent
};

/// Runs `command` under it: the launches that `options` choose, all of the program's processes included.
[[nodiscard]] std::vector<NcuLaunch> counted_by_ncu(std::span<const char* const> metrics,
                                                    const std::string& options, const std::string& command);

/// Points of percent by which mprof and ncu may differ.
inline constexpr double allowed_points = 3;
/// By which part bytes may differ, and the times of kernels that are long enough for it to show.
inline constexpr double allowed_bytes = 0.03, allowed_time = 0.02, long_enough = 50e-6;
inline constexpr std::array throughputs{
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
};
inline constexpr std::array durations{"gpu__time_duration.sum"};
/// Of a pass of their own: what restores memory between two passes leaves its traces.
inline constexpr std::array traffic{"dram__bytes_read.sum", "dram__bytes_write.sum"};

/// What ncu itself writes to DRAM while a kernel runs that drives everything out of the L2. It is the median
/// of several launches of such a kernel that only reads, and writes nothing. `out`: where a run of mprof may
/// write.
[[nodiscard]] double bytes_written_by_ncu(const std::string& run_options, const std::filesystem::path& out);

}  // namespace mprof::test
