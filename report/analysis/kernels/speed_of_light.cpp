// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/speed_of_light.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "model/facts.hpp"
#include "model/metric.hpp"
#include "model/metric_presets.hpp"
#include "model/parts.hpp"
#include "report/analysis/analysis.hpp"

namespace mprof {
namespace {

// The rules of Nsight Compute's Speed-of-Light section, in percent and percentage points.
constexpr double latency_below = 60;
constexpr double balanced_within = 10;
constexpr double near_limit_above = 80;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> occupancy_limits{{
    {"launch__occupancy_limit_registers", "registers"},
    {"launch__occupancy_limit_shared_mem", "shared memory"},
    {"launch__occupancy_limit_warps", "warps"},
    {"launch__occupancy_limit_blocks", "blocks"},
}};

// --- One kernel

/// Parts of the multiprocessors and of the memory system by the metrics of their own. The pipes of memory
/// instructions are those for shared memory and constants as well.
using CountedPart = std::pair<std::string_view, std::string_view>;
constexpr std::string_view memory_instructions = "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view constant_port = "idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view lsu_pipe = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed";
constexpr std::array<CountedPart, 8> compute_parts{{
    {constant_port, "constant port"},
    {memory_instructions, "memory-instruction pipes"},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", tensor_pipe},
    {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", "FMA pipe"},
    {"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", "ALU pipe"},
    {"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed", "FP64 pipe"},
    {lsu_pipe, "LSU pipe"},
    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed", "XU pipe"},
}};
constexpr std::string_view tf32_operations = "sm__ops_path_tensor_src_tf32_dst_fp32.sum";
constexpr std::string_view fp16_operations = "sm__ops_path_tensor_src_fp16.sum";
constexpr std::string_view tf32_tensor_ceiling = "tf32_tensor_flop_rate";
constexpr std::string_view fp16_tensor_ceiling = "fp16_tensor_flop_rate";
constexpr std::string_view dram_throughput = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::array<CountedPart, 3> memory_parts{{
    {dram_throughput, "DRAM"},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1/TEX"},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2"},
}};

std::optional<double> percent_of(const KernelCounters& kernel, std::string_view metric) {
  const Value value = kernel.value(metric);
  return value ? std::optional(value->median) : std::nullopt;
}

std::optional<double> issue_slots_of(const KernelCounters& kernel) {
  constexpr double schedulers = 4;  // of a multiprocessor
  const auto executed = percent_of(kernel, "smsp__inst_executed.sum"),
             cycles = percent_of(kernel, "gpc__cycles_elapsed.max"), units = multiprocessors_of(kernel);
  if (!executed || !cycles || !units || !(*cycles > 0) || !(*units > 0)) return std::nullopt;
  return 100 * *executed / *cycles / *units / schedulers;
}

/// What two replays and cycles of idle multiprocessors make of one throughput, in points.
constexpr double as_busy = 3;

/// A throughput is that of its busiest part: the counted one that is as busy.
std::optional<BusyPart> part_behind(double throughput, const std::vector<BusyPart>& parts) {
  std::optional<BusyPart> nearest;
  for (const BusyPart& part : parts) {
    const double apart = std::abs(part.percent - throughput);
    if (apart <= as_busy && (!nearest || apart < std::abs(nearest->percent - throughput))) nearest = part;
  }
  return nearest;
}

/// The pipes of memory instructions are several: where one of them, or the port behind them, is as busy as
/// all, it is what the reader wants to know.
std::optional<BusyPart> compute_part_behind(double throughput, std::vector<BusyPart> parts) {
  const std::optional<BusyPart> nearest = part_behind(throughput, parts);
  if (!nearest || nearest->metric != memory_instructions) return nearest;
  std::erase_if(parts,
                [](const BusyPart& part) { return part.metric != constant_port && part.metric != lsu_pipe; });
  const std::optional<BusyPart> one = part_behind(throughput, parts);
  return one ? one : nearest;
}

std::vector<BusyPart> counted_parts(const KernelCounters& kernel, std::span<const CountedPart> parts) {
  std::vector<BusyPart> counted;
  for (const auto& [metric, name] : parts) {
    if (const auto percent = percent_of(kernel, metric)) counted.push_back({name, *percent, metric});
  }
  return counted;
}

std::vector<PipeShare> mix_of(const KernelCounters& kernel) {
  constexpr std::string_view label_head = "Instructions: ";
  std::vector<PipeShare> mix;
  for (const Metric& metric : hardware_metrics()) {
    const bool is_tensor = metric.id == "sm__inst_executed_pipe_tensor.sum";
    if (!metric.label.starts_with(label_head) && !is_tensor) continue;
    const Value executed = kernel.value(metric.id);
    if (!executed) continue;
    mix.push_back(
        {is_tensor ? "tensor" : std::string(metric.label.substr(label_head.size())), executed->median});
  }
  // Where pipes were not asked for, the tensor pipe alone is no mix.
  return mix.size() > 1 ? mix : std::vector<PipeShare>{};
}

/// Bytes a second that the L2 cache can look up at the most: what it can a cycle, at the clock that it had.
std::optional<double> l2_bandwidth(const KernelCounters& kernel) {
  const Value a_cycle = kernel.value("lts__t_bytes.sum.peak_sustained"),
              clock = kernel.value("lts__cycles_elapsed.avg.per_second");
  if (!a_cycle || !clock) return std::nullopt;
  return a_cycle->median * clock->median;
}

/// The same of all L1 caches. Their counter's peak is that of tags, four times as many as data can follow: a
/// multiprocessor gives its warps 128 bytes a cycle, from Volta to Hopper.
std::optional<double> l1_bandwidth(const KernelCounters& kernel) {
  constexpr double bytes_a_cycle = 128;
  const std::optional<double> multiprocessors = multiprocessors_of(kernel);
  const Value clock = kernel.value("l1tex__cycles_elapsed.avg.per_second");
  if (!multiprocessors || !clock) return std::nullopt;
  return bytes_a_cycle * *multiprocessors * clock->median;
}

std::optional<CacheTraffic> traffic_through(const Value& bytes, std::optional<double> bandwidth, double flops,
                                            double time) {
  if (!bytes || !(bytes->median > 0)) return std::nullopt;
  CacheTraffic traffic{bytes->median, flops / bytes->median, {}};
  if (bandwidth && *bandwidth > 0) traffic.of_peak = bytes->median / time / *bandwidth;
  return traffic;
}

/// Additions and multiplications are one operation, a multiply-add is two; nullopt where one is unknown.
std::optional<double> flops_in(const KernelCounters& kernel, char precision) {
  double flops = 0;
  for (const auto& [operation, weight] :
       {std::pair{"add", 1.0}, std::pair{"mul", 1.0}, std::pair{"fma", 2.0}}) {
    const Value executed = kernel.value("smsp__sass_thread_inst_executed_op_" + std::string(1, precision) +
                                        operation + "_pred_on.sum");
    if (!executed) return std::nullopt;
    flops += weight * executed->median;
  }
  return flops;
}

/// The measured roof that a kernel's arithmetic is under.
std::optional<double> peak_for(const KernelCounters& kernel, const SpeedOfLight& roofs) {
  const std::string_view tensor = tensor_ceiling(kernel);
  if (tensor.empty()) return roofs.peak_flop_rate;
  return tensor == fp16_tensor_ceiling ? roofs.peak_fp16_rate : roofs.peak_tf32_rate;
}

std::optional<RooflinePoint> roofline_of(const KernelCounters& kernel, const OpInfo& op,
                                         const SpeedOfLight& roofs) {
  const std::optional<double> flops = executed_flops(kernel, op);
  const Value bytes = kernel.value("dram__bytes.sum"), time = kernel.value("gpu__time_duration.sum");
  if (!flops || !bytes || !time) return std::nullopt;
  if (!(*flops > 0) || !(bytes->median > 0) || !(time->median > 0)) return std::nullopt;
  RooflinePoint point;
  point.flops = *flops;
  point.bytes = bytes->median;
  point.intensity = *flops / bytes->median;
  point.rate = *flops / time->median;
  point.tensor_cores = tensor_operations(kernel) > 0;
  // Copies in bulk pass it by: what went through it is not what the arithmetic lived on.
  if (const Value through_l1 = kernel.value("l1tex__t_bytes.sum");
      through_l1 && through_l1->median >= bytes->median)
    point.l1 = traffic_through(through_l1, l1_bandwidth(kernel), *flops, time->median);
  point.l2 = traffic_through(kernel.value("lts__t_bytes.sum"), l2_bandwidth(kernel), *flops, time->median);
  const std::optional<double> peak = peak_for(kernel, roofs);
  if (peak && roofs.peak_bandwidth)
    point.of_roof = point.rate / std::min(*peak, point.intensity * *roofs.peak_bandwidth);
  return point;
}

// --- The kernels of a case

/// Marks the kernel of each op that takes the longest, and gives each its share of the op.
void weigh(std::vector<KernelResult>& kernels) {
  std::map<std::string, double> total;
  std::map<std::string, KernelResult*> longest;
  for (KernelResult& kernel : kernels) {
    const std::string& op = kernel.counters.op;
    total[op] += kernel.counters.time();
    KernelResult*& most = longest[op];
    if (most == nullptr || kernel.counters.time() > most->counters.time()) most = &kernel;
  }
  for (auto& [op, kernel] : longest) kernel->longest = true;
  for (KernelResult& kernel : kernels) {
    const double sum = total[kernel.counters.op];
    if (sum > 0) kernel.share = kernel.counters.time() / sum;
  }
}

std::vector<KernelResult> kernels_of_case(const VariantResult& variant, const CaseResult& result,
                                          const SpeedOfLight& roofs) {
  std::vector<KernelResult> kernels;
  std::vector<KernelCounters> counted = kernels_of(*result.source);
  std::map<std::string, std::vector<KernelCounters>> of_ops;
  for (const KernelCounters& counters : counted) of_ops[counters.op].push_back(counters);
  for (KernelCounters& counters : counted) {
    KernelResult kernel;
    kernel.variant = &variant;
    kernel.result = &result;
    kernel.bottleneck = bottleneck_of(counters);
    kernel.limited_by = occupancy_limits_of(counters);
    kernel.stalls = stalls_of(counters);
    kernel.pipes = counted_parts(counters, compute_parts);
    if (kernel.bottleneck && kernel.bottleneck->issue_slots)
      kernel.pipes.insert(kernel.pipes.begin(), BusyPart{issue_slots, *kernel.bottleneck->issue_slots});
    kernel.mix = mix_of(counters);
    const OpResult* op = result.find_op(counters.op);
    const OpInfo info = op == nullptr ? OpInfo{} : op->info;
    kernel.no_roofline = why_dram_untold(of_ops[counters.op], info, roofs.l2_capacity);
    if (kernel.no_roofline.empty()) kernel.roofline = roofline_of(counters, info, roofs);
    kernel.counters = std::move(counters);
    kernels.push_back(std::move(kernel));
  }
  weigh(kernels);
  return kernels;
}

/// The baseline's kernel of the same name; for the longest kernel of an op the baseline's longest one.
const KernelResult* kernel_before(const std::vector<KernelResult>& all, const KernelResult& kernel) {
  const KernelResult* longest = nullptr;
  for (const KernelResult& other : all) {
    if (other.result->id != kernel.result->baseline || other.counters.op != kernel.counters.op) continue;
    if (other.counters.kernel == kernel.counters.kernel) return &other;
    if (other.longest) longest = &other;
  }
  return kernel.longest ? longest : nullptr;
}

void compare_with_baselines(std::vector<KernelResult>& kernels) {
  for (KernelResult& kernel : kernels) {
    if (kernel.result->baseline.empty()) continue;
    const KernelResult* before = kernel_before(kernels, kernel);
    if (before == nullptr) continue;
    kernel.before = KernelBefore{before->variant->info.id, before->counters.kernel,
                                 before->counters.value(counted_sm_throughput),
                                 before->counters.value(counted_memory_throughput), before->bottleneck};
  }
}

// --- The family

bool has_kernels(const Case& c) {
  const PassResult* pass = find_pass(c, Pass::counters);
  return pass != nullptr &&
         std::any_of(pass->measurements.begin(), pass->measurements.end(),
                     [](const Measurement& m) { return !m.kernel.empty() && !m.samples.empty(); });
}

const CaseResult* counted_case(const VariantResult& variant, const Problem& problem) {
  const CaseResult* result = variant.representative(problem);
  return result != nullptr && result->ok() && has_kernels(*result->source) ? result : nullptr;
}

/// nullopt when no variant was counted anywhere.
std::optional<Problem> best_counted_problem(const FamilyResult& family) {
  std::optional<Problem> best;
  std::ptrdiff_t most = 0;
  for (const Problem& problem : family.problems) {
    const auto counted = std::count_if(
        family.variants.begin(), family.variants.end(),
        [&](const VariantResult& variant) { return counted_case(variant, problem) != nullptr; });
    if (counted == 0 || counted < most) continue;
    most = counted;
    best = problem;
  }
  return best;
}

Why why_uncounted(const VariantResult& variant, const Problem& problem, const Words& words) {
  const CaseResult* result = variant.representative(problem);
  if (result == nullptr) return {Because::not_run_at, {words.at(problem)}};
  if (const Why doubt = result->doubt(); !doubt.empty()) return doubt;
  if (!result->ok())
    return said(result->reason.empty() ? std::string(to_string(result->status)) : result->reason);
  return why_not_counted(*result->source);
}

bool runs_on_gpu(const VariantResult& variant) {
  return variant.info.device == "cuda";
}

/// B; nullopt where the run does not say it.
std::optional<double> l2_capacity_of(const Run& run) {
  const auto facts = run.environment.find(fact::gpu_l2_cache.group);
  if (facts == run.environment.end()) return std::nullopt;
  const auto found = facts->second.find(fact::gpu_l2_cache.name);
  const auto* bytes = found == facts->second.end() ? nullptr : std::get_if<double>(&found->second);
  return bytes == nullptr ? std::nullopt : std::optional(*bytes);
}

/// Why no kernel of the family was counted.
Why why_none(const Run& run, const FamilyResult& family) {
  const auto first = std::find_if(family.variants.begin(), family.variants.end(), runs_on_gpu);
  if (first == family.variants.end()) return Because::no_gpu_variant;
  const bool planned =
      std::find(run.plan.passes.begin(), run.plan.passes.end(), Pass::counters) != run.plan.passes.end();
  if (!planned) return Because::counters_not_planned;
  Why all(Because::several);
  for (const VariantResult& variant : family.variants) {
    if (!runs_on_gpu(variant) || variant.cases.empty()) continue;
    Why why = why_uncounted(variant, variant.cases.back().key.problem, family.words);
    if (std::ranges::find(all.others, why) == all.others.end()) all.others.push_back(std::move(why));
  }
  return all;
}

}  // namespace

bool BusyPart::moves_data() const {
  return metric == memory_instructions || metric == constant_port || metric == lsu_pipe;
}

bool BusyPart::is_dram() const {
  return metric == dram_throughput;
}

bool Stall::harms() const {
  return key != "not_selected";
}

std::vector<Stall> stalls_of(const KernelCounters& kernel) {
  constexpr std::string_view label_head = "Stall: ";
  std::vector<Stall> stalls;
  for (const Metric& metric : hardware_metrics()) {
    const auto key = stall_of_metric(metric.id);
    if (!key || key == "selected") continue;
    const Value cycles = kernel.value(metric.id);
    if (cycles) stalls.push_back({*key, metric.label.substr(label_head.size()), cycles->median});
  }
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const Stall& a, const Stall& b) { return a.cycles > b.cycles; });
  return stalls;
}

