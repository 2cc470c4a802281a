// SPDX-License-Identifier: MIT
#include "model/metric_presets.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace mprof {
namespace {

// Names and labels follow Nsight Compute's sections; the tests hold every name, its unit and each preset's
// number of passes against CUPTI's profiler host for GH100. All values are in SI base units. What counts
// events, bytes or time adds up over the kernels of an op; a share or a rate does not.
constexpr std::array metrics{
    Metric{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) throughput", Unit::percent,
           Better::higher, Combine::never,
           "The busiest part of the multiprocessors, as a percentage of its peak."},
    Metric{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory throughput",
           Unit::percent, Better::higher, Combine::never,
           "The busiest part of caches, interconnects and DRAM, as a percentage of its peak."},
    Metric{"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1/TEX cache throughput", Unit::percent,
           Better::higher, Combine::never,
           "The busiest part of the L1 caches, as a percentage of its peak while they worked."},
    Metric{"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 cache throughput", Unit::percent,
           Better::higher, Combine::never, "The busiest part of the L2 cache, as a percentage of its peak."},
    Metric{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput", Unit::percent,
           Better::higher, Combine::never,
           "The busier of the DRAM interface's parts, as a percentage of its peak."},
    Metric{"gpu__time_duration.sum", "Duration", Unit::second, Better::lower, Combine::sum,
           "Time of the kernel on the GPU, with counters on and clocks as they were."},
    Metric{"gpc__cycles_elapsed.max", "Elapsed cycles", Unit::count, Better::lower, Combine::sum,
           "Cycles of the graphics clock from the kernel's start to its end."},
    Metric{"sm__cycles_active.avg", "SM active cycles", Unit::count, Better::neither, Combine::sum,
           "Cycles in which a multiprocessor had a warp, on average over all of them."},
    Metric{"gpc__cycles_elapsed.avg.per_second", "SM frequency", Unit::hertz, Better::neither, Combine::never,
           "The clock of the multiprocessors while the kernel ran."},
    Metric{"dram__cycles_elapsed.avg.per_second", "DRAM frequency", Unit::hertz, Better::neither,
           Combine::never, "The clock of the memory while the kernel ran."},
    Metric{"sm__maximum_warps_per_active_cycle_pct", "Theoretical occupancy", Unit::percent, Better::higher,
           Combine::never,
           "Warps that a multiprocessor can hold of this launch, of those it can hold at all (computed)."},
    Metric{"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved occupancy", Unit::percent,
           Better::higher, Combine::never, "Warps that a multiprocessor held, of those it can hold at all."},
    Metric{"sm__warps_active.avg.per_cycle_active", "Achieved active warps per SM", Unit::count,
           Better::higher, Combine::never,
           "Warps that a multiprocessor held, on average over the cycles in which it had any."},
    Metric{"smsp__warps_active.avg.peak_sustained", "Maximum warps per scheduler", Unit::count,
           Better::neither, Combine::never, "Warps that one of a multiprocessor's schedulers can hold."},
    Metric{"launch__occupancy_limit_registers", "Block limit: registers", Unit::count, Better::higher,
           Combine::never, "Blocks that a multiprocessor's registers suffice for (computed)."},
    Metric{"launch__occupancy_limit_shared_mem", "Block limit: shared memory", Unit::count, Better::higher,
           Combine::never, "Blocks that a multiprocessor's shared memory suffices for (computed)."},
    Metric{"launch__occupancy_limit_warps", "Block limit: warps", Unit::count, Better::higher, Combine::never,
           "Blocks that a multiprocessor has warps for (computed)."},
    Metric{"launch__occupancy_limit_blocks", "Block limit: SM", Unit::count, Better::neither, Combine::never,
           "Blocks that a multiprocessor can hold, however small they are (computed)."},
    Metric{"launch__grid_size", "Grid size", Unit::count, Better::neither, Combine::never,
           "Blocks of the launch."},
    Metric{"launch__block_size", "Block size", Unit::count, Better::neither, Combine::never,
           "Threads of a block."},
    Metric{"launch__registers_per_thread", "Registers per thread", Unit::count, Better::neither,
           Combine::never, "Registers that the compiler gave a thread."},
    Metric{"launch__shared_mem_per_block_static", "Static shared memory per block", Unit::byte,
           Better::neither, Combine::never, "Shared memory that the kernel declares."},
    Metric{"launch__shared_mem_per_block_dynamic", "Dynamic shared memory per block", Unit::byte,
           Better::neither, Combine::never, "Shared memory that the launch adds."},
    Metric{"launch__waves_per_multiprocessor", "Waves per SM", Unit::ratio, Better::neither, Combine::never,
           "Times that the grid fills all multiprocessors at the theoretical occupancy (computed)."},
    Metric{"dram__bytes.sum.per_second", "DRAM byte rate", Unit::byte_per_second, Better::higher,
           Combine::never, "Bytes that DRAM read and wrote, over the kernel's time."},
    Metric{"gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed", "Memory busy",
           Unit::percent, Better::higher, Combine::never,
           "The busiest part inside caches and DRAM, as a percentage of its peak."},
    Metric{"gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed", "Maximum bandwidth",
           Unit::percent, Better::higher, Combine::never,
           "The busiest connection between multiprocessors, caches and DRAM, as a percentage of its peak."},
    Metric{"sm__memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory pipes busy", Unit::percent,
           Better::higher, Combine::never,
           "The busiest pipe of memory instructions, as a percentage of its peak."},
    Metric{"l1tex__t_sector_hit_rate.pct", "L1/TEX hit rate", Unit::percent, Better::higher, Combine::never,
           "Sectors found in the L1 caches, of those looked up."},
    Metric{"lts__t_sector_hit_rate.pct", "L2 hit rate", Unit::percent, Better::higher, Combine::never,
           "Sectors found in the L2 cache, of those looked up."},
    Metric{"dram__bytes_read.sum", "DRAM bytes read", Unit::byte, Better::lower, Combine::sum,
           "Bytes that DRAM read."},
    Metric{"dram__bytes_write.sum", "DRAM bytes written", Unit::byte, Better::lower, Combine::sum,
           "Bytes that DRAM wrote."},
    Metric{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
           "Bytes used per sector, global loads", Unit::byte, Better::higher, Combine::never,
           "Bytes that threads asked for of each 32-byte sector loaded; 32 is fully coalesced."},
    Metric{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
           "Bytes used per sector, global stores", Unit::byte, Better::higher, Combine::never,
           "Bytes that threads wrote of each 32-byte sector stored; 32 is fully coalesced."},
    Metric{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "Shared load bank conflicts",
           Unit::count, Better::lower, Combine::sum,
           "Further rounds that loads from shared memory needed, since lanes met in a bank."},
    Metric{"smsp__average_warp_latency_per_inst_issued.ratio", "Warp cycles per issued instruction",
           Unit::ratio, Better::lower, Combine::never,
           "Cycles that a warp was resident for each instruction it issued; the stalls below add up to it."},
    Metric{"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "Stall: barrier", Unit::ratio,
           Better::lower, Combine::never, "Waiting for the block's other warps at a barrier."},
    Metric{"smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio",
           "Stall: branch resolving", Unit::ratio, Better::lower, Combine::never,
           "Waiting for the target of a branch."},
    Metric{"smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio", "Stall: dispatch stall",
           Unit::ratio, Better::lower, Combine::never, "The dispatcher held the warp's instruction back."},
    Metric{"smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", "Stall: drain", Unit::ratio,
           Better::lower, Combine::never, "After EXIT, waiting for memory writes to drain."},
    Metric{"smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "Stall: GMMA", Unit::ratio,
           Better::lower, Combine::never, "Waiting for the warp group's matrix unit (WARPGROUP.ARRIVE)."},
    Metric{"smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio", "Stall: IMC miss",
           Unit::ratio, Better::lower, Combine::never, "Waiting for the immediate constant cache."},
    Metric{"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", "Stall: LG throttle",
           Unit::ratio, Better::lower, Combine::never,
           "The queue for local and global memory instructions was full."},
    Metric{"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
           "Stall: long scoreboard", Unit::ratio, Better::lower, Combine::never,
           "Waiting for a result from global, local, surface or texture memory."},
    Metric{"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
           "Stall: math pipe throttle", Unit::ratio, Better::lower, Combine::never,
           "The arithmetic pipe was busy."},
    Metric{"smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", "Stall: membar", Unit::ratio,
           Better::lower, Combine::never, "Waiting at a memory barrier."},
    Metric{"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", "Stall: MIO throttle",
           Unit::ratio, Better::lower, Combine::never,
           "The queue for shared memory and special functions was full."},
    Metric{"smsp__average_warps_issue_stalled_misc_per_issue_active.ratio", "Stall: misc", Unit::ratio,
           Better::lower, Combine::never, "Another reason of the hardware."},
    Metric{"smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio", "Stall: no instruction",
           Unit::ratio, Better::lower, Combine::never, "Waiting for an instruction to be fetched."},
    Metric{"smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio", "Stall: not selected",
           Unit::ratio, Better::lower, Combine::never, "Ready, and another warp was taken."},
    Metric{"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "Stall: selected",
           Unit::ratio, Better::neither, Combine::never, "Issued an instruction: no stall."},
    Metric{"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
           "Stall: short scoreboard", Unit::ratio, Better::lower, Combine::never,
           "Waiting for a result from shared memory or special functions."},
    Metric{"smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio", "Stall: sleeping",
           Unit::ratio, Better::lower, Combine::never, "Asleep (nanosleep)."},
    Metric{"smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio", "Stall: TEX throttle",
           Unit::ratio, Better::lower, Combine::never, "The queue for texture instructions was full."},
    Metric{"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "Stall: wait", Unit::ratio,
           Better::lower, Combine::never, "Waiting out an instruction's fixed latency."},
    Metric{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "FP32 additions", Unit::count,
           Better::neither, Combine::sum,
           "Single-precision additions that threads executed, predicated-off ones left out."},
    Metric{"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "FP32 multiplications", Unit::count,
           Better::neither, Combine::sum,
           "Single-precision multiplications that threads executed, predicated-off ones left out."},
    Metric{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "FP32 multiply-adds", Unit::count,
           Better::neither, Combine::sum,
           "Single-precision fused multiply-adds (2 FLOP each) that threads executed, predicated-off ones "
           "left out."},
    Metric{"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "FP64 additions", Unit::count,
           Better::neither, Combine::sum,
           "Double-precision additions that threads executed, predicated-off ones left out."},
    Metric{"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "FP64 multiplications", Unit::count,
           Better::neither, Combine::sum,
           "Double-precision multiplications that threads executed, predicated-off ones left out."},
    Metric{"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "FP64 multiply-adds", Unit::count,
           Better::neither, Combine::sum,
           "Double-precision fused multiply-adds (2 FLOP each) that threads executed, predicated-off ones "
           "left out."},
    Metric{"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", "FP16 additions", Unit::count,
           Better::neither, Combine::sum,
           "Half-precision additions that threads executed, predicated-off ones left out."},
    Metric{"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", "FP16 multiplications", Unit::count,
           Better::neither, Combine::sum,
           "Half-precision multiplications that threads executed, predicated-off ones left out."},
    Metric{"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "FP16 multiply-adds", Unit::count,
           Better::neither, Combine::sum,
           "Half-precision fused multiply-adds (2 FLOP each) that threads executed, predicated-off ones left "
           "out."},
    Metric{"dram__bytes.sum", "DRAM bytes", Unit::byte, Better::lower, Combine::sum,
           "Bytes that DRAM read and wrote."},
    Metric{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained",
           "Peak FP32 multiply-adds per cycle", Unit::ratio, Better::neither, Combine::never,
           "Single-precision multiply-adds that the whole GPU can execute a cycle."},
    Metric{"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained",
           "Peak FP64 multiply-adds per cycle", Unit::ratio, Better::neither, Combine::never,
           "Double-precision multiply-adds that the whole GPU can execute a cycle."},
    Metric{"smsp__cycles_elapsed.avg.per_second", "SM sub-partition frequency", Unit::hertz, Better::neither,
           Combine::never, "The clock that the peaks per cycle must be multiplied with."},
    Metric{"dram__bytes.sum.peak_sustained", "Peak DRAM bytes per cycle", Unit::ratio, Better::neither,
           Combine::never, "Bytes that DRAM can move a cycle of its clock."},
    Metric{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "Tensor pipe", Unit::percent,
           Better::higher, Combine::never,
           "Cycles in which the tensor pipe worked, of all cycles. On an H200 a few are without any tensor "
           "operation."},
    Metric{"sm__inst_executed_pipe_tensor.sum", "Tensor instructions", Unit::count, Better::neither,
           Combine::sum,
           "Warp instructions that the tensor pipe executed; on an H200 not all are matrix products."},
    Metric{"sm__ops_path_tensor_src_tf32_dst_fp32.sum", "TF32 tensor operations", Unit::count,
           Better::neither, Combine::sum, "Arithmetic operations of the tensor cores on TF32."},
    Metric{"sm__ops_path_tensor_src_fp16.sum", "FP16 tensor operations", Unit::count, Better::neither,
           Combine::sum, "Arithmetic operations of the tensor cores on FP16."},
    Metric{"smsp__warps_active.avg.per_cycle_active", "Active warps per scheduler", Unit::count,
           Better::higher, Combine::never, "Warps that a scheduler held, on average."},
    Metric{"smsp__warps_eligible.avg.per_cycle_active", "Eligible warps per scheduler", Unit::count,
           Better::higher, Combine::never, "Warps that could have issued an instruction, on average."},
    Metric{"smsp__issue_active.avg.per_cycle_active", "Issued warps per scheduler", Unit::ratio,
           Better::higher, Combine::never, "Instructions that a scheduler issued a cycle; 1 is its peak."},
    Metric{"smsp__issue_active.avg.pct_of_peak_sustained_active", "One or more eligible", Unit::percent,
           Better::higher, Combine::never, "Cycles in which a scheduler issued an instruction."},
    Metric{"smsp__issue_inst0.avg.pct_of_peak_sustained_active", "No eligible", Unit::percent, Better::lower,
           Combine::never, "Cycles in which no warp was ready."},
    Metric{"sm__inst_executed.avg.per_cycle_elapsed", "Executed IPC, elapsed", Unit::ratio, Better::higher,
           Combine::never, "Warp instructions that a multiprocessor executed a cycle."},
    Metric{"sm__inst_executed.avg.per_cycle_active", "Executed IPC, active", Unit::ratio, Better::higher,
           Combine::never, "Warp instructions that a multiprocessor executed a cycle in which it had warps."},
    Metric{"sm__inst_issued.avg.per_cycle_active", "Issued IPC, active", Unit::ratio, Better::higher,
           Combine::never, "Warp instructions that a multiprocessor issued a cycle in which it had warps."},
    Metric{"sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed", "SM busy", Unit::percent,
           Better::higher, Combine::never,
           "The busiest of instruction issue and the pipes, as a percentage of its peak."},
    Metric{"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", "ALU pipe", Unit::percent,
           Better::neither, Combine::never,
           "Cycles in which the pipe of integer and logic instructions worked."},
    Metric{"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", "FMA pipe", Unit::percent,
           Better::neither, Combine::never, "Cycles in which the pipes of FP32 arithmetic worked."},
    Metric{"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed", "FP64 pipe", Unit::percent,
           Better::neither, Combine::never, "Cycles in which the pipe of FP64 arithmetic worked."},
    Metric{"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed", "LSU pipe", Unit::percent,
           Better::neither, Combine::never,
           "Instructions of the load and store unit, of those it can execute."},
    Metric{"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed", "XU pipe", Unit::percent,
           Better::neither, Combine::never,
           "Instructions of the unit for special functions and conversions, of those it can execute."},
    Metric{"smsp__inst_executed.sum", "Warp instructions executed", Unit::count, Better::lower, Combine::sum,
           "Warp instructions executed."},
    Metric{"smsp__thread_inst_executed_per_inst_executed.ratio", "Active threads per warp instruction",
           Unit::ratio, Better::higher, Combine::never,
           "Threads of a warp that are active in an average instruction; 32 where none diverges."},
    Metric{"idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed", "Constant port", Unit::percent,
           Better::neither, Combine::never,
           "Cycles in which the cache of indexed constants took requests, of all cycles."},
    Metric{"sm__inst_executed_pipe_fma.sum", "Instructions: FMA", Unit::count, Better::neither, Combine::sum,
           "Warp instructions of the pipes of FP32 arithmetic (FP16 pairs and integer multiply-adds too)."},
    Metric{"sm__inst_executed_pipe_alu.sum", "Instructions: ALU", Unit::count, Better::neither, Combine::sum,
           "Warp instructions of the pipe of integer, logic and comparison."},
    Metric{"sm__inst_executed_pipe_fp64.sum", "Instructions: FP64", Unit::count, Better::neither,
           Combine::sum, "Warp instructions of the pipe of FP64 arithmetic."},
    Metric{"sm__inst_executed_pipe_lsu.sum", "Instructions: LSU", Unit::count, Better::neither, Combine::sum,
           "Warp instructions of the load and store unit: global, local and shared memory."},
    Metric{"sm__inst_executed_pipe_adu.sum", "Instructions: ADU", Unit::count, Better::neither, Combine::sum,
           "Warp instructions of the address divergence unit: branches to addresses, indexed constants."},
    Metric{"sm__inst_executed_pipe_cbu.sum", "Instructions: CBU", Unit::count, Better::neither, Combine::sum,
           "Warp instructions of the convergence barrier unit: branches and barriers."},
    Metric{"sm__inst_executed_pipe_xu.sum", "Instructions: XU", Unit::count, Better::neither, Combine::sum,
           "Warp instructions of the unit for special functions and conversions."},
    Metric{"sm__inst_executed_pipe_uniform.sum", "Instructions: uniform", Unit::count, Better::neither,
           Combine::sum, "Instructions of the uniform datapath: once for all threads of a warp."},
    Metric{"sm__inst_executed_pipe_tex.sum", "Instructions: TEX", Unit::count, Better::neither, Combine::sum,
           "Warp instructions of the texture unit."},
    Metric{"l1tex__t_bytes.sum", "L1/TEX bytes", Unit::byte, Better::lower, Combine::sum,
           "Bytes of the sectors that the L1 caches looked up."},
    Metric{"l1tex__t_bytes.sum.peak_sustained", "Peak L1/TEX bytes per cycle", Unit::ratio, Better::neither,
           Combine::never, "Bytes that all L1 caches together can look up a cycle."},
    Metric{"l1tex__cycles_elapsed.avg.per_second", "L1/TEX frequency", Unit::hertz, Better::neither,
           Combine::never, "The clock of the L1 caches while the kernel ran."},
    Metric{"lts__t_bytes.sum", "L2 bytes", Unit::byte, Better::lower, Combine::sum,
           "Bytes of the sectors that the L2 cache looked up."},
    Metric{"lts__t_bytes.sum.peak_sustained", "Peak L2 bytes per cycle", Unit::ratio, Better::neither,
           Combine::never, "Bytes that the L2 cache can look up a cycle."},
    Metric{"lts__cycles_elapsed.avg.per_second", "L2 frequency", Unit::hertz, Better::neither, Combine::never,
           "The clock of the L2 cache while the kernel ran."},
    Metric{"smsp__inst_issued.sum", "Warp instructions issued", Unit::count, Better::lower, Combine::sum,
           "Warp instructions issued, those issued again included."},
};

