#include <fmt/format.h>

#include "report/analysis/facts.hpp"
#include "report/text/format.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

namespace mprof {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return Tone::good;
    case Verdict::slower:
      return Tone::bad;
    case Verdict::same:
    case Verdict::inconclusive:
      break;
  }
  return Tone::quiet;
}

std::string time_name(const Comparison& comparison, const CaseComparison& c, const TimeComparison& time) {
  if (time.op.empty()) return "total";
  const std::string op = format::one_line(time.op);
  return time.metric == "op_time" ? op
                                  : fmt::format("{} ({})", op, words_of(comparison, c).time(time.metric));
}

Cell verdict_cell(const TimeComparison& time) {
  return Cell::words(to_string(time.speed_up.verdict), tone_of(time.speed_up.verdict))
      .noted(time.speed_up.reason);
}

Table times_table(const Comparison& comparison) {
  Table table("times", "Median times, A to B");
  table.text("Case").text("Time").numbers("A", Unit::second).numbers("B", Unit::second).numbers("Change");
  table.numbers("Speed-up").text("Verdict");
  for (const CaseComparison& c : comparison.cases) {
    for (const TimeComparison& time : c.times) {
      const Cell change = time.ratio ? Cell::figure(format::signed_percent(*time.ratio - 1))
                                           .with(tone_of(time.speed_up.verdict))
                                           .valued(*time.ratio)
                                     : Cell::missing(time.speed_up.reason);
      const Cell factor =
          time.speed_up ? Cell::figure(format::times(*time.speed_up.factor)).valued(*time.speed_up.factor)
                        : Cell::missing(time.speed_up.absent);
      table.row({Cell::words(format::short_id(c.id)), Cell::words(time_name(comparison, c, time)),
                 Cell::value(time.a), Cell::value(time.b), change, factor, verdict_cell(time)});
    }
  }
  return table;
}

Cell status_cell(Status status, const std::string& reason) {
  Cell cell = Cell::words(to_string(status), status == Status::ok ? Tone::plain : Tone::bad);
  if (status != Status::ok) cell.note = format::one_line(reason);
  return cell;
}

/// Cases without times, for they were not ok on both sides.
Table status_table(const Comparison& comparison) {
  Table table("status", "Cases that were not ok in both runs");
  table.text("Case").text("A").text("B");
  for (const CaseComparison& c : comparison.cases) {
    if (c.status_a == Status::ok && c.status_b == Status::ok) continue;
    table.row({Cell::words(format::short_id(c.id)), status_cell(c.status_a, c.reason_a),
               status_cell(c.status_b, c.reason_b)});
  }
  return table;
}

/// The qualities that changed somewhere, by label, each with its cases; in the order of appearance.
std::vector<std::pair<std::string, Table>> quality_tables(const Comparison& comparison) {
  std::vector<std::pair<std::string, Table>> tables;
  for (const CaseComparison& c : comparison.cases) {
    for (const QualityComparison& quality : c.qualities) {
      if (!quality.change || *quality.change == 0) continue;
      const std::string label = format::one_line(quality.info.label);
      auto known = std::ranges::find(tables, label, &std::pair<std::string, Table>::first);
      if (known == tables.end()) {
        tables.emplace_back(label, Table(format::slug(label), label + " that changed"));
        known = tables.end() - 1;
        known->second.text("Case").numbers("A").numbers("B").numbers("Change");
      }
      const Unit unit = quality.info.unit;
      known->second.row({Cell::words(format::short_id(c.id)), Cell::quality(quality.a, unit),
                         Cell::quality(quality.b, unit),
                         Cell::figure(format::signed_quality(*quality.change, unit))
                             .with(quality.lost() ? Tone::bad : Tone::plain)
                             .valued(*quality.change)});
    }
  }
  return tables;
}

json strings(const std::vector<std::string>& texts) {
  json list = json::array();
  for (const std::string& text : texts) list.push_back(format::one_line(text));
  return list;
}

json summary_view(const RunSummary& run, std::string_view letter) {
  return {{"letter", letter},
          {"name", format::one_line(run.name)},
          {"started", moment(run.started)},
          {"tool", format::one_line(fmt::format("mprof {} ({})", run.version, run.revision))},
          {"machine", run.machine}};
}

std::string verdict_sentence(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::inconclusive}) {
    parts.push_back(fmt::format("{} {}", comparison.count(verdict), to_string(verdict)));
  }
  return fmt::format("Of the times in {}, B against A: {}.",
                     format::plural(comparison.cases.size(), "common case"), format::list(parts));
}

std::string headline(const Comparison& comparison) {
  std::size_t worse = 0;
  for (const CaseComparison& c : comparison.cases) worse += c.regressions.empty() ? 0 : 1;
  if (worse == 0) return "No regression.";
  return fmt::format("Regression in {} of {}.", worse,
                     format::plural(comparison.cases.size(), "common case"));
}

