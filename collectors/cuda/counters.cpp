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
#include "cuda/check.hpp"
#include "cuda/cupti.hpp"
#include "cuda/gpu.hpp"
#include "cuda/kernel_launch.hpp"
#include "cuda/profiler_host.hpp"
#include "cuda/range_profiler.hpp"
#include "device/probe.hpp"
#include "model/metric_presets.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

/// Hardware counters of each distinct kernel of each op, at its first launch, in whichever stage and stream
/// that is; and what follows from the launch itself. The profiler is switched on in the callback before that
/// launch, and off in the one after it: a kernel is run once for each pass of the counters, and the memory
/// that it writes is saved and restored each time, which takes a quarter of a second with large arrays.
class KernelCounters final : public Collector, private cuda::LaunchObserver {
 public:
  explicit KernelCounters(const CaseContext& context) : ops_(context.subject.ops) {
    selection_.chip = cuda::chip_name();
    selection_.metrics = context.plan.metrics;
    if (selection_.metrics.empty()) selection_.metrics = preset_metrics("default");
  }

  void begin_sample() override {
    try {
      cuda::LaunchObserver& observer = *this;
      callbacks_.emplace(observer);  // CUPTI wants to be subscribed to before it profiles
      open_profiler();
    } catch (const std::exception& error) {
      selection_.refusal = error.what();
    }
  }

  void end_sample() override {
    profiler_.reset();
    callbacks_.reset();
  }

  void begin_stage(std::string_view op, Stage /*stage*/) override { op_ = op; }

  void end_stage(std::string_view /*op*/, Stage /*stage*/) override {
    op_.clear();
    for (CountedKernel& kernel : kernels_) {
      if (kernel.attributes || !kernel.unknown_attributes.empty()) continue;
      kernel.unknown_attributes = refusal_of([&] { kernel.attributes = cuda::attributes_of(kernel.launch); });
    }
  }

  void finish(std::vector<Measurement>& measurements) override {
    add_measurements(selection_, ops_, kernels_, cuda::gpu(), measurements);
  }

 private:
  void open_profiler() {
    CUctx_st* const context = cuda::current_context();
    const std::vector<std::uint8_t> availability = cuda::counter_availability(context);
    std::ranges::copy_if(selection_.metrics, std::back_inserter(selection_.counted),
                         [](const std::string& id) { return !is_launch_metric(id); });
    selection_.missing = cuda::unknown_metrics(selection_.chip, selection_.counted, availability);
    std::erase_if(selection_.counted,
                  [&](const std::string& id) { return std::ranges::count(selection_.missing, id) > 0; });
    if (selection_.counted.empty()) return;
    host_.emplace(selection_.chip, availability);
    if (host_->add(selection_.counted)) {
      profiler_.emplace(context, host_->config_image(), selection_.counted, 1);
    } else {
      selection_.refusal = "CUPTI does not take these metrics together on this GPU: give --metrics fewer.";
    }
  }

  // --- on the thread that launches, inside CUPTI's callbacks ---

  void launching(const cuda::KernelLaunch& launch) override {
    if (op_.empty()) return;  // between two stages: the runner's own
    const bool known = std::ranges::any_of(kernels_, [&](const CountedKernel& kernel) {
      return kernel.op == op_ && kernel.launch.symbol == launch.symbol;
    });
    if (known) return;
    CountedKernel& kernel = kernels_.emplace_back(CountedKernel{op_, launch});
    kernel.uncounted = selection_.refusal;
    if (!profiler_) return;
    kernel.uncounted = refusal_of([&] { profiler_->start(); });
    is_counting_ = kernel.uncounted.empty();
  }

  void launched() override {
    if (!std::exchange(is_counting_, false)) return;
    CountedKernel& kernel = kernels_.back();
    kernel.uncounted = refusal_of([&] {
      profiler_->stop();
      profiler_->decode();
      read(kernel);
    });
  }

  // --- everywhere else ---

  /// Throws when the launch was not counted.
  void read(CountedKernel& kernel) const {
    if (profiler_->ranges() == 0) {
      throw Error(ExitCode::environment, "CUPTI counted nothing at its launch");
    }
    kernel.counts = host_->evaluate(profiler_->counter_data(), 0, selection_.counted);
  }

  /// Why `action` could not be done; "" when it was.
  template <class Action>
  static std::string refusal_of(const Action& action) {
    try {
      action();
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  CounterSelection selection_;
  std::vector<OpInfo> ops_;
  std::optional<cuda::ProfilerHost> host_;
  std::optional<cuda::RangeProfiler> profiler_;
  std::string op_;                                  ///< of the stage that runs; "" between stages
  std::vector<CountedKernel> kernels_;              ///< in the order of their first launches
  bool is_counting_ = false;                        ///< the last of kernels_ is being launched
  std::optional<cuda::LaunchCallbacks> callbacks_;  // the last: it may call until it is gone
};

/// Tries all that the pass needs, with one counter and no kernel: CUPTI refuses for lack of permission only
/// when counting starts.
void try_counters() {
  struct Nobody final : cuda::LaunchObserver {
    void launching(const cuda::KernelLaunch& /*launch*/) override {}
    void launched() override {}
  } nobody;
  CUctx_st* const context = cuda::current_context();
  const cuda::LaunchCallbacks callbacks(nobody);
  if (const auto reason = cuda::profiling_unsupported()) throw Error(ExitCode::environment, *reason);
  const std::vector<std::string> metric{"sm__cycles_active.avg"};
  cuda::ProfilerHost host(cuda::chip_name(), cuda::counter_availability(context));
  if (!host.add(metric)) throw Error(ExitCode::environment, "This GPU lets no counter be read.");
  cuda::RangeProfiler(context, host.config_image(), metric, 1).start();
}

/// Asked for every case, tried once.
const std::optional<std::string>& obstacle() {
  static const std::optional<std::string> found = []() -> std::optional<std::string> {
    if (auto reason = cuda::cupti_unavailable()) return reason;
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
  Probe probe{"CUPTI", ProbeState::limited, "", "Without it the trace and counters passes are skipped."};
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
         .unknown_metrics = unknown_metrics,
     }),
     add_probe(probe_cupti), true);

}  // namespace
}  // namespace mprof