std::vector<std::string> occupancy_limits_of(const KernelCounters& kernel) {
  std::vector<std::string> tightest;
  double fewest = 0;
  for (const auto& [metric, name] : occupancy_limits) {
    const Value blocks = kernel.value(metric);
    if (!blocks) return {};
    if (tightest.empty() || blocks->median < fewest) {
      fewest = blocks->median;
      tightest.clear();
    }
    if (blocks->median == fewest) tightest.emplace_back(name);
  }
  return tightest;
}

double tensor_operations(const KernelCounters& kernel) {
  double operations = 0;
  for (const std::string_view metric : {tf32_operations, fp16_operations}) {
    const Value counted = kernel.value(metric);
    operations += counted ? counted->median : 0;
  }
  return operations;
}

std::string_view tensor_ceiling(const KernelCounters& kernel) {
  const Value tf32 = kernel.value(tf32_operations), fp16 = kernel.value(fp16_operations);
  const double single = tf32 ? tf32->median : 0, half = fp16 ? fp16->median : 0;
  if (single + half == 0) return {};
  return half > single ? fp16_tensor_ceiling : tf32_tensor_ceiling;
}

bool computes_in_half(const KernelCounters& kernel, const OpInfo& op) {
  constexpr double good_part = 0.1;
  const auto single = flops_in(kernel, 'f'), half = flops_in(kernel, 'h');
  return single && half && *half > *single && *half * kernel.launches.value_or(1) > good_part * op.flops;
}

