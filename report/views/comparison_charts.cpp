// SPDX-License-Identifier: MIT
#include "report/views/comparison_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/page_plan.hpp"
#include "report/views/sample_charts.hpp"
#include "report/wording/comparison.hpp"
#include "report/wording/judgement.hpp"

namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t most_rows_to_filter = 400;  // a page holds these, and shows most_chart_rows of them
constexpr double least_move = 1;                  // percentage points: less is noise of the counters
constexpr std::size_t most_samples_of_a_side = 250;
constexpr std::array verdicts{Verdict::slower, Verdict::faster, Verdict::inconclusive, Verdict::same};

/// The case without its family where all are of one, and without axes that are the same throughout.
std::string case_label(const Comparison& comparison, const CaseComparison& c) {
  const Words& words = words_of(comparison, c);
  std::string id = format::one_line(c.id.substr(0, c.id.rfind('@')));
  if (!words.axes().empty()) id += "@" + words.values({c.key.problem});
  if (comparison.words.size() == 1) id = id.substr(std::min(id.find('/') + 1, id.size()));
  return format::elide(id, longest_chart_label);
}

std::string time_label(const Comparison& comparison, const CaseComparison& c, const TimeComparison& time) {
  const Words& words = words_of(comparison, c);
  if (time.metric == "step_time") return named_time(words, time);
  if (time.op.empty()) return words.time("total_time");
  if (is_traced(time)) return format::elide(compared_time(words, time), longest_chart_label);
  const std::string op = format::elide(format::one_line(time.op), longest_chart_label);
  return time_name(words, time.metric, op);
}

json tag(Verdict verdict, const std::string& text) {
  return {{"verdict", to_string(verdict)}, {"text", text}};
}

/// How a row of an op is found: by the verdict on its time.
Verdict verdict_on(const CaseComparison& c, const std::string& op) {
  for (const TimeComparison& time : c.times) {
    if (time.op == op) return time.speed_up.verdict;
  }
  return Verdict::inconclusive;
}

// --- Forest plot

struct ForestRow {
  const CaseComparison* of_case = nullptr;
  const TimeComparison* time = nullptr;

  [[nodiscard]] double size() const { return std::abs(std::log(*time->ratio)); }
  [[nodiscard]] int rank() const {
    return is_change(time->speed_up.verdict) ? 0 : time->speed_up.is_open_by_disturbance() ? 2 : 1;
  }
};

/// What was told first and what was disturbed last, each by size.
std::vector<ForestRow> forest_rows(const Comparison& comparison) {
  std::vector<ForestRow> rows;
  for (const CaseComparison& c : comparison.cases) {
    for (const TimeComparison& time : c.times) {
      if (time.ratio) rows.push_back({&c, &time});
    }
  }
  std::ranges::stable_sort(rows, [](const ForestRow& a, const ForestRow& b) {
    return std::pair(a.rank(), -a.size()) < std::pair(b.rank(), -b.size());
  });
  return rows;
}

std::string forest_hover(const TimeComparison& time) {
  std::string text = format::signed_percent(*time.ratio - 1);
  if (const auto interval = time.speed_up.ratio_interval())
    text += fmt::format(" ({} to {})", format::signed_percent(interval->low - 1),
                        format::signed_percent(interval->high - 1));
  return fmt::format("{}; A {}, B {}", text, format::quantity(time.a->median, Unit::second),
                     format::quantity(time.b->median, Unit::second));
}

json forest_point(std::size_t row, const TimeComparison& time, const Thresholds& thresholds) {
  const Interval interval = time.speed_up.ratio_interval().value_or(Interval{*time.ratio, *time.ratio});
  const auto rounded = [](double ratio) { return format::rounded(ratio, 5); };
  return {{"row", row},
          {"value", rounded(*time.ratio)},
          {"low", rounded(interval.low)},
          {"high", rounded(interval.high)},
          {"threshold", thresholds.of(*time.a, *time.b)},
          {"text", format::signed_percent(*time.ratio - 1)},
          {"hover", forest_hover(time)}};
}

json forest_series(const std::vector<ForestRow>& rows, const Thresholds& thresholds) {
  json list = json::array();
  for (const Verdict verdict : verdicts) {
    json points = json::array();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (rows[row].time->speed_up.verdict == verdict)
        points.push_back(forest_point(row, *rows[row].time, thresholds));
    }
    if (!points.empty()) list.push_back({{"name", to_string(verdict)}, {"points", points}});
  }
  return list;
}