constexpr std::array<std::string_view, 10> speed_of_light{
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.max",
    "sm__cycles_active.avg",
    "gpc__cycles_elapsed.avg.per_second",
    "dram__cycles_elapsed.avg.per_second",
};

constexpr std::array<std::string_view, 14> occupancy{
    "sm__maximum_warps_per_active_cycle_pct",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.per_cycle_active",
    "smsp__warps_active.avg.peak_sustained",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
    "launch__occupancy_limit_blocks",
    "launch__grid_size",
    "launch__block_size",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block_static",
    "launch__shared_mem_per_block_dynamic",
    "launch__waves_per_multiprocessor",
};

constexpr std::array<std::string_view, 11> memory{
    "dram__bytes.sum.per_second",
    "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sector_hit_rate.pct",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
};

constexpr std::array<std::string_view, 22> stalls{
    "smsp__average_warp_latency_per_inst_issued.ratio",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_misc_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
};

constexpr std::array<std::string_view, 23> roofline{
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
    "gpu__time_duration.sum",
    "dram__bytes.sum",
    "dram__bytes.sum.per_second",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained",
    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained",
    "smsp__cycles_elapsed.avg.per_second",
    "dram__bytes.sum.peak_sustained",
    "dram__cycles_elapsed.avg.per_second",
    "l1tex__t_bytes.sum",
    "l1tex__t_bytes.sum.peak_sustained",
    "l1tex__cycles_elapsed.avg.per_second",
    "lts__t_bytes.sum",
    "lts__t_bytes.sum.peak_sustained",
    "lts__cycles_elapsed.avg.per_second",
};

