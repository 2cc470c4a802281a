// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/derive/subjects.hpp"
#include "model/seconds.hpp"
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
/// Counters read one launch in place of all, and a library may leave out what falls in the padding.
constexpr double much_less = 0.5;
/// Bytes of which no last-level cache keeps a good part. Of each launch: what one leaves in the cache is
/// written back when nobody counts.
constexpr double beyond_any_cache_size = 1e9;

std::optional<double> median_of(const Case& subject, std::string_view metric, std::string_view op) {
  const Measurement* found = find_measurement(subject, metric, op);
  if (found == nullptr || found->samples.empty()) return std::nullopt;
  return median(found->samples);
}

std::string unseen_by_timer(const Case& subject, const std::string& op, double op_time) {
  const auto gpu_time = median_of(subject, "gpu_time", op);
  if (!gpu_time || *gpu_time <= trace_factor * op_time + trace_allowance) return {};
  return fmt::format(
      "in the trace the GPU works {} for {}, and its op time is {}: the timer does not see all of the work",
      seconds_text(*gpu_time), op, seconds_text(op_time));
}

std::map<std::string, double> own_launches(const Case& subject, Pass in, const std::string& op) {
  std::map<std::string, double> launches;
  const auto pass = std::ranges::find(subject.passes, in, &PassResult::pass);
  if (pass == subject.passes.end()) return launches;
  for (const Measurement& m : pass->measurements) {
    if (m.metric == "own_launches" && m.op == op && !m.samples.empty()) launches[m.kernel] = m.samples.back();
  }
  return launches;
}

/// "first (1) and second (3)"
std::string listed(const std::map<std::string, double>& launches) {
  std::string list;
  std::size_t left = launches.size();
  for (const auto& [kernel, times] : launches) {
    --left;
    list += fmt::format("{} ({:.0f}){}", kernel, times, left > 1 ? ", " : left == 1 ? " and " : "");
  }
  return list.empty() ? "nothing" : list;
}

/// Counted in the same way in both passes: what differs is the variant's doing.
std::string other_kernels_when_traced(const Case& subject, const std::string& op) {
  const auto trace = std::ranges::find(subject.passes, Pass::trace, &PassResult::pass);
  if (trace == subject.passes.end() || trace->status != Status::ok) return {};
  const auto timed = own_launches(subject, Pass::timing, op), traced = own_launches(subject, Pass::trace, op);
  if (timed == traced) return {};
  return fmt::format("{} launches other kernels when it is timed than when it is traced: {}, and not {}", op,
                     listed(timed), listed(traced));
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

using KernelCounts = std::map<std::string, double, std::less<>>;

/// What the counters pass read of each kernel of an op.
std::map<std::string, KernelCounts> counted_kernels(const Case& subject, const std::string& op) {
  std::map<std::string, KernelCounts> kernels;
  const auto pass = std::ranges::find(subject.passes, Pass::counters, &PassResult::pass);
  if (pass == subject.passes.end()) return kernels;
  for (const Measurement& m : pass->measurements) {
    if (m.op == op && !m.kernel.empty() && !m.samples.empty())
      kernels[m.kernel][m.metric] = median(m.samples);
  }
  return kernels;
}

/// FLOP that a launch executed at the most: instructions on halves are taken for pairs. nullopt: not read.
std::optional<double> most_flops(const KernelCounts& counts) {
  double flops = 0;
  for (const auto& [precision, values] : {std::pair{'f', 1}, {'d', 1}, {'h', 2}}) {
    for (const auto& [operation, operations] : {std::pair{"add", 1}, {"mul", 1}, {"fma", 2}}) {
      const auto found = counts.find(
          fmt::format("smsp__sass_thread_inst_executed_op_{}{}_pred_on.sum", precision, operation));
      if (found == counts.end()) return std::nullopt;
      flops += found->second * values * operations;
    }
  }
  for (const char* path : {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", "sm__ops_path_tensor_src_fp16.sum"}) {
    const auto found = counts.find(path);
    if (found == counts.end()) return std::nullopt;
    flops += found->second;
  }
  return flops;
}

std::optional<double> dram_bytes(const KernelCounts& counts) {
  const auto found = counts.find("dram__bytes.sum");
  return found == counts.end() ? std::nullopt : std::optional(found->second);
}

/// Of all launches of the op's kernels; nullopt where it is not known of each.
std::optional<double> over_launches(const Case& subject, const std::string& op,
                                    std::optional<double> (*of_a_launch)(const KernelCounts&)) {
  const auto trace = std::ranges::find(subject.passes, Pass::trace, &PassResult::pass);
  if (trace == subject.passes.end()) return std::nullopt;
  const std::map<std::string, KernelCounts> kernels = counted_kernels(subject, op);
  std::optional<double> sum;
  for (const Measurement& m : trace->measurements) {
    if (m.metric != "kernel_instances" || m.op != op || m.samples.empty()) continue;
    const auto counts = kernels.find(m.kernel);
    const auto once = counts == kernels.end() ? std::nullopt : of_a_launch(counts->second);
    if (!once) return std::nullopt;
    sum = sum.value_or(0) + *once * m.samples.front();
  }
  return sum;
}

/// Of all kernels of the op; 0: the trace does not say.
double launches_of(const Case& subject, const std::string& op) {
  return median_of(subject, "kernel_count", op).value_or(0);
}

std::string less_than_the_op_needs(const Case& subject, const VariantInfo& variant, const OpInfo& op) {
  const double needed = op.flops * variant.arithmetic.value_or(1);
  const auto flops = over_launches(subject, op.name, most_flops);
  if (flops && *flops < much_less * needed)
    return fmt::format("{} executed {:.4g} FLOP at most, where its definition{} {:.4g}", op.name, *flops,
                       variant.arithmetic ? " and the algorithm that the variant declares need" : " needs",
                       needed);
  const auto bytes = over_launches(subject, op.name, dram_bytes);
  if (bytes && op.bytes > beyond_any_cache_size * launches_of(subject, op.name) &&
      *bytes < much_less * op.bytes)
    return fmt::format("{} moved {:.4g} bytes from and to DRAM, where its definition needs {:.4g}", op.name,
                       *bytes, op.bytes);
  return {};
}

}  // namespace

std::string contradiction(const Case& subject, const VariantInfo& variant) {
  const auto timing = std::ranges::find(subject.passes, Pass::timing, &PassResult::pass);
  if (timing == subject.passes.end() || !timing->scrutiny) return {};
  for (const OpInfo& op : subject.ops) {
    const auto op_time = median_of(subject, "op_time", op.name);
    if (!op_time) continue;
    std::string reason = unseen_by_timer(subject, op.name, *op_time);
    if (reason.empty()) reason = other_kernels_when_traced(subject, op.name);
    if (reason.empty()) reason = beyond_the_device(subject, op.name);
    if (reason.empty()) reason = less_than_the_op_needs(subject, variant, op);
    if (!reason.empty()) return reason;
  }
  return {};
}

}  // namespace mprof