/// What a page can say before a reader has chosen: how many are not drawn, and where the others are.
std::string how_many_more(std::size_t all, std::string_view where) {
  if (all <= most_chart_rows) return {};
  const std::string held = all <= most_rows_to_filter ? std::string()
                                                      : fmt::format(" The filter chooses among the first {}.",
                                                                    format::count(most_rows_to_filter));
  return fmt::format("The {} that say most are drawn, {} more are {}.{}", most_chart_rows,
                     format::count(all - most_chart_rows), where, held);
}

json forest(const Comparison& comparison, Anchors& anchors) {
  std::vector<ForestRow> rows = forest_rows(comparison);
  if (rows.empty()) return json::object();
  const std::string more = how_many_more(rows.size(), "in the table");
  rows.resize(std::min(rows.size(), most_rows_to_filter));
  json names = json::array(), tags = json::array();
  for (const ForestRow& row : rows) {
    const std::string label = case_label(comparison, *row.of_case);
    const std::string time = time_label(comparison, *row.of_case, *row.time);
    names.push_back(label + "\n" + time);
    tags.push_back(tag(row.time->speed_up.verdict, label + " " + time));
  }
  const ChartText text{
      "How each time changed",
      fmt::format(
          "B over A with the 95 % interval; right of 1 is slower, and what slowed down most stands on top. "
          "What was disturbed is drawn where there is room. Grey: the threshold, {}. Logarithmic axis.",
          thresholds_text(comparison.thresholds)),
      "Time of B over A (×)"};
  json chart = chart_view("forest", anchors.make("changes"), text);
  chart["rows"] = names;
  chart["tags"] = tags;
  chart["most"] = most_chart_rows;
  chart["more"] = more;
  chart["series"] = forest_series(rows, comparison.thresholds);
  chart["alt"] = fmt::format("Forest plot: ratios of {}. The table holds the numbers.",
                             format::plural(names.size(), "time"));
  return chart;
}

// --- Throughputs

double distance(const Value& a, const Value& b) {
  return a && b ? std::abs(b->median - a->median) : 0;
}

/// How far the one of them moved that moved more, in percentage points.
double distance(const ComparedThroughput& both) {
  return std::max(distance(both.sm_a, both.sm_b), distance(both.memory_a, both.memory_b));
}

/// Those that moved, the farthest first.
std::vector<ComparedThroughput> moved_throughputs(const Comparison& comparison) {
  std::vector<ComparedThroughput> rows = comparison.evidence.throughputs;
  std::erase_if(rows, [](const ComparedThroughput& both) { return distance(both) < least_move; });
  std::ranges::stable_sort(rows, [](const auto& x, const auto& y) { return distance(x) > distance(y); });
  return rows;
}

std::string unmoved_text(std::size_t all, std::size_t moved) {
  if (moved == all) return {};
  return fmt::format("Of {} counted in both runs, {} moved by less than a percentage point.",
                     format::plural(all, "op"), format::count(all - moved));
}

void add_throughput(json& points, std::size_t row, const Value& a, const Value& b) {
  if (!a || !b) return;
  const double change = b->median - a->median;
  points.push_back(
      {{"row", row},
       {"before", format::rounded(a->median, 2)},
       {"value", format::rounded(b->median, 2)},
       {"text", format::signed_fixed(change, 0)},
       {"hover", fmt::format("A {}, B {} ({} points)", format::whole_percent(a->median),
                             format::whole_percent(b->median), format::signed_fixed(change, 1))}});
}

