// SPDX-License-Identifier: MIT
#include <filesystem>
#include <numeric>
#include <vector>

#include "device/cpu_ceilings.hpp"
#include "device/cpu_facts.hpp"
#include "device/device.hpp"
#include "device/thread_team.hpp"
#include "system/cpus.hpp"

namespace mprof {
namespace {

const std::filesystem::path root = "/";

class HostTimer final : public DeviceTimer {
 public:
  void start(bool /*hold*/) override { start_ = clock_.now(); }
  void stop() override { stop_ = clock_.now(); }
  [[nodiscard]] double seconds() override { return stop_ - start_; }

 private:
  const Clock& clock_ = steady_clock();
  double start_ = 0;
  double stop_ = 0;
};

/// What evaluates functions on a CPU are multiply-adds, whose peak stands for itself.
Ceiling special_function_rate() {
  return {.id = "special_function_rate",
          .device = "cpu",
          .value = std::nullopt,
          .absent = "a CPU has no units for special functions: libraries evaluate them with multiply-adds",
          .method = ""};
}

/// The processor cores as a device: always there, timed by the host clock, done when a call returns.
class CpuDevice final : public Device {
 public:
  [[nodiscard]] std::string_view id() const override { return "cpu"; }
  [[nodiscard]] std::optional<std::string> unavailable() const override { return std::nullopt; }
  [[nodiscard]] std::string name() const override {
    const CpuInfo cpu = parse_cpuinfo(read_text(root / "proc/cpuinfo").value_or(""));
    return cpu.model.empty() ? "CPU" : short_cpu_name(cpu.model);
  }
  [[nodiscard]] Environment fingerprint() const override { return machine_facts(root); }

  [[nodiscard]] std::vector<Ceiling> measure_ceilings(double seconds) const override {
    const unsigned threads = usable_cpus();
    const auto array_bytes = bandwidth_array_bytes(cache_sizes(read_caches(root)).last_level_total,
                                                   usable_memory(root).value_or(std::uint64_t{1} << 30));
    // A third for the arithmetic: it steadies within milliseconds, memory is what neighbours disturb.
    return {measure_fp32_flop_rate(threads, seconds / 3), special_function_rate(),
            measure_memory_bandwidth(threads, array_bytes, seconds * 2 / 3)};
  }

  [[nodiscard]] std::unique_ptr<DeviceTimer> make_timer() const override {
    return std::make_unique<HostTimer>();
  }
  void synchronize() const override {}

  /// Each core reads as much as the caches that it sees can hold: private caches and every last-level cache
  /// go.
  void flush_cache() const override {
    static const std::vector<std::uint64_t> filler(
        cache_sizes(read_caches(root)).seen_by_a_core / sizeof(std::uint64_t), 1);
    run_together(usable_cpus(), [](unsigned) {
      const volatile std::uint64_t sum = std::accumulate(filler.begin(), filler.end(), std::uint64_t{0});
      static_cast<void>(sum);
    });
  }
};

const bool registered = (Devices::instance().add(std::make_unique<CpuDevice>(), 0), true);

}  // namespace
}  // namespace mprof
