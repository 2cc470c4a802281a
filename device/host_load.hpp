// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// How busy others keep the CPUs that this process measures on. Parsers take text, so that a test feeds
/// machines that it made up. What the kernel does not tell is absent, never guessed.
namespace mprof {

/// What some CPUs have done since the machine was started, s, as /proc/stat counts it (proc_stat(5)).
struct CpuTimes {
  double busy =
      0;  ///< in user mode and in the kernel; without interrupts, which serve the measured work as well
  double idle = 0;   ///< waiting for I/O included
  double steal = 0;  ///< a hypervisor ran something else
};

/// The sums over the CPUs that are named, all of them without a name; nullopt when the text has none of them.
/// `tick`: s, the unit of the text.
[[nodiscard]] std::optional<CpuTimes> parse_cpu_times(std::string_view stat, std::span<const int> cpus,
                                                      double tick);

/// Seconds in which at least one task waited for a CPU: the total in the line "some" of /proc/pressure/cpu
/// (the kernel's documentation, accounting/psi); nullopt without that line.
[[nodiscard]] std::optional<double> parse_pressure(std::string_view text);

/// What has been counted up to a moment.
struct HostReading {
  double at = 0;   ///< s, by any steady clock
  double own = 0;  ///< s, CPU time of this process, its threads and its children that have ended
  std::optional<CpuTimes> cpus{};    ///< of the CPUs that this process may use
  std::optional<double> pressure{};  ///< s, of the machine
};

/// Of this machine and process; `at` is the caller's.
[[nodiscard]] HostReading read_host(double at);

/// What others did to the host between two readings.
struct HostLoad {
  std::optional<double> others{};  ///< CPUs that other processes kept busy, on average
  std::optional<double> steal{};   ///< part of the CPUs' time that a hypervisor took, 0 to 1
  std::optional<double>
      pressure{};  ///< part of the time in which a task, be it our own, waited for a CPU, 0 to 1
};

[[nodiscard]] HostLoad load_between(const HostReading& before, const HostReading& after);

/// What of the load disturbs host times, as a part of a sentence; empty when the host was quiet. The load
/// disturbs where others kept more than 10 % of the `cpus` CPUs busy that this process may use. It also
/// disturbs where a hypervisor took more than 2 % of them. Tasks that waited for CPUs are no sign of others
/// by themselves: a case with more threads than CPUs makes its own wait.
[[nodiscard]] std::string what_disturbs(const HostLoad& load, unsigned cpus);

/// Shorter than this nothing can be said, s: the kernel counts CPU time in steps of 10 ms.
inline constexpr double shortest_host_load = 0.25;

}  // namespace mprof
