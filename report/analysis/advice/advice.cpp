// SPDX-License-Identifier: MIT
#include "report/analysis/advice/advice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "report/analysis/program/picture.hpp"
#include "report/analysis/standing/brief.hpp"

namespace mprof {
namespace {

/// How many times as fast it would be with the limit at `value`; nullopt where that makes no sense.
template <class Readings>
std::optional<double> gain_at(const LimitRule<Readings>& rule, const Readings& read, double value) {
  const double left = rule.left(read, value);
  if (!std::isfinite(left) || !(left > 0)) return std::nullopt;
  return 1 / left;
}

/// Whether a limit differs by more than its readings do.
bool is_move(const AdviceRule& rule, double before, double after) {
  return std::abs(after - before) >= rule.least_move * std::abs(before) && after != before;
}

/// Whether the limit is another one in the direction of the advice.
bool has_moved(const AdviceRule& rule, double before, double after) {
  return (rule.lower ? after < before : after > before) && is_move(rule, before, after);
}

/// What the measured peaks leave of an op's time: no advice promises more.
double most_gain(const AdviceRule& rule, const OpReadings& op) {
  const OpResult* const found = op.result().find_op(op.info().name);
  const std::optional<double> share =
      rule.time == "op_time" && found != nullptr && found->of_possible && !is_beyond_measured_peaks(*found)
          ? share_at_peaks(op)
          : std::nullopt;
  return share ? 1 / *share : std::numeric_limits<double>::infinity();
}

double most_gain(const AdviceRule&, const WholeReadings&) {
  return std::numeric_limits<double>::infinity();
}

template <class Readings>
std::optional<Advice> advice_by(const LimitRule<Readings>& rule, const Readings& read) {
  const std::optional<double> value = rule.value(read);
  const std::optional<double> best = value ? rule.best(read) : std::nullopt;
  if (!best || !std::isfinite(*best) || !is_move(rule, *value, *best)) return std::nullopt;
  std::optional<double> gain = gain_at(rule, read, *best);
  if (gain) gain = std::min(*gain, most_gain(rule, read));
  if (!gain || *gain < least_advised_gain) return std::nullopt;
  return Advice{&rule, *value, *best, *gain};
}

/// The highest gain first; op time before group time.
template <class Readings>
std::vector<Advice> advice_by_all(std::span<const LimitRule<Readings>> rules, const Readings& read) {
  std::vector<Advice> all;
  for (const LimitRule<Readings>& rule : rules) {
    if (const auto advice = advice_by(rule, read)) all.push_back(*advice);
  }
  std::ranges::stable_sort(all, [](const Advice& a, const Advice& b) {
    const bool of_op = a.rule->time == "op_time", other_of_op = b.rule->time == "op_time";
    return of_op != other_of_op ? of_op : a.gain > b.gain;
  });
  return all;
}

/// Of the time that the rule speaks of. No verdict where an op time says little on one side: they are no two
/// of a kind.
SpeedUp achieved_by(const AdviceRule& rule, const OpResult& before, const OpResult& after) {
  if (rule.time == "group_time") return judge(before.group_time, after.group_time);
  if (before.flaw != OpTimeFlaw::none || after.flaw != OpTimeFlaw::none)
    return no_speed_up(Because::one_op_time_flawed);
  return judge(before.op_time, after.op_time);
}

AdviceOutcome outcome_of(const SpeedUp& achieved) {
  if (achieved.verdict == Verdict::faster) return AdviceOutcome::right;
  return achieved.verdict == Verdict::slower ? AdviceOutcome::wrong : AdviceOutcome::open;
}

/// A limit that moved as advised, and by how much; nullopt where it did not, or nobody knows whether.
template <class Readings>
std::optional<AdviceTry> move_of(const LimitRule<Readings>& rule, const Readings& before,
                                 const Readings& after) {
  const std::optional<Advice> advice = advice_by(rule, before);
  const std::optional<double> became = advice ? rule.value(after) : std::nullopt;
  if (!became || !std::isfinite(*became)) return std::nullopt;
  const std::optional<double> predicted =
      has_moved(rule, advice->value, *became) ? gain_at(rule, before, *became) : std::nullopt;
  if (!predicted || *predicted < least_advised_gain) return std::nullopt;
  AdviceTry tried;
  tried.advice = *advice;
  tried.became = *became;
  tried.predicted = *predicted;
  return tried;
}

/// nullopt without a speed-up to hold it against.
std::optional<AdviceTry> judged(AdviceTry tried, const CaseResult& before, const CaseResult& after,
                                const std::string& op) {
  tried.before = &before;
  tried.after = &after;
  tried.op = op;
  tried.achieved = op.empty() ? judge(before.total_time, after.total_time)
                              : achieved_by(*tried.advice.rule, *before.find_op(op), *after.find_op(op));
  if (!tried.achieved) return std::nullopt;
  tried.outcome = outcome_of(tried.achieved);
  return tried;
}

/// Of the tries of one op, the largest predictions for each time.
void mark_leading(std::span<AdviceTry> tries) {
  for (AdviceTry& tried : tries) {
    tried.leading = std::ranges::all_of(tries, [&](const AdviceTry& other) {
      return other.advice.rule->time != tried.advice.rule->time || other.predicted <= tried.predicted;
    });
  }
}

/// A step from one case to another, in one op or in the whole.
template <class Readings>
void add_tries_of(std::span<const LimitRule<Readings>> rules, const Readings& before, const Readings& after,
                  const std::pair<const CaseResult*, const CaseResult*>& cases, const std::string& op,
                  std::vector<AdviceTry>& tries) {
  const std::size_t first = tries.size();
  for (const LimitRule<Readings>& rule : rules) {
    auto moved = move_of(rule, before, after);
    auto tried = moved ? judged(*std::move(moved), *cases.first, *cases.second, op) : std::nullopt;
    if (tried) tries.push_back(*std::move(tried));
  }
  mark_leading(std::span(tries).subspan(first));
}

/// Own code for the same device that a reader of this case could do likewise: right at the same problem, and
/// no less precise.
std::vector<const CaseResult*> possible_examples(const FamilyResult& family, const CaseResult& result) {
  const VariantResult* const own = family.find_variant(result.key.variant);
  const double tolerance = tolerance_of(result, "").value_or(std::numeric_limits<double>::infinity());
  std::vector<const CaseResult*> examples;
  for (const VariantResult& variant : family.variants) {
    const CaseResult* const other = variant.representative(result.key.problem);
    if (other == nullptr || other == &result || !other->ok() || !variant.info.library.empty()) continue;
    if (own != nullptr && variant.info.device == own->info.device &&
        tolerance_of(*other, "").value_or(0) <= tolerance)
      examples.push_back(other);
  }
  return examples;
}

/// What is read of ops, made once for each.
class ReadOps {
 public:
  explicit ReadOps(const FamilyResult& family) : family_(family) {}

