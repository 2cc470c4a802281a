// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// Hardware counters of the CPU by perf_event_open(2).
namespace mprof {

/// A running count at one moment. The kernel shares the counters of the hardware between those who ask, so an
/// event counts only for `running` of the `enabled` seconds (summed over threads).
struct CounterReading {
  double count = 0;
  double enabled = 0;
  double running = 0;
  CounterReading operator-(const CounterReading& other) const {
    return {count - other.count, enabled - other.enabled, running - other.running};
  }
};

class HardwareCounter {
 public:
  virtual ~HardwareCounter() = default;
  [[nodiscard]] virtual CounterReading read() = 0;
};

/// A hardware event that every PMU of the last twenty years knows.
struct HardwareEvent {
  std::string_view metric;  ///< its row of the metric catalogue
  std::uint64_t config;     ///< PERF_COUNT_HW_...
};
[[nodiscard]] std::array<HardwareEvent, 3> hardware_events();

/// What stands between a process and the counters, as far as the kernel shows it.
struct PerfSituation {
  std::optional<int> paranoid;   ///< /proc/sys/kernel/perf_event_paranoid
  bool has_pmu = false;          ///< /sys/bus/event_source/devices lists a CPU's counters
  bool virtual_machine = false;  ///< the CPU has the flag `hypervisor`
};
[[nodiscard]] PerfSituation read_perf_situation();

/// Why the kernel refused a counter, and what to do about it.
struct Refusal {
  std::string reason;
  std::string remedy;
  [[nodiscard]] std::string text() const { return reason + ". " + remedy; }
};
/// For an errno of perf_event_open.
[[nodiscard]] Refusal explain_refusal(int error, const PerfSituation& situation);

/// The event in user mode, over all threads that this process has and (inherited) all that they start;
/// counting from now on.
[[nodiscard]] std::variant<std::unique_ptr<HardwareCounter>, Refusal> open_counter(
    const HardwareEvent& event);

}  // namespace mprof
