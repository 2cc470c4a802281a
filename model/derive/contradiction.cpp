#include <algorithm>

#include <fmt/format.h>

#include "model/derive/subjects.hpp"
#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// The trace is of another process, whose clocks may be lower, and a kernel's time in it holds a few
/// microseconds of starting and ending that the timer's events do not.
constexpr double trace_factor = 1.5;
constexpr double trace_allowance = 5e-6;  // s
/// Percent of the peak, of what no cache and no tensor core explains.
constexpr double beyond_any_cache = 1000;
constexpr double beyond_any_unit = 3000;

std::optional<double> median_of(const Case& subject, std::string_view metric, std::string_view op) {
  const Measurement* found = find_measurement(subject, metric, op);
  if (found == nullptr || found->samples.empty()) return std::nullopt;
  return median(found->samples);
}

std::string unseen_by_timer(const Case& subject, const std::string& op, double op_time) {
  const auto gpu_time = median_of(subject, "gpu_time", op);
  if (!gpu_time || *gpu_time <= trace_factor * op_time + trace_allowance) return {};
  return fmt::format(
      "in the trace the GPU works {:.4g} s for {}, and its op time is {:.4g} s: the timer does "
      "not see all of the work",
      *gpu_time, op, op_time);
}

std::string beyond_the_device(const Case& subject, const std::string& op) {
  const auto bytes = median_of(subject, "memory_throughput", op);
  if (bytes && *bytes > beyond_any_cache)
    return fmt::format("the bytes of {} would have moved at {:.0f} times the measured memory bandwidth", op,
                       *bytes / 100);
  const auto flops = median_of(subject, "compute_throughput", op);
  if (flops && *flops > beyond_any_unit)
    return fmt::format("{} would have computed at {:.0f} times the measured FP32 peak", op, *flops / 100);
  return {};
}

}  // namespace

std::string contradiction(const Case& subject) {
  const auto timing = std::ranges::find(subject.passes, Pass::timing, &PassResult::pass);
  if (timing == subject.passes.end() || !timing->scrutiny) return {};
  for (const OpInfo& op : subject.ops) {
    const auto op_time = median_of(subject, "op_time", op.name);
    if (!op_time) continue;
    std::string reason = unseen_by_timer(subject, op.name, *op_time);
    if (reason.empty()) reason = beyond_the_device(subject, op.name);
    if (!reason.empty()) return reason;
  }
  return {};
}

}  // namespace mprof
