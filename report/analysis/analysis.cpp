// SPDX-License-Identifier: MIT
#include "report/analysis/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "model/parts.hpp"
namespace mprof {
namespace {

const Value no_time = absent_value(Because::no_verified_time);
const SpeedUp no_time_no_speed_up = no_speed_up(Because::no_verified_time);

Value cores_busy(const Case& c, const Value& total_time) {
  const Value user = value_of(c, "user_time");
  const Value system = value_of(c, "system_time");
  if (!user) return user;
  if (!system) return system;
  if (!total_time) return total_time;
  if (!(total_time->median > 0)) return absent_value(Because::total_time_of_zero);
  return derived_value((user->median + system->median) / total_time->median);
}

/// The percentage of the peak that allows no less time, where the op time is that of the work.
void find_limit(OpResult& op) {
  if (op.flaw != OpTimeFlaw::none) {
    op.of_possible = absent_value({Because::op_time_flawed, {}, {}, {why_of(op.flaw)}});
    return;
  }
  std::vector<std::pair<Limit, const Value*>> limits{{Limit::compute, &op.compute_throughput},
                                                     {Limit::memory, &op.memory_throughput}};
  if (op.info.special_operations > 0) limits.emplace_back(Limit::special, &op.special_throughput);
  for (const auto& [limit, throughput] : limits) {
    if (!*throughput) {
      op.of_possible = *throughput;
      op.limit.reset();
      return;
    }
    if (op.limit && !((*throughput)->median > op.of_possible->median)) continue;
    op.limit = limit;
    op.of_possible = *throughput;
  }
}

/// The ceiling of the tensor cores that did an op, where hardware counted work of theirs, which the measured
/// FP32 peak says nothing about: of the kernel that had most of it. Empty without any.
std::string_view tensor_ceiling_of(const Case& c, std::string_view op) {
  std::string_view ceiling;
  double most = 0;
  for (const KernelCounters& kernel : kernels_of(c)) {
    const double operations = kernel.op == op ? tensor_operations(kernel) : 0;
    if (operations <= most) continue;
    most = operations;
    ceiling = tensor_ceiling(kernel);
  }
  return ceiling;
}

/// What an op computed a second, of what tensor cores were measured to.
Value of_tensor_peak(const Value& rate, std::optional<double> peak) {
  if (!peak) return absent_value(Because::tensor_peak_not_measured);
  if (!rate) return rate;
  return derived_value(100 * rate->median / *peak);
}

/// What only a trace tells.
Value traced_value(const Case& c, std::string_view metric, std::string_view op = {}) {
  Value value = value_of(c, metric, op);
  if (!value && find_pass(c, Pass::trace) == nullptr) value.absent = Because::no_trace_pass;
  return value;
}

OpResult op_result(const Run& run, const Case& c, const OpInfo& info) {
  OpResult result;
  result.info = info;
  const VariantInfo* const variant = find_variant(run, c.key.variant);
  result.is_on_gpu = variant == nullptr || variant->device != "cpu";
  result.op_time = value_of(c, "op_time", info.name);
  result.group_time = value_of(c, "group_time", info.name);
  result.compute_throughput = value_of(c, "compute_throughput", info.name);
  result.memory_throughput = value_of(c, "memory_throughput", info.name);
  result.flop_rate = value_of(c, "flop_rate", info.name);
  result.special_throughput = value_of(c, "special_throughput", info.name);
  result.byte_rate = value_of(c, "byte_rate", info.name);
  result.special_rate = value_of(c, "special_rate", info.name);
  result.flaw = op_time_flaw(c, info.name);
  result.compared_by = result.flaw == OpTimeFlaw::none ? "op_time" : "group_time";
  if (const std::string_view ceiling = tensor_ceiling_of(c, info.name); !ceiling.empty())
    result.compute_throughput =
        of_tensor_peak(result.flop_rate, measured_peak(PartIndex(run).ceilings(c.id), ceiling));
  find_limit(result);
  result.gpu_time = traced_value(c, "gpu_time", info.name);
  if (const Verification* found = find_verification(c, info.name)) result.verification = *found;
  return result;
}

/// Whether the traced ops took as long as untraced ones may take as well.
bool is_within_noise(const CaseResult& result) {
  double low = 0, middle = 0, high = 0;
  const auto add = [&](const Value& time) {
    if (!time || !time->interval) return false;
    low += time->interval->low;
    middle += time->median;
    high += time->interval->high;
    return true;
  };
  const bool is_of_groups =
      std::ranges::any_of(result.ops, [](const OpResult& op) { return !!op.group_time; });
  if (!is_of_groups && !add(result.total_time)) return false;  // a program as a whole
  for (const OpResult& op : result.ops) {
    if (is_of_groups && !add(op.group_time)) return false;
  }
  if (!result.trace_overhead || !(middle > 0)) return false;
  const double traced = result.trace_overhead->median * middle;
  return traced >= low && traced <= high;
}

/// Which GPU measured what, where that is not the same everywhere.
void add_gpu_models(const Run& run, std::vector<FamilyResult>& families) {
  const PartIndex parts(run);
  for (FamilyResult& family : families) {
    for (VariantResult& variant : family.variants) {
      if (variant.info.device != "cuda") continue;
      for (CaseResult& result : variant.cases) result.gpu_model = parts.gpu_model(result.id);
    }
  }
}

CaseResult case_result(const Run& run, const Case& c, const FamilyInfo* family) {
  CaseResult result;
  result.id = c.id;
  result.configuration = c.id.substr(0, c.id.rfind('@'));
  result.key = c.key;
  result.status = case_status(c);
  result.reason = case_reason(c);
  result.source = &c;
  for (const OpInfo& op : c.ops) result.ops.push_back(op_result(run, c, op));
  result.total_time = value_of(c, "total_time");
  if (family != nullptr) {
    for (const QualityInfo& quality : family->qualities)
      result.qualities.push_back({&quality, value_of(c, quality.metric), {}});
  }
  result.cores_busy = cores_busy(c, result.total_time);
  result.trace_overhead = traced_value(c, "trace_overhead");
  result.trace_overhead_is_noise = is_within_noise(result);
  if (const PassResult* timing = find_pass(c, Pass::timing)) result.sampling = timing->sampling;
  return result;
}

/// What a sweep is judged by: the op times together, or the whole of a family without ops.
double cost(const CaseResult& result) {
  if (const auto time = result.compared_time()) return *time;
  return result.total_time ? result.total_time->median : std::numeric_limits<double>::infinity();
}

bool at_defaults(const CaseResult& result, const VariantInfo& info) {
  return std::all_of(info.parameters.begin(), info.parameters.end(), [&](const ParameterInfo& parameter) {
    const auto set = result.key.parameters.find(parameter.name);
    return set == result.key.parameters.end() || set->second == parameter.default_value;
  });
}

/// The baseline's case at a problem: with its default parameters, or its fastest one when those were not run.
const CaseResult* baseline_case(const FamilyResult& family, const std::string& id, const Problem& problem) {
  const VariantResult* variant = family.find_variant(id);
  if (variant == nullptr) return nullptr;
  const auto found = variant->at.find(problem);
  if (found == variant->at.end()) return nullptr;
  for (const std::size_t place : found->second) {
    if (at_defaults(variant->cases[place], variant->info)) return &variant->cases[place];
  }
  return variant->representative(problem);
}

/// Why no speed-up of `result` may be shown; nothing when one may.
Why obstacle(const VariantInfo& info, const CaseResult& result, const CaseResult* baseline,
             const Words& words) {
  if (info.baseline.empty()) return Because::is_baseline;
  if (const Why doubt = result.doubt(); !doubt.empty()) return doubt;
  if (!result.ok()) return {Because::not_timed, {std::string(to_string(result.status))}};
  if (baseline == nullptr) return {Because::baseline_not_run, {info.baseline, words.one()}};
  if (baseline->status == Status::wrong) return {Because::baseline_wrong, {baseline->id}};
  if (baseline->status == Status::suspect) return {Because::baseline_suspect, {baseline->id}};
  if (!baseline->ok())
    return {Because::baseline_not_timed, {baseline->id, std::string(to_string(baseline->status))}};
  return {};
}

void compare_op(OpResult& op, const CaseResult& baseline) {
  const OpResult* before = baseline.find_op(op.info.name);
  if (before == nullptr) {
    op.speed_up = no_speed_up(Because::baseline_lacks_op);
    return;
  }
  if (before->flaw != OpTimeFlaw::none) op.compared_by = "group_time";
  op.gpu_speed_up = judge(before->gpu_time, op.gpu_time);
  op.speed_up =
      judge(op.compared_by == "group_time" ? before->group_time : before->op_time, op.compared_time());
  // A time that nobody took is no reason: why it would be needed is.
  const OpResult& flawed = op.flaw != OpTimeFlaw::none ? op : *before;
  if (op.compared_by == "group_time" && !(op.group_time && before->group_time))
    op.speed_up = no_speed_up({Because::op_time_flawed, {}, {}, {why_of(flawed.flaw)}});
}

void compare_with_baseline(CaseResult& result, const VariantInfo& info, const FamilyResult& family) {
  result.is_baseline = info.baseline.empty();
  const CaseResult* baseline =
      result.is_baseline ? nullptr : baseline_case(family, info.baseline, result.key.problem);
  const Why why_not = obstacle(info, result, baseline, family.words);
  if (!why_not.empty()) {
    result.total_speed_up = no_speed_up(why_not);
    for (OpResult& op : result.ops) op.speed_up = result.total_speed_up;
    return;
  }
  result.baseline = baseline->id;
  result.total_speed_up = judge(baseline->total_time, result.total_time);
  for (OpResult& op : result.ops) compare_op(op, *baseline);
  for (std::size_t i = 0; i < result.qualities.size(); ++i) {
    const Value &own = result.qualities[i].value, &before = baseline->qualities[i].value;
    if (own && before) result.qualities[i].change = own->median - before->median;
  }
}

const Value& time_of(const CaseResult& result, const std::string& op) {
  if (op.empty()) return result.total_time;
  const OpResult* found = result.find_op(op);
  return found == nullptr ? no_time : found->op_time;
}

/// Whether what disturbed one of them may be why the first is the shorter one.
bool may_be_shorter_by_disturbance(const Value& best, const Value& time) {
  const bool is_disturbed = !best->disturbed.empty() || !time->disturbed.empty();
  return is_disturbed && judge(best, time).verdict != Verdict::slower;
}

/// Among the variants for `device`; empty: for any.
Best best_of(const FamilyResult& family, const std::string& op, const Problem& problem,
             std::string_view device = {}) {
  Best best{.op = op, .problem = problem};
  std::vector<const CaseResult*> candidates;
  for (const VariantResult& variant : family.variants) {
    const auto found = variant.at.find(problem);
    if (found == variant.at.end() || (!device.empty() && variant.info.device != device)) continue;
    for (const std::size_t place : found->second) {
      const CaseResult& result = variant.cases[place];
      if (!result.ok() || !time_of(result, op)) continue;
      const OpResult* timed = result.find_op(op);
      (timed != nullptr && timed->flaw != OpTimeFlaw::none ? best.left_out : candidates).push_back(&result);
    }
  }
  if (candidates.empty()) return best;
  best.fastest = *std::min_element(candidates.begin(), candidates.end(), [&](const auto* a, const auto* b) {
    return time_of(*a, op)->median < time_of(*b, op)->median;
  });
  for (const CaseResult* candidate : candidates) {
    if (candidate != best.fastest && is_level(time_of(*candidate, op), time_of(*best.fastest, op)))
      best.level.push_back(candidate);
  }
  best.is_clear = std::ranges::none_of(candidates, [&](const CaseResult* candidate) {
    return candidate != best.fastest &&
           may_be_shorter_by_disturbance(time_of(*best.fastest, op), time_of(*candidate, op));
  });
  return best;
}

void add_device_step(FamilyResult& family, const Best& best) {
  DeviceStep step{
      best_of(family, best.op, best.problem, "cpu"), best_of(family, best.op, best.problem, "cuda"), {}};
  if (step.cpu.fastest == nullptr || step.gpu.fastest == nullptr) return;
  step.speed_up = judge(step.cpu.time(), step.gpu.time());
  family.device_steps.push_back(std::move(step));
}

/// A run made by hand may hold cases of a variant that it does not describe.
VariantInfo info_of(const Run& run, const std::string& id) {
  if (const VariantInfo* info = find_variant(run, id)) return *info;
  VariantInfo info;
  info.id = info.title = id;
  info.family = family_of(id);
  return info;
}

void add_ops(std::vector<OpInfo>& known, const std::vector<OpInfo>& ops) {
  for (const OpInfo& op : ops) {
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const OpInfo& other) { return other.name == op.name; });
    if (!is_known) known.push_back(op);
  }
}

