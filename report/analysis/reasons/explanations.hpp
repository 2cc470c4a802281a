// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/analysis/reasons/rules.hpp"

/// Why a variant is faster or slower than its own baseline, by the rules of report/analysis/reasons/rules.
namespace mprof {

/// What was read of one of a rule's `cites`, as medians in SI base units.
struct CitedReading {
  double before = 0;
  double after = 0;
  bool of_all_kernels = false;  ///< of the op, where others of the reason are of its longest kernel alone
  bool has_idle_multiprocessors = false;  ///< an occupancy counts only multiprocessors with a block, and some
                                          ///< had no block
  /// Of Show::side_kernels, their names; of Show::limits, what limits the occupancy; of the bottlenecks, the
  /// bottleneck of the side.
  std::vector<std::string> kernels_before{};
  std::vector<std::string> kernels_after{};
  std::vector<std::string> limits{};
  std::optional<Bottleneck> bottleneck{};
};

/// What speaks against a reason: a case of the same baseline that has the cause as well, and not its effect.
struct Counterexample {
  Parameters point{};           ///< what sets it apart in the variant's own sweep; empty: of another variant
  std::string configuration{};  ///< of that one
  double speed_up = 1;          ///< over the baseline
};

/// A rule that fired.
struct Reason {
  const Rule* rule = nullptr;
  double strength = 0;  ///< see Weigh; what agrees with the measured change counts at most as that change
  double claimed = 0;   ///< the same without that limit
  double plain = 0;     ///< what the evidence says by itself, whatever it acts through
  std::vector<CitedReading> cited{};  ///< in the order of the rule's `cites`
  bool of_longest_kernel = false;     ///< its numbers are of one kernel, the longest, not of the whole op
  /// Where it compares with another point of the variant's own sweep, not with the baseline: the parameters
  /// in which that point differs.
  Parameters over_point{};
  std::optional<Counterexample> refuted_by{};
};

enum class EvidenceKind { hardware_counters, trace, cpu_counters, dram_bytes };

/// A kind of evidence that rules ask for and the run does not hold.
struct MissingEvidence {
  EvidenceKind kind = EvidenceKind::hardware_counters;
  Why why{};
  std::string variant{};  ///< of which; empty: it does not matter
};

/// One op at one problem.
struct Explanation {
  Problem problem;
  std::string op;
  std::string time;  ///< what is explained: "op_time" or "group_time"
  Value before;
  Value after;
  SpeedUp speed_up;
  /// The longest kernels of baseline and variant; empty when one of them was not counted.
  std::string kernel_before;
  std::string kernel_after;
  bool several_kernels = false;  ///< one of the two has more
  /// The strongest first, and reasons that another variant contradicts last. Of an open change these are
  /// whatever fired: what changed, and explains nothing.
  std::vector<Reason> reasons;
  /// Agrees with the change too, but a point of the variant's sweep has it and gains next to nothing.
  std::vector<Reason> little;
  std::vector<Reason> against;  ///< rules that speak against the measured change
  std::vector<Reason> context;
  std::vector<MissingEvidence> missing;

  [[nodiscard]] Verdict change() const { return speed_up.verdict; }
};

struct Explanations {
  Why absent;                       ///< why there can be none
  std::vector<Explanation> of_ops;  ///< problems descending, ops in order
};

/// A case that is compared with another one, maybe of another run. Both must outlive it.
struct ExplainedCase {
  const FamilyResult* family = nullptr;  ///< of its own run: an outline will do (outline_of())
  const CaseResult* result = nullptr;
};

/// Why one time of an op changed; `speed_up` is what was judged of it, and stands. Both cases must have the
/// op.
[[nodiscard]] Explanation explain_change(const ExplainedCase& before, const ExplainedCase& after,
                                         const std::string& op, const std::string& time, SpeedUp speed_up);

/// At the problem of the Speed-of-Light section, or the largest one where the variant has no counters. Also
/// at the smallest problem, for ops that tell another story there. A reason that a point of the variant's
/// sweep contradicts is left out: what distinguishes the variant from that point takes its place. One that
/// another variant of the same baseline contradicts comes after all others (weigh_by_others()).
[[nodiscard]] Explanations explain(const FamilyResult& family, const VariantResult& variant);

}  // namespace mprof
