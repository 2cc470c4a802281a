// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/analysis/analysis.hpp"

/// How a variant goes together with others: what it builds on, and what builds on it. It also shows what its
/// combination of ideas gives compared with what they give alone, and how much of an op's whole time there is
/// left to win.
namespace mprof {

/// How many times as fast an op is in one case as in another, by op_time, or by group_time where one of the
/// two has an op time that says little.
[[nodiscard]] SpeedUp speed_up_between(const CaseResult& before, const CaseResult& after,
                                       const std::string& op);

/// The variant that a chain of baselines begins with; the variant's own id when it declares none.
[[nodiscard]] std::string first_baseline(const FamilyResult& family, const std::string& id);

/// How many times as fast a case is as that first baseline at the same problem, in an op or, when `op` is
/// empty, in the whole.
[[nodiscard]] SpeedUp over_first_baseline(const FamilyResult& family, const CaseResult& result,
                                          const std::string& op);

/// One idea of a combination, on its own.
struct CombinedIdea {
  std::string variant;
  std::vector<SpeedUp> alone;  ///< an op each, over the common baseline
};

/// What a variant that combines the ideas of others gives, at one problem.
struct Combination {
  std::string common_baseline;  ///< the nearest variant that all of them come from
  Problem problem;
  std::vector<CombinedIdea> ideas;
  std::vector<std::optional<double>> product;  ///< an op each: of the ideas' speed-ups
  std::vector<SpeedUp> together;               ///< an op each: of the combination, over the common baseline
  Why absent;                                  ///< why it is unknown; then the rest is empty
};

/// nullopt when the variant declares no combination.
[[nodiscard]] std::optional<Combination> combination_of(const FamilyResult& family,
                                                        const VariantResult& variant);

/// The combinations that declare this variant one of their ideas, and that were measured.
[[nodiscard]] std::vector<std::pair<const VariantResult*, Combination>> combinations_with(
    const FamilyResult& family, const VariantResult& variant);

/// A variant on the way from the first baseline to this one.
struct Step {
  const VariantResult* variant = nullptr;
  std::vector<SpeedUp> step;   ///< an op each, over its own baseline
  std::vector<SpeedUp> total;  ///< an op each, over the first baseline
};

/// From the first baseline, which is left out, to the variant itself; at its largest timed problem.
[[nodiscard]] std::vector<Step> steps_to(const FamilyResult& family, const VariantResult& variant);

/// The variants that declare this one their baseline.
[[nodiscard]] std::vector<const VariantResult*> built_on(const FamilyResult& family,
                                                         const VariantResult& variant);

/// Amdahl's law for one op of a case: what faster kernels could still do for the op with its stages. Both
/// parts of a share come from the same pass, so that shares never exceed the whole.
struct RemainingGain {
  std::string op;
  Value group_time;  ///< as timed
  /// Shares are of a traced execution, what tracing itself cost left out: `share` is the time in which a
  /// kernel ran and no copy beside it. Otherwise they are of the timing pass: op time over group time.
  bool traced = false;
  std::optional<double> share{};  ///< of the group's time
  /// How many times as fast the group would be without that share; absent where it is all but a hundredth.
  std::optional<double> limit{};
  std::optional<double> copies{};  ///< share in which the GPU only copied; of a trace alone
  std::optional<double> idle{};    ///< share in which it had nothing to do and waited for the host; of a
                                   ///< trace alone
  Why absent{};                    ///< why there is no share
};

/// The same for the whole: its ops together, of the total time.
struct WholeGain {
  double share = 0;               ///< of the total time
  std::optional<double> limit{};  ///< how many times as fast the whole would be without that share; as above
  bool traced = false;            ///< some op's share is of a traced execution
};

/// nullopt where the ops' times do not lie within the total time, or a share is missing.
[[nodiscard]] std::optional<WholeGain> remaining_gain_of_whole(const FamilyResult& family,
                                                               const CaseResult& result);

/// How a combination stands to the product of its ideas.
enum class Interplay { less, as_much, more };

/// Within a twentieth is as much.
[[nodiscard]] Interplay interplay(double together, double product);

[[nodiscard]] std::vector<RemainingGain> remaining_gains(const FamilyResult& family,
                                                         const CaseResult& result);

}  // namespace mprof
