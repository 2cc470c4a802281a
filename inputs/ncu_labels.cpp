// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "inputs/ncu_csv.hpp"

namespace mprof {
namespace {

struct Label {
  std::string_view label;  ///< in lower case
  std::string_view metric;
};

// By ncu's section files. Of a label that several versions give to different metrics, the newest one's.
constexpr std::array labels{
    // GPU Speed Of Light Throughput; those that begin with "sol" until 2021.
    Label{"dram frequency", "dram__cycles_elapsed.avg.per_second"},
    Label{"sm frequency", "gpc__cycles_elapsed.avg.per_second"},
    Label{"elapsed cycles", "gpc__cycles_elapsed.max"},
    Label{"duration", "gpu__time_duration.sum"},
    Label{"compute (sm) throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"compute (sm) [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"sm [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"sol sm", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"memory [%]", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"sol memory", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"dram throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"sol dram", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"l1/tex cache throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    Label{"sol l1/tex cache", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    Label{"l2 cache throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"sol l2 cache", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"sm active cycles", "sm__cycles_active.avg"},
    // Compute Workload Analysis
    Label{"executed ipc active", "sm__inst_executed.avg.per_cycle_active"},
    Label{"executed ipc elapsed", "sm__inst_executed.avg.per_cycle_elapsed"},
    Label{"issue slots busy", "sm__inst_issued.avg.pct_of_peak_sustained_active"},
    Label{"issued ipc active", "sm__inst_issued.avg.per_cycle_active"},
    Label{"sm busy", "sm__instruction_throughput.avg.pct_of_peak_sustained_active"},
    // Memory Workload Analysis
    Label{"mem busy", "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"max bandwidth", "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"mem pipes busy", "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    Label{"l1/tex hit rate", "l1tex__t_sector_hit_rate.pct"},
    Label{"l2 hit rate", "lts__t_sector_hit_rate.pct"},
    // Scheduler Statistics
    Label{"active warps per scheduler", "smsp__warps_active.avg.per_cycle_active"},
    Label{"eligible warps per scheduler", "smsp__warps_eligible.avg.per_cycle_active"},
    Label{"issued warp per scheduler", "smsp__issue_active.avg.per_cycle_active"},
    Label{"no eligible", "smsp__issue_inst0.avg.pct_of_peak_sustained_active"},
    Label{"one or more eligible", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    // Warp State Statistics
    Label{"warp cycles per issued instruction", "smsp__average_warp_latency_per_inst_issued.ratio"},
    Label{"warp cycles per executed instruction", "smsp__average_warps_active_per_inst_executed.ratio"},
    Label{"avg. active threads per warp", "smsp__thread_inst_executed_per_inst_executed.ratio"},
    Label{"avg. not predicated off threads per warp",
          "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"},
    // Instruction Statistics
    Label{"avg. executed instructions per scheduler", "smsp__inst_executed.avg"},
    Label{"executed instructions", "smsp__inst_executed.sum"},
    Label{"avg. issued instructions per scheduler", "smsp__inst_issued.avg"},
    Label{"issued instructions", "smsp__inst_issued.sum"},
    // Launch Statistics
    Label{"block size", "launch__block_size"},
    Label{"grid size", "launch__grid_size"},
    Label{"registers per thread", "launch__registers_per_thread"},
    Label{"shared memory configuration size", "launch__shared_mem_config_size"},
    Label{"driver shared memory per block", "launch__shared_mem_per_block_driver"},
    Label{"dynamic shared memory per block", "launch__shared_mem_per_block_dynamic"},
    Label{"static shared memory per block", "launch__shared_mem_per_block_static"},
    Label{"# sms", "launch__sm_count"},
    Label{"threads", "launch__thread_count"},
    Label{"waves per sm", "launch__waves_per_multiprocessor"},
    // Occupancy
    Label{"block limit sm", "launch__occupancy_limit_blocks"},
    Label{"block limit registers", "launch__occupancy_limit_registers"},
    Label{"block limit shared mem", "launch__occupancy_limit_shared_mem"},
    Label{"block limit warps", "launch__occupancy_limit_warps"},
    Label{"block limit barriers", "launch__occupancy_limit_barriers"},
    Label{"theoretical active warps per sm", "sm__maximum_warps_avg_per_active_cycle"},
    Label{"theoretical occupancy", "sm__maximum_warps_per_active_cycle_pct"},
    Label{"achieved occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    Label{"achieved active warps per sm", "sm__warps_active.avg.per_cycle_active"},
    // GPU and Memory Workload Distribution
    Label{"average dram active cycles", "dram__cycles_active.avg"},
    Label{"total dram elapsed cycles", "dram__cycles_elapsed.sum"},
    Label{"average l1 active cycles", "l1tex__cycles_active.avg"},
    Label{"total l1 elapsed cycles", "l1tex__cycles_elapsed.sum"},
    Label{"average l2 active cycles", "lts__cycles_active.avg"},
    Label{"total l2 elapsed cycles", "lts__cycles_elapsed.sum"},
    Label{"average sm active cycles", "sm__cycles_active.avg"},
    Label{"total sm elapsed cycles", "sm__cycles_elapsed.sum"},
    Label{"average smsp active cycles", "smsp__cycles_active.avg"},
    Label{"total smsp elapsed cycles", "smsp__cycles_elapsed.sum"},
};

std::string lower(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lowered;
}

constexpr std::array<std::string_view, 14> countable{"byte",    "second",   "s",           "hz",    "cycle",
                                                     "inst",    "warp",     "thread",      "block", "sector",
                                                     "request", "register", "transaction", "b"};

bool is_countable(std::string_view word) {
  return std::ranges::find(countable, word) != countable.end();
}

double prefix_of(std::string_view& word) {
  constexpr std::array<std::pair<char, double>, 7> prefixes{
      {{'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}}};
  if (is_countable(lower(word))) return 1;
  for (const auto& [letter, factor] : prefixes) {
    if (!word.starts_with(letter) || !is_countable(lower(word.substr(1)))) continue;
    word.remove_prefix(1);
    return factor;
  }
  return 1;
}

}  // namespace

std::string_view ncu_metric(std::string_view section, std::string_view label, std::string_view unit) {
  if (label.find("__") != label.npos) return label;  // as --metrics took it
  const std::string lowered = lower(label);
  if (lowered == "memory throughput") {
    const bool is_rate = unit.find('/') != unit.npos || lower(section).starts_with("memory workload");
    return is_rate ? "dram__bytes.sum.per_second"
                   : "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
  }
  const auto found = std::ranges::find(labels, lowered, &Label::label);
  return found == labels.end() ? std::string_view() : found->metric;
}

double ncu_unit(std::string_view unit) {
  const std::size_t slash = unit.find('/');
  std::string_view above = unit.substr(0, slash);
  double factor = prefix_of(above);
  if (slash != unit.npos) {
    std::string_view below = unit.substr(slash + 1);
    factor /= prefix_of(below);
  }
  return factor;
}

}  // namespace mprof
