// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/analysis/standing/standings.hpp"
#include "report/text/format.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/views.hpp"

/// What charts.js draws. Numbers are scaled here and every label is finished, so that the scripts only place
/// marks.
namespace mprof {
namespace {

using nlohmann::json;

/// A value to draw and what a tooltip says of it; nullopt leaves a gap.
struct Mark {
  double value = 0;
  std::optional<Interval> interval;
  std::string text;
};
using MarkOf = std::function<std::optional<Mark>(const CaseResult&)>;

const Value* time_of(const CaseResult& result, const std::string& op) {
  if (op.empty()) return &result.total_time;
  const OpResult* found = result.find_op(op);
  return found == nullptr ? nullptr : &found->op_time;
}

const SpeedUp* speed_up_of(const CaseResult& result, const std::string& op) {
  if (op.empty()) return &result.total_speed_up;
  const OpResult* found = result.find_op(op);
  return found == nullptr ? nullptr : &found->speed_up;
}

/// What is drawn of a variant at the largest problem at which something is.
double largest_mark(const FamilyResult& family, const VariantResult& variant, const MarkOf& mark_of) {
  for (auto problem = family.problems.rbegin(); problem != family.problems.rend(); ++problem) {
    const CaseResult* result = variant.representative(*problem);
    if (result == nullptr || !result->ok()) continue;
    if (const auto mark = mark_of(*result)) return mark->value;
  }
  return 0;
}

/// The rows that there is room for, in the order in which they stand.
template <class Value>
void keep_the_best(std::vector<const VariantResult*>& drawn, Better better, Value value) {
  if (drawn.size() <= most_chart_rows) return;
  std::vector<double> values;
  for (const VariantResult* variant : drawn)
    values.push_back(better == Better::lower ? value(*variant) : -value(*variant));
  std::vector<double> sorted = values;
  std::ranges::nth_element(sorted, sorted.begin() + most_chart_rows - 1);
  std::vector<const VariantResult*> kept;
  for (std::size_t i = 0; i < drawn.size() && kept.size() < most_chart_rows; ++i) {
    if (values[i] <= sorted[most_chart_rows - 1]) kept.push_back(drawn[i]);
  }
  drawn = std::move(kept);
}

/// The variants of a chart, and what it shows of each at each problem.
struct DotRows {
  std::vector<const VariantResult*> variants{};
  std::vector<std::vector<std::optional<Mark>>> marks{};  ///< of each variant, problem by problem
};

/// Those of which something is to be drawn at some problem.
std::vector<const VariantResult*> variants_with(const FamilyResult& family, const MarkOf& mark_of) {
  std::vector<const VariantResult*> drawn;
  const auto has_mark = [&](const VariantResult& variant) {
    return std::any_of(family.problems.begin(), family.problems.end(), [&](const Problem& problem) {
      const CaseResult* result = variant.representative(problem);
      return result != nullptr && result->ok() && mark_of(*result).has_value();
    });
  };
  for (const VariantResult& variant : family.variants) {
    if (has_mark(variant)) drawn.push_back(&variant);
  }
  return drawn;
}

DotRows rows_of(const FamilyResult& family, std::vector<const VariantResult*> variants,
                const MarkOf& mark_of) {
  DotRows rows{std::move(variants), {}};
  for (const VariantResult* variant : rows.variants) {
    auto& marks = rows.marks.emplace_back();
    for (const Problem& problem : family.problems) {
      const CaseResult* result = variant->representative(problem);
      marks.push_back(result != nullptr && result->ok() ? mark_of(*result) : std::nullopt);
    }
  }
  return rows;
}

/// Places of the problems at which the lowest and the highest value of all stand.
std::vector<std::size_t> extremes_of(const DotRows& rows) {
  std::optional<double> lowest, highest;
  std::vector<std::size_t> places(2, 0);
  for (const auto& marks : rows.marks) {
    for (std::size_t place = 0; place < marks.size(); ++place) {
      if (!marks[place]) continue;
      const double value = marks[place]->value;
      if (!lowest || value < *lowest) {
        lowest = value;
        places[0] = place;
      }
      if (!highest || value > *highest) {
        highest = value;
        places[1] = place;
      }
    }
  }
  return places;
}

/// Problems that are drawn: no more than a chart has room for points, nor than a legend for names.
std::vector<std::size_t> problems_to_draw(const FamilyResult& family, const DotRows& rows) {
  const std::size_t most = std::clamp(most_chart_points / std::max<std::size_t>(rows.variants.size(), 1),
                                      fewest_thinned_problems, most_chart_problems);
  const bool fits = family.problems.size() <= most_chart_problems &&
                    family.problems.size() * rows.variants.size() <= most_chart_points;
  return places_to_draw(family.problems.size(), fits ? family.problems.size() : most, extremes_of(rows));
}

json dot_points(const DotRows& rows, std::size_t problem) {
  json points = json::array();
  for (std::size_t row = 0; row < rows.variants.size(); ++row) {
    const auto& mark = rows.marks[row][problem];
    if (!mark) continue;
    const Interval interval = mark->interval.value_or(Interval{mark->value, mark->value});
    points.push_back({{"row", row},
                      {"value", mark->value},
                      {"low", interval.low},
                      {"high", interval.high},
                      {"text", mark->text}});
  }
  return points;
}

/// One dot for each variant (row) and problem (series).
json dots(const FamilyResult& family, Anchors& anchors, const std::string& name, const ChartText& text,
          Better better, const MarkOf& mark_of) {
  json labels = json::array(), series = json::array();
  std::vector<const VariantResult*> drawn = variants_with(family, mark_of);
  std::string caption = text.caption + how_many_are_drawn(drawn.size());
  keep_the_best(drawn, better,
                [&](const VariantResult& variant) { return largest_mark(family, variant, mark_of); });
  const DotRows rows = rows_of(family, std::move(drawn), mark_of);
  for (const VariantResult* variant : rows.variants) labels.push_back(row_label(*variant));
  const std::vector<std::size_t> places = problems_to_draw(family, rows);
  caption += thinned_text(places.size(), family.problems.size(), family.words.several());
  for (const std::size_t place : places) {
    const Problem& problem = family.problems[place];
    series.push_back({{"name", family.words.problem(problem)},
                      {"problem", problem_id(problem)},
                      {"points", dot_points(rows, place)}});
  }
  const std::string id = anchors.make(fmt::format("{} {}", family.id, name));
  json chart = chart_view("dots", id, {text.title, caption, text.axis});
  chart["axis"]["log"] = true;
  chart["alt"] = alternative(text.title, labels);
  chart["rows"] = labels;
  chart["series"] = series;
  return chart;
}

bool is_empty(const json& chart) {
  return chart["rows"].empty();
}

/// The prefix in which most of the drawn times read well.
format::Scale time_scale(const FamilyResult& family, const std::string& op) {
  std::vector<double> times;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      const Value* time = time_of(result, op);
      if (time != nullptr && *time) times.push_back((*time)->median);
    }
  }
  return format::scale_for(Unit::second, times.empty() ? 1 : median(times));
}