  const OpReadings& of(const CaseResult& result, const std::string& op) {
    const auto known = read_.find({&result, op});
    return known != read_.end() ? known->second
                                : read_.try_emplace({&result, op}, family_, result, op).first->second;
  }

 private:
  const FamilyResult& family_;
  std::map<std::pair<const CaseResult*, std::string>, OpReadings> read_;
};

/// Takes it as the example where its limit moved as advised, by more than there is one for, and it is faster.
template <class Readings>
void consider(Advice& advice, const LimitRule<Readings>& rule, const Readings& read, const CaseResult& other,
              std::optional<double> value, SpeedUp achieved) {
  if (!value || !std::isfinite(*value) || !has_moved(rule, advice.value, *value)) return;
  const auto predicted = gain_at(rule, read, *value);
  const double least = std::max(least_advised_gain, advice.example.predicted);
  if (!predicted || *predicted < least || achieved.verdict != Verdict::faster) return;
  advice.example = {&other, *value, *predicted, std::move(achieved)};
}

/// Of the time of a case's kernels, what the measured peaks leave its ops; 0 where they say nothing of one.
double floor_of_ops(const CaseResult& result) {
  constexpr double all_of_it = 100;  // %
  double time = 0, left = 0;
  for (const OpResult& op : result.ops) {
    if (!op.op_time || op.flaw != OpTimeFlaw::none || !op.of_possible) return 0;
    time += op.op_time->median;
    left += op.op_time->median * std::min(1.0, op.of_possible->median / all_of_it);
  }
  return time > 0 ? left / time : 0;
}

/// The time budgets of the cases at which advice is given, and of those that they are held against.
class Budgets {
 public:
  Budgets(const FamilyResult& family, const Evidence& evidence)
      : peak_copy_rate_(family.speed_of_light.peak_copy_rate), program_(picture_of_family(family, evidence)) {
    for (const VariantResult& variant : family.variants) {
      const CaseResult* result = variant.largest_timed();
      if (result == nullptr || variant.info.device != "cuda") continue;
      add(*result, evidence);
      if (const CaseResult* baseline = family.find(result->baseline)) add(*baseline, evidence);
    }
  }