constexpr std::array<std::string_view, 4> tensor{
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor.sum",
    "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
    "sm__ops_path_tensor_src_fp16.sum",
};

constexpr std::array<std::string_view, 5> scheduler{
    "smsp__warps_active.avg.per_cycle_active",
    "smsp__warps_eligible.avg.per_cycle_active",
    "smsp__issue_active.avg.per_cycle_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "smsp__issue_inst0.avg.pct_of_peak_sustained_active",
};

constexpr std::array<std::string_view, 12> compute{
    "sm__inst_executed.avg.per_cycle_elapsed",
    "sm__inst_executed.avg.per_cycle_active",
    "sm__inst_issued.avg.per_cycle_active",
    "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",
    "idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "smsp__inst_executed.sum",
    "smsp__inst_issued.sum",
};

constexpr std::array<std::string_view, 10> instructions{
    "sm__inst_executed_pipe_fma.sum",     "sm__inst_executed_pipe_tensor.sum",
    "sm__inst_executed_pipe_alu.sum",     "sm__inst_executed_pipe_fp64.sum",
    "sm__inst_executed_pipe_lsu.sum",     "sm__inst_executed_pipe_adu.sum",
    "sm__inst_executed_pipe_cbu.sum",     "sm__inst_executed_pipe_xu.sum",
    "sm__inst_executed_pipe_uniform.sum", "sm__inst_executed_pipe_tex.sum",
};

