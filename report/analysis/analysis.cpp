#include "report/analysis/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

namespace mprof {
namespace {

const Value no_time = absent_value("no case gave a verified time");
constexpr std::string_view is_a_baseline = "it is a baseline itself";
const SpeedUp no_speed_up{std::nullopt, std::nullopt, "no case gave a verified time"};

const PassResult* verified_pass(const Case& c) {
  const auto found = std::find_if(c.passes.begin(), c.passes.end(),
                                  [](const PassResult& pass) { return !pass.verification.empty(); });
  return found == c.passes.end() ? nullptr : &*found;
}

std::optional<Verification> verification_of(const Case& c, std::string_view op) {
  const PassResult* pass = verified_pass(c);
  if (pass == nullptr) return std::nullopt;
  const auto found = std::find_if(pass->verification.begin(), pass->verification.end(),
                                  [&](const Verification& v) { return v.op == op; });
  return found == pass->verification.end() ? std::nullopt : std::optional(*found);
}

Value cores_busy(const Case& c, const Value& total_time) {
  const Value user = value_of(c, "user_time");
  const Value system = value_of(c, "system_time");
  if (!user) return user;
  if (!system) return system;
  if (!total_time) return total_time;
  if (!(total_time->median > 0)) return absent_value("the total time is 0");
  return derived_value((user->median + system->median) / total_time->median);
}

/// The percentage of the tighter peak that an op reaches. Work outside forward() is not in its op time.
Value of_possible(const OpResult& op) {
  if (op.outside_forward) return absent_value("it works outside forward(), so its op time says little");
  if (!op.compute_throughput) return op.compute_throughput;
  if (!op.memory_throughput) return op.memory_throughput;
  return op.compute_throughput->median > op.memory_throughput->median ? op.compute_throughput
                                                                      : op.memory_throughput;
}

/// Whether hardware counted work of tensor cores, which the measured FP32 peak says nothing about.
bool uses_tensor_cores(const Case& c, std::string_view op) {
  const std::vector<KernelCounters> kernels = kernels_of(c);
  return std::any_of(kernels.begin(), kernels.end(), [&](const KernelCounters& kernel) {
    return kernel.op == op && tensor_operations(kernel) > 0;
  });
}

/// What only a trace tells.
Value traced_value(const Case& c, std::string_view metric, std::string_view op = {}) {
  Value value = value_of(c, metric, op);
  if (!value && find_pass(c, Pass::trace) == nullptr) value.absent = "the run had no trace pass";
  return value;
}

OpResult op_result(const Case& c, const OpInfo& info) {
  OpResult result;
  result.info = info;
  result.op_time = value_of(c, "op_time", info.name);
  result.layer_time = value_of(c, "layer_time", info.name);
  result.compute_throughput = value_of(c, "compute_throughput", info.name);
  result.memory_throughput = value_of(c, "memory_throughput", info.name);
  result.flop_rate = value_of(c, "flop_rate", info.name);
  result.byte_rate = value_of(c, "byte_rate", info.name);
  result.compared_by = comparable_time(c, info.name);
  result.outside_forward = result.compared_by == "layer_time";
  if (uses_tensor_cores(c, info.name))
    result.compute_throughput = absent_value("it computes on tensor cores, whose peak was not measured");
  result.of_possible = of_possible(result);
  result.gpu_time = traced_value(c, "gpu_time", info.name);
  result.verification = verification_of(c, info.name);
  return result;
}

CaseResult case_result(const Case& c) {
  CaseResult result;
  result.id = c.id;
  result.configuration = c.id.substr(0, c.id.rfind('@'));
  result.key = c.key;
  result.status = case_status(c);
  result.reason = case_reason(c);
  result.source = &c;
  for (const OpInfo& op : c.ops) result.ops.push_back(op_result(c, op));
  result.total_time = value_of(c, "total_time");
  result.accuracy = value_of(c, "accuracy");
  result.cores_busy = cores_busy(c, result.total_time);
  result.trace_overhead = traced_value(c, "trace_overhead");
  if (const PassResult* timing = find_pass(c, Pass::timing)) result.sampling = timing->sampling;
  return result;
}

/// What a sweep is judged by: the op times together, or the whole inference of a family without ops.
double cost(const CaseResult& result) {
  double sum = 0;
  bool known = !result.ops.empty();
  for (const OpResult& op : result.ops) {
    known = known && op.compared_time();
    if (known) sum += op.compared_time()->median;
  }
  if (known) return sum;
  return result.total_time ? result.total_time->median : std::numeric_limits<double>::infinity();
}

bool at_defaults(const CaseResult& result, const VariantInfo& info) {
  return std::all_of(info.parameters.begin(), info.parameters.end(), [&](const ParameterInfo& parameter) {
    const auto set = result.key.parameters.find(parameter.name);
    return set == result.key.parameters.end() || set->second == parameter.default_value;
  });
}

/// The baseline's case at a batch: with its default parameters, or its fastest one when those were not run.
const CaseResult* baseline_case(const FamilyResult& family, const std::string& id, std::uint64_t batch) {
  const VariantResult* variant = family.find_variant(id);
  if (variant == nullptr) return nullptr;
  for (const CaseResult& result : variant->cases) {
    if (result.key.batch == batch && at_defaults(result, variant->info)) return &result;
  }
  return variant->representative(batch);
}

/// Why no speed-up of `result` may be shown; empty when one may.
std::string obstacle(const VariantInfo& info, const CaseResult& result, const CaseResult* baseline) {
  if (info.baseline.empty()) return std::string(is_a_baseline);
  if (result.status == Status::wrong) return "the output is wrong";
  if (!result.ok()) return fmt::format("it was not timed ({})", to_string(result.status));
  if (baseline == nullptr) return fmt::format("its baseline {} was not run at this batch", info.baseline);
  if (baseline->status == Status::wrong)
    return fmt::format("the output of its baseline {} is wrong", baseline->id);
  if (!baseline->ok()) {
    return fmt::format("its baseline {} was not timed ({})", baseline->id, to_string(baseline->status));
  }
  return {};
}

void compare_op(OpResult& op, const CaseResult& baseline) {
  const OpResult* before = baseline.find_op(op.info.name);
  if (before == nullptr) {
    op.speed_up.absent = "its baseline has no such op";
    return;
  }
  if (before->outside_forward) op.compared_by = "layer_time";
  op.gpu_speed_up = speed_up(before->gpu_time, op.gpu_time);
  op.speed_up =
      speed_up(op.compared_by == "layer_time" ? before->layer_time : before->op_time, op.compared_time());
}

void compare_with_baseline(CaseResult& result, const VariantInfo& info, const FamilyResult& family) {
  result.is_baseline = info.baseline.empty();
  const CaseResult* baseline =
      result.is_baseline ? nullptr : baseline_case(family, info.baseline, result.key.batch);
  const std::string why_not = obstacle(info, result, baseline);
  if (!why_not.empty()) {
    result.total_speed_up.absent = why_not;
    for (OpResult& op : result.ops) op.speed_up.absent = why_not;
    return;
  }
  result.baseline = baseline->id;
  result.total_speed_up = speed_up(baseline->total_time, result.total_time);
  for (OpResult& op : result.ops) compare_op(op, *baseline);
  if (result.accuracy && baseline->accuracy) {
    result.accuracy_change = result.accuracy->median - baseline->accuracy->median;
  }
}

const Value& time_of(const CaseResult& result, const std::string& op) {
  if (op.empty()) return result.total_time;
  const OpResult* found = result.find_op(op);
  return found == nullptr ? no_time : found->op_time;
}

bool overlap(const Value& a, const Value& b) {
  return a->interval && b->interval && a->interval->low <= b->interval->high &&
         b->interval->low <= a->interval->high;
}

Best best_of(const FamilyResult& family, const std::string& op, std::uint64_t batch) {
  Best best{op, batch, nullptr, {}, {}};
  std::vector<const CaseResult*> candidates;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      if (result.key.batch != batch || !result.ok() || !time_of(result, op)) continue;
      const OpResult* timed = result.find_op(op);
      (timed != nullptr && timed->outside_forward ? best.left_out : candidates).push_back(&result);
    }
  }
  if (candidates.empty()) return best;
  best.fastest = *std::min_element(candidates.begin(), candidates.end(), [&](const auto* a, const auto* b) {
    return time_of(*a, op)->median < time_of(*b, op)->median;
  });
  for (const CaseResult* candidate : candidates) {
    if (candidate != best.fastest && overlap(time_of(*candidate, op), time_of(*best.fastest, op))) {
      best.level.push_back(candidate);
    }
  }
  return best;
}