std::optional<double> executed_flops(const KernelCounters& kernel, const OpInfo& op) {
  const auto single = flops_in(kernel, 'f'), twice = flops_in(kernel, 'd'), half = flops_in(kernel, 'h');
  if (!single || !twice) return std::nullopt;
  return *single + *twice + (computes_in_half(kernel, op) ? *half : 0) + tensor_operations(kernel);
}

Why why_dram_untold(std::span<const KernelCounters> of_op, const OpInfo& op,
                    std::optional<double> l2_capacity) {
  constexpr double far_below = 0.9;
  double bytes = 0, launches = 0;
  for (const KernelCounters& kernel : of_op) {
    const Value moved = kernel.value("dram__bytes.sum");
    if (!moved) return {};
    bytes += moved->median * kernel.launches.value_or(1);
    launches += kernel.launches.value_or(1);
  }
  if (!l2_capacity || !(launches > 0) || op.bytes / launches > *l2_capacity) return {};
  if (bytes >= far_below * op.bytes) return {};
  return {Because::dram_bytes_in_cache, {}, {bytes, op.bytes}};
}

std::optional<Bottleneck> bottleneck_of(const Value& compute, const Value& memory, const Value& waves) {
  if (!compute || !memory) return std::nullopt;
  Bottleneck result;
  result.compute = compute->median;
  result.memory = memory->median;
  // As they are printed, so that no "60 %" is said to be under 60 %.
  const double compute_shown = std::round(result.compute), memory_shown = std::round(result.memory);
  const double higher = std::max(compute_shown, memory_shown);
  if (higher < latency_below) {
    result.bound = Bound::latency;
  } else if (std::abs(compute_shown - memory_shown) < balanced_within) {
    result.bound = Bound::balanced;
  } else {
    result.bound = result.compute > result.memory ? Bound::compute : Bound::memory;
  }
  result.near_limit = higher > near_limit_above;
  result.under_one_wave = waves && waves->median < 1;
  return result;
}

