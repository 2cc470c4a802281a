// SPDX-License-Identifier: MIT
#include "device/probe.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include <dlfcn.h>
#include <fmt/format.h>

#include "device/perf_event.hpp"
#include "system/clock.hpp"
#include "system/cpus.hpp"
#include "system/programs.hpp"

namespace mprof {
namespace {

/// In the kernel's spelling, what the compiler was allowed to use.
std::vector<std::string_view> required_instruction_sets() {
  std::vector<std::string_view> required;
#if defined(__AVX2__)
  required.emplace_back("avx2");
#endif
#if defined(__FMA__)
  required.emplace_back("fma");
#endif
#if defined(__AVX512F__)
  required.emplace_back("avx512f");
#endif
  return required;
}

std::optional<std::string> missing_instruction_sets(const CpuInfo& cpu) {
  auto missing = required_instruction_sets();
  std::erase_if(missing, [&](std::string_view extension) { return cpu.has(extension); });
  return missing.empty() ? std::nullopt : std::optional(fmt::format("{}", fmt::join(missing, ", ")));
}

/// The few entry points of the driver that a probe needs, by name, since mprof also runs where there is no
/// driver.
DriverFindings load_driver() {
  DriverFindings findings;
  // Never closed: the driver does not unload cleanly.
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const error = dlerror();
    findings.load_error = error != nullptr ? error : "unknown error";
    return findings;
  }
  using Init = int (*)(unsigned);
  using GetInt = int (*)(int*);
  const auto init = reinterpret_cast<Init>(dlsym(library, "cuInit"));
  const auto count = reinterpret_cast<GetInt>(dlsym(library, "cuDeviceGetCount"));
  const auto version = reinterpret_cast<GetInt>(dlsym(library, "cuDriverGetVersion"));
  if (init == nullptr || count == nullptr || version == nullptr) {
    findings.load_error = "libcuda.so.1 has no cuInit, cuDeviceGetCount or cuDriverGetVersion";
    return findings;
  }
  if (int number = 0; version(&number) == 0) findings.version = number;
  findings.init_result = init(0);
  if (findings.init_result == 0) findings.init_result = count(&findings.devices);
  return findings;
}

/// Of the moments in which it is asked.
HostLoad load_now() {
  const HostReading before = read_host(steady_clock().now());
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * shortest_host_load));
  return load_between(before, read_host(steady_clock().now()));
}

/// What the driver asks for; a container's root user may lack it.
bool is_administrator() {
  constexpr unsigned cap_sys_admin = 21;
  const std::string status = read_text("/proc/self/status").value_or("");
  const auto at = status.find("CapEff:");
  if (at == std::string::npos) return false;
  return (std::strtoull(status.c_str() + at + std::string_view("CapEff:").size(), nullptr, 16) >>
              cap_sys_admin &
          1) != 0;
}

}  // namespace

Probe probe_instruction_sets(const CpuInfo& cpu) {
  Probe probe{"CPU instructions", ProbeState::ok, "", ""};
  if (cpu.flags.empty()) {
    probe.state = ProbeState::limited;
    probe.found = "/proc/cpuinfo lists none, so they could not be compared with what this build needs";
    probe.remedy = "If mprof ends with an illegal instruction, build it with -DMPROF_CPU_ARCH=native.";
  } else if (const auto missing = missing_instruction_sets(cpu)) {
    probe.state = ProbeState::missing;
    probe.found = fmt::format("{} lacks {}", cpu.model, *missing);
    probe.remedy = "Build mprof for this CPU: -DMPROF_CPU_ARCH=native, or empty for any.";
  } else {
    probe.found = cpu.model;
    const auto required = required_instruction_sets();
    if (!required.empty()) probe.found += fmt::format(": {}", fmt::join(required, ", "));
  }
  return probe;
}

Probe probe_cores(unsigned usable_cpus) {
  if (usable_cpus > 1) return {"CPU cores", ProbeState::ok, fmt::format("{} usable", usable_cpus), ""};
  return {"CPU cores", ProbeState::limited, "1 usable: variants with threads show no gain",
          "Allow this process more CPUs (taskset, the container's CPU set)."};
}

Probe probe_memory(std::optional<std::uint64_t> usable_bytes) {
  constexpr double gibibyte = 1024.0 * 1024 * 1024;
  constexpr double needed = 4 * gibibyte;
  Probe probe{"memory", ProbeState::ok, "", ""};
  if (!usable_bytes) {
    return {"memory", ProbeState::limited, "the kernel does not say how much there is",
            "The families' largest problems need 4 GiB; run smaller ones when a worker is ended."};
  }
  const auto usable = static_cast<double>(*usable_bytes);
  probe.found = fmt::format("{:.1f} GiB usable", usable / gibibyte);
  if (usable < needed) {
    probe.state = ProbeState::limited;
    probe.remedy = "The families' largest problems need 4 GiB: run smaller ones, or find more memory.";
  }
  return probe;
}

Probe probe_perf_events() {
  const auto opened = open_counter(hardware_events().front());
  if (const auto* refusal = std::get_if<Refusal>(&opened)) {
    return {"CPU hardware counters", ProbeState::limited, refusal->reason, refusal->remedy};
  }
  return {"CPU hardware counters", ProbeState::ok, "perf_event_open counts in user mode", ""};
}