/// A run made by hand may hold cases of a variant that it does not describe.
VariantInfo info_of(const Run& run, const std::string& id) {
  if (const VariantInfo* info = find_variant(run, id)) return *info;
  VariantInfo info;
  info.id = info.title = id;
  info.family = id.substr(0, id.find('/'));
  return info;
}

FamilyResult& family_of(std::vector<FamilyResult>& families, const std::string& id) {
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&](const FamilyResult& family) { return family.id == id; });
  if (found != families.end()) return *found;
  families.push_back({id, {}, {}, {}, {}, {}, {}});
  return families.back();
}

VariantResult& variant_of(FamilyResult& family, VariantInfo info) {
  const auto found = std::find_if(family.variants.begin(), family.variants.end(),
                                  [&](const VariantResult& variant) { return variant.info.id == info.id; });
  if (found != family.variants.end()) return *found;
  family.variants.push_back({std::move(info), {}, {}});
  return family.variants.back();
}

void add_ops(std::vector<OpInfo>& known, const std::vector<OpInfo>& ops) {
  for (const OpInfo& op : ops) {
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const OpInfo& other) { return other.name == op.name; });
    if (!is_known) known.push_back(op);
  }
}

/// Variants and cases stand in plan order, batches ascending.
std::vector<FamilyResult> families_of(const Run& run) {
  std::vector<FamilyResult> families;
  for (const Case& c : run.cases) {
    VariantInfo info = info_of(run, c.key.variant);
    FamilyResult& family = family_of(families, info.family);
    add_ops(family.ops, c.ops);
    family.batches.push_back(c.key.batch);
    variant_of(family, std::move(info)).cases.push_back(case_result(c));
  }
  for (FamilyResult& family : families) {
    const std::set<std::uint64_t> batches(family.batches.begin(), family.batches.end());
    family.batches.assign(batches.begin(), batches.end());
  }
  return families;
}

