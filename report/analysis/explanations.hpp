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
  std::string sentence;
  bool of_longest_kernel = false;  ///< its numbers are of one kernel, the longest, not of the whole op
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
  /// The strongest first. Of an open change these are whatever fired: what changed, and explains nothing.
  std::vector<Reason> reasons;
  std::vector<Reason> against;  ///< rules that speak against the measured change
  std::vector<Reason> context;
  std::vector<std::string> missing;  ///< kinds of evidence that were not measured, with the reason

  [[nodiscard]] Verdict change() const { return speed_up.verdict; }
};

struct Explanations {
  std::string absent;               ///< why there can be none; empty when there are some
  std::vector<Explanation> of_ops;  ///< problems descending, ops in order
};

/// At the problem of the Speed-of-Light section, or the largest one where the variant has no counters; and at
/// the smallest problem for the ops that tell another story there.
[[nodiscard]] Explanations explain(const FamilyResult& family, const VariantResult& variant);

}  // namespace mprof
