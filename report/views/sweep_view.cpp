// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/standing/sweep.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/sweep_charts.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "report/wording/why.hpp"

/// What the report says of parameter sweeps: which values are best, in words, curves, heat maps and tables.
namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t longest_point = 64;             ///< a point's name in a sentence
constexpr double noticeable = 1 + noticeable_change;  ///< times the best: no more is hardly worth a word
constexpr std::size_t most_named = 6;                 ///< points in a list of them
constexpr std::size_t longest_open_table = 12;        ///< rows beyond which a chart says it first

std::string point_text(const Sweep& sweep, const SweepPoint& point) {
  return format::elide(sweep.name(point.at), longest_point);
}

std::string time_text(const SweepPoint& point) {
  return format::quantity(point.time->median, Unit::second);
}

/// "tile_width", "tile_width and unroll"
std::string axis_names(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const SweepAxis& axis : sweep.axes) names.push_back(format::short_id(axis.parameter.name));
  return format::list(names);
}

std::vector<const SweepSeries*> with_times(const OpSweep& op) {
  std::vector<const SweepSeries*> list;
  for (const SweepSeries& series : op.series) {
    if (series.best) list.push_back(&series);
  }
  return list;
}

// --- In words

/// How the default stands, as the end of a sentence about the best point and the slowest.
std::string default_clause(const Sweep& sweep, const SweepSeries& series) {
  const SweepPoint* usual = series.default_point();
  if (usual == nullptr || usual->result == nullptr) return "; the default was not run";
  if (usual->standing == Standing::best) return "; it is the default";
  if (usual == series.slowest()) return {};
  const std::string name = fmt::format("; the default, {},", point_text(sweep, *usual));
  if (!usual->verified()) return name + " has no verified time";
  if (usual->standing == Standing::level) return name + " is tied with it";
  return fmt::format("{} takes {} as long", name, format::times(*usual->to_best));
}

/// Those level with the best, without the default, of which the sentence speaks anyway.
std::vector<std::string> level_points(const Sweep& sweep, const SweepSeries& series) {
  std::vector<std::string> names;
  for (const SweepPoint& point : series.points) {
    if (point.standing == Standing::level && !point.is_default) names.push_back(point_text(sweep, point));
  }
  return names;
}

std::size_t count_verified(const SweepSeries& series) {
  return static_cast<std::size_t>(std::count_if(series.points.begin(), series.points.end(),
                                                [](const SweepPoint& p) { return p.verified(); }));
}

std::string judged_time(const Sweep& sweep, const OpSweep& op, const SweepPoint& point) {
  return op.compared_by == "group_time"
             ? fmt::format("{} of {}", time_text(point), sweep.words->time("group_time"))
             : time_text(point);
}

bool all_level(const SweepSeries& series) {
  return std::all_of(series.points.begin(), series.points.end(),
                     [](const SweepPoint& point) { return point.among_best() || !point.verified(); });
}

/// "all values are tied: tile_width=8 takes 2.000 ms, tile_width=16
/// 2.001 ms"; medians that are far apart all the same say more of the noise than of the values.
std::string no_difference(const Sweep& sweep, const OpSweep& op, const SweepSeries& series) {
  const SweepPoint &best = *series.best_point(), &slowest = *series.slowest();
  const bool are_all_verified = std::ranges::all_of(series.points, &SweepPoint::verified);
  const std::string says =
      *slowest.to_best < noticeable
          ? are_all_verified ? "all values are tied: " : "all values with a verified time are tied: "
          : "the 95 % intervals are too wide to separate the values: ";
  if (time_text(best) == time_text(slowest))
    return fmt::format("{}all take {}", says, judged_time(sweep, op, best));
  return fmt::format("{}{} takes {}, {} {}", says, point_text(sweep, best), judged_time(sweep, op, best),
                     point_text(sweep, slowest), time_text(slowest));
}

/// "best", or "best, tied with 2 others,"
std::string best_words(const SweepSeries& series) {
  if (!series.best_point()->time->interval) return "the fastest measured";
  const std::size_t level = series.level();
  return level == 0 ? "best" : fmt::format("best, tied with {},", format::plural(level, "other"));
}

