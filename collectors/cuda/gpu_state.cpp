#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectors/collector.hpp"
#include "cuda/gpu.hpp"
#include "cuda/nvml.hpp"

namespace mprof {
namespace {

/// Asks NVML around each sample what the GPU was doing: never within one, since the question takes the
/// driver's locks. The outermost collector of its pass, so that no other one's times hold its work.
class GpuState final : public Collector {
 public:
  explicit GpuState(std::string uuid) : uuid_(std::move(uuid)) {}

  void begin_sample() override {
    reasons_of_sample_ = 0;
    read();
  }
  void end_sample() override {
    read();
    if (!cuda::throttle_reasons(reasons_of_sample_).empty()) ++throttled_;
    reasons_ |= reasons_of_sample_;
    ++samples_;
  }

  [[nodiscard]] std::optional<std::string> disturbance() const override {
    if (throttled_ == 0) return std::nullopt;
    return fmt::format("the GPU throttled around {} of {} samples: {}", throttled_, samples_,
                       fmt::join(cuda::throttle_reasons(reasons_), ", "));
  }

  void finish(std::vector<Measurement>& measurements) override {
    add(measurements, "gpu_sm_clock", std::move(sm_clock_));
    add(measurements, "gpu_memory_clock", std::move(memory_clock_));
    add(measurements, "gpu_temperature", std::move(temperature_));
    add(measurements, "gpu_power", std::move(power_));
    add(measurements, "gpu_throttled_samples", {static_cast<double>(throttled_)});
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

  static void add(std::vector<Measurement>& measurements, const char* metric, std::vector<double> samples) {
    Measurement row{metric, "", "", Source::measured, std::move(samples), ""};
    if (row.samples.empty()) row.absent = "NVML does not tell it of this GPU";
    measurements.push_back(std::move(row));
  }

  std::string uuid_;
  std::vector<double> sm_clock_;
  std::vector<double> memory_clock_;
  std::vector<double> temperature_;
  std::vector<double> power_;
  std::uint64_t reasons_of_sample_ = 0;
  std::uint64_t reasons_ = 0;
  int samples_ = 0;
  int throttled_ = 0;
};

const bool registered = (CollectorKinds::instance().add({
                             "gpu_state",
                             Pass::timing,
                             "cuda",
                             0,
                             [] { return cuda::Nvml::instance().unavailable(); },
                             [](const CaseContext&) { return std::make_unique<GpuState>(cuda::gpu_uuid()); },
                         }),
                         true);

}  // namespace
}  // namespace mprof
