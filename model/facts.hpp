// SPDX-License-Identifier: MIT
#pragma once

#include <array>

/// Names of the facts that more than their producer must know, as the run record has them.
namespace mprof {

struct FactName {
  const char* group = "";
  const char* name = "";
};

namespace fact {
inline constexpr const char* cpu = "cpu";
inline constexpr const char* gpu = "gpu";
inline constexpr FactName cpu_model{cpu, "model"};
inline constexpr FactName cpu_cores{cpu, "cores"};
inline constexpr FactName cpu_logical_cpus{cpu, "logical_cpus"};
inline constexpr FactName gpu_name{gpu, "name"};
inline constexpr FactName gpu_uuid{gpu, "UUID"};
inline constexpr FactName gpu_count{gpu, "GPUs"};
inline constexpr FactName gpu_memory{gpu, "memory"};      ///< B
inline constexpr FactName gpu_l2_cache{gpu, "L2 cache"};  ///< B
inline constexpr FactName gpu_mig{gpu, "MIG"};
inline constexpr FactName gpu_driver{gpu, "driver"};
inline constexpr FactName gpu_power_limit{gpu, "power limit"};                    ///< W
inline constexpr FactName gpu_sm_clock_maximum{gpu, "SM clock maximum"};          ///< Hz
inline constexpr FactName gpu_sm_clock_step{gpu, "SM clock step"};                ///< Hz, below the maximum
inline constexpr FactName gpu_memory_clock_maximum{gpu, "memory clock maximum"};  ///< Hz
inline constexpr FactName gpu_ecc{gpu, "ECC"};
inline constexpr FactName gpu_sm_clock{gpu, "SM clock"};                ///< Hz, as it was at the start
inline constexpr FactName gpu_memory_clock{gpu, "memory clock"};        ///< Hz, as it was at the start
inline constexpr FactName gpu_pcie_generation{gpu, "PCIe generation"};  ///< as it was at the start: it saves
                                                                        ///< power
inline constexpr FactName build_type{"build", "build type"};
inline constexpr FactName gpu_empty_op{gpu, "time of an empty op"};  ///< s, as op_time has it
}  // namespace fact

/// What makes a machine another one: times from both sides of a difference here cannot be compared. How many
/// GPUs a process sees does not: of a host with four it may be given one.
inline constexpr std::array identifying_facts{fact::cpu_model, fact::cpu_cores, fact::cpu_logical_cpus,
                                              fact::gpu_name, fact::gpu_mig};

/// What changes times on one and the same machine, whatever the code does.
inline constexpr std::array condition_facts{
    fact::gpu_driver, fact::gpu_power_limit, fact::gpu_sm_clock_maximum, fact::gpu_memory_clock_maximum,
    fact::gpu_ecc,    fact::build_type};

/// What is another number at every look, or to another process, and says nothing of the machine.
inline constexpr std::array passing_facts{fact::gpu_sm_clock, fact::gpu_memory_clock,
                                          fact::gpu_pcie_generation, fact::gpu_empty_op, fact::gpu_count};

}  // namespace mprof
