// SPDX-License-Identifier: MIT
#include <algorithm>

#include <fmt/format.h>

#include "report/analysis/machines/environment.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/history_charts.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t most_history_charts = 12;
constexpr std::size_t shortest_revision = 7;  // as git abbreviates it

/// A change with where it is.
struct PlacedChange {
  PlacedCase place;
  const HistorySeries* series = nullptr;
  const HistoryChange* change = nullptr;
};

std::vector<PlacedCase> cases_of(const History& history) {
  std::vector<PlacedCase> all;
  for (const HistoryMachine& machine : history.machines) {
    for (const HistoryCase& c : machine.cases) all.push_back({&machine, &c});
  }
  return all;
}

/// The newest first; of one run, in the order of the cases.
std::vector<PlacedChange> changes_of(const History& history) {
  std::vector<PlacedChange> all;
  for (const PlacedCase& place : cases_of(history)) {
    for (const HistorySeries& series : place.source->series) {
      for (const HistoryChange& change : series.changes) all.push_back({place, &series, &change});
    }
  }
  std::ranges::stable_sort(all, std::greater{}, [](const PlacedChange& one) { return one.change->to; });
  return all;
}

/// "0123456", with what git adds to it.
std::string short_revision(const std::string& revision) {
  const std::size_t hash = std::min(revision.find('-'), revision.size());
  return format::one_line(revision.substr(0, std::min(hash, shortest_revision)) + revision.substr(hash));
}

std::string revisions(const History& history, const HistoryChange& change) {
  const std::string from = short_revision(history.runs[change.from].summary.revision);
  const std::string to = short_revision(history.runs[change.to].summary.revision);
  return from == to ? from : fmt::format("{} → {}", from, to);
}

bool several_machines(const History& history) {
  return history.machines.size() > 1;
}

Cell machine_cell(const History& history, const HistoryMachine& machine) {
  return Cell::words(fmt::format("{}", &machine - history.machines.data() + 1));
}

Cell case_cell(const PlacedCase& place) {
  return Cell::words(format::short_id(place.source->id));
}

Cell time_cell(const History& history, const PlacedCase& place, const HistorySeries& series) {
  return Cell::words(time_name(words_of(history, *place.source), series.metric, series.op));
}

// --- Tables

std::string remark_on(const HistoryRun& run) {
  std::string remark = run.quick ? "a quick run" : "";
  if (run.summary.state != RunState::complete)
    remark += fmt::format("{}the run is {}", remark.empty() ? "" : ", ", to_string(run.summary.state));
  return remark;
}

Table runs_table(const History& history) {
  Table table("runs", "Runs");
  table.text("Directory").numbers("Run");
  if (several_machines(history)) table.text("Machine");
  table.text("Started").text("Revision");
  for (std::size_t i = 0; i < history.runs.size(); ++i) {
    const HistoryRun& run = history.runs[i];
    std::vector<Cell> cells{Cell::words(run.summary.name),
                            Cell::figure(fmt::format("{}", i + 1)).valued(static_cast<double>(i + 1))};
    if (several_machines(history)) cells.push_back(machine_cell(history, history.machines[run.machine]));
    cells.push_back(Cell::words(moment(run.summary.started)));
    cells.push_back(Cell::words(run.summary.revision).noted(remark_on(run)));
    table.row(std::move(cells));
  }
  return table;
}

std::string how_it_was_told(ToldBy told_by) {
  switch (told_by) {
    case ToldBy::neighbours:
      break;
    case ToldBy::ranks:
      return "by all runs between its neighbouring changes, not these two alone";
    case ToldBy::ends:
      return "from first to last: no step between two runs was large enough to tell";
  }
  return {};
}

Cell ratio_cell(const HistoryChange& change) {
  if (!change.speed_up) return Cell::missing(change.speed_up.absent);
  const auto interval = change.speed_up.ratio_interval();
  const std::string detail = interval ? fmt::format("({} to {})", format::signed_percent(interval->low - 1),
                                                    format::signed_percent(interval->high - 1))
                                      : std::string();
  return Cell::figure(change_text(change), detail)
      .with(tone_of(change.speed_up.verdict))
      .valued(change.ratio);
}