constexpr std::array presets{
    MetricPreset{"sol", "Speed of Light", speed_of_light},
    MetricPreset{"occupancy", "Occupancy", occupancy},
    MetricPreset{"memory", "Memory workload", memory},
    MetricPreset{"stalls", "Stall reasons", stalls},
    MetricPreset{"roofline", "Roofline", roofline},
    MetricPreset{"tensor", "Tensor cores", tensor},
    MetricPreset{"scheduler", "Schedulers", scheduler},
    MetricPreset{"compute", "Compute workload", compute},
    MetricPreset{"instructions", "Instruction mix", instructions},
};

bool is_listed(std::string_view id) {
  return std::ranges::any_of(metrics, [&](const Metric& metric) { return metric.id == id; });
}

}  // namespace

std::optional<std::string_view> stall_of_metric(std::string_view id) {
  constexpr std::string_view head = "smsp__average_warps_issue_stalled_", tail = "_per_issue_active.ratio";
  if (!id.starts_with(head) || !id.ends_with(tail)) return std::nullopt;
  return id.substr(head.size(), id.size() - head.size() - tail.size());
}

bool hardware_gave_no_number(std::string_view absent) {
  return absent.starts_with(no_number_by_hardware.substr(0, no_number_by_hardware.find(':')));
}