json throughput_chart(const Comparison& comparison, Anchors& anchors) {
  std::vector<ComparedThroughput> rows = moved_throughputs(comparison);
  if (rows.empty()) return json::object();
  const std::size_t all = rows.size();
  rows.resize(std::min(all, most_rows_to_filter));
  json names = json::array(), tags = json::array(), sm = json::array(), memory = json::array();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const CaseComparison& c = comparison.cases[rows[row].of_case];
    const std::string label = case_label(comparison, c);
    const std::string op = format::elide(format::one_line(rows[row].op), longest_chart_label);
    names.push_back(label + "\n" + op);
    tags.push_back(tag(verdict_on(c, rows[row].op), label + " " + op));
    add_throughput(sm, row, rows[row].sm_a, rows[row].sm_b);
    add_throughput(memory, row, rows[row].memory_a, rows[row].memory_b);
  }
  const ChartText text{
      "SM and memory throughput, A to B",
      "Counted by hardware: the kernel that takes the longest in each op. Hollow: A; filled: "
      "B; beside it the change in percentage points. The largest change on top.",
      "% of the GPU's peak"};
  json chart = chart_view("dumbbells", anchors.make("throughputs"), text);
  chart["rows"] = names;
  chart["tags"] = tags;
  chart["most"] = most_chart_rows;
  chart["more"] = how_many_more(all, "not");
  chart["series"] = {{{"name", "SM"}, {"points", sm}}, {{"name", "memory"}, {"points", memory}}};
  chart["alt"] = fmt::format("Chart: throughputs of {} in A and B.", format::plural(names.size(), "op"));
  return chart;
}

/// { unmoved, chart }; false where no op was counted in both runs.
json throughputs_view(const Comparison& comparison, const json& chart) {
  const std::size_t all = comparison.evidence.throughputs.size();
  if (all == 0) return false;
  return {{"unmoved", unmoved_text(all, moved_throughputs(comparison).size())}, {"chart", chart}};
}

// --- Samples

json samples_of(const Comparison& comparison, const CaseSamples& samples, Anchors& anchors) {
  const CaseComparison& c = comparison.cases[samples.of_case];
  std::vector<SamplePanel> panels;
  json tags = json::array();
  for (const ComparedSamples& both : samples.times) {
    const TimeComparison& time = c.times[both.time];
    const std::string name = time_label(comparison, c, time);
    panels.push_back(
        {name,
         {{"A", &both.a}, {"B", &both.b}},
         fmt::format("{} {}", to_string(time.speed_up.verdict), format::signed_percent(*time.ratio - 1))});
    tags.push_back(tag(time.speed_up.verdict, case_label(comparison, c) + " " + name));
  }
  json chart =
      sample_chart(anchors.make("samples " + c.id), format::short_id(c.id), panels, most_samples_of_a_side);
  if (!chart.empty()) chart["tags"] = tags;
  return chart;
}

std::string more_samples(const ComparedEvidence& evidence) {
  if (evidence.more_samples == 0) return {};
  return fmt::format(
      "Drawn are the {} cases with the largest changes. {} with a change or an inconclusive verdict are not "
      "drawn.",
      evidence.samples.size(), format::plural(evidence.more_samples, "more case"));
}

/// What the filter calls things: { verdicts: [text] }, those that occur.
json filter_words(const Comparison& comparison) {
  json words = json::array();
  for (const Verdict verdict : verdicts) {
    if (comparison.count(verdict) > 0) words.push_back(to_string(verdict));
  }
  return {{"verdicts", words}};
}

}  // namespace

ComparisonCharts comparison_charts(const Comparison& comparison) {
  PagePlan plan;
  for (const char* taken : {"chart-data", "theme", "charts", "samples"}) (void)plan.anchors.make(taken);
  const auto placed = [&](json chart) -> json {
    if (chart.empty()) return false;
    const json more = chart.value("more", "");
    json said = plan.place(std::move(chart), DrawnOn::screen);
    said["more"] = more;
    return said;
  };
  json samples = json::array();
  const json changes = placed(forest(comparison, plan.anchors));
  const json throughputs = throughputs_view(comparison, placed(throughput_chart(comparison, plan.anchors)));
  for (const CaseSamples& of_case : comparison.evidence.samples) {
    json said = placed(samples_of(comparison, of_case, plan.anchors));
    if (said.is_object()) samples.push_back(std::move(said));
  }
  ComparisonCharts result;
  result.view = {
      {"forest", changes},
      {"throughputs", throughputs},
      {"samples", samples.empty() ? json(false)
                                  : json{{"reading", how_to_read_samples(true)},
                                         {"more", more_samples(comparison.evidence)},
                                         {"charts", samples}}},
      {"filter_json", filter_words(comparison).dump(-1, ' ', false, json::error_handler_t::replace)}};
  for (PlannedChart& planned : plan.take_charts()) result.charts.push_back(std::move(planned.chart));
  return result;
}

}  // namespace mprof
