// SPDX-License-Identifier: MIT
#include "report/views/version_view.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/table.hpp"
#include "report/wording/reasons.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

const CaseComparison* only_case(const Comparison* comparison) {
  return comparison == nullptr || comparison->cases.empty() ? nullptr : &comparison->cases.front();
}

const TimeComparison* find_time(const CaseComparison* c, const TimeComparison& like) {
  if (c == nullptr) return nullptr;
  const auto found = std::ranges::find_if(
      c->times, [&](const TimeComparison& time) { return time.metric == like.metric && time.op == like.op; });
  return found == c->times.end() ? nullptr : &*found;
}

/// "+1.2 %", and what that is worth.
Cell change_cell(const TimeComparison* time) {
  if (time == nullptr || !time->ratio) return Cell::dash();
  return Cell::figure(format::signed_percent(*time->ratio - 1))
      .valued(*time->ratio)
      .with(tone_of(time->speed_up.verdict));
}

/// `against`: what A is where that is not the baseline.
Cell verdict_cell(const TimeComparison* time, const std::string& against = {}) {
  if (time == nullptr) return Cell::dash();
  const std::string reason = say(time->speed_up.reason, of_runs);
  return Cell::words(to_string(time->speed_up.verdict))
      .noted(reason.empty() || against.empty() ? reason : fmt::format("{}: {}", against, reason));
}

/// The first reason of each op whose time changed.
std::string reasons_text(const Words& words, const CaseComparison* c, const std::string& against,
                         std::size_t width) {
  std::string text;
  if (c == nullptr) return text;
  for (const OpChange& op : c->ops) {
    const auto explained = std::ranges::find_if(op.explanations, [](const Explanation& explanation) {
      return is_change(explanation.change()) && !explanation.reasons.empty();
    });
    if (explained == op.explanations.end()) continue;
    const std::string lead = fmt::format("{} {}: ", format::one_line(op.op), against);
    text += fmt::format("  {}{}\n", lead,
                        format::wrapped(sentence_of(explained->reasons.front(), words), width, 4));
  }
  return text;
}

}  // namespace

std::string render_version(const VersionSides& sides, std::size_t width) {
  const CaseComparison& over = sides.over->cases.front();
  const CaseComparison* const since = only_case(sides.since);
  const Words& words = words_of(*sides.over, over);
  Table table("times", "Times");
  table.text("Time")
      .numbers("A: " + format::short_id(sides.baseline), Unit::second)
      .numbers("B: this", Unit::second);
  table.numbers("Speed-up").text("Verdict");
  if (since != nullptr) table.numbers(fmt::format("Since {}", sides.before)).text("Verdict");
  for (const TimeComparison& time : over.times) {
    std::vector<Cell> row{Cell::words(time_name(words, time.metric, time.op)), Cell::bare(time.a),
                          Cell::bare(time.b), Cell::speed_up(time.speed_up), verdict_cell(&time)};
    if (since != nullptr) {
      const TimeComparison* const change = find_time(since, time);
      row.push_back(change_cell(change));
      row.push_back(verdict_cell(change, fmt::format("with version {} as A", sides.before)));
    }
    table.row(std::move(row));
  }
  const nlohmann::json view = table.view();
  std::string text = fmt::format("\nVersion {} of {}, {}\n\n{}", sides.number, sides.name,
                                 words.at(over.key.problem), text_table(view, width));
  for (const nlohmann::json& note : view["notes"]) {
    text += fmt::format("[{}] {}\n", note["mark"].get<std::string>(),
                        format::wrapped(note["text"].get<std::string>(), width, 4));
  }
  return text + reasons_text(words, &over, "over " + sides.baseline, width) +
         reasons_text(words, since, fmt::format("since version {}", sides.before), width);
}

}  // namespace mprof