/// Families and variants by id while the cases are sorted into them.
class Sorting {
 public:
  explicit Sorting(const Run& run) : run_(run) {}

  void add(const Case& c) {
    FamilyResult& family = family_of(c.key.variant);
    add_ops(family.ops, c.ops);
    problems_[family.id].insert(c.key.problem);
    VariantResult& variant = family.variants[variants_.at(c.key.variant).second];
    variant.at[c.key.problem].push_back(variant.cases.size());
    variant.cases.push_back(case_result(run_, c, find_family(run_, family.id)));
  }

  /// Variants and cases stand in plan order, problems ascending.
  std::vector<FamilyResult> take() {
    for (FamilyResult& family : families_) {
      const std::set<Problem>& problems = problems_[family.id];
      family.problems.assign(problems.begin(), problems.end());
      family.words = Words(family.info, family.problems);
      family.has_own_reference = std::ranges::count(run_.plan.sources, family.id, &PluginSource::family) > 0;
    }
    return std::move(families_);
  }

 private:
  FamilyResult& family_of(const std::string& variant) {
    if (const auto known = variants_.find(variant); known != variants_.end())
      return families_[known->second.first];
    VariantInfo info = info_of(run_, variant);
    const auto [place, is_new] = places_.emplace(info.family, families_.size());
    if (is_new) {
      FamilyResult& added = families_.emplace_back();
      added.id = info.family;
      if (const FamilyInfo* described = find_family(run_, added.id)) added.info = *described;
    }
    FamilyResult& family = families_[place->second];
    variants_[variant] = {place->second, family.variants.size()};
    family.variants.emplace_back().info = std::move(info);
    return family;
  }

