// SPDX-License-Identifier: MIT
#pragma once

#include <string>

/// Names of hardware counters and of what a launch says, as tests need them more than once.
namespace mprof::test::counter {

inline const std::string instructions = "smsp__inst_executed.sum";
inline const std::string cycles = "gpc__cycles_elapsed.max";
inline const std::string sm_throughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
inline const std::string memory_throughput =
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
inline const std::string dram_throughput = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
inline const std::string occupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
inline const std::string bytes_per_loaded_sector =
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";
inline const std::string bank_conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
inline const std::string waves = "launch__waves_per_multiprocessor";
inline const std::string grid = "launch__grid_size";

/// Cycles that a warp is stalled for a reason, for each instruction issued.
inline std::string stall(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}
/// Threads that executed an operation.
inline std::string executed(const std::string& operation) {
  return "smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}

}  // namespace mprof::test::counter
