#include <algorithm>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/cells.hpp"
#include "report/format.hpp"
#include "report/table.hpp"
#include "report/views.hpp"

/// What the report says of one variant: its idea, its times, what its author expected, what went wrong.
namespace mprof {
namespace {

using nlohmann::json;

std::string ending_text(const Sampling& sampling) {
  switch (sampling.ended_by) {
    case Ending::confidence:
      return "interval";
    case Ending::samples:
      return "sample limit";
    case Ending::seconds:
      return "time limit";
  }
  return {};
}

Cell samples_cell(const CaseResult& result) {
  return result.sampling ? Cell::figure(format::count(result.sampling->samples))
                         : Cell::missing("not recorded");
}

Cell ending_cell(const CaseResult& result) {
  return result.sampling ? Cell::words(ending_text(*result.sampling), Tone::quiet)
                         : Cell::missing("not recorded");
}

/// Points of a sweep are told apart by their parameters, which the id leaves out where they are at their
/// default.
std::string parameters_text(const CaseResult& result) {
  std::vector<std::string> words;
  for (const auto& [name, value] : result.key.parameters) words.push_back(name + "=" + value);
  return format::one_line(format::list(words));
}

bool is_for_gpu(const VariantResult& variant) {
  return variant.info.device == "cuda";
}

/// One trace gives one value: that it has no interval goes without saying.
Cell gpu_time_cell(const CaseResult& result, const OpInfo& op) {
  const OpResult* found = result.find_op(op.name);
  return found == nullptr ? Cell::missing("the case has no such op")
                          : judged(Cell::bare(found->gpu_time), result);
}

/// By how much longer the layers took while they were traced.
Cell trace_overhead_cell(const CaseResult& result) {
  const Value& overhead = result.trace_overhead;
  return overhead ? Cell::figure(format::signed_percent(overhead->median - 1))
                  : Cell::missing(overhead.absent);
}

std::vector<Cell> batch_row(const FamilyResult& family, const VariantResult& variant,
                            const CaseResult& result) {
  std::vector<Cell> cells;
  if (variant.swept()) cells.push_back(Cell::words(parameters_text(result)));
  cells.push_back(Cell::figure(std::to_string(result.key.batch)));
  if (!result.ran()) {
    cells.back().note = why_without_times(result);
    return cells;
  }
  for (const OpInfo& op : family.ops) cells.push_back(op_time_cell(result, op, &OpResult::op_time));
  cells.push_back(judged(Cell::value(result.total_time), result));
  cells.push_back(judged(Cell::accuracy(result.accuracy), result));
  for (const OpInfo& op : family.ops) cells.push_back(op_time_cell(result, op, &OpResult::layer_time));
  if (is_for_gpu(variant)) {
    for (const OpInfo& op : family.ops) cells.push_back(gpu_time_cell(result, op));
    cells.push_back(trace_overhead_cell(result));
  }
  cells.push_back(samples_cell(result));
  cells.push_back(ending_cell(result));
  return cells;
}

Table batch_table(const FamilyResult& family, const VariantResult& variant, Anchors& anchors) {
  const std::size_t ops = family.ops.size();
  Table table(anchors.make(variant.info.id + " times"), "Times by batch size");
  if (variant.swept()) table.text("Parameters");
  table.numbers("Batch Size");
  for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("Op Time", i, ops), Unit::second);
  table.numbers("Total Execution Time", Unit::second).numbers("Accuracy");
  for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("Layer Time", i, ops), Unit::second);
  if (is_for_gpu(variant)) {
    for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("GPU Time", i, ops), Unit::second);
    table.numbers("Tracing costs");
  }
  table.numbers("Samples").text("Ended by");
  for (const CaseResult& result : variant.cases) table.row(batch_row(family, variant, result));
  return table;
}

std::string_view word(Direction direction) {
  switch (direction) {
    case Direction::decreases:
      return "lower";
    case Direction::increases:
      return "higher";
    case Direction::unchanged:
      break;
  }
  return "unchanged";
}

std::string expected_text(const Expectation& expectation) {
  const std::string of = expectation.op.empty() ? "" : " of " + expectation.op;
  const std::string by =
      expectation.factor ? fmt::format(", by {} or more", format::plain_times(*expectation.factor)) : "";
  return fmt::format("{}{}: {}{}", label_of(expectation.metric), of, word(expectation.direction), by);
}

std::string_view word(Outcome outcome) {
  switch (outcome) {
    case Outcome::met:
      return "met";
    case Outcome::not_met:
      return "not met";
    case Outcome::not_measurable:
      break;
  }
  return "not measurable";
}

Tone tone_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::met:
      return Tone::good;
    case Outcome::not_met:
      return Tone::bad;
    case Outcome::not_measurable:
      break;
  }
  return Tone::quiet;
}

/// The largest batch at which it could be measured speaks for an expectation; the last one when there is
/// none.
const ExpectationCheck& deciding_check(const ExpectationResult& result) {
  const auto measurable =
      std::find_if(result.checks.rbegin(), result.checks.rend(),
                   [](const ExpectationCheck& check) { return check.outcome != Outcome::not_measurable; });
  return measurable == result.checks.rend() ? result.checks.back() : *measurable;
}

