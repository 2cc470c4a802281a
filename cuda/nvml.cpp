// SPDX-License-Identifier: MIT
#include "cuda/nvml.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cuda/shared_library.hpp"
#include "model/facts.hpp"
#include "system/error.hpp"

namespace mprof::cuda {
namespace {

// NVML's header comes with no CUDA toolkit package that mprof needs otherwise; these few declarations are its
// stable interface (NVML API reference).
using Device = void*;
using Result = int;
constexpr Result success = 0;
constexpr Result not_found = 6;
constexpr Result insufficient_size = 7;
constexpr unsigned sm_clock = 1;
constexpr unsigned memory_clock = 2;
constexpr unsigned gpu_temperature = 0;
constexpr double megahertz = 1e6;
constexpr double milliwatt = 1e-3;

using Get = Result(Device, unsigned*);
using GetOf = Result(Device, unsigned, unsigned*);
using GetTwo = Result(Device, unsigned*, unsigned*);
using GetList = Result(Device, unsigned, unsigned*, unsigned*);

}  // namespace

/// nvmlProcessInfo_v2_t, which version 3 of the functions takes as well (but for a few drivers of branch 535,
/// so that version 2 is asked first).
struct ProcessInfo {
  unsigned id = 0;
  unsigned long long memory = 0;  ///< B; all bits set: not told
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

/// nvmlProcessUtilizationSample_t
struct UtilizationSample {
  unsigned id = 0;
  unsigned long long time = 0;   ///< microseconds of the CPU's clock
  unsigned multiprocessors = 0;  ///< %
  unsigned memory = 0;
  unsigned encoder = 0;
  unsigned decoder = 0;
};

using GetProcesses = Result(Device, unsigned*, ProcessInfo*);
using GetUtilization = Result(Device, UtilizationSample*, unsigned*, unsigned long long);

namespace {

/// NVML's bits (nvmlClocksEventReason*) that mean the GPU runs slower than it could.
constexpr std::array<std::pair<std::uint64_t, std::string_view>, 5> throttles{{
    {0x04, "power cap"},
    {0x08, "hardware slowdown"},
    {0x20, "thermal slowdown by software"},
    {0x40, "thermal slowdown by hardware"},
    {0x80, "power brake"},
}};

}  // namespace

struct Nvml::Functions {
  Result (*init)() = nullptr;
  const char* (*error_string)(Result) = nullptr;
  Result (*by_uuid)(const char*, Device*) = nullptr;
  Result (*driver_version)(char*, unsigned) = nullptr;
  GetOf* clock = nullptr;
  GetOf* max_clock = nullptr;
  GetList* supported_sm_clocks = nullptr;  ///< at a memory clock; may stay so
  GetOf* temperature = nullptr;
  Get* power = nullptr;
  Get* power_limit = nullptr;
  Get* persistence = nullptr;
  Get* pcie_generation = nullptr;
  Get* pcie_width = nullptr;
  GetTwo* ecc = nullptr;
  GetTwo* mig = nullptr;
  Result (*reasons)(Device, unsigned long long*) = nullptr;
  GetProcesses* compute_processes = nullptr;   ///< may stay so
  GetProcesses* graphics_processes = nullptr;  ///< likewise
  GetUtilization* utilization = nullptr;       ///< likewise

