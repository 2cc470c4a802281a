// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "collectors/collector.hpp"
#include "cuda/gpu.hpp"
#include "cuda/nvml.hpp"
#include "cuda/sm_clock.hpp"
#include "device/probe.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

cuda::OwnProcess ourselves(bool has_context, bool has_partner = false) {
  return {static_cast<unsigned>(getpid()), has_context, has_partner};
}

/// The driver's sampling periods last up to a second, and samples of a case may be over before one has ended:
/// what was there shortly before, and still has a context when they end, was there all the time.
std::uint64_t shortly_before_now() {
  using namespace std::chrono;
  const auto now = duration_cast<microseconds>(system_clock::now().time_since_epoch());
  return static_cast<std::uint64_t>((now - seconds(1)).count());
}

/// Asks NVML around each sample what the GPU was doing, and counts the SM clock's cycles behind it: never
/// within one, since the question takes the driver's locks. The outermost collector of its pass, so that no
/// other one's times hold its work.
class GpuState final : public Collector {
 public:
  GpuState(std::string uuid, bool takes_turns) : uuid_(std::move(uuid)), takes_turns_(takes_turns) {}

  void begin_sample() override {
    if (samples_ == 0) since_ = shortly_before_now();
    reasons_of_sample_ = 0;
    read();
  }
  void end_sample() override {
    read();
    count_cycles();
    if (!cuda::throttle_reasons(reasons_of_sample_).empty()) ++throttled_;
    reasons_ |= reasons_of_sample_;
    ++samples_;
  }

  [[nodiscard]] std::optional<std::string> disturbance() const override {
    std::string text;
    if (throttled_ > 0) {
      text = fmt::format("the GPU throttled: around {} of {} samples, {}", throttled_, samples_,
                         fmt::join(cuda::throttle_reasons(reasons_), ", "));
    }
    if (const auto processes = cuda::Nvml::instance().processes(uuid_, since_)) {
      const std::string others = cuda::who_used_the_gpu(*processes, ourselves(true, takes_turns_));
      if (!others.empty()) text += (text.empty() ? "" : "; ") + others;
    }
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  }

  void finish(std::vector<Measurement>& measurements) override {
    add(measurements, "gpu_sm_clock", std::move(sm_clock_));
    add(measurements, "gpu_measured_sm_clock", std::move(measured_sm_clock_), why_not_counted_);
    add(measurements, "gpu_memory_clock", std::move(memory_clock_));
    add(measurements, "gpu_temperature", std::move(temperature_));
    add(measurements, "gpu_power", std::move(power_));
    add(measurements, "gpu_throttled_samples", {static_cast<double>(throttled_)});
    add_others(measurements);
  }

 private:
  void read() {
    const cuda::GpuState now = cuda::Nvml::instance().state(uuid_);
    if (now.sm_clock) sm_clock_.push_back(*now.sm_clock);
    if (now.memory_clock) memory_clock_.push_back(*now.memory_clock);
    if (now.temperature) temperature_.push_back(*now.temperature);
    if (now.power) power_.push_back(*now.power);
    reasons_of_sample_ |= now.clock_event_reasons.value_or(0);
  }

  void count_cycles() {
    if (!why_not_counted_.empty()) return;
    try {
      measured_sm_clock_.push_back(cuda::measured_sm_clock());
    } catch (const Error& error) {
      why_not_counted_ = error.what();
    }
  }

  void add_others(std::vector<Measurement>& measurements) const {
    std::vector<double> count, share;
    if (const auto processes = cuda::Nvml::instance().processes(uuid_, since_)) {
      count.push_back(static_cast<double>(cuda::count_others(*processes, ourselves(true, takes_turns_))));
      if (const auto used = cuda::share_of_others(*processes, ourselves(true, takes_turns_)))
        share.push_back(100 * *used);
    }
    add(measurements, "other_gpu_processes", std::move(count));
    add(measurements, "other_gpu_share", std::move(share));
  }

  static void add(std::vector<Measurement>& measurements, const char* metric, std::vector<double> samples,
                  const std::string& why_none = "NVML does not tell it of this GPU") {
    Measurement row{metric, "", "", Source::measured, std::move(samples), ""};
    if (row.samples.empty()) row.absent = why_none;
    measurements.push_back(std::move(row));
  }

  std::string uuid_;
  bool takes_turns_;
  std::uint64_t since_ = 0;  ///< microseconds of the system's clock: from when on others are looked for
  std::vector<double> sm_clock_;
  std::vector<double> measured_sm_clock_;
  std::string why_not_counted_;
  std::vector<double> memory_clock_;
  std::vector<double> temperature_;
  std::vector<double> power_;
  std::uint64_t reasons_of_sample_ = 0;
  std::uint64_t reasons_ = 0;
  int samples_ = 0;
  int throttled_ = 0;
};

/// For `mprof doctor`, which has no context itself.
Probe probe_gpu_users() {
  Probe probe{"GPU load of others", ProbeState::ok, "", ""};
  int gpus = 0;
  if (const auto& reason = cuda::Nvml::instance().unavailable()) {
    return {probe.name, ProbeState::limited, *reason, "Others on the GPU are not noticed."};
  }
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    return {probe.name, ProbeState::ok, "there is no GPU", ""};
  }
  const auto processes = cuda::Nvml::instance().processes(cuda::gpu_uuid(), shortly_before_now());
  if (!processes) {
    return {probe.name, ProbeState::limited, "NVML does not tell which processes use the GPU",
            "Others on the GPU are not noticed."};
  }
  const auto others = cuda::without_own(*processes, ourselves(false));
  probe.found = others.empty() ? "no other process has a context on the GPU" : cuda::described(others);
  if (cuda::who_used_the_gpu(*processes, ourselves(false)).empty()) return probe;
  probe.state = ProbeState::limited;
  probe.remedy =
      "All times of this GPU would be disturbed, and verdicts could not rely on them: let these processes "
      "end first.";
  return probe;
}

const bool registered = (CollectorKinds::instance().add({
                             "gpu_state",
                             Pass::timing,
                             "cuda",
                             0,
                             [] { return cuda::Nvml::instance().unavailable(); },
                             [](const CaseContext& context) {
                               return std::make_unique<GpuState>(cuda::gpu_uuid(), context.takes_turns);
                             },
                         }),
                         add_probe(probe_gpu_users), true);

}  // namespace
}  // namespace mprof