Probe probe_host_load(const HostLoad& load, unsigned usable_cpus) {
  Probe probe{"CPU load of others", ProbeState::ok, "", ""};
  std::vector<std::string> known;
  if (load.others)
    known.push_back(fmt::format("{:.1f} of the {} usable CPUs busy", *load.others, usable_cpus));
  if (load.steal) known.push_back(fmt::format("{:.0f} % taken by a hypervisor", 100 * *load.steal));
  if (load.pressure)
    known.push_back(fmt::format("tasks waited for a CPU {:.0f} % of the time", 100 * *load.pressure));
  probe.found = fmt::format("{}", fmt::join(known, ", "));
  if (!load.others) {
    probe.state = ProbeState::limited;
    probe.found = fmt::format("/proc/stat does not tell{}{}", known.empty() ? "" : "; ", probe.found);
    probe.remedy =
        "Whether others disturb a measurement then shows in its times alone: see that nothing else runs.";
  } else if (!what_disturbs(load, usable_cpus).empty()) {
    probe.state = ProbeState::limited;
    probe.remedy =
        "Host times would be disturbed, and left out of verdicts: end what runs (`top` "
        "shows it), or "
        "measure when nobody else does.";
  }
  return probe;
}

Probe probe_nvidia_driver(const DriverFindings& driver) {
  constexpr int no_device = 100;  // CUDA_ERROR_NO_DEVICE
  Probe probe{"NVIDIA driver", ProbeState::limited, "", ""};
  if (!driver.load_error.empty()) {
    probe.found = driver.load_error;
    probe.remedy =
        "For the CUDA variants: install NVIDIA's driver (in a container: start it with --gpus all).";
  } else if (driver.init_result == no_device || (driver.init_result == 0 && driver.devices == 0)) {
    probe.found = "the driver is installed and sees no GPU";
    probe.remedy =
        "Check `nvidia-smi -L` and CUDA_VISIBLE_DEVICES (in a container: start it with --gpus all).";
  } else if (driver.init_result != 0) {
    probe.found = fmt::format("cuInit or cuDeviceGetCount gave CUDA error {}", driver.init_result);
    probe.remedy =
        "Check `nvidia-smi`: library and kernel module must be of one version; reboot after an update.";
  } else {
    probe.state = ProbeState::ok;
    probe.found = fmt::format("{} GPU{}", driver.devices, driver.devices == 1 ? "" : "s");
    if (driver.version)
      probe.found += fmt::format(", CUDA {}.{}", *driver.version / 1000, *driver.version % 1000 / 10);
  }
  return probe;
}

Probe probe_counter_permission(const std::optional<std::string>& driver_parameters, bool administrator) {
  const std::string name = "GPU hardware counters";
  if (!driver_parameters) {
    return {
        name, ProbeState::limited, "/proc/driver/nvidia/params cannot be read, so the permission is unknown",
        "If the counters pass is refused: set NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia."};
  }
  const bool admin_only = driver_parameters->find("RmProfilingAdminOnly: 1") != std::string::npos;
  if (!admin_only) return {name, ProbeState::ok, "allowed for all users", ""};
  if (administrator) {
    return {name, ProbeState::ok, "allowed for administrators, and this process has CAP_SYS_ADMIN", ""};
  }
  return {name, ProbeState::limited, "allowed for administrators only (RmProfilingAdminOnly is 1)",
          "Put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
          "/etc/modprobe.d/nvidia-profiling.conf and "
          "reload the driver, or give mprof CAP_SYS_ADMIN. Without it, throughput is modelled."};
}

Probe probe_browser(const std::string& path) {
  for (const std::string_view name :
       {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}) {
    if (const auto found = find_program(name, search_path(path)))
      return {"browser", ProbeState::ok, found->string(), ""};
  }
  return {"browser", ProbeState::limited, "no Chromium on PATH: only the tests of the HTML report need one",
          "Install Debian's package chromium."};
}

namespace {

/// A function's own, since files register in an order of the linker's choice.
std::vector<std::function<Probe()>>& added_probes() {
  static std::vector<std::function<Probe()>> probes;
  return probes;
}

}  // namespace

std::string_view to_string(ProbeState state) {
  switch (state) {
    case ProbeState::ok:
      return "ok";
    case ProbeState::limited:
      return "limited";
    case ProbeState::missing:
      return "missing";
  }
  return "";
}

void add_probe(std::function<Probe()> probe) {
  added_probes().push_back(std::move(probe));
}

std::vector<Probe> probe_machine() {
  const CpuInfo cpu = parse_cpuinfo(read_text("/proc/cpuinfo").value_or(""));
  const DriverFindings driver = load_driver();
  std::vector<Probe> probes{probe_instruction_sets(cpu),
                            probe_cores(usable_cpus()),
                            probe_host_load(load_now(), usable_cpus()),
                            probe_memory(usable_memory("/")),
                            probe_perf_events(),
                            probe_nvidia_driver(driver)};
  if (driver.load_error.empty()) {
    probes.push_back(probe_counter_permission(read_text("/proc/driver/nvidia/params"), is_administrator()));
  }
  for (const auto& probe : added_probes()) probes.push_back(probe());
  probes.push_back(probe_browser(environment_variable("PATH")));
  return probes;
}

}  // namespace mprof