  const Run& run_;
  std::vector<FamilyResult> families_;
  std::map<std::string, std::size_t> places_;                            ///< families
  std::map<std::string, std::pair<std::size_t, std::size_t>> variants_;  ///< family, and place in it
  std::map<std::string, std::set<Problem>> problems_;                    ///< by family
};

std::vector<FamilyResult> families_of(const Run& run) {
  Sorting sorting(run);
  for (const Case& c : run.cases) sorting.add(c);
  return sorting.take();
}

void add_scrutiny(const Case& c, Scrutiny& all) {
  const PassResult* timing = find_pass(c, Pass::timing);
  if (timing == nullptr || !timing->scrutiny) return;
  all.executions += timing->scrutiny->executions;
  all.orders = std::max(all.orders, timing->scrutiny->orders);
  all.unseen += timing->scrutiny->unseen;
}

void add_verifications(FamilyResult& family) {
  for (VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) add_scrutiny(*result.source, family.scrutiny);
    for (const OpInfo& op : family.ops) {
      OpVerification sum{op.name, {}};
      for (const CaseResult& result : variant.cases) {
        const OpResult* found = result.find_op(op.name);
        if (found != nullptr && found->verification)
          sum.summary.add(*found->verification, result.key.problem);
      }
      if (sum.summary.outputs == 0) continue;
      variant.verified.add(sum.summary);
      variant.verifications.push_back(std::move(sum));
    }
    family.verified.add(variant.verified);
  }
}

