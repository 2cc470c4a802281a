// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "collectors/collector.hpp"
#include "collectors/cuda/counted_kernel.hpp"
#include "collectors/cuda/kernel_counting.hpp"
#include "collectors/cuda/quotients.hpp"
#include "cuda/check.hpp"
#include "cuda/cold_cache.hpp"
#include "cuda/cupti.hpp"
#include "cuda/driver.hpp"
#include "cuda/gpu.hpp"
#include "cuda/kernel_launch.hpp"
#include "cuda/profiler_host.hpp"
#include "cuda/range_profiler.hpp"
#include "device/probe.hpp"
#include "model/metric_presets.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

/// CUPTI's profiler for a selection of metrics. To open it takes 0.8 s (H200), so that it stays open for all
/// cases of a process, and is not closed: at the end of the process CUDA may be gone before it.
class Profiling final : public LaunchCounter {
 public:
  /// For these metrics; opened when it is not, or was for others.
  static Profiling& of(const std::vector<std::string>& metrics) {
    Profiling*& open = opened();
    if (open == nullptr || open->selection_.metrics != metrics) {
      delete open;
      open = new Profiling(metrics);
    }
    return *open;
  }
  /// Of one that was refused nothing is left behind.
  static void close() { delete std::exchange(opened(), nullptr); }

  [[nodiscard]] const CounterSelection& selection() const { return selection_; }
  void tell(cuda::LaunchObserver* observer) {
    if (callbacks_) callbacks_->tell(observer);
  }

  [[nodiscard]] std::string refusal() const override {
    if (profiler_ || !selection_.refusal.empty()) return selection_.refusal;
    return "none of the counters asked for is there";
  }
  /// Enough for five kernels of a stage, with what makes the caches cold.
  [[nodiscard]] std::size_t most_launches() const override { return 15; }
  [[nodiscard]] std::size_t cold_launches() const override { return cuda::cold_start_launches; }
  void make_cold() override { cuda::start_cold_in_callback(); }
  void begin() override { profiler_->begin(); }
  void start() override { profiler_->start(); }
  void wait() override { cuda::driver().check(cuda::driver().synchronize_context()); }
  [[nodiscard]] bool stop() override {
    profiler_->stop();
    if (profiler_->is_complete()) profiler_->decode();
    return profiler_->is_complete();
  }
  [[nodiscard]] std::size_t counted_launches() override { return profiler_->counted_launches(); }
  /// In the order of selection().counted.
  [[nodiscard]] std::vector<double> counts(std::size_t launch) override {
    return quotients_->values(host_->evaluate(profiler_->counter_data(), launch, quotients_->parts()));
  }
  void leave_passes() override {
    profiler_->leave_passes([this] {
      cuda::clean_cache();
      wait();
    });
  }

 private:
  static Profiling*& opened() {
    static Profiling* open = nullptr;
    return open;
  }

  explicit Profiling(const std::vector<std::string>& metrics) {
    selection_.metrics = metrics;
    try {
      selection_.chip = cuda::chip_name();
      callbacks_.emplace();  // CUPTI wants to be subscribed to before it profiles
      open_profiler();
    } catch (const std::exception& error) {
      selection_.refusal = error.what();
    }
  }

  void open_profiler() {
    CUctx_st* const context = cuda::current_context();
    const std::vector<std::uint8_t> availability = cuda::counter_availability(context);
    std::ranges::copy_if(selection_.metrics, std::back_inserter(selection_.counted),
                         [](const std::string& id) { return !is_launch_metric(id); });
    selection_.missing = cuda::unknown_metrics(selection_.chip, selection_.counted, availability);
    std::erase_if(selection_.counted,
                  [&](const std::string& id) { return std::ranges::count(selection_.missing, id) > 0; });
    if (selection_.counted.empty()) return;
    quotients_.emplace(selection_.counted, [&](std::span<const std::string> parts) {
      return cuda::unknown_metrics(selection_.chip, parts, availability).empty();
    });
    host_.emplace(selection_.chip, availability);
    if (host_->add(quotients_->parts())) {
      cuda::clean_cache();  // makes what it needs
      profiler_.emplace(context, host_->config_image(), quotients_->parts(),
                        most_launches() + 1);  // one that nobody was told of shows
      count_nothing();
    } else {
      selection_.refusal = "CUPTI does not take these metrics together on this GPU: give --metrics fewer.";
    }
  }

  /// When CUPTI starts counting for the first time in a process it writes some 3 MB of its own, behind
  /// whatever was done to clean the cache, and they would be charged to the launch that is counted then.
  void count_nothing() {
    profiler_->begin();
    leave_passes();
  }

  CounterSelection selection_;
  std::optional<cuda::LaunchCallbacks> callbacks_;
  std::optional<Quotients> quotients_;
  std::optional<cuda::ProfilerHost> host_;
  std::optional<cuda::RangeProfiler> profiler_;
};

