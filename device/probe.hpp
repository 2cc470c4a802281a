// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/cpu_facts.hpp"
#include "device/host_load.hpp"

/// What `mprof doctor` looks at on the machine itself.
namespace mprof {

/// `limited`: mprof works, with something absent or slower.
enum class ProbeState { ok, limited, missing };
[[nodiscard]] std::string_view to_string(ProbeState state);

struct Probe {
  std::string name;
  ProbeState state = ProbeState::ok;
  std::string found;   ///< what there is
  std::string remedy;  ///< what to do; empty when ok
};

/// Adds a probe to probe_machine()'s: of what only some builds link. Call it at start-up.
void add_probe(std::function<Probe()> probe);

/// All probes below, of this machine, and the added ones. Loads the CUDA driver, where there is one, but
/// creates no context; an added probe may.
[[nodiscard]] std::vector<Probe> probe_machine();

/// The probes, as functions of what was found.
[[nodiscard]] Probe probe_instruction_sets(const CpuInfo& cpu);
[[nodiscard]] Probe probe_cores(unsigned usable_cpus);
/// Enough for the problems that the families run unasked: 4 GiB.
[[nodiscard]] Probe probe_memory(std::optional<std::uint64_t> usable_bytes);
[[nodiscard]] Probe probe_perf_events();
/// Who else uses the CPUs now.
[[nodiscard]] Probe probe_host_load(const HostLoad& load, unsigned usable_cpus);

/// What loading the driver and counting its devices gave.
struct DriverFindings {
  std::string load_error;      ///< of dlopen; empty when libcuda.so.1 was loaded
  int init_result = 0;         ///< CUresult of cuInit
  int devices = 0;             ///< of cuDeviceGetCount
  std::optional<int> version;  ///< of cuDriverGetVersion: 12040 is CUDA 12.4
};
[[nodiscard]] Probe probe_nvidia_driver(const DriverFindings& driver);
/// `driver_parameters`: the text of /proc/driver/nvidia/params, or nullopt; `administrator`: has
/// CAP_SYS_ADMIN.
[[nodiscard]] Probe probe_counter_permission(const std::optional<std::string>& driver_parameters,
                                             bool administrator);
/// `path`: PATH's value.
[[nodiscard]] Probe probe_browser(const std::string& path);

}  // namespace mprof