json regressions_view(const Comparison& comparison) {
  json list = json::array();
  for (const CaseComparison& c : comparison.cases) {
    if (c.regressions.empty()) continue;
    list.push_back({{"id", format::short_id(c.id)}, {"what", format::list(c.regressions)}});
  }
  return list;
}

/// Tables in the order of the page, without the empty ones.
json tables_view(const Comparison& comparison) {
  json tables = json::array();
  for (const Table& table : {times_table(comparison), status_table(comparison)}) {
    if (!table.empty()) tables.push_back(table.view());
  }
  for (const auto& [label, table] : quality_tables(comparison)) tables.push_back(table.view());
  return tables;
}

ordered_json value_json(const Value& value) {
  if (!value) return {{"median", nullptr}, {"absent", value.absent}};
  ordered_json result{{"median", value->median}, {"samples", value->samples}};
  if (value->interval) result["interval"] = {value->interval->low, value->interval->high};
  return result;
}

ordered_json optional_json(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json time_json(const TimeComparison& time) {
  return {{"metric", time.metric},
          {"op", time.op},
          {"a", value_json(time.a)},
          {"b", value_json(time.b)},
          {"ratio", optional_json(time.ratio)},
          {"change", time.ratio ? ordered_json(*time.ratio - 1) : ordered_json(nullptr)},
          {"speed_up", optional_json(time.speed_up.factor)},
          {"verdict", to_string(time.speed_up.verdict)},
          {"reason", time.speed_up.reason}};
}

ordered_json quality_json(const QualityComparison& quality) {
  return {{"metric", quality.info.metric},
          {"a", value_json(quality.a)},
          {"b", value_json(quality.b)},
          {"change", optional_json(quality.change)},
          {"lost", quality.lost()}};
}

ordered_json problem_json(const Problem& problem) {
  ordered_json object = ordered_json::object();
  for (const Coordinate& coordinate : problem.coordinates) object[coordinate.axis] = coordinate.value;
  return object;
}

ordered_json case_json(const CaseComparison& c) {
  ordered_json qualities = ordered_json::array();
  for (const QualityComparison& quality : c.qualities) qualities.push_back(quality_json(quality));
  ordered_json times = ordered_json::array();
  for (const TimeComparison& time : c.times) times.push_back(time_json(time));
  return {{"id", c.id},
          {"variant", c.key.variant},
          {"parameters", c.key.parameters},
          {"problem", problem_json(c.key.problem)},
          {"status_a", to_string(c.status_a)},
          {"status_b", to_string(c.status_b)},
          {"reason_a", c.reason_a},
          {"reason_b", c.reason_b},
          {"times", times},
          {"qualities", qualities},
          {"regressions", c.regressions}};
}

ordered_json summary_json(const RunSummary& run) {
  return {{"name", run.name},         {"started", run.started}, {"version", run.version},
          {"revision", run.revision}, {"machine", run.machine}, {"state", to_string(run.state)}};
}

}  // namespace

json comparison_view(const Comparison& comparison) {
  return {
      {"title", fmt::format("{} against {}", format::one_line(comparison.b.name),
                            format::one_line(comparison.a.name))},
      {"headline", headline(comparison)},
      {"regression", comparison.regression()},
      {"verdicts", verdict_sentence(comparison)},
      {"rule",
       fmt::format("Faster, slower: the 95 % intervals of the medians do not overlap and the change exceeds "
                   "{0}. Same: both intervals lie within {0} of A's median. Inconclusive: neither.",
                   format::percent(comparison.threshold))},
      {"runs", {summary_view(comparison.a, "A"), summary_view(comparison.b, "B")}},
      {"regressions", regressions_view(comparison)},
      {"has_regressions", comparison.regression()},
      {"tables", tables_view(comparison)},
      {"only_in_a", strings(comparison.only_in_a)},
      {"only_in_b", strings(comparison.only_in_b)},
      {"has_only_in_a", !comparison.only_in_a.empty()},
      {"has_only_in_b", !comparison.only_in_b.empty()},
      {"notes", strings(comparison.notes)},
      {"has_notes", !comparison.notes.empty()}};
}

ordered_json comparison_json(const Comparison& comparison) {
  ordered_json cases = ordered_json::array();
  for (const CaseComparison& c : comparison.cases) cases.push_back(case_json(c));
  return {{"a", summary_json(comparison.a)},
          {"b", summary_json(comparison.b)},
          {"threshold", comparison.threshold},
          {"regression", comparison.regression()},
          {"cases", cases},
          {"only_in_a", comparison.only_in_a},
          {"only_in_b", comparison.only_in_b},
          {"notes", comparison.notes}};
}

}  // namespace mprof
