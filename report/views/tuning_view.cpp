// SPDX-License-Identifier: MIT
#include "report/views/tuning_view.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/text/format.hpp"
#include "report/views/table.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

constexpr std::size_t most_rows = 10;       ///< of a search that nothing was measured again of
constexpr std::size_t most_of_a_list = 12;  ///< points in a list of them

Unit unit_of(const Objective& objective, const FamilyInfo& family) {
  const auto quality = std::ranges::find(family.qualities, objective.metric, &QualityInfo::metric);
  if (quality != family.qualities.end()) return quality->unit;
  const Metric* const row = find_metric(objective.metric);
  return row == nullptr ? Unit::count : row->unit;
}

/// Whether the family has a word of its own for it.
bool is_time_of_family(std::string_view metric) {
  return metric == "op_time" || metric == "group_time" || metric == "total_time";
}

/// "op time of rows", "op time of all ops together", "total execution time"
std::string objective_text(const Objective& objective, const FamilyInfo& family, const Words& words,
                           bool is_of_ops) {
  const std::string label = is_time_of_family(objective.metric)
                                ? words.time(objective.metric)
                                : metric_label(family, words, objective.metric);
  if (!objective.op.empty()) return fmt::format("{} of {}", label, objective.op);
  return is_of_ops ? label + " of all ops together" : label;
}

std::string_view word_of(const Candidate& candidate) {
  switch (candidate.standing) {
    case Standing::best:
      return "best";
    case Standing::level:
      return "level";
    case Standing::slower:
      return candidate.value->clock == ClockSource::none ? "behind" : "slower";
    case Standing::unclear:
      return "unclear";
    case Standing::none:
      break;
  }
  return "none";
}

/// The default among these or beside them; nullptr: it has no value.
const Candidate* default_of(const TuningOutcome& outcome, const std::vector<Candidate>& shown) {
  const auto found = std::ranges::find_if(shown, [&](const Candidate& candidate) {
    return candidate.value && candidate.result.key.parameters == outcome.usual;
  });
  if (found != shown.end()) return &*found;
  return outcome.beside && outcome.beside->value ? &*outcome.beside : nullptr;
}

/// How many times as fast as the default the point is.
Cell over_default(const Candidate& candidate, const Candidate& usual) {
  if (&candidate == &usual) return Cell::words("the default");
  return Cell::speed_up(judge(usual.value, candidate.value));
}

/// So many rows of candidates at the most, and one of the default where it is beside them.
std::string table_of(const TuningOutcome& outcome, const std::vector<Candidate>& candidates, std::size_t rows,
                     const std::string& head, Unit unit, std::size_t width) {
  const Candidate* const usual = default_of(outcome, candidates);
  const bool has_default = usual != nullptr && usual->value->clock != ClockSource::none;
  Table table("points", "Points");
  table.text("Point").numbers(head, unit);
  if (has_default) table.numbers("Over the default");
  table.text("Standing");
  const auto add = [&](const Candidate& candidate, Cell standing) {
    std::vector<Cell> cells{Cell::words(point_name(candidate.result.key.parameters)),
                            Cell::value(candidate.value)};
    if (has_default) cells.push_back(over_default(candidate, *usual));
    cells.push_back(std::move(standing));
    table.row(std::move(cells));
  };
  for (const Candidate& candidate : candidates) {
    if (!candidate.value || rows-- == 0) break;
    add(candidate, Cell::words(word_of(candidate)).noted(say(candidate.reason, of_points)));
  }
  if (outcome.beside && outcome.beside->value) add(*outcome.beside, Cell::words("not searched"));
  const nlohmann::json view = table.view();
  std::string text = text_table(view, width);
  for (const nlohmann::json& note : view["notes"])
    text += fmt::format("[{}] {}\n", note["mark"].get<std::string>(), note["text"].get<std::string>());
  return text;
}