std::string with_interval(const std::string& text, const Estimate& estimate) {
  const auto width = relative_half_width(estimate);
  return width ? fmt::format("{} {}", text, format::plus_minus(*width)) : text;
}

bool says_little(const CaseResult& result, const std::string& op) {
  const OpResult* found = result.find_op(op);
  return found != nullptr && found->flaw != OpTimeFlaw::none;
}

/// An op time near zero beside real ones would look like a triumph, one with copies like a failure.
std::string left_out(const FamilyResult& family, const std::string& op) {
  std::vector<std::string> names;
  for (const VariantResult& variant : family.variants) {
    const bool any = std::any_of(variant.cases.begin(), variant.cases.end(),
                                 [&](const CaseResult& result) { return says_little(result, op); });
    if (any) names.push_back(row_label(variant));
  }
  return names.empty() ? ""
                       : fmt::format(" Left out, since their op times say little: {}.", format::list(names));
}

json time_chart(const FamilyResult& family, Anchors& anchors, const std::string& op,
                const std::string& name) {
  const format::Scale scale = time_scale(family, op);
  const std::string label = family.words.time_label(op.empty() ? "total_time" : "op_time");
  const ChartText text{
      op.empty() ? label : fmt::format("{} of {}", label, format::one_line(op)),
      fmt::format(
          "Each variant and {}, as in the tables, with the interval as a line; further left is faster. "
          "Logarithmic axis.{}",
          family.words.one(), left_out(family, op)),
      fmt::format("{} ({})", label, scale.symbol)};
  json chart =
      dots(family, anchors, name, text, Better::lower, [&](const CaseResult& result) -> std::optional<Mark> {
        const Value* time = time_of(result, op);
        if (time == nullptr || !*time || !((*time)->median > 0) || says_little(result, op))
          return std::nullopt;
        const Estimate& estimate = **time;
        Mark mark{estimate.median / scale.divisor, std::nullopt,
                  with_interval(format::quantity(estimate.median, Unit::second), estimate)};
        if (estimate.interval && estimate.interval->low > 0) {
          mark.interval =
              Interval{estimate.interval->low / scale.divisor, estimate.interval->high / scale.divisor};
        }
        return mark;
      });
  set_subject(chart, op);
  return chart;
}