  /// nullopt where the case has no budget.
  [[nodiscard]] std::optional<WholeReadings> read(const CaseResult& result) const {
    const auto found = budgets_.find(&result);
    if (found == budgets_.end() || !found->second.budget) return std::nullopt;
    WholeReadings whole{.result = &result,
                        .budget = *found->second.budget,
                        .best_copy_rate = peak_copy_rate_,
                        .kernels_floor = floor_of_ops(result)};
    if (program_ && program_->result == &result) {
      whole = readings_of(*program_);
      whole.best_copy_rate = peak_copy_rate_;
    }
    for (const auto& [other, its] : budgets_) {
      const auto rate = its.budget ? its.budget->copy_rate() : std::nullopt;
      const bool comparable = other->key.problem == result.key.problem && other->ok();
      if (comparable && rate && rate > whole.best_copy_rate) whole.best_copy_rate = rate;
    }
    return whole;
  }
  [[nodiscard]] const CaseBudget& of(const CaseResult& result) const { return budgets_.at(&result); }

 private:
  void add(const CaseResult& result, const Evidence& evidence) {
    if (!budgets_.contains(&result)) budgets_.emplace(&result, budget_of(result, evidence));
  }

  std::optional<double> peak_copy_rate_;
  std::optional<ProgramPicture> program_;
  std::map<const CaseResult*, CaseBudget> budgets_;
};

void add_tries(const FamilyResult& family, const VariantResult& variant, const Budgets& budgets,
               std::vector<AdviceTry>& tries) {
  const CaseResult* after = variant.largest_timed();
  const CaseResult* before = after == nullptr ? nullptr : family.find(after->baseline);
  if (before == nullptr || variant.info.device != "cuda") return;
  for (const OpResult& op : after->ops) {
    if (before->find_op(op.info.name) == nullptr) continue;
    add_tries_of(op_advice_rules(), OpReadings(family, *before, op.info.name),
                 OpReadings(family, *after, op.info.name), {before, after}, op.info.name, tries);
  }
  const auto was = budgets.read(*before), is = budgets.read(*after);
  if (was && is) add_tries_of(whole_advice_rules(), *was, *is, {before, after}, "", tries);
}

/// What the rules could not ask, each kind of evidence once.
std::vector<NotJudged> not_judged(const CaseResult& result, const OpReadings& op) {
  std::vector<NotJudged> missing;
  if (op.kernels().empty()) {
    missing.push_back({AdviceEvidence::kernels, why_not_counted(*result.source)});
  } else if (const OpResult* found = result.find_op(op.info().name);
             found != nullptr && found->flaw != OpTimeFlaw::none) {
    missing.push_back({AdviceEvidence::kernels, why_of(found->flaw)});
  }
  Why untold = why_dram_untold(op.kernels(), op.info(), op.family().speed_of_light.l2_capacity);
  if (!untold.empty()) missing.push_back({AdviceEvidence::dram_bytes, std::move(untold)});
  const Value& traced = op.of("traced_group_time").value;
  if (!traced) missing.push_back({AdviceEvidence::copies_and_host, traced.absent});
  return missing;
}

/// Without that of silenced rules, which are named.
OpAdvice sorted_out(const std::string& op, const std::vector<Advice>& advice,
                    const std::vector<AdviceRecord>& records) {
  OpAdvice given;
  given.op = op;
  for (const Advice& one : advice) {
    const auto record = std::ranges::find(records, one.rule, &AdviceRecord::rule);
    if (record != records.end() && record->silenced()) {
      given.left.push_back(one.rule);
    } else {
      given.advice.push_back(one);
    }
  }
  return given;
}

/// For the advice on an op of a case.
void add_examples(OpAdvice& given, const CaseResult& result, const std::vector<const CaseResult*>& others,
                  ReadOps& read) {
  for (Advice& advice : given.advice) {
    const OpAdviceRule& rule = *std::ranges::find(op_advice_rules(), advice.rule->id, &OpAdviceRule::id);
    for (const CaseResult* other : others) {
      if (other->find_op(given.op) == nullptr) continue;
      consider(advice, rule, read.of(result, given.op), *other, rule.value(read.of(*other, given.op)),
               achieved_by(rule, *result.find_op(given.op), *other->find_op(given.op)));
    }
  }
}

/// Likewise of the whole.
void add_examples(OpAdvice& given, const WholeReadings& read, const std::vector<const CaseResult*>& others,
                  const Budgets& budgets) {
  for (Advice& advice : given.advice) {
    const WholeAdviceRule& rule =
        *std::ranges::find(whole_advice_rules(), advice.rule->id, &WholeAdviceRule::id);
    for (const CaseResult* other : others) {
      if (const auto whole = budgets.read(*other))
        consider(advice, rule, read, *other, rule.value(*whole),
                 judge(read.result->total_time, other->total_time));
    }
  }
}

VariantAdvice advice_of(const FamilyResult& family, const VariantResult& variant, const Budgets& budgets,
                        const std::vector<AdviceRecord>& records, ReadOps& read) {
  VariantAdvice all{&variant, variant.largest_timed(), {}, {}, {}};
  if (all.result == nullptr) {
    all.absent = Because::variant_not_verified;
  } else if (variant.info.device != "cuda") {
    all.absent = Because::rules_are_of_gpus;
  }
  if (!all.absent.empty()) return all;
  const std::vector<const CaseResult*> others = possible_examples(family, *all.result);
  for (const OpResult& op : all.result->ops) {
    const OpReadings& readings = read.of(*all.result, op.info.name);
    all.ops.push_back(sorted_out(op.info.name, advice_for(readings), records));
    all.ops.back().missing = not_judged(*all.result, readings);
    add_examples(all.ops.back(), *all.result, others, read);
  }
  const auto whole = budgets.read(*all.result);
  if (whole && whole->budget.lacking == 0) {
    all.whole = sorted_out("", advice_for(*whole), records);
    all.whole.steps = whole->steps;
    add_examples(all.whole, *whole, others, budgets);
    // Ranges of a program are of its whole run, with all that comes before the steady steps.
    if (whole->steps > 0) all.ops.clear();
  } else {
    const Why lacking(Because::records_lacking, {}, {static_cast<double>(whole ? whole->budget.lacking : 0)});
    all.whole.missing = {{AdviceEvidence::time_budget, whole ? lacking : budgets.of(*all.result).absent}};
  }
  return all;
}

AdviceRecord record_over(const AdviceRule& rule, const std::vector<FamilyAdvice>& families) {
  AdviceRecord record;
  record.rule = &rule;
  double logarithms = 0;
  for (const FamilyAdvice& family : families) {
    for (const AdviceTry& tried : family.tries) {
      if (tried.advice.rule != &rule) continue;
      ++record.tries;
      if (tried.outcome == AdviceOutcome::right) ++record.right;
      if (tried.outcome == AdviceOutcome::wrong) ++record.wrong;
      if (tried.leading) ++record.leading;
      if (tried.leading && tried.outcome == AdviceOutcome::right) ++record.leading_right;
      logarithms += std::log(*tried.achieved.factor / tried.predicted);
    }
  }
  if (record.tries > 0)
    record.achieved_over_predicted = std::exp(logarithms / static_cast<double>(record.tries));
  return record;
}

}  // namespace

std::string_view to_string(AdviceOutcome outcome) {
  switch (outcome) {
    case AdviceOutcome::right:
      return "faster";
    case AdviceOutcome::wrong:
      return "slower";
    case AdviceOutcome::open:
      break;
  }
  return "undecided";
}

std::optional<double> AdviceRecord::hit_rate() const {
  if (tries == 0) return std::nullopt;
  return static_cast<double>(right) / static_cast<double>(tries);
}

bool AdviceRecord::silenced() const {
  constexpr std::size_t fewest_tries = 2;
  return tries >= fewest_tries && 2 * wrong >= tries;
}

WholeReadings readings_of(const ProgramPicture& picture) {
  return {.result = picture.result,
          .budget = picture.budget,
          .kernels_floor = picture.floor_of_kernels(),
          .steps = picture.steps ? picture.steps->steady_steps() : 0};
}

std::vector<Advice> advice_for(const OpReadings& op) {
  return advice_by_all(op_advice_rules(), op);
}

std::vector<Advice> advice_for(const WholeReadings& whole) {
  return advice_by_all(whole_advice_rules(), whole);
}

std::vector<const AdviceRule*> advice_rules() {
  std::vector<const AdviceRule*> all;
  for (const AdviceRule& rule : op_advice_rules()) all.push_back(&rule);
  for (const AdviceRule& rule : whole_advice_rules()) all.push_back(&rule);
  return all;
}

const FamilyAdvice* RunAdvice::find_family(std::string_view id) const {
  const auto found = std::ranges::find(families, id, &FamilyAdvice::family);
  return found == families.end() ? nullptr : &*found;
}

const VariantAdvice* RunAdvice::find_variant(const VariantResult& variant) const {
  const FamilyAdvice* family = find_family(variant.info.family);
  if (family == nullptr) return nullptr;
  const auto found = std::ranges::find(family->variants, &variant, &VariantAdvice::variant);
  return found == family->variants.end() ? nullptr : &*found;
}

const AdviceRecord& RunAdvice::record_of(const AdviceRule& rule) const {
  return *std::ranges::find(records, &rule, &AdviceRecord::rule);
}

RunAdvice advise(const RunAnalysis& analysis, const Evidence& evidence) {
  RunAdvice all;
  std::vector<Budgets> budgets;
  for (const FamilyResult& family : analysis.families) {
    budgets.emplace_back(family, evidence);
    FamilyAdvice& advice = all.families.emplace_back();
    advice.family = family.id;
    for (const VariantResult& variant : family.variants)
      add_tries(family, variant, budgets.back(), advice.tries);
  }
  for (const AdviceRule* rule : advice_rules()) all.records.push_back(record_over(*rule, all.families));
  for (std::size_t i = 0; i < analysis.families.size(); ++i) {
    const FamilyResult& family = analysis.families[i];
    ReadOps read(family);
    for (const VariantResult& variant : family.variants)
      all.families[i].variants.push_back(advice_of(family, variant, budgets[i], all.records, read));
  }
  return all;
}

}  // namespace mprof
