// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "model/statistics/median.hpp"
#include "report/analysis/program/picture.hpp"

/// Why a step of a program takes another time in another run: what its traced executions spend it on, side by
/// side.
namespace mprof {

struct Comparison;

/// Of programs and imports, by the ids of their cases. Their pointers into the run are null.
using ProgramPictures = std::map<std::string, ProgramPicture>;

/// Of all cases of a run that are one program each and that the trace has. It needs evidence_parts.
[[nodiscard]] ProgramPictures program_pictures(const Run& run, const std::optional<trace::Trace>& trace);

/// What a part of a step takes, on average.
struct StepShare {
  double time = 0;      ///< s
  double launches = 0;  ///< of kernels
};

/// A part on both sides; nullopt where a side has no such kernel.
struct ShareChange {
  std::optional<StepShare> before{};
  std::optional<StepShare> after{};

  /// s, of B's time minus A's.
  [[nodiscard]] double difference() const;
};

/// A function of the GPU. Instances of a template are one.
struct FunctionChange : ShareChange {
  std::string name{};
  KernelKind kind = KernelKind::other;
};

/// The kernels of a kind, one after the other.
struct KindChange : ShareChange {
  KernelKind kind = KernelKind::other;
  std::vector<std::size_t> added{};    ///< places of the functions that B alone launches, the longest first
  std::vector<std::size_t> removed{};  ///< places of the functions that A alone launches, the longest first
};

/// The kernels that were launched within a range, or in none.
struct RangeChange : ShareChange {
  std::string range{};
};

/// The kernels that a function of the program launched, by whichever of its lines: lines move from one
/// version to the next.
struct LauncherChange : ShareChange {
  CodePlace place{};  ///< without a line
};

/// A part of the time that passes: these add up to `mean` of each side.
struct BudgetChange {
  BudgetPart part = BudgetPart::kernels;
  double before = 0;  ///< s
  double after = 0;

  [[nodiscard]] double difference() const { return after - before; }
};

/// One of the two executions.
struct ComparedProgram {
  std::size_t steps = 0;               ///< steady ones; 0: the whole, from the first CUDA call
  double median = 0;                   ///< s, of a step; of what has none its whole time
  std::optional<Interval> interval{};  ///< 95 %, of the median, over the steps of this execution
  double mean = 0;                     ///< s
  double launches = 0;                 ///< of kernels
  ProgramBound bound = ProgramBound::kernels;
  std::optional<double> gain{};         ///< ProgramPicture::gain
  std::optional<double> peak_memory{};  ///< B, of the GPU that held the most; nullopt: not known
  bool held_more = false;               ///< than that: no record tells of some of it
};

struct ProgramChange {
  ComparedProgram before{};
  ComparedProgram after{};
  // Each by the size of the change, the largest first.
  std::vector<KindChange> kinds{};
  std::vector<FunctionChange> functions{};
  std::vector<RangeChange> ranges{};        ///< empty without ranges
  std::vector<LauncherChange> launchers{};  ///< empty where a side has no call stacks
  std::vector<BudgetChange> budget{};

  [[nodiscard]] bool is_by_step() const { return before.steps > 0; }
  /// Whether a difference of time is worth a word: a hundredth of the longer side.
  [[nodiscard]] bool is_noticeable(double difference) const;
};

/// nullopt where their steps are not the same ones: then nothing of them can stand side by side.
[[nodiscard]] std::optional<ProgramChange> program_change(const ProgramPicture& before,
                                                          const ProgramPicture& after);

/// Puts CaseComparison::program where both sides have a picture, and are compared at all.
void add_program_changes(Comparison& comparison, const ProgramPictures& a, const ProgramPictures& b);

}  // namespace mprof