std::span<const Metric> hardware_metrics() {
  return metrics;
}

bool is_launch_metric(std::string_view id) {
  return id.starts_with("launch__") || id == "sm__maximum_warps_per_active_cycle_pct";
}

std::span<const MetricPreset> metric_presets() {
  return presets;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names{"default", "all"};
  for (const MetricPreset& preset : presets) names.emplace_back(preset.name);
  return names;
}

std::vector<std::string> preset_metrics(std::string_view preset) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < presets.size(); ++i) {
    const bool wanted = preset == presets[i].name || preset == "all" || preset == "default";
    if (!wanted) continue;
    for (const std::string_view id : presets[i].metrics) {
      if (std::ranges::find(names, id) == names.end()) names.emplace_back(id);
    }
  }
  return names;
}

std::vector<std::string> not_in_catalogue(std::span<const std::string> names) {
  std::vector<std::string> unknown;
  std::ranges::copy_if(names, std::back_inserter(unknown),
                       [](const std::string& name) { return !is_listed(name); });
  return unknown;
}

namespace {

/// By the grammar of Nsight Compute's names: unit__what.rollup.submetric.
std::optional<Unit> unit_by_name(std::string_view id) {
  const auto has = [&](std::string_view part) { return id.find(part) != id.npos; };
  if (!has("__")) return std::nullopt;
  if (has(".pct") || id.ends_with("_pct")) return Unit::percent;
  if (id.starts_with("launch__")) {
    if (has("occupancy_limit") || id.ends_with("_count")) return Unit::count;
    if (has("shared_mem") || has("stack_size")) return Unit::byte;
    return id.ends_with("_size") ? std::optional(Unit::count) : std::nullopt;
  }
  if (has("per_second"))
    return has("bytes") ? Unit::byte_per_second : has("cycles") ? Unit::hertz : Unit::per_second;
  if (has(".per_cycle") || has(".ratio")) return Unit::ratio;
  if (has("bytes")) return Unit::byte;
  if (has("time_duration")) return Unit::second;
  for (const std::string_view counted : {"cycles", "warps", "inst", "sectors", "requests", "wavefronts"}) {
    if (has(counted)) return Unit::count;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Unit> unit_of_metric(std::string_view id) {
  const Metric* const row = find_metric(id);
  return row != nullptr ? std::optional(row->unit) : unit_by_name(id);
}

}  // namespace mprof
