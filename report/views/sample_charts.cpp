// SPDX-License-Identifier: MIT
#include "report/views/sample_charts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/analysis/findings/sample_series.hpp"
#include "report/text/format.hpp"
#include "report/views/chart_parts.hpp"

namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t most_samples = 500;  // of a time: more of them lie on each other
constexpr std::size_t most_samples_of_a_family = 45000;
constexpr std::size_t fewest_samples = 40;
constexpr std::size_t most_samples_of_a_step = 250;  // of a time, where only a step is to be seen
constexpr std::size_t most_stepped_cases = 2;        // of a variant, beside the one at the largest problem
constexpr std::size_t most_sights = 3;
constexpr std::size_t fewest_for_a_step = 8;
constexpr std::size_t fewest_to_draw = 4;  // in the fullest panel: of fewer a reader sees no series
constexpr double parts_of_center = 1e5;    // whole numbers are short, and more digits than are asked for

/// A distance from the center in parts of it.
long long in_parts(double value, double center) {
  return std::llround((value / center - 1) * parts_of_center);
}

/// What there is to see in the panels of a chart, in words.
struct Sights {
  std::vector<std::string> steps{};
  std::vector<std::string> far_out{};
  std::size_t samples_far_out = 0;
  std::size_t longest_round = 0;
  std::size_t most_in_a_panel = 0;
  std::size_t samples = 0;
  std::size_t drawn = 0;
};

struct Spot {
  const SamplePanel& panel;
  const SampleSide& side;

  /// "map", "map of A".
  [[nodiscard]] std::string words() const {
    return side.name.empty() ? panel.name : fmt::format("{} of {}", panel.name, side.name);
  }
};

/// "+1.3 % (round 2)", the first few of them.
std::vector<std::string> changes_of(const SampleSeries& series) {
  std::vector<std::string> changes;
  for (std::size_t i = 1; i < series.levels.size() && changes.size() < most_sights; ++i) {
    const SampleLevel &before = series.levels[i - 1], &after = series.levels[i];
    if (after.round != before.round) continue;
    changes.push_back(format::signed_percent(after.median / before.median - 1));
    if (series.rounds.size() > 1) changes.back() += fmt::format(" (round {})", after.round + 1);
  }
  if (series.steps() > changes.size())
    changes.push_back(fmt::format("{} more", series.steps() - changes.size()));
  return changes;
}

void see(Sights& sights, const Spot& place, const SampleSeries& series) {
  if (series.steps() > 0)
    sights.steps.push_back(fmt::format("{} by {}", place.words(), format::list(changes_of(series))));
  const auto far = static_cast<std::size_t>(std::ranges::count(series.far_out, true));
  if (far > 0)
    sights.far_out.push_back(fmt::format("{} of {} in {}", far, series.far_out.size(), place.words()));
  sights.samples_far_out += far;
  sights.samples += series.far_out.size();
  sights.longest_round = std::max(sights.longest_round, std::ranges::max(series.rounds));
}

std::string caption_of(const Sights& sights) {
  std::string text = sights.longest_round < fewest_for_a_step ? "Too few samples in a round to tell a step."
                     : sights.steps.empty()                   ? "No step within a round."
                                            : fmt::format("Steps: {}.", fmt::join(sights.steps, "; "));
  if (sights.far_out.size() > most_sights)
    text += fmt::format(" Far out: {}.", format::plural(sights.samples_far_out, "sample"));
  else if (!sights.far_out.empty())
    text += fmt::format(" Far out: {}.", format::list(sights.far_out));
  if (sights.drawn < sights.samples)
    text += fmt::format(" Drawn are {} of {}, evenly chosen, the extremes among them.",
                        format::count(sights.drawn), format::plural(sights.samples, "sample"));
  return text;
}

