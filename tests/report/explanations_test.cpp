// SPDX-License-Identifier: MIT
#include "report/analysis/reasons/explanations.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/metric.hpp"
#include "report/analysis/kernels/op_metrics.hpp"
#include "report/analysis/reasons/derived_metrics.hpp"
#include "report/views/views.hpp"
#include "report/wording/reasons.hpp"
#include "system/files.hpp"
#include "tests/report/counters.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace counter = test::counter;
namespace {

using Values = std::map<std::string, double>;

const std::string l1 = "l1tex__throughput.avg.pct_of_peak_sustained_active";
const std::string pipes = "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed";
const std::string dram = "dram__bytes.sum";
const std::string l1_hits = "l1tex__t_sector_hit_rate.pct";
const std::string l2_hits = "lts__t_sector_hit_rate.pct";
const std::string stored = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio";
const std::string tensor = "sm__ops_path_tensor_src_tf32_dst_fp32.sum";
const std::string shared = "launch__shared_mem_per_block_static";
const std::string taking_part = "smsp__thread_inst_executed_per_inst_executed.ratio";
const std::string local_loads = "smsp__sass_inst_executed_op_local_ld.sum";

/// What one side of a comparison measured of its op, so that two sides alike fire no rule. Names with "__"
/// are of the kernel; "other:" are counters of a second kernel.
const Values plain_gpu{{"op_time", 1e-3},
                       {"group_time", 10e-3},
                       {"gpu_time", 1e-3},
                       {"kernel_count", 1},
                       {"launch_count", 1},
                       {"copy_in_time", 4e-3},
                       {"copy_out_time", 4e-3},
                       {"copy_in_bytes", 4e7},
                       {"copy_out_bytes", 4e7},
                       {"copy_overlap", 0},
                       {"concurrent_streams", 1},
                       {"traced_group_time", 10e-3},
                       {"gpu_kernel_time", 1e-3},
                       {"gpu_copy_only_time", 8e-3},
                       {"gpu_idle_allocation_time", 1e-4},
                       {"gpu_idle_host_time", 1e-4},
                       {"gpu_idle_api_time", 1e-4},
                       {"flops", 2.51e9},
                       {"gpu_sm_clock", 1.98e9},
                       {"user_time", 0.2},
                       {"system_time", 0.002},
                       {"minor_page_faults", 100},
                       {"gpu__time_duration.sum", 1e-3},
                       {counter::instructions, 792e6},
                       {taking_part, 32},
                       {counter::cycles, 2e6},
                       {counter::sm_throughput, 75},
                       {counter::memory_throughput, 70},
                       {l1, 45},
                       {pipes, 40},
                       {dram, 1e8},
                       {"dram__bytes_write.sum", 4e7},
                       {l1_hits, 80},
                       {l2_hits, 80},
                       {counter::bytes_per_loaded_sector, 20},
                       {stored, 20},
                       {counter::occupancy, 80},
                       {"sm__maximum_warps_per_active_cycle_pct", 100},
                       {"launch__registers_per_thread", 32},
                       {counter::waves, 10},
                       {counter::grid, 132.0 * 8 * 10},
                       {"launch__occupancy_limit_registers", 8},
                       {"launch__occupancy_limit_shared_mem", 16},
                       {"launch__occupancy_limit_warps", 9},
                       {"launch__occupancy_limit_blocks", 32},
                       {shared, 1024},
                       {"launch__shared_mem_per_block_dynamic", 0},
                       {counter::bank_conflicts, 0},
                       {"smsp__average_warp_latency_per_inst_issued.ratio", 20},
                       {counter::stall("long_scoreboard"), 2},
                       {counter::stall("short_scoreboard"), 2},
                       {counter::stall("barrier"), 2},
                       {counter::stall("mio_throttle"), 2},
                       {counter::stall("lg_throttle"), 2},
                       {counter::stall("math_pipe_throttle"), 2},
                       {counter::executed("fadd"), 0},
                       {counter::executed("fmul"), 0},
                       {counter::executed("ffma"), 2.5e9},
                       {counter::executed("dadd"), 0},
                       {counter::executed("dmul"), 0},
                       {counter::executed("dfma"), 0},
                       {counter::executed("hadd"), 0},
                       {counter::executed("hmul"), 0},
                       {counter::executed("hfma"), 0},
                       {tensor, 0},
                       {local_loads, 0},
                       {"smsp__sass_inst_executed_op_local_st.sum", 0}};

const Values plain_cpu{{"op_time", 10e-3},   {"group_time", 10e-3},   {"total_time", 20e-3},
                       {"user_time", 20e-3}, {"system_time", 0.1e-3}, {"minor_page_faults", 100},
                       {"flop_rate", 1e9},   {"instructions", 1e9},   {"cycles", 1e9},
                       {"cache_misses", 1e6}};

enum class On { gpu, gpu_by_layer, cpu };

/// What a rule is about: both sides, as they differ from the plain ones.
struct Situation {
  std::string rule;
  Values before;
  Values after;
  std::string sentence;
  On on = On::gpu;
  std::string kernel = "scale";  ///< of both sides
};

bool is_of_case(const std::string& metric) {
  return metric == "total_time" || metric == "gpu_sm_clock" || metric == "user_time" ||
         metric == "system_time" || metric == "minor_page_faults";
}

void put(PassResult& pass, const Measurement& m) {
  const auto same = std::ranges::find_if(pass.measurements, [&](const Measurement& other) {
    return other.metric == m.metric && other.op == m.op && other.kernel == m.kernel;
  });
  if (same == pass.measurements.end()) {
    pass.measurements.push_back(m);
  } else {
    *same = m;
  }
}

void put(Case& c, const std::string& metric, double value, const std::string& kernel) {
  const bool of_other = metric.starts_with("other:");
  if (of_other || is_of_kernels(metric)) {
    put(samples::pass_of(c, Pass::counters),
        samples::of_kernel(of_other ? metric.substr(6) : metric, "layer1", of_other ? "helper" : kernel,
                           value));
    return;
  }
  const bool timed = metric == "op_time" || metric == "group_time";
  const std::string op = is_of_case(metric) ? "" : "layer1";
  put(samples::timing(c), samples::measured(metric, op, timed ? samples::around(value) : std::vector{value}));
}

Case case_of(const VariantInfo& info, std::uint64_t batch, const Values& plain, const Values& changed,
             const std::string& kernel) {
  Values values = plain;
  for (const auto& [metric, value] : changed) values[metric] = value;
  Case c = samples::timed_case(info, batch, 1, 1);
  std::erase_if(c.ops, [](const OpInfo& op) { return op.name != "layer1"; });
  // What the sample has of its own would speak beside the situation.
  std::erase_if(samples::timing(c).measurements,
                [](const Measurement& m) { return m.metric == "flop_rate"; });
  for (const auto& [metric, value] : values) {
    if (!std::isnan(value)) put(c, metric, value, kernel);
  }
  samples::pass_of(c, Pass::counters).status = Status::ok;
  PassResult& trace = samples::pass_of(c, Pass::trace);
  trace.status = Status::ok;
  put(trace, samples::of_kernel("kernel_instances", "layer1", kernel, 1));
  const bool has_other =
      std::ranges::any_of(values, [](const auto& v) { return v.first.starts_with("other:"); });
  if (has_other) put(trace, samples::of_kernel("kernel_instances", "layer1", "helper", 1));
  return c;
}

Run run_of(const Situation& s, std::uint64_t batch = 1000) {
  mprof::Run run = samples::empty_run();
  VariantInfo before = samples::variant("conv/before"), after = samples::variant("conv/after", "conv/before");
  before.device = after.device = s.on == On::cpu ? "cpu" : "cuda";
  run.variants = {before, after};
  run.ceilings = {{"memory_bandwidth", "cuda", 1e12, "", ""}};
  Values plain = s.on == On::cpu ? plain_cpu : plain_gpu;
  if (s.on == On::gpu_by_layer) plain["op_time"] = 1e-6;
  run.families = {samples::conv_family()};
  run.cases = {case_of(before, batch, plain, s.before, s.kernel),
               case_of(after, batch, plain, s.after, s.kernel)};
  return run;
}

Explanations explanations_of(const Run& run) {
  const RunAnalysis analysis = analyse(run);
  Explanations result = explain(analysis.families.front(), analysis.families.front().variants.back());
  return result;
}

Explanation explanation_of(const Situation& s) {
  const Explanations all = explanations_of(run_of(s));
  EXPECT_TRUE(all.absent.empty());
  return all.of_ops.empty() ? Explanation{} : all.of_ops.front();
}

std::vector<Reason> all_reasons(const Explanation& explanation) {
  std::vector<Reason> all = explanation.reasons;
  all.insert(all.end(), explanation.against.begin(), explanation.against.end());
  all.insert(all.end(), explanation.context.begin(), explanation.context.end());
  return all;
}

const Reason* find(const std::vector<Reason>& reasons, std::string_view rule) {
  const auto found =
      std::ranges::find_if(reasons, [&](const Reason& reason) { return reason.rule->id == rule; });
  return found == reasons.end() ? nullptr : &*found;
}

bool fires(const Situation& s) {
  const std::vector<Reason> reasons = all_reasons(explanation_of(s));
  return find(reasons, s.rule) != nullptr;
}

/// No-break spaces are typed as spaces here.
std::string plain_spaces(std::string text) {
  for (std::size_t at = 0; (at = text.find("\u00a0", at)) != std::string::npos;) text.replace(at, 2, " ");
  return text;
}

std::string said_of(const Reason& reason, const Situation& s) {
  return plain_spaces(sentence_of(reason, Words(run_of(s).families.front(), {})));
}

const std::vector<Situation> situations{
    {"tensor_cores_used",
     {},
     {{tensor, 1e9}, {counter::executed("ffma"), 0}},
     "Tensor cores do the arithmetic: 100.0 % of it, 0.0 % before."},
    {"tensor_cores_dropped",
     {{tensor, 1e9}, {counter::executed("ffma"), 0}},
     {},
     "Tensor cores no longer do the arithmetic: 0.0 % of it, 100.0 % before."},
    {"tensor_cores_unused",
     {},
     {},
     "Matrices are multiplied without the tensor cores: they do 0.0 % of the arithmetic.",
     On::gpu,
     "my_gemm"},
    {"less_arithmetic",
     {{counter::executed("ffma"), 8e9}, {counter::instructions, 2e9}},
     {},
     "It computes less: 16 → 5 GFLOP (−68.8 %) in floating point, where the op's definition has 2.51 GFLOP."},
    {"more_arithmetic",
     {},
     {{counter::executed("ffma"), 8e9}, {counter::instructions, 2e9}},
     "It computes more than the definition needs (padding, repeats or several products for one): 5 → 16 "
     "GFLOP "
     "(3.20×) in "
     "floating point, where the op's definition has 2.51 GFLOP."},
    {"packed_halves",
     {{counter::executed("ffma"), 0}, {counter::executed("hfma"), 2.4e9}},
     {{counter::executed("ffma"), 0}, {counter::executed("hfma"), 1.2e9}},
     "FP16 in pairs: 2,400 → 1,200 million (−50.0 %) multiply-adds of threads do the same "
     "arithmetic."},
    {"single_halves",
     {},
     {{counter::executed("ffma"), 0}, {counter::executed("hfma"), 2.4e9}},
     "100.0 % of the multiply-adds are in FP16, one at a time, and no fewer: 2,500 → 2,400 million "
     "(−4.0 %) of threads. FP16 pays only in pairs or on tensor cores."},
    {"other_kernels_more",
     {},
     {{"other:gpu__time_duration.sum", 0.4e-3}, {"kernel_count", 2}},
     "Kernels other than the longest one take more, 0 → 400 µs: none → helper."},
    {"other_kernels_less",
     {{"other:gpu__time_duration.sum", 0.4e-3}, {"kernel_count", 2}},
     {},
     "Kernels other than the longest one take less, 400 → 0 µs: helper → none."},
    {"fewer_instructions",
     {},
     {{counter::instructions, 396e6}},
     "Fewer warp instructions: 792 → 396 million (−50.0 %)."},
    {"slightly_fewer_instructions",
     {{counter::cycles, 1.83e6}, {counter::instructions, 810e6}, {"op_time", 1.03e-3}},
     {{counter::cycles, 1.8e6}},
     "Fewer warp instructions: 810 → 792 million (−2.2 %). Nearly every cycle issues one."},
    {"more_instructions",
     {},
     {{counter::instructions, 1584e6}},
     "More warp instructions: 792 → 1,584 million (2.00×)."},
    {"slightly_more_instructions",
     {{counter::cycles, 1.8e6}},
     {{counter::cycles, 1.83e6}, {counter::instructions, 810e6}, {"op_time", 1.03e-3}},
     "More warp instructions: 792 → 810 million (+2.3 %). Nearly every cycle issues one."},
    {"more_work_per_instruction",
     {},
     {{counter::instructions, 396e6}},
     "More of the instructions are multiply-adds (padding included): 9.9 → 19.7 %."},
    {"less_work_per_instruction",
     {{counter::instructions, 396e6}},
     {},
     "Fewer of the instructions are multiply-adds, and more are loads and index arithmetic: 19.7 → 9.9 % of "
     "them are multiply-adds."},
    {"more_threads_take_part",
     {{taking_part, 12.3}},
     {},
     "More of a warp's 32 threads execute an instruction, on average: 12.3 → 32.0."},
    {"fewer_threads_take_part",
     {},
     {{taking_part, 12.3}},
     "Fewer of a warp's 32 threads execute an instruction, on average: 32.0 → 12.3."},
    {"issue_rate_higher",
     {},
     {{counter::cycles, 1.5e6}, {counter::sm_throughput, 90}},
     "Instructions are issued faster: 3 → 4 (+33.3 %) of the 4 that a multiprocessor can issue in a cycle; "
     "SM throughput 75.0 → 90.0 %."},
    {"issue_rate_lower",
     {},
     {{counter::cycles, 3e6}},
     "Instructions are issued more slowly: 3 → 2 (−33.3 %) of the 4 that a multiprocessor can issue in a "
     "cycle."},
    {"dram_less",
     {{dram, 2e9}},
     {{dram, 1e8}},
     "Less goes through DRAM: 1.86 → 0.0931 GiB (−95.0 %). At the measured bandwidth that takes 2.00 → 0.100 "
     "ms."},
    {"dram_more",
     {},
     {{dram, 2e9}},
     "More goes through DRAM: 0.0931 → 1.86 GiB (20.0×). At the measured bandwidth that takes 0.100 → 2.00 "
     "ms."},
    {"sm_clock_higher",
     {{"gpu_sm_clock", 1.5e9}},
     {},
     "The GPU's clock was higher (the power that a kernel draws can move it): 1.50 → 1.98 GHz (+32.0 %)."},
    {"sm_clock_lower",
     {},
     {{"gpu_sm_clock", 1.5e9}},
     "The GPU's clock was lower (the power that a kernel draws can move it): 1.98 → 1.50 GHz (−24.2 %)."},
    {"more_launches",
     {},
     {{"launch_count", 20}, {"gpu_time", 0.8e-3}},
     "More launches, with time between the kernels: 1 → 20 launches; 0 → 200 µs of the op in which no kernel "
     "ran."},
    {"fewer_launches",
     {{"launch_count", 20}, {"gpu_time", 0.8e-3}},
     {},
     "Fewer launches, and less time between the kernels: 20 → 1 launches; 200 → 0 µs of the op in which no "
     "kernel ran."},
    {"launch_bound",
     {},
     {{"op_time", 20e-6}, {"gpu_time", 15e-6}},
     "The kernels have become so short that launching them counts: in 0.0 → 25.0 % of the op time no kernel "
     "ran (5 µs of 20 µs)."},
    {"under_one_wave", {}, {{counter::waves, 0.4}}, "The grid no longer fills the GPU: 10.0 → 0.400 waves."},
    {"tail_effect",
     {},
     {{counter::waves, 1.1}},
     "The last wave leaves multiprocessors idle: 10.0 → 1.10 waves, so that at best 100.0 → 55.0 % of "
     "the "
     "GPU works."},
    {"memory_pipes_full",
     {},
     {{pipes, 90}},
     "The pipes for shared memory and indexed constants have become the limit: they are 40.0 → 90.0 % busy, "
     "the L1 cache 45.0 → 45.0 %."},
    {"bank_conflicts_more",
     {},
     {{counter::bank_conflicts, 40e6}},
     "Shared loads meet in banks: conflicts take 0.0 → 15.2 % of the multiprocessors' cycles."},
    {"bank_conflicts_less",
     {{counter::bank_conflicts, 40e6}},
     {},
     "Fewer shared loads meet in banks: conflicts take 15.2 → 0.0 % of the multiprocessors' cycles."},
    {"loads_coalesced_better",
     {},
     {{counter::bytes_per_loaded_sector, 32}},
     "Global loads are better coalesced: threads use 20 → 32 B (+60.0 %) of each 32-byte sector; memory "
     "throughput was 70.0 %."},
    {"loads_coalesced_worse",
     {},
     {{counter::bytes_per_loaded_sector, 4}},
     "Global loads are less coalesced: threads use 20 → 4 B (−80.0 %) of each 32-byte sector; memory "
     "throughput is 70.0 %."},
    {"stores_coalesced_better",
     {},
     {{stored, 32}},
     "Global stores are better coalesced: threads write 20 → 32 B (+60.0 %) of each 32-byte sector; memory "
     "throughput was 70.0 %."},
    {"stores_coalesced_worse",
     {},
     {{stored, 4}},
     "Global stores are less coalesced: threads write 20 → 4 B (−80.0 %) of each 32-byte sector; memory "
     "throughput is 70.0 %."},
    {"spills_less",
     {{local_loads, 79.2e6}},
     {},
     "Fewer registers spill: accesses to local memory are 10.0 → 0.0 % of the warp instructions, at 32 → 32 "
     "registers a thread."},
    {"spills_more",
     {},
     {{local_loads, 79.2e6}},
     "Registers spill, or arrays lie in local memory: accesses to it are 0.0 → 10.0 % of the warp "
     "instructions, at 32 → 32 registers a thread."},
    {"l2_hits_more",
     {{dram, 2e9}, {l2_hits, 20}},
     {},
     "The L2 cache serves more, so that less comes from DRAM: hit rate 20.0 → 80.0 % (+60.0 points)."},
    {"l2_hits_less",
     {},
     {{dram, 2e9}, {l2_hits, 20}},
     "The L2 cache serves less, so that more comes from DRAM: hit rate 80.0 → 20.0 % (−60.0 points)."},
    {"l1_hits_more",
     {{l1_hits, 20}, {counter::stall("long_scoreboard"), 8}},
     {},
     "The L1 cache serves more, and warps wait less for memory: hit rate 20.0 → 80.0 % (+60.0 points)."},
    {"l1_hits_less",
     {},
     {{l1_hits, 20}, {counter::stall("long_scoreboard"), 8}},
     "The L1 cache serves less, and warps wait more for memory: hit rate 80.0 → 20.0 % (−60.0 points)."},
    {"latency_bound",
     {},
     {{counter::sm_throughput, 30}, {counter::memory_throughput, 40}},
     "It has become latency-bound, with neither arithmetic nor memory busy: SM throughput 75.0 → 30.0 %, "
     "memory throughput 70.0 → 40.0 %."},
    {"no_longer_latency_bound",
     {{counter::sm_throughput, 30}, {counter::memory_throughput, 40}},
     {},
     "It is no longer latency-bound: SM throughput 30.0 → 75.0 %, memory throughput 40.0 → 70.0 %."},
    {"memory_to_compute_bound",
     {{counter::sm_throughput, 50}, {counter::memory_throughput, 90}},
     {{counter::sm_throughput, 80}, {counter::memory_throughput, 40}},
     "The bottleneck moved from memory 90 % to compute 80 %: memory throughput 90.0 → 40.0 %, SM throughput "
     "50.0 → 80.0 %."},
    {"compute_to_memory_bound",
     {{counter::sm_throughput, 80}, {counter::memory_throughput, 40}},
     {{counter::sm_throughput, 50}, {counter::memory_throughput, 90}},
     "The bottleneck moved from compute 80 % to memory 90 %: memory throughput 40.0 → 90.0 %, SM throughput "
     "80.0 → 50.0 %."},
    {"multiprocessors_busier",
     {{"sm__cycles_active.avg", 1e6}, {counter::cycles, 2e6}},
     {{"sm__cycles_active.avg", 0.9e6}, {counter::cycles, 1e6}},
     "Multiprocessors have a block for more of the time: 50.0 → 90.0 % of the kernel's cycles."},
    {"multiprocessors_idler",
     {{"sm__cycles_active.avg", 0.9e6}, {counter::cycles, 1e6}},
     {{"sm__cycles_active.avg", 1e6}, {counter::cycles, 2e6}},
     "Multiprocessors have no block for more of the time: they have one in 90.0 → 50.0 % of the kernel's "
     "cycles."},
    {"occupancy_higher",
     {{counter::occupancy, 30}},
     {{counter::cycles, 1.5e6}},
     "More warps hide each other's waiting: achieved occupancy 30.0 → 80.0 % (+50.0 points)."},
    {"occupancy_lower",
     {},
     {{counter::occupancy, 30},
      {"sm__maximum_warps_per_active_cycle_pct", 37.5},
      {"launch__registers_per_thread", 80},
      {counter::cycles, 3e6}},
     "Fewer warps are there to hide each other's waiting: achieved occupancy 80.0 → 30.0 % (−50.0 points), "
     "37.5 % in theory, limited by registers; 32 → 80 registers a thread."},
    {"occupancy_lower_harmless",
     {},
     {{counter::occupancy, 30}, {"launch__registers_per_thread", 80}},
     "Occupancy fell without harm, 80.0 → 30.0 % (−50.0 points), limited by registers (32 → 80 registers a "
     "thread). Each warp has enough independent work to issue 3 → 3 instructions a cycle and "
     "multiprocessor."},
    {"occupancy_higher_useless",
     {{counter::occupancy, 30}},
     {},
     "Occupancy rose without use, 30.0 → 80.0 % (+50.0 points): 3 → 3 instructions are issued a cycle and "
     "multiprocessor."},
    {"long_scoreboard_less",
     {{counter::stall("long_scoreboard"), 8}},
     {},
     "Warps wait less for global memory (long scoreboard): 40.0 → 10.0 % of their time."},
    {"long_scoreboard_more",
     {},
     {{counter::stall("long_scoreboard"), 8}},
     "Warps wait more for global memory (long scoreboard): 10.0 → 40.0 % of their time."},
    {"barrier_less",
     {{counter::stall("barrier"), 8}},
     {},
     "Warps wait less at barriers: 40.0 → 10.0 % of their time."},
    {"barrier_more",
     {},
     {{counter::stall("barrier"), 8}},
     "Warps wait more at barriers: 10.0 → 40.0 % of their time."},
    {"short_scoreboard_less",
     {{counter::stall("short_scoreboard"), 8}},
     {},
     "Warps wait less for shared memory, indexed constants or special functions (short scoreboard): 40.0 → "
     "10.0 % of their time."},
    {"constant_loads_wait",
     {{shared, 0}},
     {{shared, 0}, {counter::stall("short_scoreboard"), 8}},
     "Warps wait for constants whose address is computed, or for special functions (short scoreboard; the "
     "kernel has 0 B of shared memory): 10.0 → 40.0 % of their time."},
    {"short_scoreboard_more",
     {},
     {{counter::stall("short_scoreboard"), 8}},
     "Warps wait more for shared memory, indexed constants or special functions (short scoreboard): 10.0 → "
     "40.0 % of their time."},
    {"mio_throttle_less",
     {{counter::stall("mio_throttle"), 8}},
     {},
     "The queue for shared memory and indexed constants is full less often (MIO throttle): 40.0 → 10.0 % of "
     "the warps' time."},
    {"mio_throttle_more",
     {},
     {{counter::stall("mio_throttle"), 8}},
     "The queue for shared memory and indexed constants is full more often (MIO throttle): 10.0 → 40.0 % of "
     "the warps' time."},
    {"lg_throttle_less",
     {{counter::stall("lg_throttle"), 8}},
     {},
     "The queue for global and local memory is full less often (LG throttle): 40.0 → 10.0 % of the warps' "
     "time."},
    {"lg_throttle_more",
     {},
     {{counter::stall("lg_throttle"), 8}},
     "The queue for global and local memory is full more often (LG throttle): 10.0 → 40.0 % of the warps' "
     "time."},
    {"math_pipe_throttle_less",
     {{counter::stall("math_pipe_throttle"), 8}},
     {},
     "Arithmetic pipes hold warps up less (math pipe throttle): 40.0 → 10.0 % of their time."},
    {"math_pipe_throttle_more",
     {},
     {{counter::stall("math_pipe_throttle"), 8}},
     "Arithmetic pipes are what warps wait for more now (math pipe throttle): 10.0 → 40.0 % of their time."},
    {"copies_hide_the_gain",
     {},
     {{"op_time", 0.5e-3}, {"gpu_time", 0.5e-3}, {"group_time", 9.5e-3}, {"gpu_copy_only_time", 9e-3}},
     "The layer gains less, for copies take 90.0 % of its time: layer time 10.0 → 9.50 ms (−5.0 %)."},
    {"copies_hide_the_loss",
     {},
     {{"op_time", 2e-3}, {"gpu_time", 2e-3}, {"group_time", 11e-3}, {"gpu_copy_only_time", 8e-3}},
     "The layer loses less, for copies take 80.0 % of its time: layer time 10.0 → 11.0 ms (+10.0 %)."},
    {"copies_faster",
     {},
     {{"copy_in_time", 1e-3}, {"group_time", 7e-3}},
     "The same bytes are copied in less time: 8 → 5 ms (−37.5 %), at 10 → 16 GB/s.",
     On::gpu_by_layer},
    {"copies_slower",
     {},
     {{"copy_in_time", 8e-3}, {"group_time", 14e-3}},
     "The same bytes are copied in more time: 8 → 12 ms (+50.0 %), at 10.0 → 6.67 GB/s.",
     On::gpu_by_layer},
    {"copies_fewer_bytes",
     {},
     {{"copy_in_time", 1e-3}, {"copy_in_bytes", 1e7}},
     "Fewer bytes are copied: 76.3 → 47.7 MiB (−37.5 %), in 8 → 5 ms.",
     On::gpu_by_layer},
    {"copies_more_bytes",
     {},
     {{"copy_in_time", 8e-3}, {"copy_in_bytes", 8e7}},
     "More bytes are copied: 76.3 → 114 MiB (+50.0 %), in 8 → 12 ms.",
     On::gpu_by_layer},
    {"overlap_more",
     {},
     {{"copy_overlap", 0.125}, {"gpu_copy_only_time", 5e-3}, {"concurrent_streams", 4}},
     "Copies run beside kernels, or beside each other: 0 → 3 ms are saved so, on 1 → 4 streams at once; part "
     "of "
     "the copy time in which a kernel ran: 0 → 0.125.",
     On::gpu_by_layer},
    {"overlap_little",
     {},
     {{"copy_overlap", 0.025}, {"gpu_copy_only_time", 7.8e-3}, {"concurrent_streams", 2}},
     "1 → 2 streams work at once, but little of it overlaps: 0 → 200 µs are saved so, of 8 ms of copies.",
     On::gpu_by_layer},
    {"overlap_less",
     {{"copy_overlap", 0.125}, {"gpu_copy_only_time", 5e-3}, {"concurrent_streams", 4}},
     {},
     "Less runs at the same time: 3 → 0 ms are saved so, on 4 → 1 streams at once; part of the copy time in "
     "which a kernel ran: 0.125 → 0.",
     On::gpu_by_layer},
    {"kernels_faster",
     {{"gpu_time", 3e-3}},
     {},
     "The kernels take less time: 3 → 1 ms (−66.7 %).",
     On::gpu_by_layer},
    {"kernels_slower",
     {},
     {{"gpu_time", 3e-3}},
     "The kernels take more time: 1 → 3 ms (3.00×).",
     On::gpu_by_layer},
    {"allocation_less",
     {{"gpu_idle_allocation_time", 2e-3}},
     {},
     "The GPU waits less for memory to be allocated and freed: 2.00 → 0.100 ms.",
     On::gpu_by_layer},
    {"allocation_more",
     {},
     {{"gpu_idle_allocation_time", 2e-3}},
     "The GPU waits for memory to be allocated and freed: 0.100 → 2.00 ms.",
     On::gpu_by_layer},
    {"host_work_less",
     {{"gpu_idle_host_time", 2e-3}},
     {},
     "The GPU waits less for the host's own work: 2.10 → 0.200 ms.",
     On::gpu_by_layer},
    {"host_work_more",
     {},
     {{"gpu_idle_host_time", 2e-3}},
     "The GPU waits for the host, in its own code or in CUDA calls: 0.200 → 2.10 ms.",
     On::gpu_by_layer},
    {"more_cores",
     {},
     {{"user_time", 60e-3}},
     "More cores work: 1.00 → 3.00 on average over the whole inference.",
     On::cpu},
    {"fewer_cores",
     {{"user_time", 60e-3}},
     {},
     "Fewer cores work: 3.00 → 1.00 on average over the whole inference.",
     On::cpu},
    {"core_computes_more",
     {},
     {{"flop_rate", 8e9}},
     "Each busy core computes more: 0.995 → 7.96 GFLOP/s (8.00×). That is what vectors and cache blocking "
     "are for.",
     On::cpu},
    {"core_computes_less",
     {{"flop_rate", 8e9}},
     {},
     "Each busy core computes less: 7.96 → 0.995 GFLOP/s (−87.5 %).",
     On::cpu},
    {"cpu_fewer_instructions",
     {},
     {{"instructions", 0.5e9}},
     "The CPU executes fewer instructions: 1,000 → 500 million (−50.0 %).",
     On::cpu},
    {"cpu_more_instructions",
     {},
     {{"instructions", 2e9}},
     "The CPU executes more instructions: 1,000 → 2,000 million (2.00×).",
     On::cpu},
    {"cpu_fewer_cycles_each",
     {},
     {{"cycles", 0.5e9}},
     "An instruction takes fewer cycles: 1.00 → 0.500 (−50.0 %).",
     On::cpu},
    {"cpu_more_cycles_each",
     {},
     {{"cycles", 2e9}},
     "An instruction takes more cycles: 1 → 2 (2.00×).",
     On::cpu},
    {"cpu_fewer_cache_misses",
     {},
     {{"cache_misses", 2e5}},
     "Fewer loads miss the last cache: 1,000,000 → 200,000 (−80.0 %).",
     On::cpu},
    {"cpu_more_cache_misses",
     {},
     {{"cache_misses", 9e6}},
     "More loads miss the last cache: 1,000,000 → 9,000,000 (9.00×).",
     On::cpu},
    {"page_faults_fewer",
     {{"minor_page_faults", 9000}, {"system_time", 10e-3}},
     {},
     "Fewer page faults, 9,000 → 100 (−98.9 %) an inference: the operating system takes 33.3 → 0.5 % of the "
     "CPU time.",
     On::cpu},
    {"page_faults_more",
     {},
     {{"minor_page_faults", 9000}, {"system_time", 10e-3}},
     "More page faults, 100 → 9,000 (90.0×) an inference: the operating system takes 0.5 → 33.3 % of the CPU "
     "time.",
     On::cpu},
};

// GoogleTest gives the name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Situation& s, std::ostream* stream) {
  *stream << s.rule;
}

