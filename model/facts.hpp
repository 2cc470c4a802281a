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
inline constexpr FactName gpu_count{gpu, "GPUs"};
inline constexpr FactName gpu_mig{gpu, "MIG"};
}  // namespace fact

/// What makes a machine another one: times from both sides of a difference here cannot be compared.
inline constexpr std::array identifying_facts{fact::cpu_model, fact::cpu_cores, fact::cpu_logical_cpus,
                                              fact::gpu_name,  fact::gpu_count, fact::gpu_mig};

}  // namespace mprof