  explicit Functions(const SharedLibrary& library) {
    library.import(init, "nvmlInit_v2");
    library.import(error_string, "nvmlErrorString");
    library.import(by_uuid, "nvmlDeviceGetHandleByUUID");
    library.import(driver_version, "nvmlSystemGetDriverVersion");
    library.import(clock, "nvmlDeviceGetClockInfo");
    library.import(max_clock, "nvmlDeviceGetMaxClockInfo");
    library.import_any(supported_sm_clocks, {"nvmlDeviceGetSupportedGraphicsClocks"});
    library.import(temperature, "nvmlDeviceGetTemperature");
    library.import(power, "nvmlDeviceGetPowerUsage");
    library.import(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    library.import(persistence, "nvmlDeviceGetPersistenceMode");
    library.import(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
    library.import(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
    library.import(ecc, "nvmlDeviceGetEccMode");
    library.import(mig, "nvmlDeviceGetMigMode");
    library.import(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    library.import_any(compute_processes, {"nvmlDeviceGetComputeRunningProcesses_v2",
                                           "nvmlDeviceGetComputeRunningProcesses_v3"});
    library.import_any(graphics_processes, {"nvmlDeviceGetGraphicsRunningProcesses_v2",
                                            "nvmlDeviceGetGraphicsRunningProcesses_v3"});
    library.import_any(utilization, {"nvmlDeviceGetProcessUtilization"});
  }

  [[nodiscard]] Device device(const std::string& uuid) const {
    Device found = nullptr;
    return by_uuid(uuid.c_str(), &found) == success ? found : nullptr;
  }
  [[nodiscard]] Fact absent(Result result) const {
    return Absent{fmt::format("NVML: {}", error_string(result))};
  }

  [[nodiscard]] Fact number(Get* get, Device device, double unit = 1) const {
    unsigned value = 0;
    const Result result = get(device, &value);
    return result == success ? Fact(value * unit) : absent(result);
  }
  [[nodiscard]] Fact number_of(GetOf* get, Device device, unsigned which, double unit) const {
    unsigned value = 0;
    const Result result = get(device, which, &value);
    return result == success ? Fact(value * unit) : absent(result);
  }
  /// Between the highest clock that can be set and the next one, at the highest memory clock.
  [[nodiscard]] Fact sm_clock_step(Device device) const {
    unsigned memory = 0;
    if (supported_sm_clocks == nullptr) return Absent{"NVML has no list of clocks"};
    if (const Result result = max_clock(device, memory_clock, &memory); result != success)
      return absent(result);
    std::array<unsigned, 512> clocks{};
    auto count = static_cast<unsigned>(clocks.size());
    const Result result = supported_sm_clocks(device, memory, &count, clocks.data());
    if (result != success) return absent(result);
    const auto listed = std::span(clocks).first(std::min<std::size_t>(count, clocks.size()));
    std::ranges::sort(listed, std::greater());
    const auto next = std::ranges::find_if(listed, [&](unsigned each) { return each < listed.front(); });
    if (next == listed.end()) return Absent{"NVML lists one SM clock only"};
    return (listed.front() - *next) * megahertz;
  }
  [[nodiscard]] Fact on_or_off(GetTwo* get, Device device) const {
    unsigned current = 0;
    unsigned pending = 0;
    const Result result = get(device, &current, &pending);
    return result == success ? Fact(std::string(current != 0 ? "on" : "off")) : absent(result);
  }
};

namespace {

/// What a function of NVML that fills in a table gives, however many rows there are; nullopt when it refuses.
template <class Row, class Ask>
std::optional<std::vector<Row>> table(Ask ask) {
  std::vector<Row> rows(64);
  for (int attempt = 0; attempt < 3; ++attempt) {  // rows may be added between two questions
    auto count = static_cast<unsigned>(rows.size());
    const Result result = ask(&count, rows.data());
    if (result == not_found) return std::vector<Row>();
    if (result == success) {
      rows.resize(std::min<std::size_t>(count, rows.size()));
      return rows;
    }
    if (result != insufficient_size) return std::nullopt;
    rows.assign(2 * std::max<std::size_t>(count, rows.size()), Row{});
  }
  return std::nullopt;
}

/// Adds those that are not there yet: a process may have a context of each kind.
void add_processes(std::vector<GpuProcess>& processes, const std::vector<ProcessInfo>& found) {
  for (const ProcessInfo& info : found) {
    if (info.id == 0 || std::ranges::find(processes, info.id, &GpuProcess::id) != processes.end()) continue;
    GpuProcess& process = processes.emplace_back();
    process.id = info.id;
    if (info.memory != std::numeric_limits<unsigned long long>::max())
      process.memory = static_cast<double>(info.memory);
  }
}

}  // namespace

std::optional<std::vector<GpuProcess>> Nvml::processes(const std::string& uuid, std::uint64_t since) const {
  const Device device = functions_ == nullptr ? nullptr : functions_->device(uuid);
  if (device == nullptr || functions_->compute_processes == nullptr) return std::nullopt;
  const auto of_kind = [&](GetProcesses* get) {
    return table<ProcessInfo>([&](unsigned* count, ProcessInfo* rows) { return get(device, count, rows); });
  };
  std::vector<GpuProcess> processes;
  const auto computing = of_kind(functions_->compute_processes);
  if (!computing) return std::nullopt;
  add_processes(processes, *computing);
  if (functions_->graphics_processes != nullptr) {
    if (const auto drawing = of_kind(functions_->graphics_processes)) add_processes(processes, *drawing);
  }
  if (functions_->utilization == nullptr) return processes;
  const auto samples = table<UtilizationSample>([&](unsigned* count, UtilizationSample* rows) {
    return functions_->utilization(device, rows, count, since);
  });
  if (!samples) return processes;
  std::vector<GpuUse> uses;
  for (const UtilizationSample& sample : *samples) {
    if (sample.time > since) uses.push_back({sample.id, sample.multiprocessors});
  }
  add_shares(processes, uses);
  return processes;
}

std::vector<std::string> throttle_reasons(std::uint64_t bits) {
  std::vector<std::string> reasons;
  for (const auto& [bit, text] : throttles) {
    if ((bits & bit) != 0) reasons.emplace_back(text);
  }
  return reasons;
}

const Nvml& Nvml::instance() {
  static const Nvml nvml;
  return nvml;
}

Nvml::Nvml() {
  static const SharedLibrary library({"libnvidia-ml.so.1"});
  if (!library.loaded()) {
    unavailable_ = fmt::format("NVML was not found ({}): it comes with NVIDIA's driver", library.error());
    return;
  }
  try {
    static const Functions functions(library);
    const Result result = functions.init();
    if (result != success) {
      unavailable_ = fmt::format("NVML cannot be used: {}", functions.error_string(result));
      return;
    }
    functions_ = &functions;
  } catch (const Error& error) {
    unavailable_ = error.what();
  }
}

GpuState Nvml::state(const std::string& uuid) const {
  GpuState state;
  const Device device = functions_ == nullptr ? nullptr : functions_->device(uuid);
  if (device == nullptr) return state;
  unsigned value = 0;
  if (functions_->clock(device, sm_clock, &value) == success) state.sm_clock = value * megahertz;
  if (functions_->clock(device, memory_clock, &value) == success) state.memory_clock = value * megahertz;
  if (functions_->temperature(device, gpu_temperature, &value) == success) state.temperature = value;
  if (functions_->power(device, &value) == success) state.power = value * milliwatt;
  unsigned long long bits = 0;
  if (functions_->reasons(device, &bits) == success) state.clock_event_reasons = bits;
  return state;
}

std::map<std::string, Fact> Nvml::facts(const std::string& uuid) const {
  static constexpr std::array names{"driver",           "SM clock",
                                    "SM clock maximum", fact::gpu_sm_clock_step.name,
                                    "memory clock",     "memory clock maximum",
                                    "power limit",      "ECC",
                                    fact::gpu_mig.name, "persistence",
                                    "PCIe generation",  "PCIe link width"};
  std::map<std::string, Fact> facts;
  const Device device = functions_ == nullptr ? nullptr : functions_->device(uuid);
  if (device == nullptr) {
    for (const char* name : names) facts[name] = Absent{unavailable_.value_or("NVML does not know this GPU")};
    return facts;
  }
  const Functions& f = *functions_;
  std::array<char, 96> version{};
  const Result result = f.driver_version(version.data(), version.size());
  facts["driver"] = result == success ? Fact(std::string(version.data())) : f.absent(result);
  facts["SM clock"] = f.number_of(f.clock, device, sm_clock, megahertz);
  facts["SM clock maximum"] = f.number_of(f.max_clock, device, sm_clock, megahertz);
  facts[fact::gpu_sm_clock_step.name] = f.sm_clock_step(device);
  facts["memory clock"] = f.number_of(f.clock, device, memory_clock, megahertz);
  facts["memory clock maximum"] = f.number_of(f.max_clock, device, memory_clock, megahertz);
  facts["power limit"] = f.number(f.power_limit, device, milliwatt);
  facts["ECC"] = f.on_or_off(f.ecc, device);
  facts[fact::gpu_mig.name] = f.on_or_off(f.mig, device);
  facts["persistence"] = f.number(f.persistence, device);
  if (const double* on = std::get_if<double>(&facts["persistence"])) {
    facts["persistence"] = std::string(*on != 0 ? "on" : "off");
  }
  facts["PCIe generation"] = f.number(f.pcie_generation, device);
  facts["PCIe link width"] = f.number(f.pcie_width, device);
  return facts;
}

}  // namespace mprof::cuda
