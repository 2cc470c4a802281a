// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/gpu_memory.hpp"

#include "model/facts.hpp"
#include "report/analysis/analysis.hpp"

namespace mprof {
namespace {

/// What one execution needs.
struct Need {
  const CaseResult* result = nullptr;
  double bytes = 0;
  double items = 0;
};

/// The variant's, at the problems in their order.
std::vector<Need> needs_of(const VariantResult& variant, const FamilyResult& family) {
  std::vector<Need> needs;
  for (const Problem& problem : family.problems) {
    const CaseResult* const result = variant.representative(problem);
    if (result == nullptr || !result->ok()) continue;
    const Value bytes = value_of(*result->source, "gpu_memory");
    if (!bytes || !(bytes->median > 0)) continue;
    needs.push_back({result, bytes->median, result->ops.empty() ? 0 : result->ops.front().info.items});
  }
  return needs;
}

}  // namespace

std::vector<GpuMemory> gpu_memory(const Run& run, const FamilyResult& family) {
  const Fact* const fact = find_fact(run.environment, fact::gpu_memory.group, fact::gpu_memory.name);
  const double* const all = fact == nullptr ? nullptr : std::get_if<double>(fact);
  std::vector<GpuMemory> rows;
  for (const VariantResult& variant : family.variants) {
    const std::vector<Need> needs = needs_of(variant, family);
    if (needs.empty()) continue;
    const Need& largest = needs.back();
    GpuMemory row{&variant, largest.result, largest.bytes, {}, {}, {}};
    if (all != nullptr) row.of_gpu = largest.bytes / *all;
    if (needs.size() > 1) {
      const Need& smaller = needs[needs.size() - 2];
      const double items = largest.items - smaller.items, bytes = largest.bytes - smaller.bytes;
      if (items > 0 && bytes > 0) row.per_item = bytes / items;
    }
    if (all != nullptr && row.per_item)
      row.items_that_fit = largest.items + (*all - largest.bytes) / *row.per_item;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace mprof
