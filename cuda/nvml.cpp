#include "cuda/nvml.hpp"

#include <array>
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
constexpr unsigned sm_clock = 1;
constexpr unsigned memory_clock = 2;
constexpr unsigned gpu_temperature = 0;
constexpr double megahertz = 1e6;
constexpr double milliwatt = 1e-3;

using Get = Result(Device, unsigned*);
using GetOf = Result(Device, unsigned, unsigned*);
using GetTwo = Result(Device, unsigned*, unsigned*);

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
  GetOf* temperature = nullptr;
  Get* power = nullptr;
  Get* power_limit = nullptr;
  Get* persistence = nullptr;
  Get* pcie_generation = nullptr;
  Get* pcie_width = nullptr;
  GetTwo* ecc = nullptr;
  GetTwo* mig = nullptr;
  Result (*reasons)(Device, unsigned long long*) = nullptr;

  explicit Functions(const SharedLibrary& library) {
    library.import(init, "nvmlInit_v2");
    library.import(error_string, "nvmlErrorString");
    library.import(by_uuid, "nvmlDeviceGetHandleByUUID");
    library.import(driver_version, "nvmlSystemGetDriverVersion");
    library.import(clock, "nvmlDeviceGetClockInfo");
    library.import(max_clock, "nvmlDeviceGetMaxClockInfo");
    library.import(temperature, "nvmlDeviceGetTemperature");
    library.import(power, "nvmlDeviceGetPowerUsage");
    library.import(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    library.import(persistence, "nvmlDeviceGetPersistenceMode");
    library.import(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
    library.import(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
    library.import(ecc, "nvmlDeviceGetEccMode");
    library.import(mig, "nvmlDeviceGetMigMode");
    library.import(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
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
  [[nodiscard]] Fact on_or_off(GetTwo* get, Device device) const {
    unsigned current = 0;
    unsigned pending = 0;
    const Result result = get(device, &current, &pending);
    return result == success ? Fact(std::string(current != 0 ? "on" : "off")) : absent(result);
  }
};

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
  static constexpr std::array names{
      "driver",         "SM clock", "SM clock maximum", "memory clock", "memory clock maximum",
      "power limit",    "ECC",      fact::gpu_mig.name, "persistence",  "PCIe generation",
      "PCIe link width"};
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