/// Points without a value by their reason: a line each.
std::string without_value(const std::vector<Candidate>& candidates, std::size_t width) {
  std::map<std::pair<Status, std::string>, std::vector<std::string>> by_reason;
  for (const Candidate& candidate : candidates) {
    if (candidate.value) continue;
    by_reason[{candidate.result.status, say(candidate.reason)}].push_back(
        point_name(candidate.result.key.parameters));
  }
  std::string text;
  for (auto& [why, points] : by_reason) {
    const std::size_t count = points.size();
    if (count > most_of_a_list) points.resize(most_of_a_list);
    text += format::wrapped(fmt::format("{}: {}; {}{}", format::plural(count, "point"), why.second,
                                        fmt::join(points, ", "), count > most_of_a_list ? ", …" : ""),
                            width, 2) +
            "\n";
  }
  return text;
}

/// Points that were held to other tolerances did not compute the same thing.
std::string tolerance_note(const std::vector<Candidate>& candidates, std::size_t width) {
  std::vector<double> tolerances;
  for (const Candidate& candidate : candidates) {
    if (!candidate.value) continue;
    for (const OpResult& op : candidate.result.ops) {
      if (op.verification) tolerances.push_back(op.verification->tolerance);
    }
  }
  if (tolerances.empty()) return "";
  const auto [least, most] = std::ranges::minmax(tolerances);
  if (least == most) return "";
  return format::wrapped(
             fmt::format(
                 "The points are held to different tolerances, {} to {}: their outputs are not equally "
                 "exact. --set with one value of the parameter that makes the difference, such as a "
                 "precision, compares like with like.",
                 format::scientific(least), format::scientific(most)),
             width) +
         "\n";
}

/// Where the default is better than all that was searched without it.
std::string note_of_default(const TuningOutcome& outcome, const Objective& objective, std::size_t width) {
  const Candidate* const usual = outcome.beside ? &*outcome.beside : nullptr;
  if (usual == nullptr || !usual->value || outcome.best.empty() || !outcome.best.front().value) return "";
  const Value& best = outcome.best.front().value;
  const bool is_time = best->clock != ClockSource::none && usual->value->clock != ClockSource::none;
  if (cost_of(usual->value, objective) >= cost_of(best, objective) ||
      (is_time && standing_against(best, usual->value).standing != Standing::slower))
    return "";
  return format::wrapped(
             fmt::format("The default ({}) is better than all of these, and not among the values of --set: "
                         "with its values it can be the answer.",
                         point_name(usual->result.key.parameters)),
             width) +
         "\n";
}

}  // namespace

std::string point_name(const Parameters& parameters) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : parameters) texts.push_back(name + "=" + value);
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string render_tuning(const TuningOutcome& outcome, const Objective& objective, const FamilyInfo& family,
                          const Words& words, std::size_t width) {
  const bool is_final = !outcome.best.empty();
  const auto measured = std::ranges::count_if(outcome.all, [](const Candidate& c) { return !!c.value; });
  const bool is_of_ops = !outcome.all.empty() && outcome.all.front().result.ops.size() > 1 &&
                         objective.metric != "total_time" && find_metric(objective.metric) != nullptr &&
                         find_metric(objective.metric)->combine != Combine::never;
  const std::string by = objective_text(objective, family, words, is_of_ops);
  std::string text = format::wrapped(
      fmt::format("{} {}, by {} ({} is better): {} of {} gave it with a right output, by {}.{}",
                  outcome.variant, outcome.where, by, objective.better == Better::higher ? "more" : "less",
                  measured, format::plural(outcome.points, "point"), outcome.strategy,
                  outcome.ended.empty() ? "" : " " + outcome.ended),
      width);
  text += "\n";
  const std::vector<Candidate>& shown = is_final ? outcome.best : outcome.all;
  if (measured > 0) {
    text += is_final ? "\nThe best of them, measured again side by side:\n\n"
                     : "\nThe best of them, none of which was measured again:\n\n";
    text += table_of(outcome, shown, is_final ? shown.size() : most_rows,
                     metric_label(family, words, objective.metric), unit_of(objective, family), width);
  }
  if (const std::string without = without_value(outcome.all, width); !without.empty()) text += "\n" + without;
  std::vector<Candidate> again = outcome.best;
  if (outcome.beside) again.push_back(*outcome.beside);
  if (const std::string without = without_value(again, width); !without.empty())
    text += "\nWhen measured again:\n" + without;
  for (const std::string& note :
       {note_of_default(outcome, objective, width), tolerance_note(is_final ? again : shown, width)}) {
    if (!note.empty()) text += "\n" + note;
  }
  return text;
}

}  // namespace mprof
