// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/analysis/standing/standings.hpp"
#include "report/text/format.hpp"
#include "report/views/advice_view.hpp"
#include "report/views/cells.hpp"
#include "report/views/sample_charts.hpp"
#include "report/views/table.hpp"
#include "report/views/variant_parts.hpp"

/// What the report says of one variant: its idea, its times, what its author expected, what went wrong.
namespace mprof {
namespace {

using nlohmann::json;

constexpr int below_a_variant = 4;

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

Cell ending_cell(const CaseResult& result) {
  return result.sampling ? Cell::words(ending_text(*result.sampling), Tone::quiet) : Cell::not_recorded();
}

bool is_for_gpu(const VariantResult& variant) {
  return variant.info.device == "cuda";
}

/// One trace gives one value: that it has no interval goes without saying.
Cell gpu_time_cell(const CaseResult& result, const OpInfo& op) {
  const OpResult* found = result.find_op(op.name);
  return found == nullptr ? Cell::missing("the case has no such op")
                          : judged(traced_time_cell(*found), result);
}

/// By how much longer the ops took while they were traced.
Cell trace_overhead_cell(const CaseResult& result) {
  const Value& overhead = result.trace_overhead;
  if (result.trace_overhead_is_noise) return Cell::figure("within noise").valued(overhead->median);
  return overhead ? Cell::figure(format::signed_percent(overhead->median - 1)).valued(overhead->median)
                  : Cell::missing(overhead.absent);
}

std::vector<Cell> problem_row(const FamilyResult& family, const VariantResult& variant,
                              const CaseResult& result) {
  std::vector<Cell> cells;
  if (variant.swept()) cells.push_back(Cell::words(parameters_text(result)));
  add_problem(cells, family.words, result.key.problem);
  if (!result.ran()) {
    if (cells.empty()) cells.push_back(Cell::dash());
    cells.back().note = why_without_times(result);
    return cells;
  }
  const auto add_times = [&](Value OpResult::*time) {
    for (const OpInfo& op : family.ops) cells.push_back(op_time_cell(family, result, op, time));
  };
  add_times(&OpResult::op_time);
  cells.push_back(judged(Cell::value(result.total_time), result));
  add_qualities(cells, result);
  if (family.words.has_group()) add_times(&OpResult::group_time);
  if (is_for_gpu(variant)) {
    for (const OpInfo& op : family.ops) cells.push_back(gpu_time_cell(result, op));
    cells.push_back(trace_overhead_cell(result));
  }
  cells.push_back(samples_cell(result));
  cells.push_back(ending_cell(result));
  return cells;
}

Table problem_table(const FamilyResult& family, const VariantResult& variant, Anchors& anchors) {
  const std::size_t ops = family.ops.size();
  Table table(anchors.make(variant.info.id + " times"), "Times by " + family.words.axis_titles());
  if (variant.swept()) table.text("Parameters");
  add_problem_columns(table, family.words);
  add_time_columns(table, family, "op_time");
  table.numbers(family.words.time_title("total_time"), Unit::second);
  add_quality_columns(table, family);
  if (family.words.has_group()) add_time_columns(table, family, "group_time");
  if (is_for_gpu(variant)) {
    for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("GPU Time", i, ops), Unit::second);
    table.numbers("Tracing costs");
  }
  table.numbers("Samples").text("Ended by");
  for (const CaseResult& result : variant.cases) table.row(problem_row(family, variant, result));
  return table;
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

std::string joined_references(const VariantInfo& info) {
  std::vector<std::string> texts;
  for (const std::string& reference : info.references) texts.push_back(format::one_line(reference));
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Why cases are not ok, each reason once with its problems.
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

/// What the user wrote about the variant: notes/<id>.md.
json note_view(const VariantInfo& info, const PageContext& page) {
  const auto note = page.materials->notes.find(info.id);
  return note == page.materials->notes.end() ? json(false) : note_text(note->second, page, below_a_variant);
}

/// What its ops take together at the largest problem, "1.985 ms"; all of it where an op's time says little.
std::string figure_text(const VariantResult& variant) {
  const CaseResult* largest = variant.largest_timed();
  if (largest == nullptr) return {};
  if (const auto ops = ops_time(*largest)) return "ops " + format::quantity(*ops, Unit::second);
  return largest->total_time ? "total " + format::quantity(largest->total_time->median, Unit::second) : "";
}

}  // namespace

/// Whether there is anything below the heading that asks for what limits a variant.
bool tells_limits(const json& outcome, const json& explanations, const json& advice) {
  if (outcome.is_boolean()) return true;
  const auto is_of_an_op = [](const json& item) { return !item["is_whole"].get<bool>(); };
  return outcome["verdict"] != "" || (explanations["shown"].get<bool>() && !explanations["lines"].empty()) ||
         outcome["limits"] != "" || !outcome["budget"].empty() || !outcome["expected"].empty() ||
         (!advice.is_boolean() && std::ranges::any_of(advice["items"], is_of_an_op));
}

json variant_view(const FamilyResult& family, const VariantResult& variant, const PageContext& page) {
  const VariantInfo& info = variant.info;
  const bool timed = !info.is_imported();
  json story = story_view(family, variant, page), synergy = synergy_view(family, variant, page);
  json outcome = outcome_view(family, variant, page.plan->anchors),
       explanations = explanation_view(family, variant, page.plan->anchors),
       advice = advice_view(family, variant, page);
  const bool tells_combinations = !story["combines"].is_boolean() && story["combines"]["html"] != "";
  json parameters = parameter_views(info), references = reference_views(info),
       troubles = trouble_views(variant);
  return {{"anchor", page.variants.at(info.id)},
          {"id", format::one_line(info.id)},
          {"short_id", format::short_id(info.id)},
          {"name", format::short_id(info.id.substr(std::min(info.id.find('/') + 1, info.id.size())))},
          {"title", format::one_line(info.title)},
          {"idea", format::one_line(info.idea)},
          {"baseline", format::one_line(info.baseline)},
          {"source_file", format::one_line(info.source_file)},
          {"device", format::one_line(info.device)},
          {"figure", figure_text(variant)},
          {"note", note_view(info, page)},
          {"has_parameters", !parameters.empty()},
          {"parameters", std::move(parameters)},
          {"has_references", !references.empty()},
          {"references", std::move(references)},
          {"reference_line", joined_references(info)},
          {"has_troubles", !troubles.empty()},
          {"troubles", std::move(troubles)},
          {"story", std::move(story)},
          {"untimed", timed ? "" : "Nothing was timed without a profiler."},
          {"table", timed ? problem_table(family, variant, page.plan->anchors).view() : json(false)},
          {"noise", timed ? noise_table(family, variant, page.plan->anchors).view() : json(false)},
          {"page", timed ? page_table(family, variant, page.plan->anchors).view() : json(false)},
          {"scaling", scaling_text(family, variant)},
          {"samples", samples_view(family, variant, *page.plan)},
          {"untold", tells_limits(outcome, explanations, advice) ? "" : "Nothing that was recorded tells."},
          {"outcome", std::move(outcome)},
          {"top_kernels", top_kernels_view(family, variant, page.plan->anchors)},
          {"as_program", as_program_view(family, variant, page)},
          {"hot_lines", hot_lines_view(family, variant, page)},
          {"explanations", std::move(explanations)},
          {"advice", std::move(advice)},
          {"has_combinations", tells_combinations || synergy["says"]},
          {"has_combinations_in_short", tells_combinations || synergy["says_in_short"]},
          {"synergy", std::move(synergy)}};
}

}  // namespace mprof
