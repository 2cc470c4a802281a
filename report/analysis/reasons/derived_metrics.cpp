// SPDX-License-Identifier: MIT
#include "report/analysis/reasons/derived_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/analysis/kernels/op_metrics.hpp"

namespace mprof {
namespace {

Reading derived(double value) {
  return {derived_value(value), {}, true};
}

Reading missing(Why reason) {
  return {absent_value(std::move(reason)), {}, true};
}

/// `make` of the values of `ids`; absent when one of these is.
template <class Make, class... Ids>
Reading from(const OpReadings& op, const Make& make, Ids... ids) {
  const std::array<const Reading*, sizeof...(ids)> parts{&op.of(ids)...};
  for (const Reading* part : parts) {
    if (!part->value) return missing(part->value.absent);
  }
  const double value = std::apply([&](const auto*... part) { return make(part->value->median...); }, parts);
  return std::isfinite(value) ? derived(value) : missing(Because::division_by_zero);
}

constexpr auto divide = [](double a, double b) { return a / b; };
constexpr auto percentage = [](double part, double whole) { return 100 * part / whole; };

/// The sum of `value` over all launches of the op's kernels.
template <class OfKernel>
Reading over_launches(const OpReadings& op, const OfKernel& value) {
  if (op.kernels().empty()) return missing(why_not_counted(*op.result().source));
  if (!op.uncounted().empty()) return missing(op.uncounted());
  double sum = 0;
  for (const KernelCounters& kernel : op.kernels()) {
    const std::optional<double> of_launch = value(kernel);
    if (!of_launch) return missing(Because::part_not_read);
    sum += *of_launch * kernel.launches.value_or(1);
  }
  return derived(sum);
}

std::optional<double> counted(const KernelCounters& kernel, std::string_view metric) {
  const Value value = kernel.value(metric);
  return value ? std::optional(value->median) : std::nullopt;
}

// --- Work

Reading arithmetic(const OpReadings& op) {
  const bool in_half = std::ranges::any_of(
      op.kernels(), [&](const KernelCounters& kernel) { return computes_in_half(kernel, op.info()); });
  if (in_half) return missing(Because::half_is_ambiguous);
  return over_launches(op, [&](const KernelCounters& kernel) { return executed_flops(kernel, op.info()); });
}

Reading tensor_share(const OpReadings& op) {
  const Reading tensor = over_launches(op, [](const KernelCounters& kernel) -> std::optional<double> {
    const bool read = kernel.value("sm__ops_path_tensor_src_tf32_dst_fp32.sum") ||
                      kernel.value("sm__ops_path_tensor_src_fp16.sum");
    return read ? std::optional(tensor_operations(kernel)) : std::nullopt;
  });
  const Reading all =
      over_launches(op, [&](const KernelCounters& kernel) { return executed_flops(kernel, op.info()); });
  if (!tensor.value || !all.value) return tensor.value ? all : tensor;
  if (!(all.value->median > 0)) return missing(Because::no_arithmetic);
  return derived(100 * tensor.value->median / all.value->median);
}

std::optional<double> multiply_adds(const KernelCounters& kernel, const OpInfo& op, bool half_alone) {
  const auto half = counted(kernel, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum");
  const double in_half = computes_in_half(kernel, op) ? half.value_or(0) : 0;
  if (half_alone) return half ? std::optional(in_half) : std::nullopt;
  const auto single = counted(kernel, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
  const auto twice = counted(kernel, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum");
  return single && twice ? std::optional(*single + *twice + in_half) : std::nullopt;
}

Reading all_multiply_adds(const OpReadings& op) {
  return over_launches(op,
                       [&](const KernelCounters& kernel) { return multiply_adds(kernel, op.info(), false); });
}

Reading half_multiply_adds(const OpReadings& op) {
  const Reading half =
      over_launches(op, [&](const KernelCounters& kernel) { return multiply_adds(kernel, op.info(), true); });
  const Reading& all = op.of("multiply_adds");
  if (!half.value || !all.value) return half.value ? all : half;
  if (!(all.value->median > 0)) return missing(Because::no_multiply_add);
  return derived(100 * half.value->median / all.value->median);
}

/// Of what threads execute: where few of a warp's take part, that is less than its instructions seem to say.
Reading thread_instructions(const OpReadings& op) {
  return over_launches(op, [](const KernelCounters& kernel) -> std::optional<double> {
    const auto warps = counted(kernel, "smsp__inst_executed.sum");
    const auto threads = counted(kernel, "smsp__thread_inst_executed_per_inst_executed.ratio");
    return warps && threads ? std::optional(*warps * *threads) : std::nullopt;
  });
}

Reading work_share(const OpReadings& op) {
  return from(op, percentage, "multiply_adds", "thread_instructions");
}

Reading matrix_kernels(const OpReadings& op) {
  if (op.kernels().empty()) return missing(why_not_counted(*op.result().source));
  const auto multiplies = [](const KernelCounters& kernel) {
    return kernel.kernel.find("gemm") != std::string::npos ||
           kernel.kernel.find("matmul") != std::string::npos;
  };
  return derived(static_cast<double>(std::ranges::count_if(op.kernels(), multiplies)));
}

// --- Rates

Reading multiprocessors(const OpReadings& op) {
  const KernelCounters* kernel = op.longest_kernel();
  if (kernel == nullptr) return missing(why_not_counted(*op.result().source));
  const std::optional<double> units = multiprocessors_of(*kernel);
  return units ? derived(*units) : missing(Because::occupancy_not_read);
}

Reading issue_rate(const OpReadings& op) {
  return from(
      op, [](double instructions, double cycles, double units) { return instructions / cycles / units; },
      "smsp__inst_executed.sum", "gpc__cycles_elapsed.max", "multiprocessors");
}

Reading higher_throughput(const OpReadings& op) {
  return from(
      op, [](double compute, double memory) { return std::max(compute, memory); },
      "sm__throughput.avg.pct_of_peak_sustained_elapsed",
      "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
}

Reading memory_lead(const OpReadings& op) {
  return from(
      op, [](double compute, double memory) { return memory - compute; },
      "sm__throughput.avg.pct_of_peak_sustained_elapsed",
      "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
}

Reading active_share(const OpReadings& op) {
  return from(
      op, [](double active, double cycles) { return 100 * std::min(1.0, active / cycles); },
      "sm__cycles_active.avg", "gpc__cycles_elapsed.max");
}

Reading wave_use(const OpReadings& op) {
  return from(
      op, [](double waves) { return 100 * waves / std::ceil(waves); }, "launch__waves_per_multiprocessor");
}

// --- Memory

Reading dram_time(const OpReadings& op) {
  Why untold = why_dram_untold(op.kernels(), op.info(), op.family().speed_of_light.l2_capacity);
  if (!untold.empty()) return missing(std::move(untold));
  const std::optional<double> bandwidth = op.family().speed_of_light.peak_bandwidth;
  if (!bandwidth || !(*bandwidth > 0)) return missing(Because::bandwidth_not_measured);
  return from(
      op, [&](double bytes) { return bytes / *bandwidth; }, "dram__bytes.sum");
}

Reading conflict_share(const OpReadings& op) {
  return from(
      op, [](double conflicts, double cycles, double units) { return 100 * conflicts / cycles / units; },
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "gpc__cycles_elapsed.max",
      "multiprocessors");
}

Reading shared_memory(const OpReadings& op) {
  return from(
      op, [](double fixed, double dynamic) { return fixed + dynamic; }, "launch__shared_mem_per_block_static",
      "launch__shared_mem_per_block_dynamic");
}

Reading local_share(const OpReadings& op) {
  return from(
      op, [](double loads, double stores, double all) { return 100 * (loads + stores) / all; },
      "smsp__sass_inst_executed_op_local_ld.sum", "smsp__sass_inst_executed_op_local_st.sum",
      "smsp__inst_executed.sum");
}

// --- Stall reasons

Reading stall_share(const OpReadings& op, std::string_view reason) {
  const std::string metric =
      "smsp__average_warps_issue_stalled_" + std::string(reason) + "_per_issue_active.ratio";
  return from(op, percentage, std::string_view(metric), "smsp__average_warp_latency_per_inst_issued.ratio");
}

// --- Launches

Reading side_kernel_time(const OpReadings& op) {
  const Reading all = over_launches(
      op, [](const KernelCounters& kernel) { return counted(kernel, "gpu__time_duration.sum"); });
  if (!all.value) return all;
  return derived(std::max(0.0, all.value->median - op.longest_kernel()->time()));
}

Reading launch_gap(const OpReadings& op) {
  return from(
      op, [](double op_time, double gpu_time) { return std::max(0.0, op_time - gpu_time); }, "op_time",
      "gpu_time");
}

// --- The op with its stages

Reading copy_time(const OpReadings& op) {
  return from(
      op, [](double in, double out) { return in + out; }, "copy_in_time", "copy_out_time");
}

Reading copy_bytes(const OpReadings& op) {
  return from(
      op, [](double in, double out) { return in + out; }, "copy_in_bytes", "copy_out_bytes");
}

Reading host_time(const OpReadings& op) {
  return from(
      op, [](double host, double api) { return host + api; }, "gpu_idle_host_time", "gpu_idle_api_time");
}

/// Each way of copying and the kernels by themselves, less the time in which any of them ran.
Reading overlapped_time(const OpReadings& op) {
  return from(
      op,
      [](double copies, double kernels, double in_kernels, double copying_only) {
        return std::max(0.0, copies + kernels - in_kernels - copying_only);
      },
      "copy_time", "gpu_time", "gpu_kernel_time", "gpu_copy_only_time");
}

// --- The CPU

Reading of_case(const OpReadings& op, std::string_view metric) {
  return {value_of(*op.result().source, metric), {}, false};
}

Reading sm_clock_while_timed(const OpReadings& op) {
  const Value counted_clock = op.of("gpc__cycles_elapsed.avg.per_second").value;
  return counted_clock ? derived(counted_clock->median) : of_case(op, sm_clock_metric(*op.result().source));
}

Reading cores_busy(const OpReadings& op) {
  return {op.result().cores_busy, {}, false};
}

Reading rate_of_core(const OpReadings& op) {
  return from(op, divide, "flop_rate", "cores_busy");
}

Reading system_share(const OpReadings& op) {
  return from(
      op, [](double system, double user) { return 100 * system / (system + user); }, "case_system_time",
      "case_user_time");
}

using Op = const OpReadings&;

constexpr std::array all_quantities{
    Quantity{"arithmetic", "Executed arithmetic", Unit::flop,
             "Floating-point operations that all kernels of the op executed, tensor cores included.", false,
             arithmetic},
    Quantity{"tensor_share", "Tensor share", Unit::percent,
             "Share of the executed arithmetic that tensor cores did.", false, tensor_share},
    Quantity{"multiply_adds", "Multiply-adds", Unit::count,
             "Multiply-add instructions that threads executed; FP16 counts where the kernel computes in it.",
             false, all_multiply_adds},
    Quantity{"thread_instructions", "Instructions of threads", Unit::count,
             "Instructions that threads executed: warp instructions times the threads that executed them.",
             false, thread_instructions},
    Quantity{"half_share", "Half-precision share", Unit::percent,
             "Share of the multiply-add instructions that are FP16.", false, half_multiply_adds},
    Quantity{"work_share", "Share of multiply-adds", Unit::percent,
             "Multiply-adds of all instructions that threads executed.", false, work_share},
    Quantity{"matrix_kernels", "Matrix products", Unit::count,
             "Kernels of the op that have gemm or matmul in their name.", false, matrix_kernels},
    Quantity{"multiprocessors", "Multiprocessors", Unit::count,
             "Blocks of the launch, over its waves and the blocks that a multiprocessor holds.", true,
             multiprocessors},
    Quantity{"issue_rate", "Issue rate", Unit::ratio,
             "Warp instructions per elapsed cycle and multiprocessor, over all kernels of the op; 4 is the "
             "peak.",
             false, issue_rate},
    Quantity{"higher_throughput", "Higher throughput", Unit::percent,
             "The higher of SM and memory throughput.", true, higher_throughput},
    Quantity{"memory_lead", "Memory over SM throughput", Unit::percent,
             "Memory throughput less SM throughput, in points.", true, memory_lead},
    Quantity{"active_share", "Cycles with a warp", Unit::percent,
             "Share of the longest kernel's cycles in which a multiprocessor had a warp, on average.", true,
             active_share},
    Quantity{"wave_use", "Use of waves", Unit::percent,
             "Waves over the next whole number: what the last wave leaves of the multiprocessors.", true,
             wave_use},
    Quantity{
        "dram_time", "DRAM time", Unit::second,
        "Time that the op's DRAM bytes take at the measured memory bandwidth. Unknown where launches leave "
        "in the L2 cache what they wrote: their counters do not show then what DRAM moves.",
        false, dram_time},
    Quantity{"conflict_share", "Bank conflicts", Unit::percent,
             "Rounds lost to bank conflicts of shared loads, as a share of all multiprocessors' cycles.",
             false, conflict_share},
    Quantity{"shared_memory", "Shared memory", Unit::byte, "Shared memory of a block, both kinds.", true,
             shared_memory},
    Quantity{
        "local_share", "Local memory instructions", Unit::percent,
        "Loads from local memory and stores to it, of all warp instructions. The presets do not read them: "
        "`--metrics "
        "default,smsp__sass_inst_executed_op_local_ld.sum,smsp__sass_inst_executed_op_local_st.sum`.",
        false, local_share},
    Quantity{"long_scoreboard_share", "Long scoreboard", Unit::percent,
             "Share of a warp's time in which it waited for global or local memory.", true,
             [](Op op) { return stall_share(op, "long_scoreboard"); }},
    Quantity{"short_scoreboard_share", "Short scoreboard", Unit::percent,
             "Share of a warp's time in which it waited for shared memory, indexed constants or special "
             "functions.",
             true, [](Op op) { return stall_share(op, "short_scoreboard"); }},
    Quantity{"barrier_share", "Barrier", Unit::percent,
             "Share of a warp's time in which it waited at a barrier.", true,
             [](Op op) { return stall_share(op, "barrier"); }},
    Quantity{"mio_throttle_share", "MIO throttle", Unit::percent,
             "Share of a warp's time in which the queue for shared memory, indexed constants and special "
             "functions was full.",
             true, [](Op op) { return stall_share(op, "mio_throttle"); }},
    Quantity{"lg_throttle_share", "LG throttle", Unit::percent,
             "Share of a warp's time in which the queue for global and local memory was full.", true,
             [](Op op) { return stall_share(op, "lg_throttle"); }},
    Quantity{"math_pipe_throttle_share", "Math pipe throttle", Unit::percent,
             "Share of a warp's time in which the arithmetic pipe was busy.", true,
             [](Op op) { return stall_share(op, "math_pipe_throttle"); }},
    Quantity{"side_kernel_time", "Time of the other kernels", Unit::second,
             "Time of all kernels of the op but the longest, all launches together.", false,
             side_kernel_time},
    Quantity{"launch_gap", "Time without a kernel", Unit::second,
             "Op time in which no kernel ran: op time less GPU time.", false, launch_gap},
    Quantity{"launch_gap_share", "Share without a kernel", Unit::percent,
             "The same as a share of the op time.", false,
             [](Op op) { return from(op, percentage, "launch_gap", "op_time"); }},
    Quantity{"copy_time", "Copy time", Unit::second,
             "Time in which the GPU copied from or to the host for the op.", false, copy_time},
    Quantity{"copy_bytes", "Copied bytes", Unit::byte, "Bytes of these copies.", false, copy_bytes},
    Quantity{"copy_rate", "Copy rate", Unit::byte_per_second, "Copied bytes over copy time.", false,
             [](Op op) { return from(op, divide, "copy_bytes", "copy_time"); }},
    Quantity{"copy_only_share", "Copying alone", Unit::percent,
             "Share of the traced group time in which the GPU copied and ran no kernel.", false,
             [](Op op) { return from(op, percentage, "gpu_copy_only_time", "traced_group_time"); }},
    Quantity{
        "overlapped_time", "Overlapped time", Unit::second,
        "What running at the same time saved: copies in, copies out and kernels of the op, added up, less "
        "the time in which any of them ran.",
        false, overlapped_time},
    Quantity{"host_time", "Idle for the host", Unit::second,
             "Group time in which the GPU did nothing and the host ran its own code or CUDA calls other than "
             "waiting and allocating.",
             false, host_time},
    Quantity{"sm_clock", "SM clock", Unit::hertz,
             "SM clock under the longest kernel as it was counted. Without that, between timed "
             "executions: by its own cycles or, where these were not counted, by NVML.",
             false, sm_clock_while_timed},
    Quantity{"cores_busy", "Cores busy", Unit::ratio, "CPU time over host time of one execution.", false,
             cores_busy},
    Quantity{"rate_of_core", "FLOP rate of a busy core", Unit::flop_per_second,
             "The op's FLOP rate over the cores busy.", false, rate_of_core},
    Quantity{"cycles_per_instruction", "Cycles per instruction", Unit::ratio,
             "CPU cycles over instructions retired.", false,
             [](Op op) { return from(op, divide, "cycles", "instructions"); }},
    Quantity{"case_user_time", "User CPU time", Unit::second, "CPU time in user mode of one execution.",
             false, [](Op op) { return of_case(op, "user_time"); }},
    Quantity{"case_system_time", "System CPU time", Unit::second, "CPU time in the kernel of one execution.",
             false, [](Op op) { return of_case(op, "system_time"); }},
    Quantity{"system_share", "System share", Unit::percent,
             "Share of the CPU time of one execution that the operating system used.", false, system_share},
    Quantity{"page_faults", "Page faults", Unit::count, "Minor page faults of one execution.", false,
             [](Op op) { return of_case(op, "minor_page_faults"); }},
};

/// Why the counters do not speak for the whole op; nothing when they do.
Why why_partly_counted(const CaseResult& result, const std::string& op,
                       std::span<const KernelCounters> kernels) {
  double launches = 0;
  for (const KernelCounters& kernel : kernels) {
    if (!kernel.launches) return Because::launches_unknown;
    launches += *kernel.launches;
  }
  const Value all = value_of(*result.source, "kernel_count", op);
  if (!kernels.empty() && all && launches + 0.5 < all->median)
    return {Because::launches_uncounted, {}, {launches, all->median}};
  return {};
}

}  // namespace

std::span<const Quantity> quantities() {
  return all_quantities;
}

const Quantity* find_quantity(std::string_view id) {
  const auto found = std::ranges::find(all_quantities, id, &Quantity::id);
  return found == all_quantities.end() ? nullptr : &*found;
}

std::optional<Unit> unit_of(std::string_view id) {
  if (const Quantity* quantity = find_quantity(id)) return quantity->unit;
  const Metric* metric = find_metric(id);
  return metric == nullptr ? std::nullopt : std::optional(metric->unit);
}

bool is_of_longest_kernel(std::string_view id) {
  if (const Quantity* quantity = find_quantity(id)) return quantity->of_longest;
  return is_of_kernels(id) && !adds_up(id);
}

OpReadings::OpReadings(const FamilyResult& family, const CaseResult& result, std::string op)
    : family_(&family), result_(&result) {
  info_.name = std::move(op);
  if (const OpResult* found = result.find_op(info_.name)) info_ = found->info;
  kernels_ = kernels_of(*result.source, info_.name);
  uncounted_ = why_partly_counted(result, info_.name, kernels_);
}

const KernelCounters* OpReadings::longest_kernel() const {
  const auto longest = std::ranges::max_element(kernels_, {}, &KernelCounters::time);
  return longest == kernels_.end() ? nullptr : &*longest;
}

Reading OpReadings::read(std::string_view id) const {
  if (const Quantity* quantity = find_quantity(id)) return quantity->read(*this);
  if (is_of_kernels(id) && adds_up(id) && !uncounted_.empty()) return missing(uncounted_);
  return reading_for(*result_, std::string(id), info_.name);
}

const Reading& OpReadings::of(std::string_view id) const {
  const auto known = known_.find(id);
  if (known != known_.end()) return known->second;
  Reading reading = read(id);
  return known_.emplace(std::string(id), std::move(reading)).first->second;
}

}  // namespace mprof