class ExplanationRules : public testing::TestWithParam<Situation> {};

TEST_P(ExplanationRules, FireInTheirSituationWithTheirNumbers) {
  const Situation& s = GetParam();
  const std::vector<Reason> reasons = all_reasons(explanation_of(s));
  const Reason* reason = find(reasons, s.rule);
  ASSERT_NE(reason, nullptr);
  EXPECT_EQ(said_of(*reason, s), s.sentence);
}

TEST_P(ExplanationRules, DoNotFireTheOtherWayRound) {
  Situation s = GetParam();
  std::swap(s.before, s.after);
  if (s.rule == "tensor_cores_unused") return;  // it looks at the variant alone
  EXPECT_FALSE(fires(s));
}

TEST_P(ExplanationRules, NeedEachMetricOfTheRunThatTheyRestOn) {
  const Situation& s = GetParam();
  const auto rule = std::ranges::find(rules(), s.rule, &Rule::id);
  std::set<std::string> metrics;
  for (const Clause& clause : rule->when) metrics.emplace(clause.metric);
  for (const Cited& cited : rule->cites) metrics.emplace(cited.metric);
  for (const std::string& metric : metrics) {
    const bool decides_whether_compared =
        metric == "op_time" || metric == "group_time" || metric == "gpu_time";
    // FLOPs and rates are of the op itself, and quantities are taken away below.
    if (find_quantity(metric) != nullptr || decides_whether_compared || metric == "flops") continue;
    Situation without = s;
    without.after[metric] = std::nan("");
    EXPECT_FALSE(fires(without)) << "without " << metric;
  }
}