std::optional<Bottleneck> bottleneck_of(const KernelCounters& kernel) {
  std::optional<Bottleneck> result =
      bottleneck_of(kernel.value(counted_sm_throughput), kernel.value(counted_memory_throughput),
                    kernel.value("launch__waves_per_multiprocessor"));
  if (!result) return result;
  result->issue_slots = issue_slots_of(kernel);
  result->dram = percent_of(kernel, dram_throughput);
  std::vector<BusyPart> of_compute = counted_parts(kernel, compute_parts);
  if (result->issue_slots) of_compute.insert(of_compute.begin(), BusyPart{issue_slots, *result->issue_slots});
  result->compute_part = compute_part_behind(result->compute, of_compute);
  const std::vector<BusyPart> of_memory = counted_parts(kernel, memory_parts);
  result->memory_part = part_behind(result->memory, of_memory);
  const auto busiest = std::ranges::max_element(of_memory, {}, &BusyPart::percent);
  if (busiest != of_memory.end() && busiest->percent > result->memory + as_busy) result->busier = *busiest;
  return result;
}

std::optional<double> multiprocessors_of(const KernelCounters& kernel) {
  double blocks = 0;
  for (const auto& [metric, name] : occupancy_limits) {
    const Value allowed = kernel.value(metric);
    if (!allowed) return std::nullopt;
    blocks = blocks > 0 ? std::min(blocks, allowed->median) : allowed->median;
  }
  const Value grid = kernel.value("launch__grid_size");
  const Value waves = kernel.value("launch__waves_per_multiprocessor");
  if (!grid || !waves || !(waves->median > 0) || !(blocks > 0)) return std::nullopt;
  return std::round(grid->median / waves->median / blocks);
}

