#include "device/device.hpp"

#include <vector>

#include <fmt/format.h>

#include "cuda/ceilings.hpp"
#include "cuda/cold_cache.hpp"
#include "cuda/cupti.hpp"
#include "cuda/gpu.hpp"
#include "cuda/handles.hpp"
#include "cuda/nvml.hpp"
#include "cuda/stream_hold.hpp"
#include "model/facts.hpp"
#include "model/statistics/median.hpp"

namespace mprof::cuda {
namespace {

constexpr int preference = 10;  // before the CPU, which has 0
constexpr int oldest_major = 7;
constexpr int oldest_minor = 5;

std::string version_text(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

class EventTimer final : public DeviceTimer {
 public:
  EventTimer() {  // the first launch of a kernel loads it
    hold_.begin();
    hold_.release();
    check(cudaDeviceSynchronize());
  }
  void start(bool hold) override {
    is_holding_ = hold;
    if (hold) hold_.begin();
    start_.record();
  }
  void stop() override {
    stop_.record();
    if (is_holding_) hold_.release();
  }
  [[nodiscard]] double seconds() override {
    stop_.synchronize();
    return stop_.seconds_since(start_);
  }
  [[nodiscard]] bool can_hold() const override { return true; }
  [[nodiscard]] bool was_held() const override { return is_holding_ && hold_.has_lasted(); }

 private:
  StreamHold hold_;
  bool is_holding_ = false;
  Event start_;
  Event stop_;
};

/// What the timer reads around nothing, s: the least that an op can be said to take.
double time_of_an_empty_op() {
  constexpr int repeats = 31;
  EventTimer timer;
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    timer.start(true);
    timer.stop();
    times.push_back(timer.seconds());
  }
  return median(times);
}

std::optional<std::string> find_obstacle() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaErrorInsufficientDriver) {
    return "no NVIDIA driver, or one older than the CUDA version that mprof was built with; `mprof doctor` "
           "tells more";
  }
  if (result != cudaSuccess || count == 0) {
    return fmt::format("no usable NVIDIA GPU: {}; `mprof doctor` tells more", cudaGetErrorString(result));
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

/// The GPU, by CUDA's runtime. Ops run on its default stream unless a variant makes its own.
class CudaDevice final : public Device {
 public:
  [[nodiscard]] std::string_view id() const override { return "cuda"; }

  [[nodiscard]] std::optional<std::string> unavailable() const override {
    static const std::optional<std::string> obstacle = find_obstacle();
    return obstacle;
  }

  [[nodiscard]] std::string name() const override { return gpu().name; }

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
    facts[fact::gpu_empty_op.name] = time_of_an_empty_op();
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

  void flush_cache() const override { clean_cache(); }

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
