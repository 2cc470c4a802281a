// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/kernels/kernels.hpp"

/// What rules look at: every metric of a run, and quantities that follow from several of them.
namespace mprof {

class OpReadings;

/// A quantity that no tool measures but that follows from what was: one row says everything about it.
struct Quantity {
  std::string_view id;
  std::string_view label;
  Unit unit;
  std::string_view meaning;
  bool of_longest;  ///< of the kernel that takes the longest, not of all kernels of the op
  Reading (*read)(const OpReadings& op);
};

/// All of them, in the order in which the documentation shows them.
[[nodiscard]] std::span<const Quantity> quantities();

/// The row of `id`; nullptr for a metric of the run.
[[nodiscard]] const Quantity* find_quantity(std::string_view id);

/// The unit of a quantity or a metric; nullopt when nobody knows it.
[[nodiscard]] std::optional<Unit> unit_of(std::string_view id);

/// Whether the value comes from the op's longest kernel alone.
[[nodiscard]] bool is_of_longest_kernel(std::string_view id);

/// One op of one case, with everything that can be read of it. `family` and `result` must outlive it.
class OpReadings {
 public:
  OpReadings(const FamilyResult& family, const CaseResult& result, std::string op);

  /// A quantity or a metric. Counters that add up are absent where not every launch was counted or nobody
  /// knows how many there were: a rule must not take a part for the whole.
  [[nodiscard]] const Reading& of(std::string_view id) const;

  [[nodiscard]] const FamilyResult& family() const { return *family_; }
  [[nodiscard]] const CaseResult& result() const { return *result_; }
  [[nodiscard]] const OpInfo& info() const { return info_; }
  /// The counted kernels of the op; empty without counters.
  [[nodiscard]] std::span<const KernelCounters> kernels() const { return kernels_; }
  /// nullptr without counters.
  [[nodiscard]] const KernelCounters* longest_kernel() const;
  /// Why not all launches of the op are in the counters; nothing when they are.
  [[nodiscard]] const Why& uncounted() const { return uncounted_; }

 private:
  [[nodiscard]] Reading read(std::string_view id) const;

  const FamilyResult* family_;
  const CaseResult* result_;
  OpInfo info_;
  std::vector<KernelCounters> kernels_;
  Why uncounted_;
  mutable std::map<std::string, Reading, std::less<>> known_;
};

}  // namespace mprof