std::optional<double> measured_peak(std::span<const Ceiling> ceilings, std::string_view id) {
  const auto found = std::find_if(ceilings.begin(), ceilings.end(), [&](const Ceiling& ceiling) {
    return ceiling.id == id && ceiling.device == "cuda";
  });
  return found == ceilings.end() ? std::nullopt : found->value;
}

std::optional<double> measured_peak(const Run& run, std::string_view id) {
  return gpu_models(run).size() > 1 ? std::nullopt : measured_peak(std::span(run.ceilings), id);
}

SpeedOfLight speed_of_light(const Run& run, const FamilyResult& family) {
  SpeedOfLight sol;
  sol.peak_flop_rate = measured_peak(run, "fp32_flop_rate");
  sol.peak_bandwidth = measured_peak(run, "memory_bandwidth");
  sol.peak_copy_rate = std::max(measured_peak(run, "pinned_host_to_device_bandwidth"),
                                measured_peak(run, "pinned_device_to_host_bandwidth"));
  sol.peak_tf32_rate = measured_peak(run, tf32_tensor_ceiling);
  sol.peak_fp16_rate = measured_peak(run, fp16_tensor_ceiling);
  sol.l2_capacity = l2_capacity_of(run);
  const std::optional<Problem> problem = best_counted_problem(family);
  if (!problem) {
    sol.absent = why_none(run, family);
    return sol;
  }
  sol.problem = *problem;
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result = counted_case(variant, *problem);
    if (result == nullptr) {
      if (runs_on_gpu(variant))
        sol.uncounted.push_back({&variant, why_uncounted(variant, *problem, family.words)});
      continue;
    }
    for (KernelResult& kernel : kernels_of_case(variant, *result, sol))
      sol.kernels.push_back(std::move(kernel));
  }
  for (const KernelResult& kernel : sol.kernels) {
    if (!sol.l1_bandwidth) sol.l1_bandwidth = l1_bandwidth(kernel.counters);
    if (!sol.l2_bandwidth) sol.l2_bandwidth = l2_bandwidth(kernel.counters);
  }
  compare_with_baselines(sol.kernels);
  return sol;
}

}  // namespace mprof