/// Variants of a family that a run has a case of.
std::size_t variants_in(const Run& run, const std::string& family) {
  std::set<std::string> variants;
  for (const Case& c : run.cases) {
    if (info_of(run, c.key.variant).family == family) variants.insert(c.key.variant);
  }
  return variants.size();
}

void judge_family(FamilyResult& family) {
  for (const VariantResult& variant : family.variants) {
    family.variants_by_id.emplace(variant.info.id, &variant);
    for (const CaseResult& result : variant.cases) family.cases_by_id.emplace(result.id, &result);
  }
  for (VariantResult& variant : family.variants) {
    for (CaseResult& result : variant.cases) compare_with_baseline(result, variant.info, family);
  }
  for (VariantResult& variant : family.variants) variant.expectations = judge_expectations(variant, family);
  add_verifications(family);
  std::vector<std::string> timed;
  for (const OpInfo& op : family.ops) timed.push_back(op.name);
  timed.emplace_back();
  for (const std::string& op : timed) {
    for (const Problem& problem : family.problems) family.best.push_back(best_of(family, op, problem));
  }
  for (const Best& best : family.best) add_device_step(family, best);
}

}  // namespace

Why CaseResult::doubt() const {
  if (status == Status::wrong) return Because::wrong_output;
  if (status == Status::suspect) return Because::suspect_times;
  return {};
}