Cell verdict_on(const HistoryChange& change) {
  const std::string despite = despite_text(change.speed_up);
  return Cell::words(verdict_text(change.speed_up), tone_of(change.speed_up.verdict))
      .noted(despite.empty() ? say(change.speed_up.reason) : despite);
}

Table changes_table(const History& history) {
  Table table("changes", "Changes, the newest first");
  table.text("Case").text("Time");
  if (several_machines(history)) table.text("Machine");
  table.text("Runs").text("Revisions").numbers("Change").text("Verdict");
  for (const auto& [place, series, change] : changes_of(history)) {
    std::vector<Cell> cells{case_cell(place), time_cell(history, place, *series)};
    if (several_machines(history)) cells.push_back(machine_cell(history, *place.machine));
    cells.push_back(Cell::words(fmt::format("{} → {}", change->from + 1, change->to + 1))
                        .noted(how_it_was_told(change->told_by)));
    cells.push_back(Cell::words(revisions(history, *change)));
    cells.push_back(ratio_cell(*change));
    cells.push_back(verdict_on(*change));
    table.row(std::move(cells));
  }
  return table;
}

/// "5 of 6", and what became of the sixth.
Cell timed_cell(const HistorySeries& series) {
  if (series.timed() == series.points.size()) return Cell::words(fmt::format("{}", series.timed()));
  std::vector<std::string> gaps;
  for (const HistoryPoint& point : series.points) {
    if (!point.time) gaps.push_back(fmt::format("run {}: {}", point.run + 1, say(point.time.absent)));
  }
  return Cell::words(fmt::format("{} of {}", series.timed(), series.points.size()))
      .noted(fmt::format("{}", fmt::join(gaps, "; ")));
}

/// Series that changed, or all of them.
Table series_table(const History& history, bool all) {
  Table table("series", all ? "All times, from the first run to the last"
                            : "Times that changed, from the first run to the last");
  table.text("Case").text("Time");
  if (several_machines(history)) table.text("Machine");
  table.text("Runs").numbers("First", Unit::second).numbers("Last", Unit::second).numbers("Change");
  table.text("Verdict");
  for (const PlacedCase& place : cases_of(history)) {
    for (const HistorySeries& series : place.source->series) {
      if (!all && series.changes.empty()) continue;
      std::vector<Cell> cells{case_cell(place), time_cell(history, place, series)};
      if (several_machines(history)) cells.push_back(machine_cell(history, *place.machine));
      cells.push_back(timed_cell(series));
      cells.push_back(Cell::bare(series.first().time));
      cells.push_back(Cell::bare(series.last().time));
      cells.push_back(ratio_cell(series.overall));
      cells.push_back(verdict_on(series.overall));
      table.row(std::move(cells));
    }
  }
  return table;
}

// --- Sentences

/// Series without a change, from the first run to the last.
struct Unchanged {
  std::size_t same = 0;
  std::size_t open = 0;
  std::vector<double> excluded{};  ///< the smallest changes that the data of the open ones exclude, ascending
};

Unchanged unchanged_of(const History& history) {
  Unchanged all;
  for (const PlacedCase& place : cases_of(history)) {
    for (const HistorySeries& series : place.source->series) {
      if (!series.changes.empty()) continue;
      const SpeedUp& overall = series.overall.speed_up;
      if (overall.verdict == Verdict::same) {
        ++all.same;
        continue;
      }
      ++all.open;
      if (overall.no_change_above) all.excluded.push_back(*overall.no_change_above);
    }
  }
  if (2 * all.excluded.size() < all.open) all.excluded.clear();
  std::ranges::sort(all.excluded);
  return all;
}

std::string history_headline(const History& history) {
  const std::size_t changes = changes_of(history).size();
  if (changes == 0) {
    const bool all_same = unchanged_of(history).open == 0;
    return fmt::format("No change {}in {}.", all_same ? "" : "found ",
                       format::plural(history.series(), "time"));
  }
  return fmt::format("{} in {} of {}.", format::plural(changes, "change"), history.changed(),
                     format::plural(history.series(), "time"));
}

