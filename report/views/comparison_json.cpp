// SPDX-License-Identifier: MIT
#include "report/views/json_parts.hpp"
#include "report/views/views.hpp"
#include "report/wording/comparison.hpp"
#include "report/wording/reasons.hpp"
#include "report/wording/why.hpp"

/// A comparison as data: docs/formats/compare-json.md explains it.
namespace mprof {
namespace {

using nlohmann::ordered_json;

ordered_json figure_json(const TracedFigure& figure) {
  return {{"metric", figure.metric},
          {"op", figure.op},
          {"kernel", figure.kernel},
          {"a", figure.a},
          {"b", figure.b}};
}

ordered_json time_json(const TimeComparison& time) {
  ordered_json row = {{"metric", time.metric},
                      {"op", time.op},
                      {"a", value_json(time.a)},
                      {"b", value_json(time.b)},
                      {"ratio", optional_json(time.ratio)},
                      {"change", time.ratio ? ordered_json(*time.ratio - 1) : ordered_json(nullptr)},
                      {"speed_up", optional_json(time.speed_up.factor)},
                      {"interval", interval_json(time.speed_up.ratio_interval())},
                      {"p", optional_json(time.speed_up.p)},
                      {"no_change_above", optional_json(time.speed_up.no_change_above)},
                      {"verdict", to_string(time.speed_up.verdict)},
                      {"incomparable", time.is_incomparable},
                      {"reason", say(time.speed_up.reason, of_runs)}};
  if (!time.kernel.empty()) row["kernel"] = time.kernel;
  if (!time.has_like_formats)
    row["precisions"] = {{"a", time.format_a.empty() ? "fp32" : time.format_a},
                         {"b", time.format_b.empty() ? "fp32" : time.format_b}};
  return row;
}

ordered_json quality_json(const QualityComparison& quality) {
  return {{"metric", quality.info.metric},
          {"a", value_json(quality.a)},
          {"b", value_json(quality.b)},
          {"change", optional_json(quality.change)},
          {"lost", quality.lost()}};
}

ordered_json figures_json(const std::vector<FigureChange>& figures) {
  ordered_json list = ordered_json::array();
  for (const FigureChange& figure : figures)
    list.push_back(
        {{"metric", figure.metric}, {"a", optional_json(figure.before)}, {"b", optional_json(figure.after)}});
  return list;
}

ordered_json reasons_json(const Words& words, const std::vector<Reason>& reasons) {
  ordered_json list = ordered_json::array();
  for (const Reason& reason : reasons)
    list.push_back(
        {{"rule", reason.rule->id}, {"strength", reason.strength}, {"text", sentence_of(reason, words)}});
  return list;
}

ordered_json missing_json(const std::vector<MissingEvidence>& missing) {
  ordered_json list = ordered_json::array();
  for (const MissingEvidence& kind : missing) list.push_back(missing_text(kind));
  return list;
}

ordered_json op_json(const Words& words, const OpChange& op) {
  ordered_json explanations = ordered_json::array(), kernels = ordered_json::array();
  for (const Explanation& explanation : op.explanations)
    explanations.push_back({{"time", explanation.time},
                            {"reasons", reasons_json(words, explanation.reasons)},
                            {"against", reasons_json(words, explanation.against)},
                            {"context", reasons_json(words, explanation.context)},
                            {"missing", missing_json(explanation.missing)}});
  for (const KernelChange& kernel : op.kernels)
    kernels.push_back({{"fate", to_string(kernel.fate)},
                       {"a", kernel.before},
                       {"b", kernel.after},
                       {"figures", figures_json(kernel.figures)}});
  return {{"op", op.op},
          {"explanations", explanations},
          {"figures", figures_json(op.figures)},
          {"kernels", kernels}};
}

ordered_json named_or_null(const std::string& name) {
  return name.empty() ? ordered_json(nullptr) : ordered_json(name);
}

ordered_json verification_json(const VerificationComparison& changed) {
  const auto side = [](const Verification& verification) {
    return ordered_json{{"passed", verification.passed},
                        {"relative_l2", verification.relative_l2},
                        {"tolerance", verification.tolerance},
                        {"precision", named_or_null(verification.precision)},
                        {"declared_precision", named_or_null(verification.declared_precision)}};
  };
  return {
      {"op", changed.op}, {"a", side(changed.a)}, {"b", side(changed.b)}, {"tolerance", changed.b.tolerance}};
}

ordered_json mean_json(const MeanRatio& mean) {
  return {{"ratio", mean.count > 0 ? ordered_json(mean.ratio) : ordered_json(nullptr)},
          {"count", mean.count},
          {"left_out", mean.left_out}};
}

template <class Row, class ToJson>
ordered_json rows_json(const std::vector<Row>& rows, const ToJson& to_json) {
  ordered_json list = ordered_json::array();
  for (const Row& row : rows) list.push_back(to_json(row));
  return list;
}

ordered_json case_json(const Words& words, const CaseComparison& c) {
  ordered_json row = {{"id", c.id},
                      {"id_b", c.id_b},
                      {"variant", c.key.variant},
                      {"parameters", c.key.parameters},
                      {"problem", problem_json(c.key.problem)},
                      {"status_a", to_string(c.status_a)},
                      {"status_b", to_string(c.status_b)},
                      {"reason_a", c.reason_a},
                      {"reason_b", c.reason_b},
                      {"importance", to_string(c.importance)},
                      {"times", rows_json(c.times, time_json)},
                      {"qualities", rows_json(c.qualities, quality_json)},
                      {"verifications", rows_json(c.verifications, verification_json)},
                      {"ops", rows_json(c.ops, [&](const OpChange& op) { return op_json(words, op); })},
                      {"regressions", rows_json(c.regressions, [&](const Regression& regression) {
                         return regression_text(words, c, regression);
                       })}};
  if (c.program) row["program"] = program_change_json(*c.program);
  if (!c.figures.empty()) row["figures"] = rows_json(c.figures, figure_json);
  return row;
}

ordered_json summary_json(const RunSummary& run) {
  return {{"name", run.name},         {"started", run.started}, {"version", run.version},
          {"revision", run.revision}, {"machine", run.machine}, {"state", to_string(run.state)}};
}

}  // namespace

ordered_json comparison_json(const Comparison& comparison) {
  return {
      {"schema", "mprof.compare/1"},
      {"a", summary_json(comparison.a)},
      {"b", summary_json(comparison.b)},
      {"thresholds", {{"device", comparison.thresholds.device}, {"host", comparison.thresholds.host}}},
      {"regression", comparison.regression()},
      {"failed", comparison.failed()},
      {"geometric_mean",
       {{"ops", mean_json(comparison.mean_of_ops())}, {"totals", mean_json(comparison.mean_of_totals())}}},
      {"cases", rows_json(comparison.cases,
                          [&](const CaseComparison& c) { return case_json(words_of(comparison, c), c); })},
      {"only_in_a", comparison.only_in_a},
      {"only_in_b", comparison.only_in_b},
      {"unlike", texts_of(comparison.unlike)},
      {"notes", comparison.notes}};
}

}  // namespace mprof