json speed_up_chart(const FamilyResult& family, Anchors& anchors, const std::string& op,
                    const std::string& name) {
  const ChartText text{
      fmt::format("Speed-up of {} over the declared baseline",
                  op.empty() ? family.words.timed(op) : format::one_line(op)),
      "Each variant against its own baseline; right of the line at 1 is faster. Logarithmic axis.",
      "Speed-up (×)"};
  json chart =
      dots(family, anchors, name, text, Better::higher, [&](const CaseResult& result) -> std::optional<Mark> {
        const SpeedUp* gain = speed_up_of(result, op);
        if (gain == nullptr || !*gain) return std::nullopt;
        std::string words =
            fmt::format("{} over {}", format::times(*gain->factor),
                        format::elide(format::one_line(result.baseline), longest_chart_label));
        return Mark{*gain->factor, gain->interval, words};
      });
  chart["axis"]["reference"] = 1;
  set_subject(chart, op);
  return chart;
}

/// What the machine could do is a limit, so a bar that fills towards it reads best; hatched, for it is
/// modelled.
json throughput_chart(const FamilyResult& family, Anchors& anchors, const OpInfo& op, const std::string& name,
                      const Problem& problem) {
  json rows = json::array();
  json compute = json::array(), memory = json::array(), special = json::array();
  std::size_t all = 0;
  const auto point = [](std::size_t row, const Value& value) {
    return json{{"row", row}, {"value", value->median}, {"text", format::percent(value->median / 100)}};
  };
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result = variant.representative(problem);
    const OpResult* found = result == nullptr || !result->ok() ? nullptr : result->find_op(op.name);
    if (found == nullptr || found->flaw != OpTimeFlaw::none) continue;
    if (!found->compute_throughput && !found->memory_throughput) continue;
    if (++all > most_chart_rows) continue;
    if (found->compute_throughput) compute.push_back(point(rows.size(), found->compute_throughput));
    if (found->memory_throughput) memory.push_back(point(rows.size(), found->memory_throughput));
    if (op.special_operations > 0 && found->special_throughput)
      special.push_back(point(rows.size(), found->special_throughput));
    rows.push_back(row_label(variant));
  }
  const std::string id = anchors.make(fmt::format("{} {}", family.id, name));
  const ChartText text{
      fmt::format("Modelled throughput of {} {}", format::one_line(op.name), family.words.at(problem)),
      "Useful work over op time, in percent of the peaks measured on this machine. Hatched: "
      "modelled from the op's definition, not counted by hardware." +
          (all > most_chart_rows ? fmt::format(" Drawn are the first {} of {}.", most_chart_rows, all)
                                 : std::string()),
      "% of the measured peak"};
  json chart = chart_view("percent_bars", id, text);
  set_subject(chart, op.name, &problem);
  chart["modelled"] = true;
  chart["alt"] = alternative(text.title, rows);
  chart["rows"] = rows;
  chart["series"] = {{{"name", "FP32 peak"}, {"points", compute}},
                     {{"name", "memory bandwidth"}, {"points", memory}}};
  if (!special.empty()) chart["series"].push_back({{"name", "special-function peak"}, {"points", special}});
  return chart;
}

}  // namespace

json family_charts(const FamilyResult& family, PagePlan& plan) {
  json charts = json::array();
  const auto add = [&](json chart) {
    if (!is_empty(chart)) charts.push_back(plan.place(std::move(chart)));
  };
  const auto numbered = [](std::string_view what, std::size_t op) {
    return fmt::format("{} {}", what, op + 1);
  };
  Anchors& anchors = plan.anchors;
  for (std::size_t i = 0; i < family.ops.size(); ++i) {
    add(time_chart(family, anchors, family.ops[i].name, numbered("op time", i)));
  }
  for (std::size_t i = 0; i < family.ops.size(); ++i) {
    add(speed_up_chart(family, anchors, family.ops[i].name, numbered("speed-up", i)));
  }
  add(time_chart(family, anchors, "", "total time"));
  add(speed_up_chart(family, anchors, "", "total speed-up"));
  // What a machine can do shows best at the largest problem.
  const Problem* largest = largest_measured(family);
  for (std::size_t i = 0; largest != nullptr && i < family.ops.size(); ++i) {
    add(throughput_chart(family, anchors, family.ops[i], numbered("throughput", i), *largest));
  }
  return charts;
}

}  // namespace mprof