/// "rows at size 10000: tile_width=16 is best with 15.60 ms, 2.31× as fast as the slowest, tile_width=4;
/// it is the default."
std::string best_sentence(const Sweep& sweep, const OpSweep& op, const SweepSeries& series) {
  const SweepPoint &best = *series.best_point(), &slowest = *series.slowest();
  const std::string where = fmt::format("{} {}", op_name(sweep, op), sweep.words->at(series.problem));
  if (count_verified(series) == 1) {
    return fmt::format("{}: only {} has a verified time, {}.", where, point_text(sweep, best),
                       judged_time(sweep, op, best));
  }
  if (all_level(series)) return fmt::format("{}: {}.", where, no_difference(sweep, op, series));
  std::string text = fmt::format("{}: {} is {} with {}, {} as fast as the slowest, {}{}{}.", where,
                                 point_text(sweep, best), best_words(series), judged_time(sweep, op, best),
                                 format::times(*slowest.to_best), slowest.is_default ? "the default " : "",
                                 point_text(sweep, slowest), default_clause(sweep, series));
  const std::vector<std::string> level = level_points(sweep, series);
  if (!level.empty() && level.size() <= most_named) {
    const SweepPoint* usual = series.default_point();
    const bool default_too = usual != nullptr && usual->standing == Standing::level;
    text += fmt::format(" Tied with it{}: {}.", default_too ? " too" : "", format::list(level));
  }
  return text;
}

