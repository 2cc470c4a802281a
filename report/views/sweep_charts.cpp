// SPDX-License-Identifier: MIT
#include "report/views/sweep_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/chart_parts.hpp"
#include "report/wording/why.hpp"

/// What charts.js draws of a sweep. Numbers are scaled here and every label is finished.
namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t longest_value = 14;          ///< of a parameter, on an axis
constexpr std::size_t fewest_thinned_values = 20;  ///< of a parameter, however many problems there are
constexpr std::size_t most_heat_maps = 8;          ///< of an op: one for each problem

std::string parameter_name(const SweepAxis& axis) {
  return format::elide(format::one_line(axis.parameter.name), longest_chart_label);
}

json value_labels(const SweepAxis& axis) {
  json labels = json::array();
  for (const std::string& value : axis.values)
    labels.push_back(format::elide(format::one_line(value), longest_value));
  return labels;
}

/// Problems of a sweep that are drawn, ascending: at most so many, evenly chosen, with those at which the
/// best time is the shortest and the longest.
std::vector<const SweepSeries*> drawn_series(const OpSweep& op, std::size_t most) {
  std::vector<const SweepSeries*> timed, drawn;
  for (const SweepSeries& series : op.series) {
    if (series.best) timed.push_back(&series);
  }
  if (op.series.size() <= most) {
    for (const SweepSeries& series : op.series) drawn.push_back(&series);
    return drawn;
  }
  const auto [low, high] = std::ranges::minmax_element(
      timed, {}, [](const SweepSeries* series) { return series->best_point()->time->median; });
  for (const std::size_t place : places_to_draw(timed.size(), most,
                                                std::array{static_cast<std::size_t>(low - timed.begin()),
                                                           static_cast<std::size_t>(high - timed.begin())}))
    drawn.push_back(timed[place]);
  return drawn;
}

/// One word for a place without a verified time.
std::string gap_word(const SweepPoint& point) {
  if (point.result == nullptr) return "not run";
  return point.result->ok() ? "no time" : std::string(to_string(point.result->status));
}

/// What a tooltip says of a point: its time, how it stands, or why it has none.
std::string hover(const SweepPoint& point) {
  if (!point.verified()) return fmt::format("no verified time: {}", say(point.reason, of_points));
  std::string text = format::quantity(point.time->median, Unit::second);
  if (const auto width = relative_half_width(*point.time)) text += " " + format::plus_minus(*width);
  if (point.standing == Standing::best) {
    text += ", the lowest median";
  } else {
    text += fmt::format(", {} the best", format::times(*point.to_best));
    if (point.standing == Standing::level) text += " (tied with it)";
  }
  return point.is_default ? text + ", the default" : text;
}

std::string title_of(const Sweep& sweep, const SweepPoint& point) {
  return format::elide(sweep.name(point.at), 2 * longest_chart_label);
}

// --- One parameter

/// What a line's values are divided by: the prefix of the axis, or the best of its problem.
struct Divisor {
  double value = 1;
  std::string axis;
};

/// Times of several problems lie decades apart; over the best of their problem they can be compared.
Divisor divisor_of(const Sweep& sweep, const OpSweep& op, const SweepSeries& series) {
  if (op.series.size() > 1) {
    return {series.best_point()->time->median,
            fmt::format("{} over the best of its {} (×)", judged_by(sweep, op), sweep.words->one())};
  }
  const format::Scale scale = format::scale_for(Unit::second, series.best_point()->time->median);
  return {scale.divisor, fmt::format("{} ({})", judged_by(sweep, op), scale.symbol)};
}

json curve_point(const Sweep& sweep, const SweepPoint& point, std::size_t row, double divisor) {
  const Estimate& time = *point.time;
  Interval interval{time.median, time.median};
  if (time.interval && time.interval->low > 0) interval = *time.interval;
  return {{"row", row},
          {"value", time.median / divisor},
          {"low", interval.low / divisor},
          {"high", interval.high / divisor},
          {"best", point.standing == Standing::best},
          {"title", title_of(sweep, point)},
          {"text", format::quantity(time.median, Unit::second)},
          {"hover", hover(point)}};
}

/// What is drawn of a curve: problems, and values of the parameter with the rows that they get.
struct CurveParts {
  std::vector<const SweepSeries*> series{};
  std::vector<std::size_t> values{};
  std::map<std::size_t, std::size_t> rows{};
};

