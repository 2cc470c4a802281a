#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/analysis/rules.hpp"

/// Why a variant is faster or slower than its own baseline, by the rules of report/analysis/rules.
namespace mprof {

/// A rule that fired.
struct Reason {
  const Rule* rule = nullptr;
  double strength = 0;  ///< see Weigh; what agrees with the measured change counts as that change at the most
  double claimed = 0;   ///< the same without that limit
  double plain = 0;     ///< what the evidence says by itself, whatever it acts through
  std::string sentence;
  bool of_longest_kernel = false;  ///< its numbers are of one kernel, the longest, not of the whole op
  /// The point of the variant's own sweep that it is held against instead of the baseline: "streams=1".
  std::string over_point{};
  std::string refuted_by{};  ///< how a point of the sweep or another variant speaks against it, in words
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
  /// The strongest first, and those that another variant contradicts last. Of an open change these are
  /// whatever fired: what changed, and explains nothing.
  std::vector<Reason> reasons;
  /// Agrees with the change too, but a point of the variant's sweep has it and gains next to nothing.
  std::vector<Reason> little;
  std::vector<Reason> against;  ///< rules that speak against the measured change
  std::vector<Reason> context;
  std::vector<std::string> missing;  ///< kinds of evidence that were not measured, with the reason

  [[nodiscard]] Verdict change() const { return speed_up.verdict; }
};

struct Explanations {
  std::string absent;               ///< why there can be none; empty when there are some
  std::vector<Explanation> of_ops;  ///< problems descending, ops in order
};

/// A case that is held against another one, maybe of another run. Both must outlive it.
struct ExplainedCase {
  const FamilyResult* family = nullptr;  ///< of its own run: an outline will do (outline_of())
  const CaseResult* result = nullptr;
};

/// Why one time of an op changed; `speed_up` is what was judged of it, and stands. Both cases must have the
/// op.
[[nodiscard]] Explanation explain_change(const ExplainedCase& before, const ExplainedCase& after,
                                         const std::string& op, const std::string& time, SpeedUp speed_up);

/// At the problem of the Speed-of-Light section, or the largest one where the variant has no counters; and at
/// the smallest problem for the ops that tell another story there. A reason that a point of the variant's
/// sweep contradicts is none: what sets the variant apart from that point takes its place. One that another
/// variant of the same baseline contradicts comes after all others (weigh_by_others()).
[[nodiscard]] Explanations explain(const FamilyResult& family, const VariantResult& variant);

}  // namespace mprof