/// Winners and where they win: "tile_width=8 at size 100, tile_width=16 at sizes 1000 and 10000".
std::string winners_by_problem(const Sweep& sweep, const std::vector<const SweepSeries*>& series) {
  std::vector<std::pair<std::string, std::vector<Problem>>> winners;
  for (const SweepSeries* one : series) {
    const std::string name = point_text(sweep, *one->best_point());
    const auto known = std::find_if(winners.begin(), winners.end(),
                                    [&](const auto& winner) { return winner.first == name; });
    if (known == winners.end()) {
      winners.push_back({name, {one->problem}});
    } else {
      known->second.push_back(one->problem);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [name, problems] : winners)
    texts.push_back(fmt::format("{} {}", name, sweep.words->at(problems)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Whether one point does for all problems; empty for a single one.
std::string problems_sentence(const Sweep& sweep, const OpSweep& op) {
  const std::vector<const SweepSeries*> series = with_times(op);
  if (series.size() < 2) return {};
  if (std::all_of(series.begin(), series.end(), [](const SweepSeries* one) { return all_level(*one); }))
    return fmt::format("The same holds at {}.", sweep.words->every());
  const bool one_winner = std::all_of(series.begin(), series.end(), [&](const SweepSeries* one) {
    return one->level() == 0 && one->best_point()->at == series.back()->best_point()->at;
  });
  if (one_winner)
    return fmt::format("{} is best at {}.", point_text(sweep, *series.back()->best_point()),
                       sweep.words->every());
  if (const SweepPoint* one = best_in_all(series)) {
    return fmt::format("{} is best, or tied with the best, at {}.", point_text(sweep, *one),
                       sweep.words->every());
  }
  return fmt::format("The best value differs between {}: {}.", sweep.words->several(),
                     winners_by_problem(sweep, series));
}

/// Whether one point does for all ops at the largest problem that all of them have; empty for a single op.
std::string ops_sentence(const Sweep& sweep) {
  std::vector<const SweepSeries*> series;
  std::vector<std::string> words;
  bool differ = false;
  for (const OpSweep& op : sweep.ops) {
    const SweepSeries* largest = op.largest();
    if (largest == nullptr || (!series.empty() && largest->problem != series.front()->problem)) return {};
    series.push_back(largest);
    differ = differ || !all_level(*largest);
    words.push_back(fmt::format("{} for {}", point_text(sweep, *largest->best_point()), op_name(sweep, op)));
  }
  if (series.size() < 2 || !differ) return {};
  const std::string where = sweep.words->at(series.front()->problem);
  if (const SweepPoint* one = best_in_all(series)) {
    const bool outright = std::all_of(series.begin(), series.end(), [&](const SweepSeries* each) {
      return each->level() == 0 && each->best_point()->at == one->at;
    });
    return fmt::format("{}, {} is best{} for every op.", format::sentence_case(where),
                       point_text(sweep, *one), outright ? "" : ", or tied with the best,");
  }
  return fmt::format("The best value differs between ops: {}, {}.", where, format::list(words));
}

json sentence_views(const Sweep& sweep) {
  json list = json::array();
  const auto add = [&](const std::string& text) {
    if (!text.empty()) list.push_back(format::one_line(text));
  };
  for (const OpSweep& op : sweep.ops) {
    const SweepSeries* series = op.largest();
    if (series == nullptr) {
      add(fmt::format("{}: no point has a verified time.", op_name(sweep, op)));
      continue;
    }
    const std::string problems = problems_sentence(sweep, op);
    add(best_sentence(sweep, op, *series) + (problems.empty() ? "" : " " + problems));
  }
  add(ops_sentence(sweep));
  return list;
}

// --- What is swept, and what went wrong

std::string values_text(const SweepAxis& axis) {
  std::vector<std::string> values;
  for (const std::string& value : axis.values) values.push_back(format::short_id(value));
  std::string text = fmt::format("{}: {} (default {}", format::short_id(axis.parameter.name),
                                 format::list(values), format::short_id(axis.parameter.default_value));
  if (!axis.default_index) text += ", which was not run";
  text += ")";
  const std::string meaning = format::one_line(axis.parameter.meaning);
  return meaning.empty() ? text : fmt::format("{}; {}", text, meaning);
}

json axis_views(const Sweep& sweep) {
  json list = json::array();
  for (const SweepAxis& axis : sweep.axes) list.push_back(values_text(axis));
  for (const auto& [name, value] : sweep.fixed)
    list.push_back(fmt::format("{}: {} throughout", format::short_id(name), format::short_id(value)));
  return list;
}

/// How to read what follows, where it is not the usual.
std::string reading_text(const Sweep& sweep) {
  std::string text;
  std::vector<std::string> by_group_time;
  for (const OpSweep& op : sweep.ops) {
    if (op.compared_by == "group_time") by_group_time.push_back(op_name(sweep, op));
  }
  if (!by_group_time.empty()) {
    text += fmt::format("Its op time says little, so the points of {} are judged by {}. ",
                        format::list(by_group_time), sweep.words->time("group_time"));
  }
  if (sweep.axes.size() > 2) {
    text += fmt::format(
        "{} parameters were swept at once, which no chart shows well: the tables hold every point. ",
        sweep.axes.size());
  } else if (!sweep.is_grid) {
    text += "The values make more combinations than a chart can show, so the tables hold what ran. ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

/// Each reason once, with the points that it cost.
json trouble_views(const Sweep& sweep) {
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<std::string>>> troubles;
  for (const CaseResult& result : sweep.variant->cases) {
    if (result.ok()) continue;
    std::string reason = format::one_line(result.reason);
    if (reason.empty()) reason = "no reason was recorded";
    const std::pair key{std::string(to_string(result.status)), std::move(reason)};
    const auto known = std::find_if(troubles.begin(), troubles.end(),
                                    [&](const auto& trouble) { return trouble.first == key; });
    auto& cases = known == troubles.end() ? troubles.emplace_back(key, std::vector<std::string>{}).second
                                          : known->second;
    cases.push_back(format::short_id(result.id));
  }
  json list = json::array();
  for (const auto& [key, cases] : troubles) {
    std::vector<std::string> words(
        cases.begin(), cases.begin() + static_cast<std::ptrdiff_t>(std::min(most_named, cases.size())));
    if (cases.size() > most_named) words.push_back(format::plural(cases.size() - most_named, "other point"));
    list.push_back({{"status", key.first}, {"points", format::list(words)}, {"reason", key.second}});
  }
  return list;
}

// --- Tables

Cell standing_cell(const SweepSeries& series, const SweepPoint& point) {
  const std::string factor =
      point.to_best ? fmt::format("{} the best time", format::times(*point.to_best)) : "";
  switch (point.standing) {
    case Standing::best:
      return Cell::words(
          series.level() == 0 ? "best" : fmt::format("tied with {}", format::plural(series.level(), "other")),
          Tone::best);
    case Standing::level: {
      Cell cell = Cell::words("tied with the best", Tone::best);
      if (*point.to_best >= noticeable) cell.detail = factor;
      return cell;
    }
    case Standing::slower: {
      Cell cell = Cell::words("slower", Tone::quiet);
      cell.detail = factor;
      return cell;
    }
    case Standing::unclear: {
      Cell cell = Cell::words("inconclusive", Tone::quiet).noted(say(point.reason, of_points));
      cell.detail = factor;
      return cell;
    }
    case Standing::none:
      break;
  }
  if (point.result == nullptr) return Cell::words("not in this run", Tone::quiet);
  if (point.result->ok()) return Cell::missing(say(point.reason, of_points));
  const std::string reason = format::one_line(point.result->reason);
  return Cell::words(to_string(point.result->status), Tone::bad).noted(reason);
}

Cell time_cell(const SweepPoint& point) {
  if (point.result == nullptr || !point.result->ran()) return Cell::dash();
  Cell cell = judged(Cell::value(point.time), *point.result);
  if (point.among_best()) cell.tone = Tone::best;
  return cell;
}

Cell over_default_cell(const SweepPoint& point) {
  if (point.is_default && point.verified()) return Cell::words("default", Tone::quiet);
  if (point.result == nullptr || !point.result->ok()) return Cell::dash();
  return Cell::speed_up(point.over_default);
}

Cell possible_cell(const SweepPoint& point, const OpSweep& op) {
  if (point.result == nullptr || !point.result->ran()) return Cell::dash();
  return of_possible_cell(*point.result, op.op);
}

Cell value_cell(const SweepAxis& axis, std::size_t index) {
  const std::string value = format::short_id(axis.values[index]);
  return axis.scale == AxisScale::categories ? Cell::words(value)
                                             : Cell::figure(value).valued(axis.position(index));
}

Table points_table(const Sweep& sweep, const OpSweep& op, Anchors& anchors) {
  Table table(anchors.make(fmt::format("{} sweep {} points", sweep.variant->info.id, op.op.name)),
              fmt::format("{} of {} by {}", judged_by(sweep, op), op_name(sweep, op), axis_names(sweep)));
  for (const AxisInfo& axis : sweep.words->axes()) table.text(axis.title);
  for (const SweepAxis& axis : sweep.axes) {
    const std::string head = format::short_id(axis.parameter.name);
    axis.scale == AxisScale::categories ? table.text(head) : table.numbers(head);
  }
  table.numbers(sweep.words->time_title(op.compared_by), Unit::second).numbers("Speed-up over the default");
  if (!op.op.name.empty()) table.numbers("Of possible");
  table.text("Verdict");
  for (const SweepSeries& series : op.series) {
    for (const SweepPoint& point : series.points) {
      std::vector<Cell> cells;
      for (const AxisInfo& axis : sweep.words->axes()) {
        const auto value = value_on(series.problem, axis.name);
        cells.push_back(value ? Cell::words(std::to_string(*value)) : Cell::dash());
      }
      for (std::size_t i = 0; i < sweep.axes.size(); ++i)
        cells.push_back(value_cell(sweep.axes[i], point.at[i]));
      cells.push_back(time_cell(point));
      cells.push_back(over_default_cell(point));
      if (!op.op.name.empty()) cells.push_back(possible_cell(point, op));
      cells.push_back(standing_cell(series, point));
      table.row(std::move(cells));
    }
  }
  return table;
}

std::size_t rows_of(const OpSweep& op) {
  std::size_t rows = 0;
  for (const SweepSeries& series : op.series) rows += series.points.size();
  return rows;
}

json one_sweep(const Sweep& sweep, PagePlan& plan) {
  Anchors& anchors = plan.anchors;
  json charts = json::array(), tables = json::array();
  bool folded = false;
  const std::string anchor = anchors.make(sweep.variant->info.id + " sweep");
  for (const OpSweep& op : sweep.ops) {
    for (json& chart : sweep_charts(sweep, op, anchors)) charts.push_back(plan.place(std::move(chart)));
    tables.push_back(points_table(sweep, op, anchors).view());
    folded = folded || rows_of(op) > longest_open_table;
  }
  json troubles = trouble_views(sweep);
  return {{"anchor", anchor},
          {"id", format::one_line(sweep.variant->info.id)},
          {"short_id", format::short_id(sweep.variant->info.id)},
          {"title", format::one_line(sweep.variant->info.title)},
          {"axes", axis_views(sweep)},
          {"reading", reading_text(sweep)},
          {"sentences", sentence_views(sweep)},
          {"has_troubles", !troubles.empty()},
          {"troubles", std::move(troubles)},
          {"has_charts", !charts.empty()},
          {"folded", folded && !charts.empty()},
          {"charts", std::move(charts)},
          {"tables", std::move(tables)}};
}

}  // namespace

json sweep_view(const FamilyResult& family, PagePlan& plan) {
  const std::vector<Sweep> sweeps = sweeps_of(family);
  if (sweeps.empty()) return false;
  json list = json::array();
  const std::string anchor = plan.anchors.make(family.id + " sweeps");
  for (const Sweep& sweep : sweeps) list.push_back(one_sweep(sweep, plan));
  return {{"anchor", anchor}, {"variants", std::move(list)}};
}

}  // namespace mprof