/// Both ends, the extremes, and what lies evenly between.
std::vector<std::size_t> drawn_samples(std::span<const double> round, std::size_t most) {
  const auto [low, high] = std::ranges::minmax_element(round);
  return places_to_draw(round.size(), most,
                        std::array{static_cast<std::size_t>(low - round.begin()),
                                   static_cast<std::size_t>(high - round.begin())});
}

/// Adds the samples of a side to the panel's view.
void add_side(json& view, Sights& sights, const Spot& place, double center, std::size_t most) {
  const SampleSeries series = sample_series(*place.side.measurement);
  see(sights, place, series);
  const std::span<const double> samples(place.side.measurement->samples);
  const std::size_t most_in_a_round = std::max<std::size_t>(most / series.rounds.size(), 4);
  const std::size_t first_round = view["first_round"];
  json rounds = json::array();
  std::size_t taken = 0;
  for (const std::size_t count : series.rounds) {
    const auto drawn = drawn_samples(samples.subspan(taken, count), most_in_a_round);
    for (const std::size_t at : drawn) {
      if (series.far_out[taken + at]) view["far"].push_back(view["points"].size());
      view["points"].push_back(in_parts(samples[taken + at], center));
    }
    rounds.push_back(drawn.size());
    sights.drawn += drawn.size();
    taken += count;
  }
  for (const SampleLevel& level : series.levels) {
    const auto all = static_cast<double>(series.rounds[level.round]);
    view["levels"].push_back({first_round + level.round,
                              format::rounded(static_cast<double>(level.from) / all, 3),
                              format::rounded(static_cast<double>(level.from + level.count) / all, 3),
                              in_parts(level.median, center)});
  }
  json side{{"name", place.side.name}, {"rounds", rounds}};
  if (const Value value = value_of(*place.side.measurement); value && value->interval)
    side["band"] = {in_parts(value->interval->low, center), in_parts(value->interval->high, center)};
  view["sides"].push_back(side);
  view["first_round"] = first_round + series.rounds.size();
}

bool has_samples(const SampleSide& side) {
  return side.measurement != nullptr && !side.measurement->samples.empty();
}

