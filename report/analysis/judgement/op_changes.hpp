// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"
#include "report/analysis/reasons/explanations.hpp"

/// What became of an op between two runs, beside its time: why, by the rules of the report's explanations,
/// and what hardware and trace saw on both sides.
namespace mprof {

/// A number that both sides know; of a kernel that is new or gone, one side.
struct FigureChange {
  std::string_view metric;  ///< of the run, or a quantity
  std::string_view label;   ///< in a sentence
  Unit unit = Unit::count;
  std::optional<double> before;
  std::optional<double> after;
};

enum class KernelFate { added, removed, changed };

[[nodiscard]] std::string_view to_string(KernelFate fate);

/// A kernel that only one side launched, or that is launched otherwise.
struct KernelChange {
  KernelFate fate = KernelFate::changed;
  std::string before;  ///< its name; empty when it was added
  std::string after;   ///< empty when it was removed; another name where only template arguments differ
  std::vector<FigureChange> figures;  ///< of a changed kernel only the figures that changed
};

struct OpChange {
  std::string op;
  std::vector<Explanation> explanations;  ///< of each time of it that changed
  std::vector<FigureChange> figures;      ///< GPU time, Speed of Light of its longest kernel, DRAM bytes
  std::vector<KernelChange> kernels;      ///< in the order of B, then the removed ones
};

/// A time that changed, as it was judged.
struct ChangedTime {
  std::string op;
  std::string metric;  ///< op_time or group_time
  SpeedUp speed_up;
};

/// The ops of both cases of which anything is known: the ops of `times`, and ops whose kernels changed.
[[nodiscard]] std::vector<OpChange> op_changes(const ExplainedCase& before, const ExplainedCase& after,
                                               const std::vector<ChangedTime>& times);

}  // namespace mprof
