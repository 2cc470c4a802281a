// SPDX-License-Identifier: MIT
#include "report/analysis/standing/synergy.hpp"

#include <algorithm>

#include "report/analysis/reasons/derived_metrics.hpp"

namespace mprof {
namespace {

/// A chain of baselines this long goes in a circle.
constexpr std::size_t longest_chain = 64;

/// The variant, its baseline, the baseline of that, and so on to the first.
std::vector<std::string> ancestry(const FamilyResult& family, const std::string& id) {
  std::vector<std::string> ids{id};
  while (ids.size() < longest_chain) {
    const VariantResult* variant = family.find_variant(ids.back());
    if (variant == nullptr || variant->info.baseline.empty()) break;
    ids.push_back(variant->info.baseline);
  }
  return ids;
}

/// The nearest variant that all of `ids` come from; empty when there is none.
std::string common_ancestor(const FamilyResult& family, const std::vector<std::string>& ids) {
  std::vector<std::string> common = ancestry(family, ids.front());
  for (const std::string& id : ids) {
    const std::vector<std::string> other = ancestry(family, id);
    std::erase_if(common, [&](const std::string& candidate) {
      return std::ranges::find(other, candidate) == other.end();
    });
  }
  return common.empty() ? std::string() : common.front();
}

/// What stands for a variant at a problem, when its output was right.
const CaseResult* verified_case(const FamilyResult& family, std::string_view id, const Problem& problem) {
  const VariantResult* variant = family.find_variant(id);
  const CaseResult* result = variant == nullptr ? nullptr : variant->representative(problem);
  return result != nullptr && result->ok() ? result : nullptr;
}

std::vector<SpeedUp> over(const FamilyResult& family, const CaseResult& before, const CaseResult& after) {
  std::vector<SpeedUp> speed_ups;
  for (const OpInfo& op : family.ops) speed_ups.push_back(speed_up_between(before, after, op.name));
  return speed_ups;
}

std::vector<std::optional<double>> product_of(const std::vector<CombinedIdea>& ideas, std::size_t ops) {
  std::vector<std::optional<double>> product(ops, 1.0);
  for (const CombinedIdea& idea : ideas) {
    for (std::size_t op = 0; op < ops; ++op) {
      const auto& factor = idea.alone[op].factor;
      product[op] = product[op] && factor ? std::optional(*product[op] * *factor) : std::nullopt;
    }
  }
  return product;
}

/// By one traced execution: without the moments in which tracing alone kept the GPU waiting.
void add_traced_shares(RemainingGain& gain, const OpReadings& op) {
  const Value& beside = op.of("copy_overlap").value;
  const bool all_alone = beside && !(beside->median > 0);
  const Value& known = op.of("gpu_kernel_alone_time").value;
  const Value& alone = !known && all_alone ? op.of("gpu_kernel_time").value : known;
  const Value& group = op.of("traced_group_time").value;
  const Value& tracing = op.of("gpu_idle_tracing_time").value;
  const Value& copying = op.of("gpu_copy_only_time").value;
  const double whole = group ? group->median - (tracing ? tracing->median : 0) : 0;
  if (!(whole > 0)) return;
  if (copying) gain.copies = copying->median / whole;
  double idle = 0;
  bool is_known = true;
  for (const char* cause : {"gpu_idle_synchronization_time", "gpu_idle_allocation_time", "gpu_idle_api_time",
                            "gpu_idle_host_time"}) {
    const Value& time = op.of(cause).value;
    is_known = is_known && time;
    if (time) idle += time->median;
  }
  if (is_known) gain.idle = idle / whole;
  if (!alone) return;
  gain.traced = true;
  gain.share = std::min(1.0, alone->median / whole);
}

/// Of the timing pass: right where nothing runs beside the op.
void add_timed_share(RemainingGain& gain, const OpReadings& op, const OpResult& measured) {
  const Value& beside = op.of("copy_overlap").value;
  const Value& launched = op.of("launched_op_time").value;
  const Value& op_time = launched ? launched : measured.op_time;
  if (measured.flaw != OpTimeFlaw::none) {
    gain.absent = {Because::op_time_flawed_untraced, {}, {}, {why_of(measured.flaw)}};
  } else if (beside && beside->median > 0) {
    gain.absent = Because::copies_beside_untraced;
  } else if (!op_time || !gain.group_time) {
    gain.absent = op_time ? gain.group_time.absent : op_time.absent;
  } else if (gain.group_time->median > 0) {
    gain.share = std::min(1.0, op_time->median / gain.group_time->median);
    gain.copies.reset();  // of another pass
    gain.idle.reset();
  }
}

}  // namespace

SpeedUp speed_up_between(const CaseResult& before, const CaseResult& after, const std::string& op) {
  const OpResult* first = before.find_op(op);
  const OpResult* second = after.find_op(op);
  if (first == nullptr || second == nullptr) return no_speed_up(Because::one_lacks_op);
  const bool by_group = first->flaw != OpTimeFlaw::none || second->flaw != OpTimeFlaw::none;
  return by_group ? judge(first->group_time, second->group_time) : judge(first->op_time, second->op_time);
}

std::string first_baseline(const FamilyResult& family, const std::string& id) {
  return ancestry(family, id).back();
}

SpeedUp over_first_baseline(const FamilyResult& family, const CaseResult& result, const std::string& op) {
  const std::string first = first_baseline(family, result.key.variant);
  const VariantResult* variant = family.find_variant(result.key.variant);
  const OpResult* found = op.empty() ? nullptr : result.find_op(op);
  if (variant != nullptr && variant->info.baseline == first && (op.empty() || found != nullptr))
    return op.empty() ? result.total_speed_up : found->speed_up;
  const CaseResult* before = verified_case(family, first, result.key.problem);
  if (before == nullptr) return no_speed_up({Because::variant_not_verified_at, {first, family.words.one()}});
  return op.empty() ? judge(before->total_time, result.total_time) : speed_up_between(*before, result, op);
}

std::optional<Combination> combination_of(const FamilyResult& family, const VariantResult& variant) {
  if (variant.info.combines.empty()) return std::nullopt;
  Combination result;
  const CaseResult* largest = variant.largest_timed();
  std::vector<std::string> ids = variant.info.combines;
  ids.push_back(variant.info.id);
  result.common_baseline = common_ancestor(family, ids);
  const CaseResult* before =
      largest != nullptr ? verified_case(family, result.common_baseline, largest->key.problem) : nullptr;
  if (before == nullptr) {
    result.absent = Because::ideas_not_verified;
    return result;
  }
  result.problem = largest->key.problem;
  for (const std::string& id : variant.info.combines) {
    const CaseResult* alone = verified_case(family, id, result.problem);
    if (alone == nullptr) {
      result.absent = {Because::idea_not_verified, {id, family.words.at(result.problem)}};
      return result;
    }
    result.ideas.push_back({id, over(family, *before, *alone)});
  }
  result.product = product_of(result.ideas, family.ops.size());
  result.together = over(family, *before, *largest);
  return result;
}

std::vector<std::pair<const VariantResult*, Combination>> combinations_with(const FamilyResult& family,
                                                                            const VariantResult& variant) {
  std::vector<std::pair<const VariantResult*, Combination>> found;
  for (const VariantResult& other : family.variants) {
    if (std::ranges::find(other.info.combines, variant.info.id) == other.info.combines.end()) continue;
    auto combination = combination_of(family, other);
    if (combination && combination->absent.empty()) found.emplace_back(&other, *std::move(combination));
  }
  return found;
}

std::vector<Step> steps_to(const FamilyResult& family, const VariantResult& variant) {
  std::vector<std::string> ids = ancestry(family, variant.info.id);
  std::ranges::reverse(ids);
  const CaseResult* largest = variant.largest_timed();
  std::vector<Step> steps;
  if (largest == nullptr) return steps;
  const Problem& problem = largest->key.problem;
  const CaseResult* first = verified_case(family, ids.front(), problem);
  if (first == nullptr) return steps;
  for (std::size_t i = 1; i < ids.size(); ++i) {
    const CaseResult* before = verified_case(family, ids[i - 1], problem);
    const CaseResult* after = verified_case(family, ids[i], problem);
    if (before == nullptr || after == nullptr) return {};
    steps.push_back(
        {family.find_variant(ids[i]), over(family, *before, *after), over(family, *first, *after)});
  }
  return steps;
}

std::vector<const VariantResult*> built_on(const FamilyResult& family, const VariantResult& variant) {
  std::vector<const VariantResult*> found;
  for (const VariantResult& other : family.variants) {
    if (other.info.baseline == variant.info.id) found.push_back(&other);
  }
  return found;
}

namespace {

/// Amdahl's limit. Of next to nothing that remains it is a number that says nothing: 1,427,924×.
std::optional<double> limit_of(double share) {
  constexpr double largest_share = 0.99;
  return share < largest_share ? std::optional(1 / (1 - share)) : std::nullopt;
}

}  // namespace

std::vector<RemainingGain> remaining_gains(const FamilyResult& family, const CaseResult& result) {
  std::vector<RemainingGain> gains;
  for (const OpResult& op : result.ops) {
    const OpReadings readings(family, result, op.info.name);
    RemainingGain gain{.op = op.info.name, .group_time = op.group_time};
    add_traced_shares(gain, readings);
    if (!gain.traced) add_timed_share(gain, readings, op);
    if (gain.share) gain.limit = limit_of(*gain.share);
    gains.push_back(std::move(gain));
  }
  return gains;
}

std::optional<WholeGain> remaining_gain_of_whole(const FamilyResult& family, const CaseResult& result) {
  if (result.ops.empty() || !result.total_time || !(result.total_time->median > 0)) return std::nullopt;
  WholeGain whole;
  for (const RemainingGain& gain : remaining_gains(family, result)) {
    if (!gain.share || !gain.group_time) return std::nullopt;
    // Its share of the op with its stages, by one pass, of that one's share of the whole, by the timing pass.
    whole.share += *gain.share * gain.group_time->median / result.total_time->median;
    whole.traced = whole.traced || gain.traced;
  }
  if (!(whole.share < 1)) return std::nullopt;
  whole.limit = limit_of(whole.share);
  return whole;
}

Interplay interplay(double together, double product) {
  const double ratio = together / product;
  if (ratio < 1 - noticeable_change) return Interplay::less;
  return ratio > 1 + noticeable_change ? Interplay::more : Interplay::as_much;
}

}  // namespace mprof