void judge_family(FamilyResult& family) {
  for (VariantResult& variant : family.variants) {
    for (CaseResult& result : variant.cases) compare_with_baseline(result, variant.info, family);
  }
  for (VariantResult& variant : family.variants) variant.expectations = check_expectations(variant, family);
  std::vector<std::string> timed;
  for (const OpInfo& op : family.ops) timed.push_back(op.name);
  timed.emplace_back();
  for (const std::string& op : timed) {
    for (const std::uint64_t batch : family.batches) family.best.push_back(best_of(family, op, batch));
  }
}

}  // namespace

const OpResult* CaseResult::find_op(std::string_view name) const {
  const auto found = std::find_if(ops.begin(), ops.end(),
                                  [&](const OpResult& candidate) { return candidate.info.name == name; });
  return found == ops.end() ? nullptr : &*found;
}

const CaseResult* VariantResult::representative(std::uint64_t batch) const {
  const CaseResult* chosen = nullptr;
  for (const CaseResult& candidate : cases) {
    if (candidate.key.batch != batch) continue;
    const bool better = chosen == nullptr || (candidate.ok() && !chosen->ok()) ||
                        (candidate.ok() == chosen->ok() && candidate.ok() && cost(candidate) < cost(*chosen));
    if (better) chosen = &candidate;
  }
  return chosen;
}

bool VariantResult::swept() const {
  std::set<std::uint64_t> seen;
  return std::any_of(cases.begin(), cases.end(),
                     [&](const CaseResult& result) { return !seen.insert(result.key.batch).second; });
}

const Value& Best::time() const {
  return fastest == nullptr ? no_time : time_of(*fastest, op);
}

const SpeedUp& Best::speed_up() const {
  if (fastest == nullptr) return no_speed_up;
  const OpResult* result = op.empty() ? nullptr : fastest->find_op(op);
  return result == nullptr ? fastest->total_speed_up : result->speed_up;
}

const CaseResult* FamilyResult::find(std::string_view case_id) const {
  for (const VariantResult& variant : variants) {
    for (const CaseResult& result : variant.cases) {
      if (result.id == case_id) return &result;
    }
  }
  return nullptr;
}

const VariantResult* FamilyResult::find_variant(std::string_view variant_id) const {
  const auto found = std::find_if(variants.begin(), variants.end(), [&](const VariantResult& variant) {
    return variant.info.id == variant_id;
  });
  return found == variants.end() ? nullptr : &*found;
}

RunAnalysis analyse(const Run& run, const Check* check) {
  RunAnalysis analysis{&run, families_of(run), {}};
  for (FamilyResult& family : analysis.families) {
    judge_family(family);
    family.speed_of_light = speed_of_light(run, family);
    family.check = summarize_check(check, family, run);
  }
  analysis.findings = find_what_to_know(run, analysis.families);
  return analysis;
}

}  // namespace mprof