/// What became of the series without a change; empty where there is none.
std::string unchanged_sentence(const History& history, bool all) {
  const auto [same, open, excluded] = unchanged_of(history);
  if (same + open == 0) return {};
  const std::string half = excluded.empty() ? std::string()
                                            : fmt::format("; in half of these there is no change above {}",
                                                          excluded_text(excluded[(open - 1) / 2]));
  return fmt::format("{} without a change: {} the same from first to last, {} undecided{}.{}",
                     format::plural(same + open, "time"), same, open, half, all ? "" : " --all shows them.");
}

std::vector<std::string> history_notes(const History& history) {
  std::vector<std::string> notes;
  std::size_t in_one_run = 0;
  for (const HistoryMachine& machine : history.machines) in_one_run += machine.in_one_run;
  if (several_machines(history)) {
    for (const HistoryMachine& machine : history.machines)
      notes.push_back(fmt::format("Machine {} is {}.", &machine - history.machines.data() + 1,
                                  format::one_line(machine.name)));
  }
  for (const std::string& sentence : history.told_apart) notes.push_back(format::one_line(sentence));
  if (in_one_run > 0)
    notes.push_back(fmt::format("{} in a single run only.", format::plural(in_one_run, "case")));
  return notes;
}

std::string history_rule(const History& history) {
  return fmt::format(
      "A change: a moderated t-test on the logarithms of the times has p of at most {} %, and the change "
      "exceeds {}. p is adjusted by Holm's method for all tests here. Tested are the steps that Pettitt's "
      "test of ranks finds, by the runs on both sides. Where a place has too few runs for that, the two runs "
      "around it are tested. The first run is tested against the last.",
      100 * significance, thresholds_text(history.thresholds));
}

// --- Charts

/// The cases with changes, the one that changed last first; then, where all are asked for, the others.
std::vector<PlacedCase> cases_to_draw(const History& history, bool all) {
  std::vector<PlacedCase> cases;
  const auto add = [&](const PlacedCase& place) {
    if (std::ranges::find(cases, place.source, &PlacedCase::source) == cases.end()) cases.push_back(place);
  };
  for (const PlacedChange& one : changes_of(history)) add(one.place);
  if (all) {
    for (const PlacedCase& place : cases_of(history)) add(place);
  }
  return cases;
}

json place_charts(const History& history, bool all, PagePlan& plan) {
  const std::vector<PlacedCase> cases = cases_to_draw(history, all);
  json charts = json::array();
  for (std::size_t i = 0; i < std::min(cases.size(), most_history_charts); ++i)
    charts.push_back(plan.place(history_chart(history, cases[i], plan.anchors)));
  return charts;
}

std::string how_many_drawn(std::size_t cases) {
  return cases <= most_history_charts
             ? std::string()
             : fmt::format("Drawn are {} of {}, the latest changes first; --variant chooses others.",
                           most_history_charts, format::plural(cases, "case"));
}

}  // namespace

Page history_page(const History& history, bool all) {
  PagePlan plan;
  for (const char* taken : {"runs", "changes", "series"}) (void)plan.anchors.make(taken);
  const Table changes = changes_table(history), series = series_table(history, all);
  json view{{"title", fmt::format("History of {}", format::plural(history.runs.size(), "run"))},
            {"headline", history_headline(history)},
            {"unchanged", unchanged_sentence(history, all)},
            {"rule", history_rule(history)},
            {"runs", runs_table(history).view()},
            {"changes", changes.empty() ? json(false) : changes.view()},
            {"series", series.empty() ? json(false) : series.view()},
            {"charts", place_charts(history, all, plan)},
            {"how_many", how_many_drawn(cases_to_draw(history, all).size())},
            {"notes", history_notes(history)}};
  view["has_charts"] = !view["charts"].empty();
  view["has_notes"] = !view["notes"].empty();
  return {std::move(view), plan.take_charts()};
}

}  // namespace mprof
