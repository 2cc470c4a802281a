// SPDX-License-Identifier: MIT
#include "report/views/history_charts.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/chart_parts.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

using nlohmann::json;

/// The least that the axis of times spans, as a factor: less would make mountains of noise.
constexpr double least_span = 1.1;

std::string run_title(const History& history, std::size_t run) {
  const RunSummary& summary = history.runs[run].summary;
  return fmt::format("Run {}, {}, revision {}", run + 1, moment(summary.started),
                     format::one_line(summary.revision));
}

std::size_t place_of(const HistoryMachine& machine, std::size_t run) {
  return static_cast<std::size_t>(std::ranges::find(machine.runs, run) - machine.runs.begin());
}

const HistoryChange* change_at(const HistorySeries& series, std::size_t run) {
  const auto found = std::ranges::find(series.changes, run, &HistoryChange::to);
  return found == series.changes.end() ? nullptr : &*found;
}

std::string point_hover(const HistorySeries& series, const HistoryPoint& point) {
  std::string text = format::quantity(point.time->median, Unit::second);
  if (const auto width = relative_half_width(*point.time)) text += " " + format::plus_minus(*width);
  if (const HistoryChange* change = change_at(series, point.run))
    text += fmt::format(", {} from run {}", change_text(*change), change->from + 1);
  return text;
}

json drawn_point(const History& history, const HistorySeries& series, std::size_t place) {
  const HistoryPoint& point = series.points[place];
  const double first = series.first().time->median;
  Interval interval{point.time->median, point.time->median};
  if (point.time->interval && point.time->interval->low > 0) interval = *point.time->interval;
  return {{"row", place},
          {"value", point.time->median / first},
          {"low", interval.low / first},
          {"high", interval.high / first},
          {"best", change_at(series, point.run) != nullptr},
          {"title", run_title(history, point.run)},
          {"text", ""},
          {"hover", point_hover(series, point)}};
}

json drawn_series(const History& history, const std::string& name, const HistorySeries& series) {
  json points = json::array(), gaps = json::array();
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const HistoryPoint& point = series.points[i];
    if (point.time) {
      points.push_back(drawn_point(history, series, i));
    } else {
      gaps.push_back({{"row", i},
                      {"title", run_title(history, point.run)},
                      {"text", "no time"},
                      {"hover", format::elide("no time: " + say(point.time.absent), 160)}});
    }
  }
  return {{"name", name}, {"points", points}, {"gaps", gaps}};
}

/// A line before each run at which a time changed in one step, with how much; or how many times did.
json change_lines(const PlacedCase& placed) {
  std::map<std::size_t, std::vector<const HistoryChange*>> at;
  for (const HistorySeries& series : placed.source->series) {
    for (const HistoryChange& change : series.changes) {
      if (change.told_by != ToldBy::ends) at[place_of(*placed.machine, change.to)].push_back(&change);
    }
  }
  json lines = json::array();
  for (const auto& [place, changes] : at) {
    const std::string text =
        changes.size() == 1 ? change_text(*changes[0]) : format::plural(changes.size(), "change");
    lines.push_back({{"at", static_cast<double>(place) - 0.5}, {"text", text}});
  }
  return lines;
}

}  // namespace

std::string change_text(const HistoryChange& change) {
  return format::signed_percent(change.ratio - 1);
}

json history_chart(const History& history, const PlacedCase& placed, Anchors& anchors) {
  const HistoryCase& c = *placed.source;
  const std::string title =
      history.machines.size() == 1
          ? format::short_id(c.id)
          : fmt::format("{} on {}", format::short_id(c.id), format::one_line(placed.machine->name));
  json chart =
      chart_view("history", anchors.make("history " + c.id),
                 {title,
                  "Times over their first run's, with 95 % intervals of where a next run's would be; "
                  "lower is faster. Dashed, and outlined behind: a change.",
                  "Run"});
  json rows = json::array(), ticks = json::array(), list = json::array();
  for (std::size_t i = 0; i < placed.machine->runs.size(); ++i) {
    rows.push_back(fmt::format("{}", placed.machine->runs[i] + 1));
    ticks.push_back(i);
  }
  for (const HistorySeries& series : c.series)
    list.push_back(drawn_series(history, time_name(words_of(history, c), series.metric, series.op), series));
  chart["rows"] = rows;
  chart["series"] = list;
  chart["axis"].update({{"ticks", ticks},
                        {"connected", true},
                        {"y", "Time over the first run's (×)"},
                        {"default", nullptr},
                        {"least", least_span},
                        {"changes", change_lines(placed)}});
  chart["alt"] = fmt::format("Chart: times of {} over {}. The tables hold the numbers.", title,
                             format::plural(rows.size(), "run"));
  return chart;
}

}  // namespace mprof