/// The values that a curve cannot do without: the default, and the best and the slowest of each problem.
std::vector<std::size_t> needed_values(const SweepAxis& axis, const std::vector<const SweepSeries*>& all) {
  std::vector<std::size_t> needed;
  if (axis.default_index) needed.push_back(*axis.default_index);
  for (const SweepSeries* series : all) {
    for (const SweepPoint* point : {series->best_point(), series->slowest()}) {
      if (point != nullptr) needed.push_back(point->at[0]);
    }
  }
  return needed;
}

CurveParts curve_parts(const Sweep& sweep, const OpSweep& op) {
  const SweepAxis& axis = sweep.axes[0];
  const std::size_t values = std::max<std::size_t>(axis.values.size(), 1);
  CurveParts parts;
  parts.series =
      drawn_series(op, std::clamp(most_chart_points / values, fewest_thinned_problems, most_chart_problems));
  const std::size_t most =
      std::max(most_chart_points / std::max<std::size_t>(parts.series.size(), 1), fewest_thinned_values);
  parts.values = places_to_draw(axis.values.size(), most, needed_values(axis, parts.series));
  for (std::size_t row = 0; row < parts.values.size(); ++row) parts.rows[parts.values[row]] = row;
  return parts;
}

json curve_series(const Sweep& sweep, const OpSweep& op, const SweepSeries& series, const CurveParts& parts) {
  json points = json::array(), gaps = json::array();
  const double divisor = series.best ? divisor_of(sweep, op, series).value : 1;
  for (const SweepPoint& point : series.points) {
    const auto row = parts.rows.find(point.at[0]);
    if (row == parts.rows.end()) continue;
    if (point.verified()) {
      points.push_back(curve_point(sweep, point, row->second, divisor));
    } else {
      gaps.push_back({{"row", row->second},
                      {"title", title_of(sweep, point)},
                      {"text", gap_word(point)},
                      {"hover", format::elide(hover(point), 160)}});
    }
  }
  return {{"name", sweep.words->problem(series.problem)}, {"points", points}, {"gaps", gaps}};
}

ChartText curve_text(const Sweep& sweep, const OpSweep& op) {
  const bool normalised = op.series.size() > 1;
  const bool gaps = std::any_of(op.series.begin(), op.series.end(), [](const SweepSeries& series) {
    return std::any_of(series.points.begin(), series.points.end(),
                       [](const SweepPoint& point) { return !point.verified(); });
  });
  const SweepAxis& axis = sweep.axes[0];
  std::string title =
      fmt::format("{} of {} by {}", judged_by(sweep, op), op_name(sweep, op), parameter_name(axis));
  if (!normalised) title += " " + sweep.words->at(op.series[0].problem);
  return {
      title,
      fmt::format("Medians{} with 95 % intervals; lower is faster, and equal distances are equal factors. "
                  "Outlined: the lowest median{}.{}{}",
                  normalised ? fmt::format(" over the best of their {},", sweep.words->one()) : "",
                  normalised ? " of a " + sweep.words->one() : "",
                  axis.default_index ? " Dotted line: the default." : "",
                  gaps ? " Cross: no verified time." : ""),
      parameter_name(axis)};
}

json curve(const Sweep& sweep, const OpSweep& op, const std::string& id) {
  const SweepAxis& axis = sweep.axes[0];
  const CurveParts parts = curve_parts(sweep, op);
  ChartText text = curve_text(sweep, op);
  text.caption += thinned_text(parts.series.size(), op.series.size(), sweep.words->several());
  text.caption += thinned_text(parts.values.size(), axis.values.size(), "values");
  json chart = chart_view("curve", id, text);
  json ticks = json::array(), series = json::array(), rows = json::array();
  const json labels = value_labels(axis);
  for (const std::size_t value : parts.values) {
    ticks.push_back(axis.position(value));
    rows.push_back(labels[value]);
  }
  for (const SweepSeries* one : parts.series) series.push_back(curve_series(sweep, op, *one, parts));
  chart["rows"] = rows;
  chart["axis"]["ticks"] = ticks;
  chart["axis"]["connected"] = axis.scale != AxisScale::categories;
  chart["axis"]["y"] = divisor_of(sweep, op, *op.largest()).axis;
  chart["axis"]["default"] = axis.default_index ? json(axis.position(*axis.default_index)) : json();
  chart["series"] = series;
  chart["alt"] = fmt::format("Chart: {}. The table holds the numbers.", text.title);
  return chart;
}

// --- Two parameters

