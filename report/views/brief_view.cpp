// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/analysis/standing/brief.hpp"
#include "report/text/format.hpp"
#include "report/views/brief_head.hpp"
#include "report/views/cells.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/variant_parts.hpp"
#include "report/wording/reasons.hpp"
#include "report/wording/why.hpp"

/// The brief of a family: one table, one chart, a line for each of the variants or of the fastest.
namespace mprof {
namespace {

using nlohmann::json;

/// Of a page about one family, the family's name goes without saying.
std::string short_name(const CaseResult& result) {
  const std::string& id = result.configuration;
  return format::short_id(id.substr(std::min(id.find('/') + 1, id.size())));
}

/// Why its op times say little.
std::string little_said(const CaseResult& result) {
  const auto op =
      std::ranges::find_if(result.ops, [](const OpResult& one) { return one.flaw != OpTimeFlaw::none; });
  return op == result.ops.end() ? "" : "it " + say(why_of(op->flaw));
}

Cell ops_cell(const BriefRow& row) {
  if (!row.ops_time) {
    const std::string why = little_said(*row.result);
    return Cell::missing(why.empty() ? "not all of its ops have a time" : why);
  }
  return Cell::bare(derived_value(*row.ops_time));
}

/// What the columns of times hold: "rows, columns: op times, without allocation and copies. + copies: with
/// them. Total: the whole pipeline. " What an op of a program is, it says itself.
std::string meaning_of_times(const FamilyResult& family) {
  if (family.all_are(&VariantInfo::is_program)) return "";
  std::vector<std::string> names;
  for (const OpInfo& op : family.ops) names.push_back(format::short_id(op.name));
  return fmt::format("{}: without allocation and copies. {}Total: the whole {}. ", fmt::join(names, ", "),
                     family.words.has_group() ? "+ copies: with both. " : "", family.words.whole());
}

bool differ_in_precision(const Brief& brief) {
  return std::ranges::any_of(brief.rows, [&](const BriefRow& row) {
    return precision_label(row.precision) != precision_label(brief.rows.front().precision);
  });
}

Table standing_table(const FamilyResult& family, const Brief& brief, const PageContext& page) {
  const bool has_precisions = differ_in_precision(brief);
  Table table(
      page.anchor(family.id + " brief"),
      fmt::format(
          "All variants {}, fastest {}first. {}{}Verdict: compared with the baseline that it names.{}",
          family.words.at(*brief.problem), brief.compares_wholes ? "" : "ops ",
          brief.compares_wholes ? "" : meaning_of_times(family),
          brief.common == nullptr
              ? ""
              : fmt::format("Over baseline: {}. ", format::one_line(brief.common->info.id)),
          has_precisions ? " Precision: the number format, or the tolerance of the outputs." : ""));
  const auto add_columns = [&](std::string_view with) {
    for (const OpInfo& op : family.ops)
      table.numbers(format::short_id(op.name) + std::string(with), Unit::second);
  };
  table.variants();
  const bool has_ops = !brief.compares_wholes;
  if (has_ops) add_columns("");
  if (has_ops && family.ops.size() > 1) table.numbers("Sum", Unit::second);
  if (brief.common != nullptr) table.numbers("Over baseline");
  if (has_ops && family.words.has_group()) add_columns(" + copies");
  table.numbers("Total", Unit::second);
  if (!family.info.qualities.empty()) table.numbers(format::one_line(family.info.qualities.front().label));
  if (has_precisions) table.text("Precision");
  table.text("Verdict");
  for (const BriefRow& row : brief.rows) {
    const CaseResult& result = *row.result;
    const auto anchor = page.variants.find(row.variant->info.id);
    std::vector<Cell> cells{anchor == page.variants.end()
                                ? Cell::words(short_name(result))
                                : Cell::words_to(short_name(result), anchor->second)};
    const auto add_ops = [&](Value OpResult::*time, bool needs_forward) {
      for (const OpInfo& info : family.ops) {
        const OpResult* op = result.find_op(info.name);
        const bool says_little = op != nullptr && needs_forward && op->flaw != OpTimeFlaw::none;
        cells.push_back(op == nullptr ? Cell::missing("it has no such op")
                        : says_little ? Cell::missing(little_said(result))
                                      : Cell::bare(op->*time));
      }
    };
    if (has_ops) add_ops(&OpResult::op_time, true);
    if (has_ops && family.ops.size() > 1) cells.push_back(ops_cell(row));
    if (brief.common != nullptr)
      cells.push_back(row.over       ? Cell::figure(format::times(*row.over)).valued(*row.over)
                      : row.ops_time ? Cell::missing("that op time of the baseline says little")
                                     : ops_cell(row));
    if (has_ops && family.words.has_group()) add_ops(&OpResult::group_time, false);
    cells.push_back(Cell::bare(result.total_time));
    if (!result.qualities.empty())
      cells.push_back(Cell::quality(result.qualities.front().value, result.qualities.front().info->unit));
    if (has_precisions) {
      const std::string label = precision_label(row.precision);
      cells.push_back(label.empty() ? Cell::missing("nobody says, and it was not verified")
                                    : Cell::words(label));
    }
    cells.push_back(Cell::words(short_verdict(family, result)));
    table.row(std::move(cells));
  }
  return table;
}

/// All variants of its device over the common baseline, on one ladder; those of libraries are marks of their
/// own.
json ladder_chart(const FamilyResult& family, const Brief& brief, Anchors& anchors) {
  json labels = json::array(), own = json::array(), libraries = json::array();
  std::size_t all = 0;
  for (const BriefRow& row : brief.rows) {
    const bool same_device = row.variant->info.device == brief.common->info.device;
    if (!row.over || !same_device || ++all > most_chart_rows) continue;
    (row.variant->info.library.empty() ? own : libraries)
        .push_back({{"row", labels.size()},
                    {"value", *row.over},
                    {"low", *row.over},
                    {"high", *row.over},
                    {"text", fmt::format("{}, {}", format::times(*row.over),
                                         format::quantity(*row.ops_time, Unit::second))}});
    labels.push_back(row_label(*row.variant));
  }
  const std::string common = format::short_id(brief.common->info.id);
  const std::string what = brief.compares_wholes   ? "The whole " + family.words.whole()
                           : family.ops.size() > 1 ? "Sum of the ops"
                                                   : "The op";
  const ChartText text{fmt::format("{} over {}, {}", what, common, family.words.at(*brief.problem)),
                       fmt::format("Further right is faster. Logarithmic axis.{}", how_many_are_drawn(all)),
                       "Times as fast (×)"};
  json chart = chart_view("dots", anchors.make(family.id + " ladder"), text);
  constexpr int row_height = 24;  // pixels: as much of it as can be is on the first screen
  chart["row_height"] = row_height;
  chart["axis"]["log"] = true;
  chart["axis"]["reference"] = 1;
  chart["alt"] = fmt::format("Chart: {}. The table holds the numbers.", text.title);
  chart["rows"] = labels;
  chart["series"] = {{{"name", libraries.empty() ? "all variants" : "own code"}, {"points", own}}};
  if (!libraries.empty()) chart["series"].push_back({{"name", "libraries"}, {"points", libraries}});
  return chart;
}

/// "1.87× in rows, 2.52× in columns over map/direct"; a baseline's how near it comes to what the measured
/// peaks allow.
std::string standing_text(const CaseResult& result, const std::string& baseline, const Words& words) {
  std::vector<std::string> figures;
  bool by_group = false;
  for (const OpResult& op : result.ops) {
    const std::string name = format::short_id(op.info.name);
    if (result.is_baseline && op.of_possible && !is_beyond_measured_peaks(op)) {
      figures.push_back(fmt::format("{} in {}", format::percent(op.of_possible->median / 100), name));
    } else if (!result.is_baseline && op.speed_up) {
      const bool open = op.speed_up.verdict == Verdict::inconclusive;
      figures.push_back(
          fmt::format("{} in {}{}", format::times(*op.speed_up.factor), name, open ? " (inconclusive)" : ""));
      by_group = by_group || op.compared_by == "group_time";
    }
  }
  const std::string text = fmt::format("{}", fmt::join(figures, ", "));
  if (!result.is_baseline && figures.empty() && result.total_speed_up)
    return fmt::format("{} {}over {}", format::times(*result.total_speed_up.factor),
                       result.total_speed_up.verdict == Verdict::inconclusive ? "(inconclusive) " : "",
                       format::short_id(baseline.substr(baseline.find('/') + 1)));
  if (!result.is_baseline && figures.empty()) {
    const std::string why = say(result.total_speed_up.reason);
    return why.empty() ? "not compared" : "not compared, since " + why;
  }
  if (!result.is_baseline)
    return fmt::format("{}{} over {}", text, by_group ? fmt::format(" ({})", words.time("group_time")) : "",
                       format::short_id(baseline.substr(baseline.find('/') + 1)));
  return figures.empty() ? "a baseline"
                         : fmt::format("a baseline; reaches {} of the speed that measured peaks allow", text);
}

/// "rows: Fewer instructions." Which op is said where there are several.
std::string causes_text(const FamilyResult& family, const BriefRow& row) {
  std::vector<std::string> parts;
  for (const FirstCause& cause : row.causes) {
    const std::string sentence = short_sentence_of(cause.reason, family.words);
    parts.push_back(family.ops.size() > 1 ? fmt::format("{}: {}", format::short_id(cause.op), sentence)
                                          : sentence);
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

/// Of many variants a line each is no brief: those with the fastest ops have one, and the fastest wholes.
constexpr std::size_t most_lines = 12, lines_of_wholes = 4;

/// The rows that have a line in text, where the page has one of each.
std::set<const BriefRow*> leading_rows(const Brief& brief) {
  std::vector<const BriefRow*> rows;
  for (const BriefRow& row : brief.rows) rows.push_back(&row);
  if (rows.size() <= most_lines) return {rows.begin(), rows.end()};
  std::set<const BriefRow*> leading(rows.begin(), rows.begin() + (most_lines - lines_of_wholes));
  const auto total = [](const BriefRow* row) {
    const Value& time = row->result->total_time;
    return time.estimate ? time.estimate->median : std::numeric_limits<double>::infinity();
  };
  std::ranges::stable_sort(rows, {}, total);
  leading.insert(rows.begin(), rows.begin() + lines_of_wholes);
  return leading;
}

/// Of all rows, and of those that have one in text.
std::pair<json, json> lines_of(const FamilyResult& family, const Brief& brief, const PageContext& page) {
  const std::set<const BriefRow*> leading = leading_rows(brief);
  json all = json::array(), lead = json::array();
  for (const BriefRow& row : brief.rows) {
    const auto anchor = page.variants.find(row.variant->info.id);
    all.push_back({{"id", short_name(*row.result)},
                   {"anchor", anchor == page.variants.end() ? "" : anchor->second},
                   {"text", standing_text(*row.result, row.variant->info.baseline, family.words)},
                   {"cause", causes_text(family, row)}});
    if (leading.contains(&row)) lead.push_back(all.back());
  }
  return {all, lead};
}

/// What stands for so many lines that the text leaves out; false where there are none.
json other_lines(std::size_t others) {
  if (others == 0) return false;
  return fmt::format("Why {} so fast, or so slow, is on {} in [milestone.md](milestone.md).",
                     others == 1 ? "another one is" : fmt::format("{} others are", others),
                     others == 1 ? "its page" : "their pages");
}

}  // namespace

json brief_view(const FamilyResult& family, const Brief& brief, const PageContext& page) {
  if (brief.rows.empty()) return false;
  auto [lines, lead_lines] = lines_of(family, brief, page);
  const std::size_t others = lines.size() - lead_lines.size();
  json chart = brief.common == nullptr ? json{{"rows", json::array()}}
                                       : ladder_chart(family, brief, page.plan->anchors);
  json details = brief_details(family, brief), notes = brief_notes(family, brief);
  return {{"about", format::one_line(family.info.title)},
          {"has_winners", !family.has_one_configuration()},
          {"at", family.words.at(*brief.problem)},
          {"best", brief_best(family, brief)},
          {"together", brief_together(family, brief)},
          {"outlook", brief_outlook(family, brief, page)},
          {"right", brief_right(family)},
          {"has_details", !details.empty() || !notes.empty()},
          {"details", std::move(details)},
          {"notes", std::move(notes)},
          {"table", standing_table(family, brief, page).view()},
          {"chart", chart["rows"].size() > 1 ? page.plan->place(std::move(chart)) : json(false)},
          {"lines", std::move(lines)},
          {"lead_lines", std::move(lead_lines)},
          {"other_lines", other_lines(others)}};
}

}  // namespace mprof
