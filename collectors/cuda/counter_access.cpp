#include "collectors/cuda/counter_access.hpp"

#include <exception>
#include <vector>

#include <fmt/format.h>

#include "cuda/check.hpp"
#include "cuda/cupti.hpp"
#include "cuda/gpu.hpp"
#include "cuda/kernel_launch.hpp"
#include "cuda/profiler_host.hpp"
#include "cuda/range_profiler.hpp"
#include "device/probe.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

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
  cuda::RangeProfiler profiler(context, host.config_image(), metric);
  profiler.begin_kernel();
  profiler.start();
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

const bool registered = (add_probe(probe_cupti), true);

}  // namespace

std::optional<std::string> counters_unavailable() {
  if (!obstacle()) return std::nullopt;
  return *obstacle() + " What the timing pass says of throughput is modelled and needs no counters.";
}

}  // namespace mprof