const OpResult* CaseResult::find_op(std::string_view name) const {
  const auto found = std::find_if(ops.begin(), ops.end(),
                                  [&](const OpResult& candidate) { return candidate.info.name == name; });
  return found == ops.end() ? nullptr : &*found;
}

std::optional<double> CaseResult::compared_time() const {
  double sum = 0;
  for (const OpResult& op : ops) {
    if (is_printed_of_others(*source, op.compared_by, op.info.name)) continue;
    if (!op.compared_time()) return std::nullopt;
    sum += op.compared_time()->median;
  }
  return ops.empty() ? std::nullopt : std::optional(sum);
}

bool is_beyond_measured_peaks(const OpResult& op) {
  constexpr double beyond_noise = 103;  // %
  return op.of_possible && op.of_possible->median > beyond_noise;
}

bool gpu_time_exceeds_op_time(const OpResult& op) {
  constexpr double visibly = 1.002;  // in four digits
  return op.gpu_time && op.op_time && op.flaw == OpTimeFlaw::none &&
         op.gpu_time->median > visibly * op.op_time->median;
}

NearestLimit nearest_limit(const OpResult& op) {
  NearestLimit nearest{Limit::compute, op.compute_throughput};
  const auto consider = [&](Limit limit, const Value& throughput) {
    if (!throughput) return;
    if (!nearest.throughput || throughput->median > nearest.throughput->median) nearest = {limit, throughput};
  };
  consider(Limit::memory, op.memory_throughput);
  if (op.info.special_operations > 0) consider(Limit::special, op.special_throughput);
  if (op.compute_throughput && op.compute_throughput->median > 100) {
    nearest = {Limit::compute,
               absent_value(op.is_on_gpu ? Because::half_peak_not_measured : Because::peak_is_exceeded)};
  }
  return nearest;
}

