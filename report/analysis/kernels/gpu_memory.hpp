// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "model/run.hpp"

namespace mprof {

struct FamilyResult;
struct VariantResult;
struct CaseResult;

/// What a variant allocates of a GPU's memory at the largest problem that was traced, and what would fit.
struct GpuMemory {
  const VariantResult* variant = nullptr;
  const CaseResult* result = nullptr;
  double bytes = 0;                ///< B, the most at any moment of an execution
  std::optional<double> of_gpu{};  ///< share of all memory of the GPU
  /// B that each item more takes, by the two largest problems; nullopt where the family counts no items, or
  /// the larger problem takes no more.
  std::optional<double> per_item{};
  std::optional<double> items_that_fit{};  ///< with which the GPU's memory would be full
};

/// The variants that allocated anything, in the order of the family's. `family` must outlive the result.
[[nodiscard]] std::vector<GpuMemory> gpu_memory(const Run& run, const FamilyResult& family);

}  // namespace mprof
