// SPDX-License-Identifier: MIT
#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/metric.hpp"
#include "model/metric_presets.hpp"
#include "report/analysis/machines/environment.hpp"
#include "report/export/export.hpp"
#include "report/wording/findings.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/why.hpp"

/// analysis.json: what the report says, as numbers in the units of the catalogue. docs/formats/export.md
/// explains it.
namespace mprof {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}
ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json value_json(const Value& value, std::string_view unit) {
  if (!value) return {{"median", nullptr}, {"unit", unit}, {"absent", say(value.absent)}};
  ordered_json json{{"median", value->median}, {"unit", unit}, {"n", value->samples}};
  if (value->interval) {
    json["low"] = value->interval->low;
    json["high"] = value->interval->high;
  }
  json["source"] = to_string(value->source);
  if (!value->disturbed.empty()) json["disturbed"] = disturbed_text(value->disturbed);
  return json;
}

ordered_json metric_json(const Value& value, std::string_view metric) {
  const std::optional<Unit> unit = unit_of_metric(metric);
  return value_json(value, unit ? unit_symbol(*unit) : "");
}

ordered_json speed_up_json(const SpeedUp& speed_up) {
  if (!speed_up) return {{"factor", nullptr}, {"absent", say(speed_up.absent)}};
  ordered_json json{{"factor", *speed_up.factor}};
  if (speed_up.interval) {
    json["low"] = speed_up.interval->low;
    json["high"] = speed_up.interval->high;
  }
  return json;
}

ordered_json verification_json(const std::optional<Verification>& verified) {
  if (!verified) return nullptr;
  return {{"passed", verified->passed},
          {"relative_l2", verified->relative_l2},
          {"tolerance", verified->tolerance},
          {"max_error", verified->max_error},
          {"elements", verified->elements},
          {"non_finite", verified->non_finite},
          {"never_written", verified->never_written},
          {"finding", text_or_null(verified->finding)},
          {"precision", text_or_null(verified->precision)},
          {"declared_precision", text_or_null(verified->declared_precision)}};
}

ordered_json op_json(const OpResult& op) {
  return {{"op", op.info.name},
          {"title", op.info.title},
          {"flops", op.info.flops},
          {"bytes", op.info.bytes},
          {"special_operations", op.info.special_operations},
          {"op_time", metric_json(op.op_time, "op_time")},
          {"group_time", metric_json(op.group_time, "group_time")},
          {"gpu_time", metric_json(op.gpu_time, "gpu_time")},
          {"flop_rate", metric_json(op.flop_rate, "flop_rate")},
          {"byte_rate", metric_json(op.byte_rate, "byte_rate")},
          {"compute_throughput", metric_json(op.compute_throughput, "compute_throughput")},
          {"memory_throughput", metric_json(op.memory_throughput, "memory_throughput")},
          {"special_rate", metric_json(op.special_rate, "special_rate")},
          {"special_throughput", metric_json(op.special_throughput, "special_throughput")},
          {"of_possible", value_json(op.of_possible, unit_symbol(Unit::percent))},
          {"outside_forward", op.flaw != OpTimeFlaw::none},
          {"compared_by", op.compared_by},
          {"speed_up", speed_up_json(op.speed_up)},
          {"gpu_speed_up", speed_up_json(gpu_speed_up_of(op))},
          {"verification", verification_json(op.verification)}};
}

ordered_json sampling_json(const std::optional<Sampling>& sampling) {
  if (!sampling) return nullptr;
  return {{"warmups", sampling->warmups},
          {"samples", sampling->samples},
          {"ended_by", to_string(sampling->ended_by)},
          {"relative_half_width", or_null(sampling->relative_half_width)},
          {"retries", sampling->retries},
          {"disturbance", text_or_null(sampling->disturbance)},
          {"host_disturbance", text_or_null(sampling->host_disturbance)}};
}

/// { axis: value }, in the family's order.
ordered_json problem_json(const Problem& problem) {
  ordered_json json = ordered_json::object();
  for (const Coordinate& coordinate : problem.coordinates) json[coordinate.axis] = coordinate.value;
  return json;
}

ordered_json change_json(const CaseResult& result, const QualityResult& quality) {
  if (quality.change) return {{"change", *quality.change}};
  return {{"change", nullptr}, {"absent", why_no_change(result, quality)}};
}

ordered_json qualities_json(const CaseResult& result) {
  ordered_json qualities = ordered_json::array();
  for (const QualityResult& quality : result.qualities) {
    qualities.push_back({{"quality", quality.info->metric},
                         {"label", quality.info->label},
                         {"value", value_json(quality.value, unit_symbol(quality.info->unit))},
                         {"over_baseline", change_json(result, quality)}});
  }
  return qualities;
}

