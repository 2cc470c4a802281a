// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"

/// What the kernel tells of the CPU, the memory and the operating system. Parsers take text and readers take
/// the root of the file system, so that a test feeds machines that it made up. What is not told is absent,
/// never guessed.
namespace mprof {

/// What /proc/cpuinfo says. Fields that it leaves out are empty or 0.
struct CpuInfo {
  std::string model;               ///< "AMD EPYC 7763 64-Core Processor"
  unsigned logical_cpus = 0;       ///< processors listed
  unsigned cores = 0;              ///< distinct (physical id, core id) pairs
  std::vector<std::string> flags;  ///< of the first processor: "avx2", "fma", ...
  [[nodiscard]] bool has(std::string_view flag) const;
};
[[nodiscard]] CpuInfo parse_cpuinfo(std::string_view text);

/// A CPU's model without trademarks, core count and clock: "AMD EPYC 7763", "Intel Xeon Platinum 8481C".
[[nodiscard]] std::string short_cpu_name(std::string_view model);

/// PRETTY_NAME of an os-release file, unquoted; nullopt when it has none.
[[nodiscard]] std::optional<std::string> parse_os_release(std::string_view text);

/// A field of /proc/meminfo or /proc/self/status, which give kB, in bytes; nullopt when it is missing.
[[nodiscard]] std::optional<std::uint64_t> parse_kilobytes(std::string_view text, std::string_view field);

/// One kind of data or unified cache, as /sys/devices/system/cpu has it.
struct Cache {
  unsigned level = 0;
  std::size_t bytes = 0;      ///< of one instance
  std::size_t instances = 0;  ///< in the whole machine
};
/// By level, the last-level cache at the end; empty where the kernel does not list them.
[[nodiscard]] std::vector<Cache> read_caches(const std::filesystem::path& root);

/// How large the caches are that a core sees (each level once), and the caches of the machine's last level
/// together. Where the kernel does not list them, 64 MiB stands for both: no smaller than what one core of
/// today's servers sees.
struct CacheSizes {
  std::size_t seen_by_a_core = std::size_t{64} << 20;
  std::size_t last_level_total = std::size_t{64} << 20;
};
[[nodiscard]] CacheSizes cache_sizes(const std::vector<Cache>& caches);

/// Bytes that this process may use: the machine's memory or, when lower, the limit of its control group.
[[nodiscard]] std::optional<std::uint64_t> usable_memory(const std::filesystem::path& root);

/// Groups "cpu", "os" and "memory".
[[nodiscard]] Environment machine_facts(const std::filesystem::path& root);

/// The whole file, or nullopt. For /proc and /sys, whose files have no size in advance.
[[nodiscard]] std::optional<std::string> read_text(const std::filesystem::path& path);

}  // namespace mprof
