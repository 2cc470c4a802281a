#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"

/// How a variant goes together with others: what it builds on and what builds on it, what its combination of
/// ideas gives against what they give alone, and how much of a layer's time there is left to win.
namespace mprof {

/// The largest batch at which the variant has a verified time; nullopt: at none.
[[nodiscard]] std::optional<std::uint64_t> largest_timed_batch(const FamilyResult& family,
                                                               const VariantResult& variant);

/// How many times as fast an op is in one case as in another, by op_time, or by layer_time where one of the
/// two works outside forward().
[[nodiscard]] SpeedUp speed_up_between(const CaseResult& before, const CaseResult& after,
                                       const std::string& op);

/// The variant that a chain of baselines begins with; the variant's own id when it declares none.
[[nodiscard]] std::string first_baseline(const FamilyResult& family, const std::string& id);

/// How many times as fast a case is as that first baseline at the same batch, in an op or, when `op` is
/// empty, in the whole inference.
[[nodiscard]] SpeedUp over_first_baseline(const FamilyResult& family, const CaseResult& result,
                                          const std::string& op);

/// One idea of a combination, on its own.
struct CombinedIdea {
  std::string variant;
  std::vector<SpeedUp> alone;  ///< an op each, over the common baseline
};

/// What a variant that combines the ideas of others gives, at one batch.
struct Combination {
  std::string common_baseline;  ///< the nearest variant that all of them come from
  std::uint64_t batch = 0;
  std::vector<CombinedIdea> ideas;
  std::vector<std::optional<double>> product;  ///< an op each: of the ideas' speed-ups
  std::vector<SpeedUp> together;               ///< an op each: of the combination, over the common baseline
  std::string absent;                          ///< why it cannot be told; then the rest is empty
};

/// nullopt when the variant declares no combination.
[[nodiscard]] std::optional<Combination> combination_of(const FamilyResult& family,
                                                        const VariantResult& variant);

/// A variant on the way from the first baseline to this one.
struct Step {
  const VariantResult* variant = nullptr;
  std::vector<SpeedUp> step;   ///< an op each, over its own baseline
  std::vector<SpeedUp> total;  ///< an op each, over the first baseline
};

/// From the first baseline, which is left out, to the variant itself; at its largest timed batch.
[[nodiscard]] std::vector<Step> steps_to(const FamilyResult& family, const VariantResult& variant);

/// The variants that declare this one their baseline.
[[nodiscard]] std::vector<const VariantResult*> built_on(const FamilyResult& family,
                                                         const VariantResult& variant);

/// Amdahl's law for one op of a case: what a faster op could still do for its layer.
struct RemainingGain {
  std::string op;
  Value layer_time;
  Value op_time;  ///< where the work happens outside forward(): GPU time that no copy runs beside
  std::optional<double> share{};   ///< of the layer time
  std::optional<double> limit{};   ///< how many times as fast the layer would be if the op took no time
  std::optional<double> copies{};  ///< share of the traced layer time in which the GPU only copied
};

[[nodiscard]] std::vector<RemainingGain> remaining_gains(const FamilyResult& family,
                                                         const CaseResult& result);

}  // namespace mprof
