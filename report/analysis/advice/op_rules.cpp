// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/analysis/advice/advice.hpp"
#include "report/analysis/reasons/literature.hpp"

/// The rules of the advice: what limits an op, and how much of its time is left without that limit.
namespace mprof {
namespace {
namespace advising {  // so short names are those of other files as well

using Number = std::optional<double>;
using Of = const OpReadings&;

// Sources. Facts are from there; the thresholds are ours.

/// Schedulers that issue in fewer of their cycles have no warp ready too often; above it warps wait for each
/// other. Between the two it is as well the warps that are missing, where occupancy stays below what a
/// multiprocessor can hold.
constexpr double busy_schedulers = 0.6;
constexpr double nearly_full_schedulers = 0.75;
/// A warp that waits for a reason for less of its time gains next to nothing without it.
constexpr double least_stall_share = 0.2;
/// Speed of Light's threshold for what is bound by something, in %, and how far ahead the one that bounds is.
constexpr double bound_throughput = 60;
constexpr double clearly_ahead = 10;
/// The DRAM is what keeps the memory system busy when it comes so near its throughput.
constexpr double near_all = 0.9;
/// Achieved occupancy that is so near the theoretical one is what a launch can reach.
constexpr double near_theoretical = 0.9;
constexpr double low_occupancy = 80;  // %
constexpr double whole_sector = 32;   // B
constexpr double used_sector = 0.8 * whole_sector;
constexpr double lanes = 32;
constexpr double all_of_it = 100;  // %

Number number(Of op, std::string_view id) {
  const Value& value = op.of(id).value;
  return value ? Number(value->median) : std::nullopt;
}

const OpResult* timed_op(Of op) {
  return op.result().find_op(op.info().name);
}

/// s; nullopt where the op time is not the kernels'.
Number op_seconds(Of op) {
  const OpResult* found = timed_op(op);
  if (found == nullptr || found->flaw != OpTimeFlaw::none || !found->op_time) return std::nullopt;
  return found->op_time->median > 0 ? Number(found->op_time->median) : std::nullopt;
}

/// The part of the op's time that its longest kernel takes, all its launches.
Number share_of_longest(Of op) {
  const KernelCounters* kernel = op.longest_kernel();
  const Number time = op_seconds(op);
  if (kernel == nullptr || !kernel->launches || !time || !(kernel->time() > 0)) return std::nullopt;
  return std::min(1.0, kernel->busy() / *time);
}

/// Likewise of all its kernels.
Number share_of_kernels(Of op) {
  const Number time = op_seconds(op);
  if (op.kernels().empty() || !op.uncounted().empty() || !time) return std::nullopt;
  double sum = 0;
  for (const KernelCounters& kernel : op.kernels()) sum += kernel.busy();
  return sum > 0 ? Number(std::min(1.0, sum / *time)) : std::nullopt;
}

/// Amdahl's law for a part of the time that shrinks.
double with_rest(Number share, double left_of_part) {
  return 1 - share.value_or(0) * (1 - left_of_part);
}

Number sm_throughput(Of op) {
  return number(op, counted_sm_throughput);
}

Number memory_system(Of op) {
  return number(op, counted_memory_throughput);
}

Number dram(Of op) {
  return number(op, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
}

/// The longest kernel's rate of DRAM bytes over the one that copying reached on this machine, from 0 to 1.
Number of_measured_bandwidth(Of op) {
  const KernelCounters* kernel = op.longest_kernel();
  const auto& peak = op.family().speed_of_light.peak_bandwidth;
  if (kernel == nullptr || !peak) return std::nullopt;
  const Value bytes = kernel->value("dram__bytes.sum"), time = kernel->value("gpu__time_duration.sum");
  if (!bytes || !time || !(time->median > 0)) return std::nullopt;
  return std::min(1.0, bytes->median / time->median / *peak);
}

/// The busiest unit's share of its peak, from 0 to 1: nothing makes the same work faster than that. DRAM's
/// peak is the measured one, where that is known: nobody reaches the other.
Number busiest(Of op) {
  const Number sm = sm_throughput(op), memory = memory_system(op);
  if (!sm || !memory) return std::nullopt;
  return std::max(std::max(*sm, *memory) / all_of_it, of_measured_bandwidth(op).value_or(0));
}

/// What stays when nothing but waiting goes: issuing, and the bytes that go through DRAM.
double issuing_and_moving(Of op, double issuing) {
  return std::max(issuing, of_measured_bandwidth(op).value_or(0));
}

Number warp_latency(Of op) {
  return number(op, "smsp__average_warp_latency_per_inst_issued.ratio");
}

/// Share of all cycles of all multiprocessors, idle ones as well, in which a scheduler issued: of the longest
/// kernel.
Number issue_use(Of op) {
  const KernelCounters* kernel = op.longest_kernel();
  const auto bottleneck = kernel == nullptr ? std::nullopt : bottleneck_of(*kernel);
  if (!bottleneck || !bottleneck->issue_slots) return std::nullopt;
  return std::min(1.0, *bottleneck->issue_slots / all_of_it);
}

/// Of what the schedulers could issue while the op's kernels ran, the share that they did.
Number issued_of_all(Of op) {
  constexpr double a_cycle = 4;  // of a multiprocessor: one for each of its schedulers
  const Number rate = number(op, "issue_rate");
  return rate ? Number(std::min(1.0, *rate / a_cycle)) : std::nullopt;
}

/// Share of the cycles of multiprocessors that have a warp in which a scheduler issued: warps in flight over
/// the time that one takes for an instruction. What lets these issue more does not fill the others.
Number issue_use_while_active(Of op) {
  constexpr double schedulers = 4;  // of a multiprocessor
  const Number warps = number(op, "sm__warps_active.avg.per_cycle_active"), latency = warp_latency(op);
  if (!warps || !latency || !(*latency > 0)) return std::nullopt;
  return std::min(1.0, *warps / schedulers / *latency);
}

Number achieved_occupancy(Of op) {
  return number(op, "sm__warps_active.avg.pct_of_peak_sustained_active");
}

Number theoretical_occupancy(Of op) {
  return number(op, "sm__maximum_warps_per_active_cycle_pct");
}

/// Fewer than a launch of such blocks can have.
bool is_short_of_warps(Of op) {
  const Number achieved = achieved_occupancy(op), theoretical = theoretical_occupancy(op);
  return achieved && theoretical && *achieved < near_theoretical * *theoretical;
}

/// Whether the schedulers are free because no warp is ready.
bool have_free_schedulers(Of op) {
  const Number use = issue_use(op);
  return use && *use < (is_short_of_warps(op) ? nearly_full_schedulers : busy_schedulers);
}

/// What limits latency matters only then.
bool lacks_warps(Of op) {
  return have_free_schedulers(op) && *issue_use(op) > 0 && share_of_longest(op) && busiest(op);
}

// --- Instructions

bool is_in_half(Of op) {
  return std::ranges::any_of(
      op.kernels(), [&](const KernelCounters& kernel) { return computes_in_half(kernel, op.info()); });
}

/// What the measured peaks allow by the op's FLOPs and bytes, as a share of its time. In FP16 it is the
/// bandwidth alone: nobody measured how fast that arithmetic can be, and a bound that is too low is none. Nor
/// do special functions bound it: another algorithm may need fewer than the definition names.
Number possible(Of op) {
  const OpResult* found = timed_op(op);
  if (found == nullptr || !found->memory_throughput) return std::nullopt;
  double share = found->memory_throughput->median;
  if (!is_in_half(op)) {
    if (!found->compute_throughput) return std::nullopt;
    share = std::max(share, found->compute_throughput->median);
  }
  return share > 0 ? Number(std::min(1.0, share / all_of_it)) : std::nullopt;
}

Number instructions(Of op) {
  return number(op, "smsp__inst_executed.sum");
}

bool uses_tensor_cores(Of op) {
  return std::ranges::any_of(op.kernels(),
                             [](const KernelCounters& kernel) { return tensor_operations(kernel) > 0; });
}

/// An instruction of a tensor core does the work of very different numbers of others.
Number instructions_of_cuda_cores(Of op) {
  return uses_tensor_cores(op) ? std::nullopt : instructions(op);
}

bool is_bound_by_issuing(Of op) {
  const Number all = instructions(op);
  return issue_use(op) && !have_free_schedulers(op) && all && *all > 0 && share_of_kernels(op);
}

/// What is left without any instruction that the definition does not need: the bytes that go through DRAM
/// stay, where they are known.
Number without_overhead(Of op) {
  const Number peaks = possible(op), moving = number(op, "dram_time"), time = op_seconds(op);
  if (!peaks || !time) return std::nullopt;
  return std::min(1.0, std::max(*peaks, moving.value_or(0) / *time));
}

/// Warp instructions that the op's FLOPs need: a multiply-add for 2 of each lane, of FP16 for 4. nullopt with
/// tensor cores, whose instructions compute tiles of several sizes.
Number needed_instructions(Of op) {
  if (uses_tensor_cores(op)) return std::nullopt;
  const double flops_of_lane = is_in_half(op) ? 4 : 2;
  const double needed = op.info().flops / flops_of_lane / lanes;
  return needed > 0 ? Number(needed) : std::nullopt;
}

/// Caches and memory clearly more than multiprocessors: fewer instructions help where accesses are among
/// them.
bool has_busier_memory(Of op) {
  const Number sm = sm_throughput(op), memory = memory_system(op);
  return sm && memory && *memory >= *sm + clearly_ahead;
}

Number fewest_of_any_kind(Of op) {
  const Number needed = needed_instructions(op);
  const bool has_more = needed && is_bound_by_issuing(op) && *needed < *instructions(op);
  return has_more && without_overhead(op) ? needed : std::nullopt;
}

Number fewest_instructions(Of op) {
  return has_busier_memory(op) ? std::nullopt : fewest_of_any_kind(op);
}

Number fewest_accesses(Of op) {
  return has_busier_memory(op) ? fewest_of_any_kind(op) : std::nullopt;
}

double left_by_instructions(Of op, double value) {
  return with_rest(share_of_kernels(op), std::max(value / *instructions(op), *without_overhead(op)));
}

Number additions(Of op) {
  return number(op, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum");
}

Number multiplications(Of op) {
  return number(op, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum");
}

Number unfused(Of op) {
  const Number adds = additions(op), products = multiplications(op);
  return adds && products ? Number((*adds + *products) / lanes) : std::nullopt;
}

/// Each pair can be one instruction.
Number fewest_unfused(Of op) {
  if (!unfused(op) || !is_bound_by_issuing(op)) return std::nullopt;
  return *unfused(op) - 2 * std::min(*additions(op), *multiplications(op)) / lanes;
}

double left_by_fusing(Of op, double value) {
  const double saved = (*unfused(op) - value) / 2;
  const double rest = std::max(1 - saved / *instructions(op), without_overhead(op).value_or(0));
  return with_rest(share_of_kernels(op), issuing_and_moving(op, rest));
}

// --- Warps

Number issue_percent(Of op) {
  const Number use = issue_use(op);
  return use ? Number(all_of_it * *use) : std::nullopt;
}

/// All of the cycles, where most are left. A tensor core's instruction is the work of many others: few of
/// them need few cycles.
Number mostly_free_schedulers(Of op) {
  const bool free = lacks_warps(op) && *issue_use(op) < busy_schedulers && !uses_tensor_cores(op);
  return free ? Number(all_of_it) : std::nullopt;
}

/// Of what grows with the warps that are ready, up to what the busiest unit allows.
double left_by_growth(Of op, double before, double after) {
  return with_rest(share_of_longest(op), std::max(before / after, *busiest(op)));
}

/// Likewise with the warps of a multiprocessor that has some.
double left_by_more_warps(Of op, double before, double after) {
  const double fullest = issue_use_while_active(op).value_or(0);
  return with_rest(share_of_longest(op), std::max({before / after, *busiest(op), fullest}));
}

Number reachable_occupancy(Of op) {
  const bool can_rise = is_short_of_warps(op) && *achieved_occupancy(op) > 0 && lacks_warps(op);
  return can_rise ? theoretical_occupancy(op) : std::nullopt;
}

/// Without the tightest of the limits: the next one stays. That of warps is the multiprocessor's own.
Number next_occupancy(Of op) {
  constexpr std::array limits{"registers", "shared_mem", "blocks", "warps"};
  const Number theoretical = theoretical_occupancy(op);
  std::array<double, limits.size()> blocks{};
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const Number allowed = number(op, fmt::format("launch__occupancy_limit_{}", limits[i]));
    if (!allowed || !(*allowed > 0)) return std::nullopt;
    blocks[i] = *allowed;
  }
  std::ranges::sort(blocks);
  return theoretical ? Number(std::min(all_of_it, *theoretical * blocks[1] / blocks[0])) : std::nullopt;
}

Number higher_occupancy(Of op) {
  const Number theoretical = theoretical_occupancy(op), next = next_occupancy(op);
  if (!next || !(*theoretical > 0) || !lacks_warps(op)) return std::nullopt;
  return *theoretical<low_occupancy&& * next> * theoretical ? next : std::nullopt;
}

Number whole_waves(Of op) {
  const Number use = number(op, "wave_use");
  return use && *use > 0 && share_of_longest(op) && busiest(op) ? Number(all_of_it) : std::nullopt;
}

// --- Stalls

Number stall(Of op, std::string_view reason) {
  return number(op, fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", reason));
}

Number without_stall(Of op, std::string_view reason) {
  const Number cycles = stall(op, reason), latency = warp_latency(op);
  if (!cycles || !latency || !lacks_warps(op) || *cycles < least_stall_share * *latency) return std::nullopt;
  return 0;
}

/// `floor`: what the schedulers, or the units that the reason has nothing to do with, allow.
double left_by_stall(Of op, std::string_view reason, double value, double floor) {
  const double latency = *warp_latency(op), without = (latency - *stall(op, reason) + value) / latency;
  return with_rest(share_of_longest(op), std::max({without, floor, issue_use_while_active(op).value_or(0)}));
}

/// Likewise of one that neither the arithmetic nor the caches have to do with.
double left_by_waiting(Of op, std::string_view reason, double value) {
  return left_by_stall(op, reason, value, issuing_and_moving(op, *issue_use(op)));
}

// --- Memory

Number used_of_sector(Of op) {
  return number(op, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio");
}

/// Of a warp's time, waiting for global and local memory or for room in its queue.
Number waiting_for_memory(Of op) {
  const Number loads = stall(op, "long_scoreboard"), queue = stall(op, "lg_throttle"), all = warp_latency(op);
  return loads && queue && all && *all > 0 ? Number((*loads + *queue) / *all) : std::nullopt;
}

Number whole_sectors(Of op) {
  const Number used = used_of_sector(op);
  const bool known = waiting_for_memory(op) && issue_use(op) && share_of_longest(op);
  return known && used && *used > 0 && *used < used_sector ? Number(whole_sector) : std::nullopt;
}

double left_by_sectors(Of op, double value) {
  const double fewer = 1 - *used_of_sector(op) / value;
  return with_rest(share_of_longest(op), std::max(1 - fewer * *waiting_for_memory(op), *issue_use(op)));
}

Number no_conflicts(Of op) {
  return number(op, "conflict_share") && issue_use(op) && dram(op) && share_of_kernels(op) ? Number(0)
                                                                                           : std::nullopt;
}

double left_by_conflicts(Of op, double value) {
  const double lost = (*number(op, "conflict_share") - value) / all_of_it;
  return with_rest(share_of_kernels(op),
                   std::max({1 - lost, issuing_and_moving(op, *issue_use(op)), *dram(op) / all_of_it}));
}

/// Cycles in which the busiest part of the memory system worked, in all launches of the longest kernel.
Number memory_cycles(Of op) {
  const KernelCounters* kernel = op.longest_kernel();
  const Number memory = memory_system(op);
  if (kernel == nullptr || !kernel->launches || !memory) return std::nullopt;
  const Value cycles = kernel->value("gpc__cycles_elapsed.max");
  return cycles ? Number(*memory / all_of_it * cycles->median * *kernel->launches) : std::nullopt;
}

/// What the next busiest unit leaves.
Number next_limit(Of op) {
  const Number sm = sm_throughput(op), memory = memory_system(op), off_chip = dram(op);
  if (!sm || !memory || !off_chip || !(*memory > 0)) return std::nullopt;
  return std::max(*sm, *off_chip) / *memory;
}

Number fewest_memory_cycles(Of op) {
  const Number cycles = memory_cycles(op), next = next_limit(op);
  if (!cycles || !next || !share_of_longest(op)) return std::nullopt;
  const double memory = *memory_system(op);
  const bool caches_bound = memory >= bound_throughput && memory >= *sm_throughput(op) + clearly_ahead &&
                            *dram(op) < near_all * memory;
  return caches_bound ? Number(*cycles * *next) : std::nullopt;
}

double left_by_memory_cycles(Of op, double value) {
  return with_rest(share_of_longest(op), std::max(value / *memory_cycles(op), *next_limit(op)));
}

Number full_bandwidth(Of op) {
  const Number off_chip = dram(op), sm = sm_throughput(op);
  if (!off_chip || !sm || !share_of_longest(op)) return std::nullopt;
  if (*off_chip < bound_throughput || *off_chip <= *sm) return std::nullopt;
  const Number reached = of_measured_bandwidth(op);
  return reached && *reached > 0 ? std::min(all_of_it, *off_chip / *reached) : all_of_it;
}

double left_by_bandwidth(Of op, double value) {
  return with_rest(share_of_longest(op), *dram(op) / value);
}

/// nullopt where they are not what DRAM moves for the op: the time of the bytes says it.
Number dram_bytes(Of op) {
  return number(op, "dram_time") ? number(op, "dram__bytes.sum") : std::nullopt;
}

/// What the definition needs, but for what may stay in the L2 cache at the end; nullopt where that is all.
Number needed_bytes(Of op) {
  const auto& stays = op.family().speed_of_light.l2_capacity;
  return stays && *stays < op.info().bytes ? Number(op.info().bytes - *stays) : std::nullopt;
}

Number fewest_bytes(Of op) {
  const Number bytes = dram_bytes(op);
  return bytes && op_seconds(op) && *bytes > op.info().bytes ? needed_bytes(op) : std::nullopt;
}

double left_by_bytes(Of op, double value) {
  const double one_byte = 1 / *op.family().speed_of_light.peak_bandwidth / *op_seconds(op);
  const double issuing = share_of_kernels(op).value_or(0) * issued_of_all(op).value_or(0);
  return std::max({1 - (*dram_bytes(op) - value) * one_byte, *needed_bytes(op) * one_byte, issuing});
}

// --- Between kernels, and the op with its stages

Number no_gaps(Of op) {
  const Number launches = number(op, "launch_count");
  return number(op, "launch_gap") && launches && *launches > 1 && op_seconds(op) ? Number(0) : std::nullopt;
}

double left_by_gaps(Of op, double value) {
  return 1 - (*number(op, "launch_gap") - value) / *op_seconds(op);
}

Number group_seconds(Of op) {
  const Number time = number(op, "traced_group_time");
  return time && *time > 0 ? time : std::nullopt;
}

/// s, in which the GPU worked for the op, by what it did.
struct GroupWork {
  double kernels = 0;
  double copying_only = 0;
  double in = 0;
  double out = 0;

  /// What could go on beside the longest of the three.
  [[nodiscard]] double could_hide() const { return kernels + in + out - std::max({kernels, in, out}); }
  [[nodiscard]] double hidden() const { return std::clamp(in + out - copying_only, 0.0, could_hide()); }
};

std::optional<GroupWork> group_work(Of op) {
  const Number kernels = number(op, "gpu_kernel_time"), only = number(op, "gpu_copy_only_time"),
               in = number(op, "copy_in_time"), out = number(op, "copy_out_time");
  if (!kernels || !only || !in || !out || !group_seconds(op)) return std::nullopt;
  return GroupWork{*kernels, *only, *in, *out};
}

/// What the larger direction of the op's copies takes at the rate that was measured with pinned memory, as a
/// share of its group time: the link is busy for so long, whatever is hidden behind it. 0: not known.
double on_the_link(Of op) {
  const Number in = number(op, "copy_in_bytes"), out = number(op, "copy_out_bytes");
  const auto& rate = op.family().speed_of_light.peak_copy_rate;
  const OpResult* found = timed_op(op);
  if (!in || !out || !rate || found == nullptr || !found->group_time) return 0;
  return std::min(1.0, std::max(*in, *out) / *rate / found->group_time->median);
}

/// Of the group time, as traced: no less than the link takes.
double left_of_group(Of op, double seconds_less) {
  return std::max(1 - seconds_less / *group_seconds(op), on_the_link(op));
}

Number hidden_share(Of op) {
  const auto work = group_work(op);
  if (!work || !(work->could_hide() > 0)) return std::nullopt;
  return all_of_it * work->hidden() / work->could_hide();
}

Number all_hidden(Of op) {
  return hidden_share(op) ? Number(all_of_it) : std::nullopt;
}

double left_by_hiding(Of op, double value) {
  const double more = (value - *hidden_share(op)) / all_of_it;
  return left_of_group(op, group_work(op)->could_hide() * more);
}

Number copy_rate(Of op) {
  return number(op, "copy_rate");
}

/// As the quantity copy_rate, without reading anything else of the case.
Number copy_rate_of(const CaseResult& result, const std::string& op) {
  double bytes = 0, seconds = 0;
  for (const char* way : {"copy_in", "copy_out"}) {
    const Value moved = value_of(*result.source, fmt::format("{}_bytes", way), op);
    const Value time = value_of(*result.source, fmt::format("{}_time", way), op);
    if (!moved || !time) return std::nullopt;
    bytes += moved->median;
    seconds += time->median;
  }
  return seconds > 0 ? Number(bytes / seconds) : std::nullopt;
}

/// The highest that was measured with pinned memory, or that a case of the family reached for this op at
/// this problem.
Number best_copy_rate(Of op) {
  if (!copy_rate(op) || !(*copy_rate(op) > 0) || !group_work(op)) return std::nullopt;
  Number best = op.family().speed_of_light.peak_copy_rate;
  for (const VariantResult& variant : op.family().variants) {
    const CaseResult* other = variant.representative(op.result().key.problem);
    if (other == nullptr || !other->ok() || other->find_op(op.info().name) == nullptr) continue;
    const Number rate = copy_rate_of(*other, op.info().name);
    if (rate && (!best || *rate > *best)) best = rate;
  }
  return best;
}

double left_by_copy_rate(Of op, double value) {
  return left_of_group(op, group_work(op)->copying_only * (1 - *copy_rate(op) / value));
}

Number none_of(Of op, std::string_view idle) {
  return number(op, idle) && group_seconds(op) ? Number(0) : std::nullopt;
}

double left_by_idle(Of op, std::string_view idle, double value) {
  return left_of_group(op, *number(op, idle) - value);
}

/// What counts differ by from one reading to the next.
constexpr double of_counts = 0.05;

constexpr std::string_view issuing = "schedulers are busy";
constexpr std::string_view starving_stall = "schedulers are free, and it is 20 % of a warp's time or more";

constexpr std::array all_advice_rules{
    OpAdviceRule{
        {"instructions", "Execute fewer CUDA-core instructions", "warp instructions", Unit::count, true,
         "op_time", of_counts, "schedulers are busy, and the definition's FLOPs need fewer",
         "max(after / before, what FLOPs and bytes take at the measured peaks / op time, DRAM bytes / "
         "bandwidth / op time)",
         literature::time_equation},
        instructions_of_cuda_cores,
        fewest_instructions,
        left_by_instructions},
    OpAdviceRule{
        {"instructions_and_accesses", "Execute fewer CUDA-core instructions, loads and stores among them",
         "warp instructions", Unit::count, true, "op_time", of_counts,
         "schedulers are busy, memory throughput is 10 points above SM throughput, and the definition's "
         "FLOPs need fewer",
         "max(after / before, what FLOPs and bytes take at the measured peaks / op time, DRAM bytes / "
         "bandwidth / op time)",
         literature::time_equation},
        instructions_of_cuda_cores,
        fewest_accesses,
        left_by_instructions},
    OpAdviceRule{{"unfused_arithmetic", "Turn additions and multiplications into multiply-adds",
                  "FP32 additions and multiplications, as warp instructions", Unit::count, true, "op_time",
                  of_counts, issuing,
                  "max(1 − (before − after) / 2 / warp instructions, what FLOPs and bytes take at the "
                  "measured peaks / op time, DRAM bytes / bandwidth / op time)",
                  literature::profiling_guide},
                 unfused,
                 fewest_unfused,
                 left_by_fusing},
    OpAdviceRule{{"launch_gaps", "Leave no gaps between kernels", "op time without a kernel", Unit::second,
                  true, "op_time", of_one_trace, "it was measured, and there are several kernels",
                  "1 − (before − after) / op time", literature::execution_configuration},
                 [](Of op) { return number(op, "launch_gap"); },
                 no_gaps,
                 left_by_gaps},
    OpAdviceRule{{"partial_waves", "Launch blocks for whole waves", "use of waves", Unit::percent, false,
                  "op_time", of_counts, "it was measured", "max(before / after, busiest unit / its peak)",
                  literature::execution_configuration},
                 [](Of op) { return number(op, "wave_use"); },
                 whole_waves,
                 [](Of op, double value) { return left_by_growth(op, *number(op, "wave_use"), value); }},
    OpAdviceRule{{"idle_multiprocessors", "Keep all multiprocessors at work until a kernel ends",
                  "cycles in which a multiprocessor had a warp", Unit::percent, false, "op_time", of_counts,
                  "it was measured", "max(before / after, busiest unit / its peak)",
                  literature::execution_configuration},
                 [](Of op) { return number(op, "active_share"); },
                 [](Of op) {
                   const Number share = number(op, "active_share");
                   const bool known = share && *share > 0 && share_of_longest(op) && busiest(op);
                   return known ? Number(all_of_it) : std::nullopt;
                 },
                 [](Of op, double value) { return left_by_growth(op, *number(op, "active_share"), value); }},
    OpAdviceRule{
        {"theoretical_occupancy", "Let a multiprocessor hold more warps", "theoretical occupancy",
         Unit::percent, false, "op_time", of_counts,
         "it is below 80 %, one limit alone is the tightest, and schedulers are free",
         "max(before / after, busiest unit / its peak, issuing while active)", literature::latency_hiding},
        theoretical_occupancy,
        higher_occupancy,
        [](Of op, double value) { return left_by_more_warps(op, *theoretical_occupancy(op), value); }},
    OpAdviceRule{
        {"achieved_occupancy", "Keep as many warps as a multiprocessor can hold",
         "achieved occupancy of multiprocessors that have a block", Unit::percent, false, "op_time",
         of_counts, "it is below 90 % of the theoretical one, and schedulers are free",
         "max(before / after, busiest unit / its peak, issuing while active)", literature::latency_hiding},
        achieved_occupancy,
        reachable_occupancy,
        [](Of op, double value) { return left_by_more_warps(op, *achieved_occupancy(op), value); }},
    OpAdviceRule{
        {"issue_slots", "Have a warp ready in more cycles", "elapsed cycles in which a scheduler issued",
         Unit::percent, false, "op_time", of_counts, "it is below 60 %, and no tensor core computes",
         "max(before / after, busiest unit / its peak)", literature::profiling_guide},
        issue_percent,
        mostly_free_schedulers,
        [](Of op, double value) { return left_by_growth(op, *issue_percent(op), value); }},
    OpAdviceRule{
        {"long_scoreboard", "Wait less for global and local memory", "stalled cycles per issued instruction",
         Unit::ratio, true, "op_time", of_counts, starving_stall,
         "max((warp cycles − before + after) / warp cycles, busiest unit / its peak, issuing while active)",
         literature::profiling_guide},
        [](Of op) { return stall(op, "long_scoreboard"); },
        [](Of op) { return without_stall(op, "long_scoreboard"); },
        [](Of op, double value) { return left_by_stall(op, "long_scoreboard", value, *busiest(op)); }},
    OpAdviceRule{
        {"barrier", "Wait less at barriers", "stalled cycles per issued instruction", Unit::ratio, true,
         "op_time", of_counts, starving_stall,
         "max((warp cycles − before + after) / warp cycles, busiest unit / its peak, issuing while active)",
         literature::profiling_guide},
        [](Of op) { return stall(op, "barrier"); },
        [](Of op) { return without_stall(op, "barrier"); },
        [](Of op, double value) { return left_by_stall(op, "barrier", value, *busiest(op)); }},
    OpAdviceRule{
        {"short_scoreboard", "Wait less for shared memory, constants and special functions",
         "stalled cycles per issued instruction", Unit::ratio, true, "op_time", of_counts, starving_stall,
         "max((warp cycles − before + after) / warp cycles, issuing while active, DRAM)",
         literature::profiling_guide},
        [](Of op) { return stall(op, "short_scoreboard"); },
        [](Of op) { return without_stall(op, "short_scoreboard"); },
        [](Of op, double value) { return left_by_waiting(op, "short_scoreboard", value); }},
    OpAdviceRule{
        {"mio_throttle", "Ask less often for shared memory, constants and special functions",
         "stalled cycles per issued instruction", Unit::ratio, true, "op_time", of_counts, starving_stall,
         "max((warp cycles − before + after) / warp cycles, issuing while active, DRAM)",
         literature::profiling_guide},
        [](Of op) { return stall(op, "mio_throttle"); },
        [](Of op) { return without_stall(op, "mio_throttle"); },
        [](Of op, double value) { return left_by_waiting(op, "mio_throttle", value); }},
    OpAdviceRule{
        {"lg_throttle", "Ask less often for global and local memory", "stalled cycles per issued instruction",
         Unit::ratio, true, "op_time", of_counts, starving_stall,
         "max((warp cycles − before + after) / warp cycles, issuing while active, DRAM)",
         literature::profiling_guide},
        [](Of op) { return stall(op, "lg_throttle"); },
        [](Of op) { return without_stall(op, "lg_throttle"); },
        [](Of op, double value) { return left_by_waiting(op, "lg_throttle", value); }},
    OpAdviceRule{
        {"coalescing", "Let neighbouring threads load neighbouring bytes",
         "bytes used of each 32-byte sector that global loads fetch", Unit::byte, false, "op_time", of_counts,
         "it is below 25.6 B",
         "max(1 − (1 − before / after) × (long scoreboard + LG throttle) / warp cycles, issuing cycles)",
         literature::memory_optimizations},
        used_of_sector,
        whole_sectors,
        left_by_sectors},
    OpAdviceRule{
        {"bank_conflicts", "Let lanes meet in no bank of shared memory", "cycles lost to bank conflicts",
         Unit::percent, true, "op_time", of_counts, "it was measured",
         "max(1 − (before − after), issuing cycles, DRAM)", literature::memory_optimizations},
        [](Of op) { return number(op, "conflict_share"); },
        no_conflicts,
        left_by_conflicts},
    OpAdviceRule{
        {"cache_bandwidth", "Move less through the caches and shared memory",
         "busy cycles of the memory system", Unit::count, true, "op_time", of_counts,
         "memory throughput is 60 % or more and 10 points above SM throughput, and DRAM throughput is "
         "below 90 % of it",
         "max(after / before, next busiest unit / memory throughput)", literature::roofline},
        memory_cycles,
        fewest_memory_cycles,
        left_by_memory_cycles},
    OpAdviceRule{{"dram_bandwidth", "Use more of the DRAM's bandwidth", "DRAM throughput", Unit::percent,
                  false, "op_time", of_counts, "it is 60 % or more, and above SM throughput",
                  "before / after, at best the measured bandwidth", literature::roofline},
                 dram,
                 full_bandwidth,
                 left_by_bandwidth},
    OpAdviceRule{{"dram_traffic", "Move fewer bytes through DRAM", "DRAM bytes", Unit::byte, true, "op_time",
                  of_counts, "they are more than the op's definition needs, and what DRAM moves",
                  "max(1 − (before − after) / bandwidth / op time, after at best / bandwidth / op time, "
                  "issue slots used)",
                  literature::roofline},
                 dram_bytes,
                 fewest_bytes,
                 left_by_bytes},
    OpAdviceRule{
        {"serial_copies", "Copy while kernels run, and both ways at once",
         "of the kernels and copies that could go on beside others, the share that does", Unit::percent,
         false, "group_time", of_counts, "it was traced",
         "max(1 − (after − before) × (kernels + copies in + copies out − the longest of them) / group time, "
         "on the link)",
         literature::data_transfer},
        hidden_share,
        all_hidden,
        left_by_hiding},
    OpAdviceRule{{"copy_rate", "Copy faster, from pinned memory", "copy rate", Unit::byte_per_second, false,
                  "group_time", of_copy_rates,
                  "pinned memory, as measured, or another variant copies faster by three quarters",
                  "max(1 − copying alone × (1 − before / after) / group time, on the link)",
                  literature::data_transfer},
                 copy_rate,
                 best_copy_rate,
                 left_by_copy_rate},
    OpAdviceRule{
        {"allocation", "Allocate and free memory once, outside of what is timed",
         "time in which the GPU was idle while the host did", Unit::second, true, "group_time", of_one_trace,
         "it was traced", "max(1 − (before − after) / group time, on the link)", literature::data_transfer},
        [](Of op) { return number(op, "gpu_idle_allocation_time"); },
        [](Of op) { return none_of(op, "gpu_idle_allocation_time"); },
        [](Of op, double value) { return left_by_idle(op, "gpu_idle_allocation_time", value); }},
    OpAdviceRule{
        {"synchronization", "Let the host not wait for the GPU before it gives it work",
         "time in which the GPU was idle while the host waited", Unit::second, true, "group_time",
         of_one_trace, "it was traced", "max(1 − (before − after) / group time, on the link)",
         literature::execution_configuration},
        [](Of op) { return number(op, "gpu_idle_synchronization_time"); },
        [](Of op) { return none_of(op, "gpu_idle_synchronization_time"); },
        [](Of op, double value) { return left_by_idle(op, "gpu_idle_synchronization_time", value); }},
    OpAdviceRule{{"host_code", "Give the GPU work while the host computes",
                  "time in which the GPU was idle while the host ran its own code or other CUDA calls",
                  Unit::second, true, "group_time", of_one_trace, "it was traced",
                  "max(1 − (before − after) / group time, on the link)", literature::execution_configuration},
                 [](Of op) { return number(op, "host_time"); },
                 [](Of op) { return none_of(op, "host_time"); },
                 [](Of op, double value) { return left_by_idle(op, "host_time", value); }},
};

}  // namespace advising
}  // namespace

std::optional<double> share_at_peaks(const OpReadings& op) {
  return advising::possible(op);
}

std::span<const OpAdviceRule> op_advice_rules() {
  return advising::all_advice_rules;
}

std::string advice_rules_as_markdown() {
  std::string text =
      "\n| rule | advice | limit | fires where | share of the time that is left | of which time | source |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const AdviceRule* rule : advice_rules()) {
    text += fmt::format("| `{}` | {} | {} ({}) | {} | {} | {} | {} |\n", rule->id, rule->advice, rule->limit,
                        rule->lower ? "lower" : "higher", rule->fires, rule->formula,
                        Words().time(rule->time), rule->source);
  }
  return text;
}

}  // namespace mprof