ordered_json case_json(const CaseResult& result) {
  ordered_json ops = ordered_json::array();
  for (const OpResult& op : result.ops) ops.push_back(op_json(op));
  return {{"case", result.id},
          {"variant", result.key.variant},
          {"parameters", result.key.parameters},
          {"problem", problem_json(result.key.problem)},
          {"status", to_string(result.status)},
          {"reason", text_or_null(result.reason)},
          {"is_baseline", result.is_baseline},
          {"baseline", text_or_null(result.baseline)},
          {"total_time", metric_json(result.total_time, "total_time")},
          {"total_speed_up", speed_up_json(result.total_speed_up)},
          {"qualities", qualities_json(result)},
          {"cores_busy", value_json(result.cores_busy, unit_symbol(Unit::ratio))},
          {"trace_overhead", metric_json(result.trace_overhead, "trace_overhead")},
          {"sampling", sampling_json(result.sampling)},
          {"ops", ops}};
}

ordered_json judged_json(const Words& words, const ExpectationAt& judged, const std::string& metric) {
  // Where the case itself came to nothing, no side was looked at.
  const auto side = [&](Value value) {
    if (!value && value.absent.empty()) value.absent = judged.reason;
    return metric_json(value, metric);
  };
  return {{"problem", problem_json(judged.problem)},
          {"outcome", to_string(judged.outcome)},
          {"reason", text_or_null(say(judged.reason))},
          {"before", side(judged.before)},
          {"before_evidence", text_or_null(origin_text(judged.before_origin, words))},
          {"after", side(judged.after)},
          {"after_evidence", text_or_null(origin_text(judged.after_origin, words))}};
}

ordered_json expectation_json(const Words& words, const ExpectationResult& result) {
  const Expectation& expected = result.expectation;
  ordered_json problems = ordered_json::array();
  for (const ExpectationAt& judged : result.at)
    problems.push_back(judged_json(words, judged, expected.metric));
  return {{"metric", expected.metric},
          {"op", text_or_null(expected.op)},
          {"direction", to_string(expected.direction)},
          {"factor", or_null(expected.factor)},
          {"because", expected.because},
          {"problems", problems}};
}

ordered_json variant_json(const Words& words, const VariantResult& variant) {
  ordered_json expectations = ordered_json::array();
  for (const ExpectationResult& result : variant.expectations)
    expectations.push_back(expectation_json(words, result));
  return {{"variant", variant.info.id},
          {"title", variant.info.title},
          {"idea", variant.info.idea},
          {"device", variant.info.device},
          {"baseline", text_or_null(variant.info.baseline)},
          {"expectations", expectations}};
}

ordered_json ids_json(const std::vector<const CaseResult*>& cases) {
  ordered_json ids = ordered_json::array();
  for (const CaseResult* result : cases) ids.push_back(result->id);
  return ids;
}

ordered_json best_json(const Best& best) {
  return {{"op", text_or_null(best.op)},
          {"problem", problem_json(best.problem)},
          {"case", best.fastest == nullptr ? ordered_json(nullptr) : ordered_json(best.fastest->id)},
          {"time", value_json(best.time(), unit_symbol(Unit::second))},
          {"speed_up", speed_up_json(best.speed_up())},
          {"level_with", ids_json(best.level)},
          {"left_out", ids_json(best.left_out)}};
}

ordered_json bottleneck_json(const std::optional<Bottleneck>& bottleneck) {
  if (!bottleneck) return nullptr;
  return {{"bound", to_string(bottleneck->bound)},
          {"near_limit", bottleneck->near_limit},
          {"under_one_wave", bottleneck->under_one_wave},
          {"compute_throughput", bottleneck->compute},
          {"memory_throughput", bottleneck->memory}};
}

ordered_json before_json(const std::optional<KernelBefore>& before) {
  if (!before) return nullptr;
  return {{"variant", before->variant},
          {"kernel", before->kernel},
          {"compute_throughput", value_json(before->compute, unit_symbol(Unit::percent))},
          {"memory_throughput", value_json(before->memory, unit_symbol(Unit::percent))},
          {"bottleneck", bottleneck_json(before->bottleneck)}};
}

ordered_json roofline_json(const std::optional<RooflinePoint>& point) {
  if (!point) return nullptr;
  return {{"flops", point->flops},
          {"bytes", point->bytes},
          {"intensity", point->intensity},
          {"flop_rate", point->rate},
          {"of_roof", or_null(point->of_roof)},
          {"tensor_cores", point->tensor_cores}};
}

