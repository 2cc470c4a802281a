#include "report/analysis/rules.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/analysis/literature.hpp"
#include "report/analysis/quantities.hpp"
#include "report/analysis/words.hpp"
#include "report/text/format.hpp"

namespace mprof {
namespace {

using enum Effect;
using enum Explains;
using enum Look;
using enum Relation;

// Metrics by the names that a reader of a profile knows.
constexpr std::string_view sm = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view l1 = "l1tex__throughput.avg.pct_of_peak_sustained_active";
constexpr std::string_view memory_pipes = "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view instructions = "smsp__inst_executed.sum";
constexpr std::string_view dram = "dram__bytes.sum";
constexpr std::string_view taking_part = "smsp__thread_inst_executed_per_inst_executed.ratio";
constexpr std::string_view dram_written = "dram__bytes_write.sum";
constexpr std::string_view l1_hits = "l1tex__t_sector_hit_rate.pct";
constexpr std::string_view l2_hits = "lts__t_sector_hit_rate.pct";
constexpr std::string_view loaded = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";
constexpr std::string_view stored = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio";
constexpr std::string_view occupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr std::string_view theoretical = "sm__maximum_warps_per_active_cycle_pct";
constexpr std::string_view registers = "launch__registers_per_thread";
constexpr std::string_view waves = "launch__waves_per_multiprocessor";

Clause least(std::string_view metric, Look look, double threshold) {
  return {metric, look, at_least, threshold};
}
Clause most(std::string_view metric, Look look, double threshold) {
  return {metric, look, at_most, threshold};
}
Strength by_ratio(std::string_view metric, double weight = 1) {
  return {Weigh::log_ratio, metric, weight};
}
/// What acts through the issue rate.
Strength of_rate(Strength strength) {
  strength.through = "issue_rate";
  return strength;
}
/// What acts through the number of instructions.
Strength of_count(Strength strength) {
  strength.through = instructions;
  return strength;
}
Strength by_time(std::string_view metric, double weight = 1) {
  return {Weigh::share_of_time, metric, weight};
}
Strength by_points(std::string_view metric, double weight = 1) {
  return {Weigh::points, metric, weight};
}
Cited change(std::string_view metric) {
  return {metric, Show::change};
}
Cited pair(std::string_view metric) {
  return {metric, Show::pair};
}
Cited now(std::string_view metric) {
  return {metric, Show::after};
}
Cited then(std::string_view metric) {
  return {metric, Show::before};
}

const std::vector<Rule> table{
    // What was changed: another algorithm, other units, other kernels.
    {"tensor_cores_used",
     faster,
     op_time,
     {least("tensor_share", after, 50), most("tensor_share", before, 10)},
     "Tensor cores do the arithmetic: {} of it, {} before.",
     {now("tensor_share"), then("tensor_share")},
     {Weigh::share_after, "tensor_share"},
     literature::warp_matrix},
    {"tensor_cores_dropped",
     slower,
     op_time,
     {least("tensor_share", before, 50), most("tensor_share", after, 10)},
     "Tensor cores no longer do the arithmetic: {} of it, {} before.",
     {now("tensor_share"), then("tensor_share")},
     by_points("tensor_share"),
     literature::warp_matrix},
    {"tensor_cores_unused",
     context,
     op_time,
     {least("matrix_kernels", after, 1), most("tensor_share", after, 1)},
     "Matrices are multiplied without the tensor cores: they do {} of the arithmetic.",
     {now("tensor_share")},
     {Weigh::least, "tensor_share", 0.02},
     literature::warp_matrix},
    {"less_arithmetic",
     faster,
     op_time,
     {most("arithmetic", ratio, 0.8)},
     "It computes less: {} in floating point, where the op's definition has {}.",
     {change("arithmetic"), now("flops")},
     of_count(by_ratio("arithmetic")),
     literature::fast_algorithms},
    {"more_arithmetic",
     slower,
     op_time,
     {least("arithmetic", ratio, 1.25)},
     "It computes more than the definition needs (padding, repeats or several products for one): {} in "
     "floating point, where the op's definition has {}.",
     {change("arithmetic"), now("flops")},
     of_count(by_ratio("arithmetic")),
     literature::tiling},
    {"packed_halves",
     faster,
     op_time,
     {least("half_share", before, 50), least("half_share", after, 50), most("multiply_adds", ratio, 0.7)},
     "FP16 in pairs: {} multiply-adds of threads do the same arithmetic.",
     {change("multiply_adds")},
     by_ratio("multiply_adds"),
     literature::half_math},
    {"single_halves",
     context,
     op_time,
     {most("half_share", before, 10), least("half_share", after, 50), least("multiply_adds", ratio, 0.9)},
     "{} of the multiply-adds are in FP16, one at a time, and no fewer: {} of threads. FP16 pays only "
     "in "
     "pairs or on tensor cores.",
     {now("half_share"), change("multiply_adds")},
     {Weigh::least, "multiply_adds", 0.5},
     literature::half_math},
    {"other_kernels_more",
     slower,
     op_time,
     {least("side_kernel_time", share_of_time, 0.05)},
     "Kernels other than the longest one take more, {}: {}.",
     {pair("side_kernel_time"), {"side_kernel_time", Show::side_kernels}},
     by_time("side_kernel_time"),
     literature::fusion},
    {"other_kernels_less",
     faster,
     op_time,
     {most("side_kernel_time", share_of_time, -0.05)},
     "Kernels other than the longest one take less, {}: {}.",
     {pair("side_kernel_time"), {"side_kernel_time", Show::side_kernels}},
     by_time("side_kernel_time"),
     literature::fusion},

    // How much there is to execute and to move, and at what rate.
    {"fewer_instructions",
     faster,
     op_time,
     {most(instructions, ratio, 0.95)},
     "Fewer warp instructions: {}.",
     {change(instructions)},
     by_ratio(instructions),
     literature::time_equation},
    {"slightly_fewer_instructions",
     faster,
     op_time,
     {most(instructions, share_of_change, -0.5), least(instructions, ratio, 0.95),
      least("issue_rate", after, 3.2)},
     "Fewer warp instructions: {}. Nearly every cycle issues one.",
     {change(instructions)},
     by_ratio(instructions),
     literature::time_equation},
    {"more_instructions",
     slower,
     op_time,
     {least(instructions, ratio, 1.05)},
     "More warp instructions: {}.",
     {change(instructions)},
     by_ratio(instructions),
     literature::time_equation},
    {"slightly_more_instructions",
     slower,
     op_time,
     {least(instructions, share_of_change, 0.5), most(instructions, ratio, 1.05),
      least("issue_rate", after, 3.2)},
     "More warp instructions: {}. Nearly every cycle issues one.",
     {change(instructions)},
     by_ratio(instructions),
     literature::time_equation},
    {"more_work_per_instruction",
     faster,
     op_time,
     {least("work_share", difference, 5), least("work_share", ratio, 1.25)},
     "More of the instructions are multiply-adds (padding included): {}.",
     {pair("work_share")},
     of_count(by_ratio("work_share", 0.5)),
     literature::tiling},
    {"less_work_per_instruction",
     slower,
     op_time,
     {most("work_share", difference, -5), most("work_share", ratio, 0.8), most("tensor_share", after, 1)},
     "Fewer of the instructions are multiply-adds, and more are loads and index arithmetic: {} of them are "
     "multiply-adds.",
     {pair("work_share")},
     of_count(by_ratio("work_share", 0.5)),
     literature::tiling},
    {"more_threads_take_part",
     faster,
     op_time,
     {least(taking_part, ratio, 1.25)},
     "More of a warp's 32 threads take part in an instruction, on average: {}.",
     {pair(taking_part)},
     by_ratio(taking_part),
     literature::control_flow},
    {"fewer_threads_take_part",
     slower,
     op_time,
     {most(taking_part, ratio, 0.8)},
     "Fewer of a warp's 32 threads take part in an instruction, on average: {}.",
     {pair(taking_part)},
     by_ratio(taking_part),
     literature::control_flow},
    {"dram_less",
     faster,
     op_time,
     {most(dram, ratio, 0.8), most("dram_time", share_of_time, -0.05)},
     "Less goes through DRAM: {}. At the measured bandwidth that takes {}.",
     {change(dram), pair("dram_time")},
     by_time("dram_time"),
     literature::roofline},
    {"dram_more",
     slower,
     op_time,
     {least(dram, ratio, 1.25), least("dram_time", share_of_time, 0.05)},
     "More goes through DRAM: {}. At the measured bandwidth that takes {}.",
     {change(dram), pair("dram_time")},
     by_time("dram_time"),
     literature::roofline},
    {"issue_rate_higher",
     faster,
     op_time,
     {least("issue_rate", ratio, 1.05), least("side_kernel_time", share_of_time, -0.3)},
     "Instructions are issued faster: {} of the 4 that a multiprocessor can issue in a cycle; SM throughput "
     "{}.",
     {change("issue_rate"), pair(sm)},
     by_ratio("issue_rate"),
     literature::time_equation},
    {"issue_rate_lower",
     slower,
     op_time,
     {most("issue_rate", ratio, 0.95), most("side_kernel_time", share_of_time, 0.3)},
     "Instructions are issued more slowly: {} of the 4 that a multiprocessor can issue in a cycle.",
     {change("issue_rate")},
     by_ratio("issue_rate"),
     literature::time_equation},
    {"sm_clock_higher",
     faster,
     either,
     {least("sm_clock", ratio, 1.04)},
     "The GPU's clock was higher (the power that a kernel draws can move it): {}.",
     {change("sm_clock")},
     by_ratio("sm_clock"),
     literature::nvml},
    {"sm_clock_lower",
     slower,
     either,
     {most("sm_clock", ratio, 0.96)},
     "The GPU's clock was lower (the power that a kernel draws can move it): {}.",
     {change("sm_clock")},
     by_ratio("sm_clock"),
     literature::nvml},

    // Launching.
    {"more_launches",
     slower,
     op_time,
     {least("launch_count", difference, 1), least("launch_gap", share_of_time, 0.05)},
     "More launches, with time between the kernels: {} launches; {} of the op in which no kernel ran.",
     {pair("launch_count"), pair("launch_gap")},
     by_time("launch_gap"),
     literature::launching,
     true},
    {"fewer_launches",
     faster,
     op_time,
     {most("launch_count", difference, -1), most("launch_gap", share_of_time, -0.05)},
     "Fewer launches, and less time between the kernels: {} launches; {} of the op in which no kernel ran.",
     {pair("launch_count"), pair("launch_gap")},
     by_time("launch_gap"),
     literature::launching,
     true},
    {"launch_bound",
     slower,
     op_time,
     {least("launch_gap_share", after, 15), least("launch_gap_share", difference, 5)},
     "The kernels have become so short that launching them counts: in {} of the op time no kernel ran ({} of "
     "{}).",
     {pair("launch_gap_share"), now("launch_gap"), now("op_time")},
     by_points("launch_gap_share"),
     literature::launching,
     true},
    {"under_one_wave",
     slower,
     op_time,
     {least(waves, before, 1), most(waves, after, 0.9)},
     "The grid no longer fills the GPU: {} waves.",
     {pair(waves)},
     by_ratio(waves, 0.25),
     literature::execution_configuration,
     true},
    {"tail_effect",
     slower,
     op_time,
     {least(waves, after, 1), most("wave_use", after, 75), most("wave_use", difference, -10)},
     "The last wave leaves multiprocessors idle: {} waves, so that at the best {} of the GPU works.",
     {pair(waves), pair("wave_use")},
     by_points("wave_use", 0.5),
     literature::execution_configuration,
     true},

    // What holds warps up: limits first, then hit rates, occupancy and stalls.
    {"memory_pipes_full",
     slower,
     op_time,
     {least(memory_pipes, after, 75), least(memory_pipes, difference, 5), most(l1, after, 50)},
     "The pipes for shared memory and indexed constants have become the limit: they are {} busy, the L1 "
     "cache {}.",
     {pair(memory_pipes), pair(l1)},
     of_rate(by_points(memory_pipes)),
     literature::constant_memory},
    {"bank_conflicts_more",
     slower,
     op_time,
     {least("conflict_share", difference, 5)},
     "Shared loads meet in banks: conflicts take {} of the multiprocessors' cycles.",
     {pair("conflict_share")},
     of_rate(by_points("conflict_share")),
     literature::memory_optimizations},
    {"bank_conflicts_less",
     faster,
     op_time,
     {most("conflict_share", difference, -5)},
     "Fewer shared loads meet in banks: conflicts take {} of the multiprocessors' cycles.",
     {pair("conflict_share")},
     of_rate(by_points("conflict_share")),
     literature::memory_optimizations},
    {"loads_coalesced_better",
     faster,
     op_time,
     {least(loaded, ratio, 1.25), least(loaded, before, 1), least(memory, before, 50)},
     "Global loads are better coalesced: threads use {} of each 32-byte sector; memory throughput was {}.",
     {change(loaded), then(memory)},
     of_rate(by_ratio(loaded, 0.3)),
     literature::memory_optimizations},
    {"loads_coalesced_worse",
     slower,
     op_time,
     {most(loaded, ratio, 0.8), least(loaded, after, 1), least(memory, after, 50)},
     "Global loads are less coalesced: threads use {} of each 32-byte sector; memory throughput is {}.",
     {change(loaded), now(memory)},
     of_rate(by_ratio(loaded, 0.3)),
     literature::memory_optimizations},
    {"stores_coalesced_better",
     faster,
     op_time,
     {least(stored, ratio, 1.25), least(stored, before, 1), least(memory, before, 50)},
     "Global stores are better coalesced: threads write {} of each 32-byte sector; memory throughput was {}.",
     {change(stored), then(memory)},
     of_rate(by_ratio(stored, 0.3)),
     literature::memory_optimizations},
    {"stores_coalesced_worse",
     slower,
     op_time,
     {most(stored, ratio, 0.8), least(stored, after, 1), least(memory, after, 50)},
     "Global stores are less coalesced: threads write {} of each 32-byte sector; memory throughput is {}.",
     {change(stored), now(memory)},
     of_rate(by_ratio(stored, 0.3)),
     literature::memory_optimizations},
    {"spills_less",
     faster,
     op_time,
     {most("local_share", difference, -1)},
     "Fewer registers spill: accesses to local memory are {} of the warp instructions, at {} registers a "
     "thread.",
     {pair("local_share"), pair(registers)},
     by_points("local_share", 2),
     literature::local_memory},
    {"spills_more",
     slower,
     op_time,
     {least("local_share", difference, 1)},
     "Registers spill, or arrays lie in local memory: accesses to it are {} of the warp instructions, at {} "
     "registers a thread.",
     {pair("local_share"), pair(registers)},
     by_points("local_share", 2),
     literature::local_memory},
    {"l2_hits_more",
     faster,
     op_time,
     // Where less is written as well, data is gone that no cache has to serve.
     {least(l2_hits, difference, 10), most("dram_time", share_of_time, -0.05),
      least(dram_written, ratio, 0.8)},
     "The L2 cache serves more, so that less comes from DRAM: hit rate {}.",
     {change(l2_hits)},
     by_time("dram_time", 0.5),
     literature::memory_optimizations},
    {"l2_hits_less",
     slower,
     op_time,
     {most(l2_hits, difference, -10), least("dram_time", share_of_time, 0.05),
      most(dram_written, ratio, 1.25)},
     "The L2 cache serves less, so that more comes from DRAM: hit rate {}.",
     {change(l2_hits)},
     by_time("dram_time", 0.5),
     literature::memory_optimizations},
    {"l1_hits_more",
     faster,
     op_time,
     {least(l1_hits, difference, 10), most("long_scoreboard_share", difference, -5)},
     "The L1 cache serves more, and warps wait less for memory: hit rate {}.",
     {change(l1_hits)},
     of_rate(by_points("long_scoreboard_share", 0.5)),
     literature::memory_optimizations},
    {"l1_hits_less",
     slower,
     op_time,
     {most(l1_hits, difference, -10), least("long_scoreboard_share", difference, 5)},
     "The L1 cache serves less, and warps wait more for memory: hit rate {}.",
     {change(l1_hits)},
     of_rate(by_points("long_scoreboard_share", 0.5)),
     literature::memory_optimizations},
    {"latency_bound",
     slower,
     op_time,
     {least("higher_throughput", before, 60), most("higher_throughput", after, 60)},
     "It has become latency-bound, with neither arithmetic nor memory busy: SM throughput {}, memory "
     "throughput {}.",
     {pair(sm), pair(memory)},
     of_rate(by_ratio("higher_throughput", 0.5)),
     literature::speed_of_light},
    {"no_longer_latency_bound",
     faster,
     op_time,
     {most("higher_throughput", before, 60), least("higher_throughput", after, 60)},
     "It is no longer latency-bound: SM throughput {}, memory throughput {}.",
     {pair(sm), pair(memory)},
     of_rate(by_ratio("higher_throughput", 0.5)),
     literature::speed_of_light},
    {"memory_to_compute_bound",
     context,
     op_time,
     {least("memory_lead", before, 10), least(memory, before, 60), most("memory_lead", after, -10),
      least(sm, after, 60)},
     "The bottleneck moved from {} to {}: memory throughput {}, SM throughput {}.",
     {{memory, Show::bottleneck_before}, {sm, Show::bottleneck_after}, pair(memory), pair(sm)},
     by_points("memory_lead", 0.1),
     literature::speed_of_light},
    {"compute_to_memory_bound",
     context,
     op_time,
     {most("memory_lead", before, -10), least(sm, before, 60), least("memory_lead", after, 10),
      least(memory, after, 60)},
     "The bottleneck moved from {} to {}: memory throughput {}, SM throughput {}.",
     {{sm, Show::bottleneck_before}, {memory, Show::bottleneck_after}, pair(memory), pair(sm)},
     by_points("memory_lead", 0.1),
     literature::speed_of_light},
    {"multiprocessors_busier",
     faster,
     op_time,
     {least("active_share", difference, 10)},
     "Multiprocessors have a block for more of the time: {} of the kernel's cycles.",
     {pair("active_share")},
     of_rate(by_ratio("active_share")),
     literature::execution_configuration},
    {"multiprocessors_idler",
     slower,
     op_time,
     {most("active_share", difference, -10)},
     "Multiprocessors have no block for more of the time: they have one in {} of the kernel's cycles.",
     {pair("active_share")},
     of_rate(by_ratio("active_share")),
     literature::execution_configuration},
    {"occupancy_higher",
     faster,
     op_time,
     {least(occupancy, difference, 10), least("issue_rate", ratio, 1.03)},
     "More warps hide each other's waiting: achieved occupancy {}.",
     {change(occupancy)},
     of_rate(by_ratio(occupancy, 0.5)),
     literature::latency_hiding},
    {"occupancy_lower",
     slower,
     op_time,
     {most(occupancy, difference, -10), most("issue_rate", ratio, 0.97)},
     "Fewer warps are there to hide each other's waiting: achieved occupancy {}, {} in theory, limited by "
     "{}; {} "
     "registers a thread.",
     {change(occupancy), now(theoretical), {theoretical, Show::limits}, pair(registers)},
     of_rate(by_ratio(occupancy, 0.5)),
     literature::latency_hiding},
    {"occupancy_lower_harmless",
     context,
     op_time,
     {most(occupancy, difference, -10), least("issue_rate", ratio, 0.97)},
     "Occupancy fell without harm, {}, limited by {} ({} registers a thread): each warp has enough "
     "independent "
     "work to issue {} instructions a cycle and multiprocessor.",
     {change(occupancy), {theoretical, Show::limits}, pair(registers), pair("issue_rate")},
     by_ratio(occupancy, 0.1),
     literature::lower_occupancy},
    {"occupancy_higher_useless",
     context,
     op_time,
     {least(occupancy, difference, 10), most("issue_rate", ratio, 1.03)},
     "Occupancy rose without use, {}: {} instructions are issued a cycle and multiprocessor.",
     {change(occupancy), pair("issue_rate")},
     by_ratio(occupancy, 0.1),
     literature::latency_hiding},
    {"long_scoreboard_less",
     faster,
     op_time,
     {most("long_scoreboard_share", difference, -5)},
     "Warps wait less for global memory (long scoreboard): {} of their time.",
     {pair("long_scoreboard_share")},
     of_rate(by_points("long_scoreboard_share", 0.7)),
     literature::warp_stalls},
    {"long_scoreboard_more",
     slower,
     op_time,
     {least("long_scoreboard_share", difference, 5)},
     "Warps wait more for global memory (long scoreboard): {} of their time.",
     {pair("long_scoreboard_share")},
     of_rate(by_points("long_scoreboard_share", 0.7)),
     literature::warp_stalls},
    {"barrier_less",
     faster,
     op_time,
     {most("barrier_share", difference, -5)},
     "Warps wait less at barriers: {} of their time.",
     {pair("barrier_share")},
     of_rate(by_points("barrier_share", 0.7)),
     literature::warp_stalls},
    {"barrier_more",
     slower,
     op_time,
     {least("barrier_share", difference, 5)},
     "Warps wait more at barriers: {} of their time.",
     {pair("barrier_share")},
     of_rate(by_points("barrier_share", 0.7)),
     literature::warp_stalls},
    {"short_scoreboard_less",
     faster,
     op_time,
     {most("short_scoreboard_share", difference, -5)},
     "Warps wait less for shared memory, indexed constants or special functions (short scoreboard): {} of "
     "their "
     "time.",
     {pair("short_scoreboard_share")},
     of_rate(by_points("short_scoreboard_share", 0.7)),
     literature::warp_stalls},
    {"constant_loads_wait",
     slower,
     op_time,
     {least("short_scoreboard_share", difference, 5), most("shared_memory", after, 0)},
     "Warps wait for constants whose address is computed, or for special functions (short scoreboard; the "
     "kernel "
     "has {} of shared memory): {} of their time.",
     {now("shared_memory"), pair("short_scoreboard_share")},
     of_rate(by_points("short_scoreboard_share", 0.7)),
     literature::constant_memory},
    {"short_scoreboard_more",
     slower,
     op_time,
     {least("short_scoreboard_share", difference, 5), least("shared_memory", after, 1)},
     "Warps wait more for shared memory, indexed constants or special functions (short scoreboard): {} of "
     "their "
     "time.",
     {pair("short_scoreboard_share")},
     of_rate(by_points("short_scoreboard_share", 0.7)),
     literature::warp_stalls},
    {"mio_throttle_less",
     faster,
     op_time,
     {most("mio_throttle_share", difference, -5)},
     "The queue for shared memory and indexed constants is full less often (MIO throttle): {} of the warps' "
     "time.",
     {pair("mio_throttle_share")},
     of_rate(by_points("mio_throttle_share", 0.7)),
     literature::warp_stalls},
    {"mio_throttle_more",
     slower,
     op_time,
     {least("mio_throttle_share", difference, 5)},
     "The queue for shared memory and indexed constants is full more often (MIO throttle): {} of the warps' "
     "time.",
     {pair("mio_throttle_share")},
     of_rate(by_points("mio_throttle_share", 0.7)),
     literature::warp_stalls},
    {"lg_throttle_less",
     faster,
     op_time,
     {most("lg_throttle_share", difference, -5)},
     "The queue for global and local memory is full less often (LG throttle): {} of the warps' time.",
     {pair("lg_throttle_share")},
     of_rate(by_points("lg_throttle_share", 0.7)),
     literature::warp_stalls},
    {"lg_throttle_more",
     slower,
     op_time,
     {least("lg_throttle_share", difference, 5)},
     "The queue for global and local memory is full more often (LG throttle): {} of the warps' time.",
     {pair("lg_throttle_share")},
     of_rate(by_points("lg_throttle_share", 0.7)),
     literature::warp_stalls},
    {"math_pipe_throttle_less",
     faster,
     op_time,
     {most("math_pipe_throttle_share", difference, -5), least("issue_rate", ratio, 1)},
     "Arithmetic pipes hold warps up less (math pipe throttle): {} of their time.",
     {pair("math_pipe_throttle_share")},
     of_rate(by_points("math_pipe_throttle_share", 0.5)),
     literature::warp_stalls},
    {"math_pipe_throttle_more",
     context,
     op_time,
     {least("math_pipe_throttle_share", difference, 5)},
     "Arithmetic pipes are what warps wait for more now (math pipe throttle): {} of their time.",
     {pair("math_pipe_throttle_share")},
     by_points("math_pipe_throttle_share", 0.1),
     literature::warp_stalls},

    // Around the kernels.
    {"copies_hide_the_gain",
     context,
     op_time,
     {most("op_time", ratio, 0.67), least("copy_only_share", after, 50), least("group_time", ratio, 0.8),
      most("group_time", told_ratio, 1)},
     "The {group} gains less, for copies take {} of its time: {group_time} {}.",
     {now("copy_only_share"), change("group_time")},
     {Weigh::least, "group_time", 0.1},
     literature::amdahl},
    {"copies_hide_the_loss",
     context,
     op_time,
     {least("op_time", ratio, 1.5), least("copy_only_share", after, 50), most("group_time", ratio, 1.25),
      least("group_time", told_ratio, 1)},
     "The {group} loses less, for copies take {} of its time: {group_time} {}.",
     {now("copy_only_share"), change("group_time")},
     {Weigh::least, "group_time", 0.1},
     literature::amdahl},
    {"copies_faster",
     faster,
     group_time,
     {most("copy_time", share_of_time, -0.05), least("copy_bytes", ratio, 0.9)},
     "The same bytes are copied in less time: {}, at {}.",
     {change("copy_time"), pair("copy_rate")},
     by_time("copy_time"),
     literature::data_transfer},
    {"copies_slower",
     slower,
     group_time,
     {least("copy_time", share_of_time, 0.05), most("copy_bytes", ratio, 1.1)},
     "The same bytes are copied in more time: {}, at {}.",
     {change("copy_time"), pair("copy_rate")},
     by_time("copy_time"),
     literature::data_transfer},
    {"copies_fewer_bytes",
     faster,
     group_time,
     {most("copy_time", share_of_time, -0.05), most("copy_bytes", ratio, 0.9)},
     "Fewer bytes are copied: {}, in {}.",
     {change("copy_bytes"), pair("copy_time")},
     by_time("copy_time"),
     literature::data_transfer},
    {"copies_more_bytes",
     slower,
     group_time,
     {least("copy_time", share_of_time, 0.05), least("copy_bytes", ratio, 1.1)},
     "More bytes are copied: {}, in {}.",
     {change("copy_bytes"), pair("copy_time")},
     by_time("copy_time"),
     literature::data_transfer},
    {"overlap_more",
     faster,
     with_host,
     {least("overlapped_time", share_of_time, 0.05)},
     "Copies run beside kernels, or beside each other: {} are saved so, on {} streams at once; part of "
     "the copy time in which a kernel ran: {}.",
     {pair("overlapped_time"), pair("concurrent_streams"), pair("copy_overlap")},
     by_time("overlapped_time"),
     literature::overlapped_transfers},
    {"overlap_little",
     context,
     with_host,
     {least("concurrent_streams", difference, 1), most("overlapped_time", share_of_time, 0.05)},
     "{} streams work at once, but little of it overlaps: {} are saved so, of {} of copies.",
     {pair("concurrent_streams"), pair("overlapped_time"), now("copy_time")},
     {Weigh::least, "overlapped_time", 0.5},
     literature::overlapped_transfers},
    {"overlap_less",
     slower,
     with_host,
     {most("overlapped_time", share_of_time, -0.05), least("copy_time", ratio, 0.9)},
     "Less runs at the same time: {} are saved so, on {} streams at once; part of the copy time in which a "
     "kernel ran: {}.",
     {pair("overlapped_time"), pair("concurrent_streams"), pair("copy_overlap")},
     by_time("overlapped_time"),
     literature::overlapped_transfers},
    {"kernels_faster",
     faster,
     group_time,
     {most("gpu_time", share_of_time, -0.05)},
     "The kernels take less time: {}.",
     {change("gpu_time")},
     by_time("gpu_time"),
     literature::amdahl},
    {"kernels_slower",
     slower,
     group_time,
     {least("gpu_time", share_of_time, 0.05)},
     "The kernels take more time: {}.",
     {change("gpu_time")},
     by_time("gpu_time"),
     literature::amdahl},
    {"allocation_less",
     faster,
     group_time,
     {most("gpu_idle_allocation_time", share_of_time, -0.05)},
     "The GPU waits less for memory to be allocated and freed: {}.",
     {pair("gpu_idle_allocation_time")},
     by_time("gpu_idle_allocation_time"),
     literature::ordered_allocation},
    {"allocation_more",
     slower,
     group_time,
     {least("gpu_idle_allocation_time", share_of_time, 0.05)},
     "The GPU waits for memory to be allocated and freed: {}.",
     {pair("gpu_idle_allocation_time")},
     by_time("gpu_idle_allocation_time"),
     literature::ordered_allocation},
    {"host_work_less",
     faster,
     group_time,
     {most("host_time", share_of_time, -0.05)},
     "The GPU waits less for the host's own work: {}.",
     {pair("host_time")},
     by_time("host_time"),
     literature::data_transfer},
    {"host_work_more",
     slower,
     group_time,
     {least("host_time", share_of_time, 0.05)},
     "The GPU waits for the host, in its own code or in CUDA calls: {}.",
     {pair("host_time")},
     by_time("host_time"),
     literature::data_transfer},

    // The CPU.
    {"more_cores",
     faster,
     cpu_time,
     {least("cores_busy", ratio, 1.25)},
     "More cores work: {} on average over the whole {whole}.",
     {pair("cores_busy")},
     by_ratio("cores_busy"),
     literature::amdahl},
    {"fewer_cores",
     slower,
     cpu_time,
     {most("cores_busy", ratio, 0.8)},
     "Fewer cores work: {} on average over the whole {whole}.",
     {pair("cores_busy")},
     by_ratio("cores_busy"),
     literature::amdahl},
    {"core_computes_more",
     faster,
     cpu_time,
     {least("rate_of_core", ratio, 1.25)},
     "Each busy core computes more: {}. That is what vectors and cache blocking are for.",
     {change("rate_of_core")},
     by_ratio("rate_of_core"),
     literature::roofline},
    {"core_computes_less",
     slower,
     cpu_time,
     {most("rate_of_core", ratio, 0.8)},
     "Each busy core computes less: {}.",
     {change("rate_of_core")},
     by_ratio("rate_of_core"),
     literature::roofline},
    {"cpu_fewer_instructions",
     faster,
     cpu_time,
     {most("instructions", ratio, 0.8)},
     "The CPU executes fewer instructions: {}.",
     {change("instructions")},
     by_ratio("instructions"),
     literature::time_equation},
    {"cpu_more_instructions",
     slower,
     cpu_time,
     {least("instructions", ratio, 1.25)},
     "The CPU executes more instructions: {}.",
     {change("instructions")},
     by_ratio("instructions"),
     literature::time_equation},
    {"cpu_fewer_cycles_each",
     faster,
     cpu_time,
     {most("cycles_per_instruction", ratio, 0.8)},
     "An instruction takes fewer cycles: {}.",
     {change("cycles_per_instruction")},
     by_ratio("cycles_per_instruction"),
     literature::time_equation},
    {"cpu_more_cycles_each",
     slower,
     cpu_time,
     {least("cycles_per_instruction", ratio, 1.25)},
     "An instruction takes more cycles: {}.",
     {change("cycles_per_instruction")},
     by_ratio("cycles_per_instruction"),
     literature::time_equation},
    {"cpu_fewer_cache_misses",
     faster,
     cpu_time,
     {most("cache_misses", ratio, 0.8)},
     "Fewer loads miss the last cache: {}.",
     {change("cache_misses")},
     by_ratio("cache_misses", 0.25),
     literature::drepper},
    {"cpu_more_cache_misses",
     slower,
     cpu_time,
     {least("cache_misses", ratio, 1.25)},
     "More loads miss the last cache: {}.",
     {change("cache_misses")},
     by_ratio("cache_misses", 0.25),
     literature::drepper},
    {"page_faults_fewer",
     faster,
     with_host,
     {most("page_faults", ratio, 0.5), least("system_share", before, 10),
      most("system_share", difference, -5)},
     "Fewer page faults, {} {a_whole}: the operating system takes {} of the CPU time.",
     {change("page_faults"), pair("system_share")},
     by_points("system_share"),
     literature::drepper},
    {"page_faults_more",
     slower,
     with_host,
     {least("page_faults", ratio, 2), least("system_share", after, 10), least("system_share", difference, 5)},
     "More page faults, {} {a_whole}: the operating system takes {} of the CPU time.",
     {change("page_faults"), pair("system_share")},
     by_points("system_share"),
     literature::drepper},
};

// --- The documentation

std::string_view word(Effect effect) {
  return effect == faster ? "faster" : effect == slower ? "slower" : "context";
}

std::string word(Explains explains) {
  switch (explains) {
    case op_time:
      return "op time";
    case group_time:
      return Words().time("group_time");
    case cpu_time:
      return "op time of a CPU variant";
    case with_host:
      return Words().time("group_time") + ", or op time of a CPU variant";
    case either:
      break;
  }
  return "either time";
}

std::string_view word(Look look) {
  switch (look) {
    case before:
      return "before";
    case after:
      return "after";
    case ratio:
      return "after / before";
    case told_ratio:
      return "after / before, the two told apart,";
    case difference:
      return "after − before";
    case share_of_time:
      return "after − before, of the longer time";
    case share_of_change:
      break;
  }
  return "ln(after / before), of |ln(times' ratio)|";
}

std::string threshold_text(const Clause& clause) {
  if (clause.look == share_of_time) return format::whole_percent(100 * clause.threshold);
  const bool is_ratio = clause.look == ratio || clause.look == told_ratio || clause.look == share_of_change;
  const std::optional<Unit> unit = is_ratio ? std::nullopt : unit_of(clause.metric);
  std::string text = format::about(clause.threshold, Unit::ratio);
  if (unit != Unit::percent) return text;
  return text + (clause.look == difference || clause.metric == "memory_lead" ? " points" : "\u00a0%");
}

std::string clause_text(const Clause& clause) {
  return fmt::format("`{}` {} {} {}", clause.metric, word(clause.look),
                     clause.relation == at_least ? "≥" : "≤", threshold_text(clause));
}

/// The sentence in plain words, with the names of what it cites.
std::string sentence_text(const Rule& rule) {
  const std::string sentence = Words().filled(rule.sentence);
  std::string text;
  std::size_t cited = 0;
  for (std::size_t at = 0; at < sentence.size(); ++at) {
    if (sentence.compare(at, 2, "{}") != 0) {
      text += sentence[at];
      continue;
    }
    const Cited& number = rule.cites.at(cited++);
    ++at;
    const bool is_bottleneck =
        number.show == Show::bottleneck_before || number.show == Show::bottleneck_after;
    text += number.show == Show::limits         ? "*limits*"
            : number.show == Show::side_kernels ? "*kernels*"
            : is_bottleneck                     ? "*part*"
                                                : fmt::format("`{}`", number.metric);
  }
  return text;
}

}  // namespace

std::span<const Rule> rules() {
  return table;
}

bool is_factor_of_time(const Rule& rule) {
  constexpr std::array<std::string_view, 7> factors{
      instructions, "issue_rate",  "sm_clock", "instructions", "cycles_per_instruction",
      "cores_busy", "rate_of_core"};
  return std::ranges::find(factors, rule.strength.metric) != factors.end();
}

std::string rules_as_markdown() {
  std::string text =
      "| Rule | Effect | Explains | When all of this holds | Sentence | Source "
      "|\n|---|---|---|---|---|---|\n";
  for (const Rule& rule : table) {
    std::vector<std::string> clauses;
    for (const Clause& clause : rule.when) clauses.push_back(clause_text(clause));
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", rule.id, word(rule.effect),
                        word(rule.explains), fmt::join(clauses, "; "), sentence_text(rule), rule.source);
  }
  text += "\nThe quantities that are not metrics of the run:\n\n| Quantity | Meaning |\n|---|---|\n";
  for (const Quantity& quantity : quantities())
    text += fmt::format("| `{}` | {} |\n", quantity.id, quantity.meaning);
  return text;
}

}  // namespace mprof
