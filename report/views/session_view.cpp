// SPDX-License-Identifier: MIT
#include "report/views/session_view.hpp"

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/json_parts.hpp"
#include "report/views/table.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/precision.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

using nlohmann::ordered_json;

/// How far a ratio lies from 1, with its interval.
Cell change_cell(const std::optional<RatioTest>& test) {
  if (!test) return Cell::dash();
  return Cell::figure(format::signed_percent(test->ratio - 1),
                      fmt::format("({} to {})", format::signed_percent(test->interval.low - 1),
                                  format::signed_percent(test->interval.high - 1)));
}

ordered_json ratio_json(const std::optional<RatioTest>& test) {
  if (!test) return nullptr;
  return {{"ratio", test->ratio}, {"interval", {test->interval.low, test->interval.high}}, {"p", test->p}};
}

/// The time that stands for the whole, where it is decided; else the first that is; nullptr: none is.
const SessionTime* decided_time(const Session& session) {
  const SessionTime* found = nullptr;
  for (const SessionTime& time : session.times) {
    if (time.speed_up.verdict == Verdict::inconclusive || !time.speed_up.factor) continue;
    if (found == nullptr || time.metric == "total_time") found = &time;
  }
  return found;
}

/// "B (mine.cu) is 2.9× as fast as A (family/baseline) in total."
std::string session_answer(const Session& session, const SessionSides& sides, const Words& words) {
  const SessionTime* const time = decided_time(session);
  if (time == nullptr) return "Undecided: no time differs significantly.\n";
  const std::string a = fmt::format("A ({})", format::one_line(sides.a)),
                    b = fmt::format("B ({})", format::one_line(sides.b)),
                    name = time_name(words, time->metric, time->op);
  // "B in FP16 against A in FP32": who is named first is told first.
  const auto formats = [&](bool b_first) -> std::string {
    if (!time->formats) return {};
    const std::string of_a = format_words(time->formats->a), of_b = format_words(time->formats->b);
    return b_first ? fmt::format(", in {} against {}", of_b, of_a)
                   : fmt::format(", in {} against {}", of_a, of_b);
  };
  const double factor = *time->speed_up.factor;
  switch (time->speed_up.verdict) {
    case Verdict::faster:
      return fmt::format("{} is {} as fast as {} in {}{}.\n", b, format::times(factor), a, name,
                         formats(true));
    case Verdict::slower:
      return fmt::format("{} is {} as fast as {} in {}{}.\n", a, format::times(1 / factor), b, name,
                         formats(false));
    default:
      return fmt::format("{} and {} are equally fast in {}: {}{}.\n", a, b, name,
                         no_change_text(time->speed_up), formats(true));
  }
}

}  // namespace

std::string render_session(const Session& session, const SessionSides& sides, const Words& words,
                           std::size_t width) {
  Table table("times", "Times");
  table.text("Time").numbers("A", Unit::second).numbers("B", Unit::second).numbers("Change");
  table.numbers("A against itself").text("Verdict");
  for (const SessionTime& time : session.times) {
    table.row({Cell::words(time_name(words, time.metric, time.op)), Cell::bare(time.a), Cell::bare(time.b),
               change_cell(time.test), change_cell(time.control),
               Cell::words(verdict_text(time.speed_up) + unlike_formats(time.formats))
                   .noted(time.speed_up.reason)});
  }
  const nlohmann::json view = table.view();
  std::string text = fmt::format("A  {}\nB  {}\n{}\n\n{}\n", format::one_line(sides.a),
                                 format::one_line(sides.b), sides.problem, text_table(view, width));
  for (const nlohmann::json& note : view["notes"])
    text += fmt::format("[{}] {}\n", note["mark"].get<std::string>(), note["text"].get<std::string>());
  return text +
         fmt::format(
             "{} of {} rounds in {}. Each interval has 99.4 % confidence, all of them together 95 %.\n",
             format::plural(session.blocks, "block"), 3 * rounds_of_a_block,
             format::quantity(sides.seconds, Unit::second)) +
         session_answer(session, sides, words);
}

ordered_json session_json(const Session& session, const SessionSides& sides) {
  ordered_json times = ordered_json::array();
  for (const SessionTime& time : session.times) {
    times.push_back({{"metric", time.metric},
                     {"op", time.op},
                     {"a", time.a ? ordered_json(time.a->median) : ordered_json(nullptr)},
                     {"b", time.b ? ordered_json(time.b->median) : ordered_json(nullptr)},
                     {"test", ratio_json(time.test)},
                     {"control", ratio_json(time.control)},
                     {"p", optional_json(time.speed_up.p)},
                     {"no_change_above", optional_json(time.speed_up.no_change_above)},
                     {"verdict", to_string(time.speed_up.verdict)},
                     {"reason", say(time.speed_up.reason)}});
    if (time.formats)
      times.back()["precisions"] = {{"a", time.formats->a.empty() ? "fp32" : time.formats->a},
                                    {"b", time.formats->b.empty() ? "fp32" : time.formats->b}};
  }
  return {{"schema", "mprof.ab/1"},
          {"a", sides.a},
          {"b", sides.b},
          {"problem", sides.problem},
          {"blocks", session.blocks},
          {"seconds", sides.seconds},
          {"told", session.told()},
          {"times", times}};
}

}  // namespace mprof