ordered_json kernel_json(const KernelResult& kernel) {
  ordered_json metrics = ordered_json::object(), stalls = ordered_json::array();
  for (const auto& [metric, value] : kernel.counters.values) metrics[metric] = metric_json(value, metric);
  for (const Stall& stall : kernel.stalls)
    stalls.push_back({{"reason", stall.reason}, {"cycles_per_instruction", stall.cycles}});
  return {{"case", kernel.result->id},
          {"op", kernel.counters.op},
          {"kernel", kernel.counters.kernel},
          {"launches", or_null(kernel.counters.launches)},
          {"share_of_op", or_null(kernel.share)},
          {"longest_of_op", kernel.longest},
          {"bottleneck", bottleneck_json(kernel.bottleneck)},
          {"before", before_json(kernel.before)},
          {"occupancy_limited_by", kernel.limited_by},
          {"stalls", stalls},
          {"roofline", roofline_json(kernel.roofline)},
          {"metrics", metrics}};
}

bool has_case(const ExportScope& scope, const CaseResult* result) {
  return scope.whole || std::ranges::find(scope.cases, result) != scope.cases.end();
}

ordered_json speed_of_light_json(const SpeedOfLight& sol, const ExportScope& scope) {
  ordered_json kernels = ordered_json::array(), uncounted = ordered_json::array();
  for (const KernelResult& kernel : sol.kernels) {
    if (has_case(scope, kernel.result)) kernels.push_back(kernel_json(kernel));
  }
  for (const Uncounted& one : sol.uncounted)
    uncounted.push_back({{"variant", one.variant->info.id}, {"reason", say(one.reason)}});
  return {{"problem", sol.kernels.empty() ? ordered_json(nullptr) : problem_json(sol.problem)},
          {"absent", text_or_null(say(sol.absent))},
          {"peak_flop_rate", or_null(sol.peak_flop_rate)},
          {"peak_bandwidth", or_null(sol.peak_bandwidth)},
          {"kernels", kernels},
          {"uncounted", uncounted}};
}

ordered_json family_json(const FamilyResult& family, const ExportScope& scope) {
  ordered_json ops = ordered_json::array(), problems = ordered_json::array(),
               variants = ordered_json::array(), best = ordered_json::array(), cases = ordered_json::array();
  for (const OpInfo& op : family.ops) ops.push_back({{"op", op.name}, {"title", op.title}});
  for (const Problem& problem : family.problems) problems.push_back(problem_json(problem));
  for (const VariantResult& variant : family.variants) {
    variants.push_back(variant_json(family.words, variant));
    for (const CaseResult& result : variant.cases) {
      if (has_case(scope, &result)) cases.push_back(case_json(result));
    }
  }
  for (const Best& one : family.best) best.push_back(best_json(one));
  return {{"family", family.id},
          {"ops", ops},
          {"problems", problems},
          {"best", best},
          {"variants", variants},
          {"cases", cases},
          {"speed_of_light", speed_of_light_json(family.speed_of_light, scope)}};
}

ordered_json run_json(const Run& run) {
  return {{"version", run.tool.version},   {"revision", run.tool.revision},
          {"started", run.started},        {"finished", text_or_null(run.finished)},
          {"state", to_string(run.state)}, {"machine", machine_name(run)}};
}

ordered_json ceilings_json(const Run& run) {
  ordered_json ceilings = ordered_json::array();
  for (const Ceiling& ceiling : run.ceilings) {
    ceilings.push_back({{"ceiling", ceiling.id},
                        {"device", ceiling.device},
                        {"value", or_null(ceiling.value)},
                        {"absent", text_or_null(ceiling.absent)},
                        {"method", ceiling.method}});
  }
  return ceilings;
}

}  // namespace

std::string analysis_json(const ExportScope& scope) {
  const RunAnalysis& analysis = *scope.analysis;
  ordered_json findings = ordered_json::array(), families = ordered_json::array();
  for (const Finding& finding : analysis.findings)
    findings.push_back({{"severity", to_string(finding.severity)}, {"text", text_of(finding)}});
  for (const FamilyResult& family : analysis.families) families.push_back(family_json(family, scope));
  const ordered_json document{{"schema_version", export_schema_version},
                              {"run", run_json(*analysis.run)},
                              {"cases_chosen", scope.whole ? ordered_json(nullptr) : ids_json(scope.cases)},
                              {"ceilings", ceilings_json(*analysis.run)},
                              {"findings", findings},
                              {"families", families}};
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace mprof