const CaseResult* VariantResult::representative(const Problem& problem) const {
  const auto found = at.find(problem);
  if (found == at.end()) return nullptr;
  const CaseResult* chosen = nullptr;
  for (const std::size_t place : found->second) {
    const CaseResult& candidate = cases[place];
    const bool better = chosen == nullptr || (candidate.ok() && !chosen->ok()) ||
                        (candidate.ok() && chosen->ok() && cost(candidate) < cost(*chosen));
    if (better) chosen = &candidate;
  }
  return chosen;
}

bool VariantResult::swept() const {
  return std::any_of(at.begin(), at.end(), [](const auto& places) { return places.second.size() > 1; });
}

const CaseResult* VariantResult::largest_timed() const {
  for (auto places = at.rbegin(); places != at.rend(); ++places) {
    const CaseResult* result = representative(places->first);
    if (result->ok() && result->total_time) return result;
  }
  return nullptr;
}

const Value& Best::time() const {
  return fastest == nullptr ? no_time : time_of(*fastest, op);
}

const SpeedUp& Best::speed_up() const {
  if (fastest == nullptr) return no_time_no_speed_up;
  const OpResult* result = op.empty() ? nullptr : fastest->find_op(op);
  return result == nullptr ? fastest->total_speed_up : result->speed_up;
}

const CaseResult* FamilyResult::find(std::string_view case_id) const {
  const auto found = cases_by_id.find(case_id);
  return found == cases_by_id.end() ? nullptr : found->second;
}

bool FamilyResult::has_one_configuration() const {
  return measured <= 1 && variants.size() == 1 && variants.front().cases.size() == problems.size();
}

bool FamilyResult::all_are(bool (VariantInfo::*is)() const) const {
  return !variants.empty() &&
         std::ranges::all_of(variants, [is](const VariantResult& variant) { return (variant.info.*is)(); });
}

const VariantResult* FamilyResult::find_variant(std::string_view variant_id) const {
  const auto found = variants_by_id.find(variant_id);
  return found == variants_by_id.end() ? nullptr : found->second;
}

CaseResult result_of(const Run& run, const Case& c) {
  return case_result(run, c, find_family(run, family_of(c.key.variant)));
}

FamilyResult outline_of(const Run& run, const std::string& family) {
  FamilyResult outline;
  outline.id = family;
  if (const FamilyInfo* described = find_family(run, family)) outline.info = *described;
  std::set<Problem> problems;
  for (const Case& c : run.cases) {
    if (c.key.variant.starts_with(family + "/")) problems.insert(c.key.problem);
  }
  outline.problems.assign(problems.begin(), problems.end());
  outline.words = Words(outline.info, outline.problems);
  for (const VariantInfo& info : run.variants) {
    if (info.family == family) outline.variants.emplace_back().info = info;
  }
  for (const VariantResult& variant : outline.variants)
    outline.variants_by_id.emplace(variant.info.id, &variant);
  outline.speed_of_light.peak_flop_rate = measured_peak(run, "fp32_flop_rate");
  outline.speed_of_light.peak_bandwidth = measured_peak(run, "memory_bandwidth");
  return outline;
}

RunAnalysis analyse(const Run& run, const SanitizerRecord* sanitizer, const Run* recorded) {
  RunAnalysis analysis{&run, families_of(run), {}};
  if (gpu_models(run).size() > 1) add_gpu_models(run, analysis.families);
  for (FamilyResult& family : analysis.families) {
    judge_family(family);
    family.measured = variants_in(recorded == nullptr ? run : *recorded, family.id);
    family.speed_of_light = speed_of_light(run, family);
    family.gpu_memory = gpu_memory(run, family);
    family.sanitizer = summarize_sanitizer(sanitizer, family, run);
  }
  analysis.findings = find_what_to_know(run, analysis.families);
  return analysis;
}

}  // namespace mprof