std::string elsewhere(const ExpectationResult& result, const ExpectationCheck& decided) {
  std::vector<std::string> parts;
  for (const Outcome outcome : {Outcome::met, Outcome::not_met, Outcome::not_measurable}) {
    std::vector<std::string> batches;
    for (const ExpectationCheck& check : result.checks) {
      if (check.outcome == outcome && check.batch != decided.batch)
        batches.push_back(std::to_string(check.batch));
    }
    if (!batches.empty()) parts.push_back(fmt::format("{} at {}", word(outcome), format::list(batches)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

Cell quantity_cell(const Value& value, std::string_view metric, const std::string& evidence,
                   const std::string& reason) {
  if (!value) return Cell::missing(value.absent.empty() ? reason : value.absent);
  if (is_share_of_answers(metric)) return Cell::figure(format::accuracy(value->median)).noted(evidence);
  const Metric* row = find_metric(metric);
  Cell cell = Cell::figure(row == nullptr ? format::significant(value->median)
                                          : format::quantity(value->median, row->unit));
  cell.modelled = value->source == Source::modelled;
  cell.note = evidence;
  return cell;
}

Cell change_cell(const ExpectationCheck& check, std::string_view metric) {
  if (!check.before || !check.after) return Cell::missing(check.reason);
  const Metric* row = find_metric(metric);
  if (row != nullptr && row->unit == Unit::percent)
    return Cell::figure(format::signed_points(check.after->median - check.before->median));
  if (check.before->median == 0) return Cell::missing("nothing is a percentage of 0");
  return Cell::figure(format::signed_percent(check.after->median / check.before->median - 1));
}

Table expectation_table(const VariantResult& variant, Anchors& anchors) {
  Table table(anchors.make(variant.info.id + " expectations"),
              "What its author expected, against its baseline");
  table.text("Expected")
      .text("Because")
      .text("Outcome")
      .numbers("Batch Size")
      .numbers("Baseline")
      .numbers("This variant");
  table.numbers("Change").text("At other batches");
  for (const ExpectationResult& result : variant.expectations) {
    if (result.checks.empty()) continue;
    const ExpectationCheck& check = deciding_check(result);
    const std::string& metric = result.expectation.metric;
    Cell outcome = Cell::words(word(check.outcome), tone_of(check.outcome));
    outcome.note = format::one_line(check.reason);
    table.row({Cell::words(expected_text(result.expectation)),
               Cell::words(result.expectation.because, Tone::quiet), outcome,
               Cell::figure(std::to_string(check.batch)),
               quantity_cell(check.before, metric, check.before_evidence, check.reason),
               quantity_cell(check.after, metric, check.after_evidence, check.reason),
               change_cell(check, metric), Cell::words(elsewhere(result, check), Tone::quiet)});
  }
  return table;
}

/// What held the longest kernel of each op back, and what does now.
json bottleneck_views(const FamilyResult& family, const VariantResult& variant) {
  json list = json::array();
  for (const KernelResult& kernel : family.speed_of_light.kernels) {
    if (kernel.variant != &variant || !kernel.longest || !kernel.bottleneck) continue;
    list.push_back({{"op", format::one_line(kernel.counters.op)},
                    {"kernel", format::short_id(kernel.counters.kernel)},
                    {"text", bottleneck_change(kernel)}});
  }
  return list;
}

json parameter_views(const VariantInfo& info) {
  json list = json::array();
  for (const ParameterInfo& parameter : info.parameters) {
    list.push_back({{"name", format::one_line(parameter.name)},
                    {"meaning", format::one_line(parameter.meaning)},
                    {"default", format::one_line(parameter.default_value)},
                    {"values", format::one_line(fmt::format("{}", fmt::join(parameter.values, ", ")))}});
  }
  return list;
}

json reference_views(const VariantInfo& info) {
  json list = json::array();
  for (const std::string& reference : info.references) {
    const std::string text = format::one_line(reference);
    // Only a plain web address becomes a link; anything else is text.
    const bool address =
        (text.starts_with("https://") || text.starts_with("http://")) && text.find(' ') == std::string::npos;
    list.push_back({{"text", text}, {"address", address ? text : ""}});
  }
  return list;
}

/// Why cases are not ok, each reason once with its batches.
json trouble_views(const VariantResult& variant) {
  json list = json::array();
  for (const CaseResult& result : variant.cases) {
    if (result.ok()) continue;
    const std::string reason = format::one_line(result.reason);
    list.push_back({{"id", format::short_id(result.id)},
                    {"status", to_string(result.status)},
                    {"reason", reason.empty() ? "no reason was recorded" : reason}});
  }
  return list;
}

}  // namespace

json variant_view(const FamilyResult& family, const VariantResult& variant, const std::string& anchor,
                  Anchors& anchors) {
  const VariantInfo& info = variant.info;
  const Table expectations = expectation_table(variant, anchors);
  const json parameters = parameter_views(info), references = reference_views(info),
             troubles = trouble_views(variant), bottlenecks = bottleneck_views(family, variant);
  return {{"anchor", anchor},
          {"id", format::one_line(info.id)},
          {"short_id", format::short_id(info.id)},
          {"title", format::one_line(info.title)},
          {"idea", format::one_line(info.idea)},
          {"baseline", format::one_line(info.baseline)},
          {"source_file", format::one_line(info.source_file)},
          {"device", format::one_line(info.device)},
          {"parameters", parameters},
          {"has_parameters", !parameters.empty()},
          {"references", references},
          {"has_references", !references.empty()},
          {"troubles", troubles},
          {"has_troubles", !troubles.empty()},
          {"table", batch_table(family, variant, anchors).view()},
          {"bottlenecks", bottlenecks},
          {"has_bottlenecks", !bottlenecks.empty()},
          {"counted_batch", std::to_string(family.speed_of_light.batch)},
          {"expectations", expectations.empty() ? json(false) : expectations.view()}};
}

}  // namespace mprof