/// Hardware counters of each distinct kernel of each op, and what follows from the launch itself.
class KernelCounters final : public Collector {
 public:
  explicit KernelCounters(const CaseContext& context)
      : profiling_(
            Profiling::of(context.plan.metrics.empty() ? preset_metrics("default") : context.plan.metrics)),
        ops_(context.subject.ops),
        counting_(profiling_) {
    has_begun() = true;
    profiling_.tell(&counting_);
  }
  ~KernelCounters() override { profiling_.tell(nullptr); }
  KernelCounters(const KernelCounters&) = delete;
  KernelCounters& operator=(const KernelCounters&) = delete;

  /// For what happens once in a process. What happens once in a case does so while its stages are looked at.
  static bool needs_warm_up() { return !has_begun(); }

  void begin_sample() override { counting_.begin_sample(); }
  void end_sample() override { counting_.end_sample(); }
  void begin_stage(std::string_view op, Stage stage) override { counting_.begin_stage(op, stage); }
  void end_stage(std::string_view /*op*/, Stage /*stage*/) override {
    counting_.end_stage();
    for (CountedKernel& kernel : counting_.kernels()) describe(kernel);
  }
  [[nodiscard]] bool again(std::string_view /*op*/) override { return counting_.again(); }
  [[nodiscard]] bool wants_more() override { return counting_.wants_more(); }
  void finish(std::vector<Measurement>& measurements) override {
    add_measurements(profiling_.selection(), ops_, counting_.kernels(), cuda::gpu(), measurements);
  }

 private:
  /// In this process.
  static bool& has_begun() {
    static bool begun = false;
    return begun;
  }

  /// Adds what the driver says of it, while it is there.
  static void describe(CountedKernel& kernel) {
    if (kernel.attributes || !kernel.unknown_attributes.empty()) return;
    try {
      kernel.attributes = cuda::attributes_of(kernel.launch);
    } catch (const std::exception& error) {
      kernel.unknown_attributes = error.what();
    }
  }

  Profiling& profiling_;
  std::vector<OpInfo> ops_;
  KernelCounting counting_;
};

/// Tries all that the pass needs, with one counter and no kernel: CUPTI refuses for lack of permission only
/// when counting starts.
void try_counters() {
  CUctx_st* const context = cuda::current_context();
  const cuda::LaunchCallbacks callbacks;
  if (const auto reason = cuda::profiling_unsupported()) throw Error(ExitCode::environment, *reason);
  const std::vector<std::string> metric{"sm__cycles_active.avg"};
  cuda::ProfilerHost host(cuda::chip_name(), cuda::counter_availability(context));
  if (!host.add(metric)) throw Error(ExitCode::environment, "This GPU lets no counter be read.");
  cuda::RangeProfiler profiler(context, host.config_image(), metric, 1);
  profiler.begin();
  profiler.start();
}

/// Asked for every case, tried once: by opening what most runs count, which is kept.
const std::optional<std::string>& obstacle() {
  static const std::optional<std::string> found = []() -> std::optional<std::string> {
    if (auto reason = cuda::cupti_unavailable()) return reason;
    if (Profiling::of(preset_metrics("default")).refusal().empty()) return std::nullopt;
    Profiling::close();  // CUPTI has one subscriber at a time
    try {
      try_counters();
      return std::nullopt;
    } catch (const std::exception& error) {
      return error.what();
    }
  }();
  return found;
}

std::optional<std::string> unavailable() {
  if (!obstacle()) return std::nullopt;
  return *obstacle() + " What the timing pass says of throughput is modelled and needs no counters.";
}

std::vector<std::string> unknown_metrics(std::span<const std::string> names) {
  if (cuda::cupti_unavailable()) return not_in_catalogue(names);
  std::vector<std::string> computed;
  std::vector<std::string> counted;
  for (const std::string& name : names) (is_launch_metric(name) ? computed : counted).push_back(name);
  std::vector<std::string> unknown = not_in_catalogue(computed);
  for (std::string& name : cuda::unknown_metrics(cuda::chip_name(), counted)) {
    unknown.push_back(std::move(name));
  }
  return unknown;
}

/// For `mprof doctor`.
Probe probe_cupti() {
  Probe probe{"CUPTI", ProbeState::limited, "",
              "Without it the trace, counters and source passes are skipped."};
  int gpus = 0;
  if (const auto reason = cuda::cupti_unavailable()) {
    probe.found = *reason;
  } else if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    probe = {"CUPTI", ProbeState::ok, cuda::cupti_version() + "; there is no GPU to try it on", ""};
  } else if (obstacle()) {
    probe.found = fmt::format("{}, but the hardware counters cannot be read", cuda::cupti_version());
    probe.remedy = *obstacle();
  } else {
    probe = {"CUPTI", ProbeState::ok, cuda::cupti_version() + ", and hardware counters can be read", ""};
  }
  return probe;
}

const bool registered =
    (CollectorKinds::instance().add({
         .id = "kernel_counters",
         .pass = Pass::counters,
         .device = "cuda",
         .order = 50,
         .unavailable = unavailable,
         .make = [](const CaseContext& context) { return std::make_unique<KernelCounters>(context); },
         .needs_warm_up = KernelCounters::needs_warm_up,
         .unknown_metrics = unknown_metrics,
     }),
     add_probe(probe_cupti), true);

}  // namespace
}  // namespace mprof