/// "median 12.3 ms ±0.4 %, 21 samples"; of two sides "A 12.3 ms, B 13.1 ms".
std::string panel_text(const SamplePanel& panel) {
  std::vector<std::string> words;
  if (!panel.note.empty()) words.push_back(panel.note);
  for (const SampleSide& side : panel.sides) {
    if (!has_samples(side)) continue;
    const Value value = value_of(*side.measurement);
    std::string text = fmt::format("{} {}", side.name.empty() ? "median" : side.name,
                                   format::quantity(value->median, Unit::second));
    if (const auto width = relative_half_width(*value); width && side.name.empty())
      text += " " + format::plus_minus(*width);
    words.push_back(text);
    if (side.name.empty()) words.push_back(format::plural(value->samples, "sample"));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

json panel_view(const SamplePanel& panel, Sights& sights, std::size_t most) {
  const auto first = std::ranges::find_if(panel.sides, has_samples);
  if (first == panel.sides.end()) return json::object();
  const double center = value_of(*first->measurement)->median;
  if (!(center > 0)) return json::object();
  const format::Scale scale = format::scale_for(Unit::second, center);
  json view{{"name", format::elide(panel.name, longest_chart_label)},
            {"text", panel_text(panel)},
            {"center", std::stod(fmt::format("{:.6g}", center / scale.divisor))},
            {"unit", scale.symbol},
            {"points", json::array()},
            {"far", json::array()},
            {"levels", json::array()},
            {"sides", json::array()},
            {"first_round", 0}};
  for (const SampleSide& side : panel.sides) {
    if (has_samples(side)) add_side(view, sights, {panel, side}, center, most);
  }
  view.erase("first_round");
  return view;
}

// --- The samples of a variant

/// The time of each op by which it is compared, and the whole.
std::vector<SamplePanel> panels_of(const FamilyResult& family, const CaseResult& result) {
  std::vector<SamplePanel> panels;
  for (const OpResult& op : result.ops) {
    std::string name = format::one_line(op.info.name);
    if (op.compared_by == "group_time") name += fmt::format(" ({})", family.words.time(op.compared_by));
    panels.push_back({name, {{"", find_measurement(*result.source, op.compared_by, op.info.name)}}});
  }
  panels.push_back({family.words.time("total_time"), {{"", find_measurement(*result.source, "total_time")}}});
  return panels;
}

bool steps_somewhere(const FamilyResult& family, const CaseResult& result) {
  return std::ranges::any_of(panels_of(family, result), [](const SamplePanel& panel) {
    const Measurement* measurement = panel.sides.front().measurement;
    return measurement != nullptr && !measurement->derived->series.steps.empty();
  });
}

/// The case at the largest problem, then those that step.
std::vector<const CaseResult*> cases_to_draw(const FamilyResult& family, const VariantResult& variant) {
  std::vector<const CaseResult*> drawn;
  const CaseResult* largest = variant.largest_timed();
  if (largest == nullptr) return drawn;
  drawn.push_back(largest);
  for (auto result = variant.cases.rbegin(); result != variant.cases.rend(); ++result) {
    if (&*result == largest || !result->ok() || drawn.size() > most_stepped_cases) continue;
    if (steps_somewhere(family, *result)) drawn.push_back(&*result);
  }
  return drawn;
}

}  // namespace

json sample_chart(const std::string& id, const std::string& title, std::span<const SamplePanel> panels,
                  std::size_t most) {
  Sights sights;
  json series = json::array();
  std::vector<std::string> names;
  for (const SamplePanel& panel : panels) {
    json view = panel_view(panel, sights, most);
    if (view.empty()) continue;
    names.push_back(view["name"]);
    sights.most_in_a_panel = std::max(sights.most_in_a_panel, view["points"].size());
    series.push_back(std::move(view));
  }
  if (sights.most_in_a_panel < fewest_to_draw) return json::object();
  json chart = chart_view("strip", id, {title, caption_of(sights), "Samples in the order taken"});
  chart["rows"] = json::array();
  chart["series"] = std::move(series);
  chart["alt"] = fmt::format("Strip plot: samples of {}, of {}.", title, format::list(names));
  return chart;
}

std::string how_to_read_samples(bool several_runs) {
  return fmt::format(
      "Every sample in the order in which it was taken, as its distance from {}. Upright lines part the "
      "rounds, each a process of its own. A thick line is the level of a round, and breaks where it steps "
      "(Pettitt's test). The band is the interval of {}next run. A ring is a sample beyond Tukey's outer "
      "fences; a triangle is one out of sight.",
      several_runs ? "A's median" : "the median", several_runs ? "each side's " : "the ");
}

json samples_view(const FamilyResult& family, const VariantResult& variant, PagePlan& plan) {
  const std::size_t most = std::clamp(
      most_samples_of_a_family / std::max<std::size_t>(family.variants.size() * (family.ops.size() + 1), 1),
      fewest_samples, most_samples);
  json charts = json::array();
  for (const CaseResult* result : cases_to_draw(family, variant)) {
    const std::string title =
        fmt::format("{} {}", format::short_id(result->configuration), family.words.at(result->key.problem));
    json chart = sample_chart(plan.anchors.make("samples " + result->id), title, panels_of(family, *result),
                              charts.empty() ? most : std::min(most, most_samples_of_a_step));
    if (!chart.empty()) charts.push_back(plan.place(std::move(chart), DrawnOn::screen));
  }
  if (charts.empty()) return false;
  return {{"title", charts.size() == 1 ? "Raw samples, in the order taken"
                                       : "Raw samples, in the order taken, also where they step"},
          {"reading", how_to_read_samples(false)},
          {"charts", charts}};
}

}  // namespace mprof
