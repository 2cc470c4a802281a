// SPDX-License-Identifier: MIT
#include "device/device.hpp"

#include <fmt/format.h>

#include "cuda/ceilings.hpp"
#include "cuda/cold_cache.hpp"
#include "cuda/cupti.hpp"
#include "cuda/event_timer.hpp"
#include "cuda/gpu.hpp"
#include "cuda/nvml.hpp"
#include "cuda/persisting_cache.hpp"
#include "device/cpu_facts.hpp"
#include "model/facts.hpp"
#include "system/cpus.hpp"

namespace mprof::cuda {
namespace {

constexpr int preference = 10;  // before the CPU, which has 0
constexpr int oldest_major = 7;
constexpr int oldest_minor = 5;

std::string version_text(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::optional<std::string> find_obstacle() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaErrorInsufficientDriver) {
    return "no NVIDIA driver, or one older than the CUDA version that mprof was built with; `mprof doctor` "
           "has details";
  }
  if (result != cudaSuccess || count == 0) {
    return fmt::format("no usable NVIDIA GPU: {}; `mprof doctor` has details", cudaGetErrorString(result));
  }
  const cudaDeviceProp& properties = gpu();
  if (properties.major < oldest_major ||
      (properties.major == oldest_major && properties.minor < oldest_minor)) {
    return fmt::format("{} has compute capability {}.{}, and CUDA {} supports {}.{} and newer",
                       properties.name, properties.major, properties.minor, version_text(CUDART_VERSION),
                       oldest_major, oldest_minor);
  }
  return std::nullopt;
}

/// The CPUs of its NUMA node, as the kernel tells them.
std::vector<int> near_cpus(const cudaDeviceProp& gpu) {
  return cpus_of_list(read_text(fmt::format("/sys/bus/pci/devices/{:04x}:{:02x}:{:02x}.0/local_cpulist",
                                            gpu.pciDomainID, gpu.pciBusID, gpu.pciDeviceID))
                          .value_or(""));
}

/// The GPU, by CUDA's runtime. Ops run on its default stream unless a variant makes its own.
class CudaDevice final : public Device {
 public:
  [[nodiscard]] std::string_view id() const override { return "cuda"; }

  [[nodiscard]] std::optional<std::string> unavailable() const override {
    static const std::optional<std::string> obstacle = find_obstacle();
    return obstacle;
  }

  [[nodiscard]] std::string name() const override { return gpu().name; }

  [[nodiscard]] std::vector<DeviceUnit> units() const override {
    std::vector<DeviceUnit> units;
    for (const cudaDeviceProp& one : visible_gpus()) {
      const std::string uuid = uuid_text(one.uuid);
      units.push_back({uuid, one.name, "CUDA_VISIBLE_DEVICES=" + uuid, near_cpus(one)});
    }
    return units;
  }

  [[nodiscard]] Environment fingerprint() const override {
    const cudaDeviceProp& properties = gpu();
    const std::string uuid = gpu_uuid();
    std::map<std::string, Fact> facts = Nvml::instance().facts(uuid);
    int count = 0;
    int driver = 0;
    int runtime = 0;
    check(cudaGetDeviceCount(&count));
    check(cudaDriverGetVersion(&driver));
    check(cudaRuntimeGetVersion(&runtime));
    facts[fact::gpu_name.name] = std::string(properties.name);
    facts["UUID"] = uuid;
    facts[fact::gpu_count.name] = static_cast<double>(count);
    facts["compute capability"] = fmt::format("{}.{}", properties.major, properties.minor);
    facts["multiprocessors"] = static_cast<double>(properties.multiProcessorCount);
    facts["memory"] = static_cast<double>(properties.totalGlobalMem);
    facts["L2 cache"] = static_cast<double>(properties.l2CacheSize);
    facts["shared memory per multiprocessor"] = static_cast<double>(properties.sharedMemPerMultiprocessor);
    facts["registers per multiprocessor"] = static_cast<double>(properties.regsPerMultiprocessor);
    facts["CUDA driver API"] = version_text(driver);
    facts["CUDA runtime"] = version_text(runtime);
    facts["CUPTI"] = cupti_fact();
    facts[fact::gpu_empty_op.name] = EventTimer().overhead();
    return {{fact::gpu, std::move(facts)}};
  }

  [[nodiscard]] std::vector<Ceiling> measure_ceilings(double seconds) const override {
    return cuda::measure_ceilings(seconds);
  }

  [[nodiscard]] std::unique_ptr<DeviceTimer> make_timer() const override {
    return std::make_unique<EventTimer>();
  }

  [[nodiscard]] int forwards_per_sample() const override { return 5; }

  void synchronize() const override { check(cudaDeviceSynchronize()); }

  void flush_cache() const override {
    release_persisting_cache();
    clean_cache();
  }

 private:
  /// Opening CUPTI here is harmless: a survey has a process of its own.
  static Fact cupti_fact() {
    if (const auto reason = cupti_unavailable()) return Absent{*reason};
    return cupti_version();
  }
};

const bool registered = (Devices::instance().add(std::make_unique<CudaDevice>(), preference), true);

}  // namespace
}  // namespace mprof::cuda