/// Shades mean the same in every heat map: up to so many times the best's time.
constexpr std::array shades{1.05, 1.25, 1.5, 2.0, 3.0, 5.0};

std::size_t shade_of(double to_best) {
  return static_cast<std::size_t>(std::lower_bound(shades.begin(), shades.end(), to_best) - shades.begin());
}

std::string shade_name(std::size_t shade) {
  return shade < shades.size() ? "up to " + format::plain_times(shades[shade])
                               : "above " + format::plain_times(shades.back());
}

json heat_cell(const Sweep& sweep, const SweepPoint& point, const format::Scale& scale) {
  return {{"row", point.at[0]},
          {"column", point.at[1]},
          {"text",
           point.verified() ? format::significant(point.time->median / scale.divisor, 3) : gap_word(point)},
          {"best", point.standing == Standing::best},
          {"default", point.is_default},
          {"title", title_of(sweep, point)},
          {"hover", format::elide(hover(point), 160)}};
}

/// A series for each shade that occurs, the fastest first; places without a time last.
json heat_series(const Sweep& sweep, const SweepSeries& series, const format::Scale& scale) {
  std::array<json, shades.size() + 1> shaded;
  json gaps = json::array();
  for (const SweepPoint& point : series.points) {
    json& cells = point.verified() ? shaded[shade_of(*point.to_best)] : gaps;
    cells.push_back(heat_cell(sweep, point, scale));
  }
  json list = json::array();
  for (std::size_t i = 0; i < shaded.size(); ++i) {
    if (!shaded[i].empty()) list.push_back({{"name", shade_name(i)}, {"shade", i}, {"points", shaded[i]}});
  }
  if (!gaps.empty()) list.push_back({{"name", "no verified time"}, {"shade", -1}, {"points", gaps}});
  return list;
}

json heat_map(const Sweep& sweep, const OpSweep& op, const SweepSeries& series, const std::string& id) {
  const format::Scale scale = format::scale_for(Unit::second, series.best_point()->time->median);
  const bool usual = series.default_point() != nullptr;
  const ChartText text{
      fmt::format("{} of {} {} ({})", judged_by(sweep, op), op_name(sweep, op),
                  sweep.words->at(series.problem), scale.symbol),
      fmt::format(
          "Medians by {} and {}. The stronger the colour, the faster: shades are multiples of the best "
          "time. Framed: the lowest median.{}",
          parameter_name(sweep.axes[0]), parameter_name(sweep.axes[1]),
          usual ? " Dashed frame: the default." : ""),
      parameter_name(sweep.axes[1])};
  json chart = chart_view("heat_map", id, text);
  chart["axis"]["y"] = parameter_name(sweep.axes[0]);
  chart["rows"] = value_labels(sweep.axes[0]);
  chart["columns"] = value_labels(sweep.axes[1]);
  chart["series"] = heat_series(sweep, series, scale);
  chart["alt"] = fmt::format("Heat map: {}, by {} and {}. The table holds the numbers.", text.title,
                             parameter_name(sweep.axes[0]), parameter_name(sweep.axes[1]));
  return chart;
}

}  // namespace

std::string judged_by(const Sweep& sweep, const OpSweep& op) {
  return sweep.words->time_label(op.compared_by);
}

std::string op_name(const Sweep& sweep, const OpSweep& op) {
  return sweep.words->timed(op.op.name);
}

std::vector<json> sweep_charts(const Sweep& sweep, const OpSweep& op, Anchors& anchors) {
  std::vector<json> charts;
  if (!sweep.is_grid || op.largest() == nullptr) return charts;
  const std::string name =
      fmt::format("{} sweep {}", sweep.variant->info.id, op.op.name.empty() ? "total" : op.op.name);
  if (sweep.axes.size() == 1) charts.push_back(curve(sweep, op, anchors.make(name)));
  if (sweep.axes.size() != 2) return charts;
  const std::vector<const SweepSeries*> drawn = drawn_series(op, most_heat_maps);
  for (auto series = drawn.rbegin(); series != drawn.rend(); ++series) {
    if (!(*series)->best) continue;
    json map = heat_map(sweep, op, **series,
                        anchors.make(fmt::format("{} {}", name, problem_id((*series)->problem))));
    map["caption"] = map["caption"].get<std::string>() +
                     thinned_text(drawn.size(), op.series.size(), sweep.words->several());
    charts.push_back(std::move(map));
  }
  return charts;
}

}  // namespace mprof