TEST_P(ExplanationRules, AreSilentWithoutCountersAndTrace) {
  const Situation& s = GetParam();
  mprof::Run run = run_of(s);
  Case& after = run.cases.back();
  const auto keep = [](const std::string& metric) { return metric == "op_time" || metric == "group_time"; };
  for (PassResult& pass : after.passes)
    std::erase_if(pass.measurements, [&](const Measurement& m) { return !keep(m.metric); });
  for (const Explanation& explanation : explanations_of(run).of_ops) {
    EXPECT_TRUE(all_reasons(explanation).empty());
    EXPECT_FALSE(explanation.missing.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExplanationRules, testing::ValuesIn(situations),
                         [](const auto& tested) { return tested.param.rule; });

TEST(ExplanationTable, HasASituationASourceAndAPlaceForEachNumber) {
  std::set<std::string_view> seen;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(seen.insert(rule.id).second) << rule.id << " is there twice";
    EXPECT_FALSE(rule.source.empty()) << rule.id;
    EXPECT_FALSE(rule.when.empty()) << rule.id;
    EXPECT_FALSE(rule.cites.empty()) << rule.id << " cites no number";
    const auto words = std::ranges::find(reason_words(), rule.id, &ReasonWords::rule);
    ASSERT_NE(words, reason_words().end()) << rule.id << " has no sentence in report/wording/reasons.cpp";
    std::size_t places = 0;
    for (std::size_t at = 0; (at = words->sentence.find("{}", at)) != std::string_view::npos; ++at) ++places;
    EXPECT_EQ(places, rule.cites.size()) << rule.id;
    EXPECT_TRUE(std::ranges::any_of(situations, [&](const Situation& s) { return s.rule == rule.id; }))
        << rule.id << " fires in no test";
  }
  for (const Situation& s : situations) EXPECT_TRUE(seen.contains(s.rule)) << s.rule << " is no rule";
  for (const ReasonWords& words : reason_words())
    EXPECT_TRUE(seen.contains(words.rule)) << words.rule << " has a sentence and is no rule";
}

TEST(ExplanationTable, HasShortFormsThatAreShorter) {
  for (const ReasonWords& words : reason_words()) {
    EXPECT_TRUE(words.sentence.ends_with('.')) << words.rule;
    if (words.in_short.empty()) continue;
    EXPECT_TRUE(words.in_short.ends_with('.')) << words.rule;
    EXPECT_LT(words.in_short.size(), words.sentence.size()) << words.rule;
  }
  for (const Situation& s : situations) {
    const std::vector<Reason> reasons = all_reasons(explanation_of(s));
    const Reason* reason = find(reasons, s.rule);
    ASSERT_NE(reason, nullptr) << s.rule;
    EXPECT_LE(short_sentence_of(*reason, Words()).size(), sentence_of(*reason, Words()).size()) << s.rule;
  }
}

TEST(ExplanationTable, LooksOnlyAtWhatExists) {
  // Nsight Compute has them; no preset reads them.
  const std::set<std::string_view> by_name{"smsp__sass_inst_executed_op_local_ld.sum",
                                           "smsp__sass_inst_executed_op_local_st.sum"};
  const auto exists = [&](std::string_view id) {
    return find_quantity(id) != nullptr || find_metric(id) != nullptr || by_name.contains(id);
  };
  for (const Rule& rule : rules()) {
    for (const Clause& clause : rule.when)
      EXPECT_TRUE(exists(clause.metric)) << rule.id << ": " << clause.metric;
    for (const Cited& cited : rule.cites)
      EXPECT_TRUE(exists(cited.metric)) << rule.id << ": " << cited.metric;
    EXPECT_TRUE(exists(rule.strength.metric)) << rule.id << ": " << rule.strength.metric;
  }
}

TEST(ExplanationTable, IsWhatTheDocumentShows) {
  const std::filesystem::path file =
      std::filesystem::path(MPROF_SOURCE_DIR) / "docs/how-it-works/explanations.md";
  const std::string document = read_file(file),
                    mark = "<!-- made from report/analysis/reasons/rules.cpp -->\n";
  const std::size_t place = document.find(mark);
  ASSERT_NE(place, std::string::npos);
  const std::string expected = document.substr(0, place + mark.size()) + "\n" + rules_as_markdown();
  const char* update = std::getenv("MPROF_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1" && expected != document) {
    write_file(file, expected);
    std::printf("updated %s\n", file.c_str());
    return;
  }
  EXPECT_EQ(document, expected) << "approve the new table with MPROF_UPDATE_GOLDEN=1";
}

// --- Thresholds

TEST(ExplanationThresholds, AreWhereTheTableHasThem) {
  EXPECT_TRUE(
      fires({"fewer_instructions", {{counter::instructions, 100e6}}, {{counter::instructions, 94.9e6}}, ""}));
  EXPECT_FALSE(
      fires({"fewer_instructions", {{counter::instructions, 100e6}}, {{counter::instructions, 95.1e6}}, ""}));
  EXPECT_TRUE(
      fires({"barrier_more", {{counter::stall("barrier"), 2}}, {{counter::stall("barrier"), 3.01}}, ""}));
  EXPECT_FALSE(
      fires({"barrier_more", {{counter::stall("barrier"), 2}}, {{counter::stall("barrier"), 2.99}}, ""}));
  // Half of the change; and only where hardly a cycle is free.
  const auto slightly_more = [](double instructions, double cycles) {
    return Situation{"slightly_more_instructions",
                     {{counter::instructions, 100e6}, {counter::cycles, cycles}},
                     {{counter::instructions, instructions}, {counter::cycles, cycles}, {"op_time", 1.04e-3}},
                     ""};
  };
  EXPECT_TRUE(fires(slightly_more(102.1e6, 230e3)));
  EXPECT_FALSE(fires(slightly_more(101.9e6, 230e3))) << "less than half of the change";
  EXPECT_FALSE(fires(slightly_more(102.1e6, 260e3))) << "a cycle in four is free";
  EXPECT_TRUE(fires({"under_one_wave", {}, {{counter::waves, 0.89}}, ""}));
  EXPECT_FALSE(fires({"under_one_wave", {}, {{counter::waves, 0.91}}, ""}));
  EXPECT_FALSE(fires({"under_one_wave", {{counter::waves, 0.9}}, {{counter::waves, 0.5}}, ""}))
      << "it never filled the GPU";
  // 5 % of the longer time, and a fifth less.
  EXPECT_TRUE(fires({"dram_less", {{dram, 2e8}}, {{dram, 1.4e8}}, ""}));
  EXPECT_FALSE(fires({"dram_less", {{dram, 2e7}}, {{dram, 1e6}}, ""})) << "the time of 19 MB is nothing here";
  EXPECT_FALSE(fires({"dram_less", {{dram, 1e9}}, {{dram, 9e8}}, ""})) << "10 % less is no reason";
}

TEST(ExplanationThresholds, CopiesHideNoGainThatIsNone) {
  for (const char* rule : {"copies_hide_the_gain", "copies_hide_the_loss"}) {
    const auto found = std::ranges::find(situations, rule, &Situation::rule);
    ASSERT_NE(found, situations.end());
    Situation s = *found;
    EXPECT_TRUE(fires(s)) << rule;
    const bool gain = s.rule == "copies_hide_the_gain";
    s.after["group_time"] = gain ? 11e-3 : 9e-3;
    EXPECT_FALSE(fires(s)) << rule << ": it went the other way";
    s.after["group_time"] = gain ? 9.99e-3 : 10.01e-3;
    EXPECT_FALSE(fires(s)) << rule << ": nobody can tell it from no change";
  }
}

TEST(ExplanationThresholds, ACacheServesNoDataThatIsGone) {
  const auto rule = std::ranges::find(situations, "l2_hits_more", &Situation::rule);
  ASSERT_NE(rule, situations.end());
  Situation s = *rule;
  EXPECT_TRUE(fires(s));
  s.after["dram__bytes_write.sum"] = 1e7;
  EXPECT_FALSE(fires(s)) << "a matrix that is no longer written is not read either";
}

TEST(ExplanationKernels, OccupancyIsThatOfMultiprocessorsWithABlock) {
  const auto rule = std::ranges::find(situations, "occupancy_higher", &Situation::rule);
  ASSERT_NE(rule, situations.end());
  Situation s = *rule;
  EXPECT_FALSE(find(all_reasons(explanation_of(s)), s.rule)->cited.front().has_idle_multiprocessors);
  s.before[counter::grid] = 33;
  s.before[counter::waves] = 33.0 / 132 / 8;
  const std::vector<Reason> reasons = all_reasons(explanation_of(s));
  const Reason* reason = find(reasons, s.rule);
  ASSERT_NE(reason, nullptr);
  EXPECT_TRUE(reason->cited.front().has_idle_multiprocessors);
}

TEST(ExplanationKernels, ANumberOfAllKernelsIsNotSaidToBeOfTheLongest) {
  Situation s{"issue_rate_higher",
              {},
              {{counter::cycles, 1.5e6}, {"other:gpu__time_duration.sum", 1e-4}, {"kernel_count", 2}},
              ""};
  s.after["other:" + counter::instructions] = 1e6;
  s.after["other:" + counter::cycles] = 1e4;
  const std::vector<Reason> reasons = all_reasons(explanation_of(s));
  const Reason* reason = find(reasons, s.rule);
  ASSERT_NE(reason, nullptr);
  EXPECT_TRUE(reason->cited.at(0).of_all_kernels) << "the issue rate is";
  EXPECT_FALSE(reason->cited.at(1).of_all_kernels);
  EXPECT_TRUE(reason->of_longest_kernel) << "the SM throughput is";
}

TEST(ExplanationThresholds, NothingFiresOfWhatDidNotChange) {
  for (const On on : {On::gpu, On::gpu_by_layer, On::cpu}) {
    const Explanation explanation = explanation_of({"", {}, {}, "", on});
    EXPECT_FALSE(is_change(explanation.change()));
    EXPECT_TRUE(all_reasons(explanation).empty());
  }
}

TEST(ExplanationParts, ABottleneckIsCalledByThePartThatIsBusy) {
  const std::string dram_busy = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
  const Explanation explanation = explanation_of(
      {"",
       {{counter::memory_throughput, 56.6}, {l1, 57}, {dram_busy, 3}},
       {{counter::memory_throughput, 98}, {counter::sm_throughput, 84}, {l1, 98.1}, {dram_busy, 6}},
       ""});
  const Reason* moved = find(explanation.context, "compute_to_memory_bound");
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(
      said_of(*moved, {}),
      "The bottleneck moved from compute (issue slots) 75 % to L1/TEX 98 %, DRAM 6 %: memory throughput "
      "56.6 → 98.0 %, SM throughput 75.0 → 84.0 %.");
}

// --- Evidence

TEST(ExplanationEvidence, CountersThatAddUpNeedToKnowEveryLaunch) {
  const Situation s{"fewer_instructions",
                    {{counter::instructions, 2e9}},
                    {{counter::instructions, 1e9}, {"op_time", 0.6e-3}},
                    ""};
  EXPECT_TRUE(fires(s));
  mprof::Run run = run_of(s);
  std::erase_if(samples::pass_of(run.cases.back(), Pass::trace).measurements,
                [](const Measurement& m) { return m.metric == "kernel_instances"; });
  EXPECT_TRUE(explanations_of(run).of_ops.front().reasons.empty()) << "nobody knows the launches";
  Situation partly = s;
  partly.after["kernel_count"] = 3;
  EXPECT_FALSE(fires(partly)) << "2 of 3 launches were not counted";
}

TEST(ExplanationEvidence, WhatIsMissingIsSaid) {
  mprof::Run run = run_of({"", {}, {{"op_time", 0.5e-3}}, ""});
  for (Case& c : run.cases)
    std::erase_if(c.passes, [](const PassResult& pass) { return pass.pass != Pass::timing; });
  std::erase_if(samples::timing(run.cases.back()).measurements,
                [](const Measurement& m) { return m.metric == "gpu_time"; });
  const Explanation explanation = explanations_of(run).of_ops.front();
  EXPECT_TRUE(explanation.reasons.empty());
  ASSERT_EQ(explanation.missing.size(), 2U);
  EXPECT_EQ(explanation.missing[0].kind, EvidenceKind::hardware_counters);
  EXPECT_EQ(explanation.missing[1].kind, EvidenceKind::trace);
  EXPECT_EQ(missing_text(explanation.missing[1]), "a trace (not recorded)");
}

TEST(ExplanationEvidence, TheCpusCoresExplainNoKernel) {
  const Explanation explanation =
      explanation_of({"", {}, {{"op_time", 0.5e-3}, {"user_time", 2}}, "", On::gpu});
  EXPECT_EQ(find(explanation.reasons, "more_cores"), nullptr);
}

// --- Verdicts

TEST(ExplanationVerdict, WhatDisagreesSpeaksAgainst) {
  const Explanation explanation = explanation_of(
      {"",
       {},
       {{"op_time", 2e-3}, {counter::instructions, 396e6}, {counter::cycles, 4e6}, {"gpu_time", 2e-3}},
       ""});
  EXPECT_EQ(explanation.change(), Verdict::slower);
  EXPECT_NE(find(explanation.reasons, "issue_rate_lower"), nullptr);
  EXPECT_NE(find(explanation.against, "fewer_instructions"), nullptr);
  EXPECT_EQ(find(explanation.reasons, "fewer_instructions"), nullptr);
}

TEST(ExplanationVerdict, NothingIsClaimedOfATimeThatCannotBeToldApart) {
  const Explanation explanation = explanation_of({"", {}, {{counter::instructions, 396e6}}, ""});
  EXPECT_FALSE(is_change(explanation.change()));
  EXPECT_NE(find(explanation.reasons, "fewer_instructions"), nullptr);
  EXPECT_TRUE(explanation.against.empty());
}

TEST(ExplanationVerdict, AWrongOutputIsNotExplained) {
  mprof::Run run = run_of({"", {}, {{"op_time", 0.5e-3}, {counter::instructions, 396e6}}, ""});
  samples::timing(run.cases.back()).status = Status::wrong;
  const Explanations all = explanations_of(run);
  EXPECT_EQ(all.absent, Why(Because::wrong_output));
  EXPECT_TRUE(all.of_ops.empty());
}

TEST(ExplanationVerdict, ABaselineHasNothingToBeExplainedBy) {
  const mprof::Run run = run_of({"", {}, {}, ""});
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  EXPECT_TRUE(explain(family, family.variants.front()).of_ops.empty());
  Anchors anchors;
  EXPECT_FALSE(explanation_view(family, family.variants.front(), anchors)["shown"].get<bool>());
}

// --- Ranking

TEST(ExplanationRanking, TheLargestPartOfTheTimeComesFirst) {
  // Four times fewer instructions, at a rate of four fifths: a third of the time.
  const Explanation explanation = explanation_of({"",
                                                  {},
                                                  {{"op_time", 0.25e-3},
                                                   {"gpu_time", 0.25e-3},
                                                   {counter::instructions, 198e6},
                                                   {counter::cycles, 0.45e6},
                                                   {dram, 2e7},
                                                   {"gpu__time_duration.sum", 0.25e-3}},
                                                  ""});
  ASSERT_GE(explanation.reasons.size(), 2U);
  EXPECT_EQ(explanation.reasons[0].rule->id, "fewer_instructions");
  for (std::size_t i = 1; i < explanation.reasons.size(); ++i)
    EXPECT_LE(explanation.reasons[i].strength, explanation.reasons[i - 1].strength);
}

TEST(ExplanationRanking, NoReasonCountsForMoreThanTheWholeChange) {
  const Explanation explanation =
      explanation_of({"", {}, {{"op_time", 0.8e-3}, {counter::instructions, 100e6}}, ""});
  const Reason* reason = find(explanation.reasons, "fewer_instructions");
  ASSERT_NE(reason, nullptr);
  EXPECT_NEAR(reason->strength, std::log(1 / 0.8), 1e-9);
}

TEST(ExplanationRanking, AStallAccountsForNoMoreThanTheRateChanged) {
  // Barriers take 40 points more of the warps' time, and yet the rate falls by a tenth only.
  const Explanation explanation = explanation_of({"",
                                                  {},
                                                  {{"op_time", 2e-3},
                                                   {"gpu_time", 2e-3},
                                                   {counter::instructions, 1426e6},
                                                   {counter::cycles, 4e6},
                                                   {counter::stall("barrier"), 10}},
                                                  ""});
  EXPECT_EQ(explanation.reasons[0].rule->id, "more_instructions");
  const Reason* rate = find(explanation.reasons, "issue_rate_lower");
  const Reason* barrier = find(explanation.reasons, "barrier_more");
  ASSERT_TRUE(rate != nullptr && barrier != nullptr);
  EXPECT_LT(barrier->strength, rate->strength);
}

TEST(ExplanationRanking, AStallIsNoCauseWhereTheRateHardlyMoved) {
  // As much longer at barriers, and twice the instructions in twice the time, but for 5 %.
  const Explanation explanation = explanation_of({"",
                                                  {},
                                                  {{"op_time", 2e-3},
                                                   {"gpu_time", 2e-3},
                                                   {counter::instructions, 1505e6},
                                                   {counter::cycles, 4e6},
                                                   {counter::stall("barrier"), 10}},
                                                  ""});
  EXPECT_EQ(explanation.reasons[0].rule->id, "more_instructions");
  EXPECT_EQ(find(explanation.reasons, "barrier_more"), nullptr);
}

TEST(ExplanationRanking, TheLongestKernelSpeaksForItsShareAlone) {
  const Values stalled{
      {"op_time", 2e-3}, {"gpu_time", 2e-3}, {counter::cycles, 4e6}, {counter::stall("barrier"), 6}};
  Values half = stalled;
  half["other:gpu__time_duration.sum"] = 1e-3;
  half["other:" + counter::instructions] = 1;
  half["other:" + counter::cycles] = 1;
  half["kernel_count"] = 2;
  const Reason alone = *find(explanation_of({"", {}, stalled, ""}).reasons, "barrier_more");
  const Explanation shared_time = explanation_of({"", {}, half, ""});
  EXPECT_TRUE(shared_time.several_kernels);
  EXPECT_NEAR(find(shared_time.reasons, "barrier_more")->strength, alone.strength / 2, 1e-6);
}

// --- Batches

/// The situation at batch 1000, and at batch 10 what `small` makes of it.
Run at_two_batches(const Situation& large, const Situation& small) {
  mprof::Run run = run_of(large);
  for (Case& c : run_of(small, 10).cases) run.cases.push_back(std::move(c));
  return run;
}

TEST(ExplanationBatches, TheSmallestIsToldWhereLaunchingMatters) {
  const Situation large{
      "", {}, {{"op_time", 0.5e-3}, {"gpu_time", 0.5e-3}, {counter::instructions, 396e6}}, ""};
  Situation small = large;
  EXPECT_EQ(explanations_of(at_two_batches(large, small)).of_ops.size(), 1U);
  small.after["gpu_time"] = 0.3e-3;
  const Explanations all = explanations_of(at_two_batches(large, small));
  ASSERT_EQ(all.of_ops.size(), 2U);
  EXPECT_EQ(all.of_ops[0].problem, samples::at_batch(1000));
  EXPECT_EQ(all.of_ops[1].problem, samples::at_batch(10));
  EXPECT_EQ(all.of_ops[1].against.front().rule->id, "launch_bound");
}

TEST(ExplanationBatches, TheSmallestIsToldWhereTheTimeWentTheOtherWay) {
  const Situation large{"", {}, {{"op_time", 0.5e-3}, {"gpu_time", 0.5e-3}}, ""};
  const Situation small{"", {}, {{"op_time", 2e-3}, {"gpu_time", 2e-3}}, ""};
  const Explanations all = explanations_of(at_two_batches(large, small));
  ASSERT_EQ(all.of_ops.size(), 2U);
  EXPECT_EQ(all.of_ops[1].change(), Verdict::slower);
}

TEST(ExplanationBatches, ALayerThatWentTheOtherWayIsExplainedBesideItsOp) {
  const Explanations all = explanations_of(
      run_of({"",
              {},
              {{"op_time", 0.5e-3}, {"gpu_time", 0.5e-3}, {"group_time", 15e-3}, {"copy_in_time", 9e-3}},
              ""}));
  ASSERT_EQ(all.of_ops.size(), 2U);
  EXPECT_EQ(all.of_ops[1].time, "group_time");
  EXPECT_EQ(all.of_ops[1].change(), Verdict::slower);
  EXPECT_EQ(all.of_ops[1].reasons.front().rule->id, "copies_slower");
}

// --- Sweeps

/// The variant with streams=4 as the situation has it, and a point of its sweep.
Run swept_run(const Situation& s, const Values& point) {
  mprof::Run run = run_of(s);
  run.variants[1].parameters = {{"streams", "streams at once", "4", {"1", "4"}}};
  Situation other = s;
  other.after = point;
  Case one = run_of(other).cases.back();
  const auto set = [](Case& c, const std::string& streams) {
    c.key.parameters = {{"streams", streams}};
    c.id = fmt::format("conv/after[streams={}]@1000", streams);
  };
  set(run.cases.back(), "4");
  set(one, "1");
  run.cases.push_back(std::move(one));
  return run;
}

const Values half_the_copying{{"copy_in_time", 1e-3}, {"gpu_copy_only_time", 5e-3}};

Values with_group_time(Values values, double time) {
  values["group_time"] = time;
  return values;
}

TEST(ExplanationSweep, APointWithTheCauseAndNoGainGainsaysIt) {
  Values overlapping{{"copy_in_time", 1e-3}, {"gpu_copy_only_time", 3e-3}, {"concurrent_streams", 4}};
  const Situation s{"", {}, with_group_time(overlapping, 5e-3), "", On::gpu_by_layer};
  const Explanation unswept = explanation_of(s);
  ASSERT_NE(find(unswept.reasons, "copies_faster"), nullptr);
  const mprof::Run run = swept_run(s, with_group_time(half_the_copying, 9.8e-3));
  const Explanation explanation = explanations_of(run).of_ops.front();
  EXPECT_EQ(find(explanation.reasons, "copies_faster"), nullptr) << "streams=1 copies as fast, and gains 2 %";
  EXPECT_NE(find(explanation.reasons, "overlap_more"), nullptr);
  const Reason* little = find(explanation.little, "copies_faster");
  ASSERT_NE(little, nullptr);
  ASSERT_TRUE(little->refuted_by);
  EXPECT_EQ(little->refuted_by->point, (Parameters{{"streams", "1"}}));
  EXPECT_NEAR(little->refuted_by->speed_up, 1.02, 0.005);
}

TEST(ExplanationSweep, APointThatGainsAsMuchConfirmsTheCause) {
  const Situation s{"", {}, with_group_time(half_the_copying, 5e-3), "", On::gpu_by_layer};
  const mprof::Run run = swept_run(s, with_group_time(half_the_copying, 6e-3));
  EXPECT_NE(find(explanations_of(run).of_ops.front().reasons, "copies_faster"), nullptr);
}

TEST(ExplanationSweep, WhatSetsTheVariantApartFromThatPointIsTheReason) {
  Values waiting = with_group_time(half_the_copying, 9.8e-3);
  waiting["gpu_idle_host_time"] = 5e-3;
  const Situation s{"", {}, with_group_time(half_the_copying, 5e-3), "", On::gpu_by_layer};
  const Explanation explanation = explanations_of(swept_run(s, waiting)).of_ops.front();
  const Reason* reason = find(explanation.reasons, "host_work_less");
  ASSERT_NE(reason, nullptr);
  EXPECT_EQ(reason->over_point, (Parameters{{"streams", "1"}}));
}

// --- Other variants of the same baseline

/// The variant as the situation has it, and before it another one of the same baseline.
mprof::Run run_beside(const Situation& s, const Values& other) {
  mprof::Run run = run_of(s);
  Situation beside = s;
  beside.after = other;
  VariantInfo info = run.variants[1];
  info.id = "conv/other";
  Case c = run_of(beside).cases.back();
  c.key.variant = info.id;
  c.id = "conv/other@1000";
  run.variants.insert(run.variants.begin() + 1, info);
  run.cases.insert(run.cases.begin() + 1, std::move(c));
  return run;
}

const Situation copies_and_host{"",
                                {},
                                {{"copy_in_time", 1e-3},
                                 {"gpu_copy_only_time", 5e-3},
                                 {"gpu_kernel_time", 0.2e-3},
                                 {"gpu_time", 0.2e-3},
                                 {"group_time", 5e-3}},
                                "",
                                On::gpu_by_layer};

TEST(ExplanationOthers, AVariantWithTheCauseAndNoGainContradictsIt) {
  const mprof::Run run = run_beside(copies_and_host, with_group_time(half_the_copying, 10e-3));
  const Explanation alone = explanation_of(copies_and_host);
  ASSERT_EQ(alone.reasons.front().rule->id, "copies_faster");
  const Explanation explanation = explanations_of(run).of_ops.front();
  const Reason* reason = find(explanation.reasons, "copies_faster");
  ASSERT_NE(reason, nullptr);
  EXPECT_NE(&explanation.reasons.front(), reason) << "it is not told first";
  ASSERT_TRUE(reason->refuted_by);
  EXPECT_EQ(reason->refuted_by->configuration, "conv/other");
  EXPECT_NEAR(reason->refuted_by->speed_up, 1, 0.005);
}

TEST(ExplanationOthers, AVariantWithALossOfItsOwnContradictsNothing) {
  Values losing = with_group_time(half_the_copying, 10e-3);
  losing["gpu_idle_host_time"] = 5e-3;
  for (const Values& other :
       {losing, with_group_time(half_the_copying, 7e-3), Values{{"copy_in_time", 3.5e-3}}}) {
    const Explanation explanation = explanations_of(run_beside(copies_and_host, other)).of_ops.front();
    const Reason* reason = find(explanation.reasons, "copies_faster");
    ASSERT_NE(reason, nullptr);
    EXPECT_FALSE(reason->refuted_by);
  }
}

TEST(ExplanationOthers, AVariantThatWasNotReadAsCompletelyContradictsNothing) {
  mprof::Run run = run_beside(copies_and_host, with_group_time(half_the_copying, 10e-3));
  samples::pass_of(run.cases[1], Pass::counters).status = Status::failed;
  samples::pass_of(run.cases[1], Pass::counters).measurements.clear();
  const auto explanations = explanations_of(run);
  const Reason* reason = find(explanations.of_ops.front().reasons, "copies_faster");
  ASSERT_NE(reason, nullptr);
  EXPECT_FALSE(reason->refuted_by) << "its loss may be what was not read";
}

TEST(ExplanationOthers, AFactorOfTheTimeIsContradictedByNoVariant) {
  const Situation fewer{
      "", {}, {{"op_time", 0.5e-3}, {"gpu_time", 0.5e-3}, {counter::instructions, 400e6}}, ""};
  const Values no_faster{{counter::instructions, 400e6}};
  const auto explanations = explanations_of(run_beside(fewer, no_faster));
  const Reason* reason = find(explanations.of_ops.front().reasons, "fewer_instructions");
  ASSERT_NE(reason, nullptr);
  EXPECT_FALSE(reason->refuted_by);
}

// --- The view

TEST(ExplanationView, CountsWhatItDoesNotShow) {
  Values worse{
      {"op_time", 4e-3}, {"gpu_time", 4e-3}, {counter::cycles, 16e6}, {dram, 2e9}, {counter::occupancy, 60}};
  for (const char* reason : {"barrier", "long_scoreboard", "mio_throttle", "lg_throttle"})
    worse[counter::stall(reason)] = 4;
  const mprof::Run run = run_of({"", {}, worse, ""});
  const RunAnalysis analysis = analyse(run);
  Anchors anchors;
  const nlohmann::json view =
      explanation_view(analysis.families.front(), analysis.families.front().variants.back(), anchors);
  const nlohmann::json& list = view["items"][0]["lists"][0];
  EXPECT_EQ(list["head"], "Because");
  EXPECT_EQ(list["reasons"].size(), 5U);
  EXPECT_EQ(list["more"], "2 smaller ones are not shown");
  EXPECT_EQ(list["smaller"], "2 smaller ones") << "which a page unfolds";
  ASSERT_EQ(list["rest"].size(), 2U);
  for (const nlohmann::json& reason : list["rest"]) EXPECT_NE(reason["text"], list["reasons"][0]["text"]);
}

TEST(ExplanationView, HostileNamesStayShortAndOnOneLine) {
  const std::string hostile = "<script>\n|`" + std::string(2000, 'k');
  const mprof::Run run =
      run_of({"", {}, {{"op_time", 0.5e-3}, {counter::instructions, 396e6}}, "", On::gpu, hostile});
  const RunAnalysis analysis = analyse(run);
  Anchors anchors;
  const nlohmann::json view =
      explanation_view(analysis.families.front(), analysis.families.front().variants.back(), anchors);
  const std::string kernels = view["items"][0]["kernels"];
  EXPECT_LT(kernels.size(), 100U);
  EXPECT_EQ(kernels.find('\n'), std::string::npos);
}

TEST(ExplanationView, TooFewSamplesGiveNoVerdict) {
  mprof::Run run = run_of({"", {}, {{counter::instructions, 396e6}}, ""});
  for (Case& c : run.cases) samples::set_samples(c, "op_time", "layer1", {1e-3, 1.1e-3});
  const RunAnalysis analysis = analyse(run);
  Anchors anchors;
  const nlohmann::json view =
      explanation_view(analysis.families.front(), analysis.families.front().variants.back(), anchors);
  EXPECT_EQ(view["items"][0]["verdict"], "inconclusive");
  EXPECT_EQ(view["items"][0]["lists"][0]["head"],
            "What changed; there are too few samples for a verdict on the time");
}

}  // namespace
}  // namespace mprof
