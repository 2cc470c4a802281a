// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/program_parts.hpp"
#include "report/wording/slow_steps.hpp"

/// How long each step of a program took, over the run.
namespace mprof {
namespace {

using nlohmann::json;

/// The least that the axis spans, as a factor: less would make mountains of noise.
constexpr double least_pace_span = 1.2;

json pace_chart(const Steps& steps, const std::vector<std::size_t>& slow, const std::string& id) {
  const double usual = steps.median_pace();
  std::vector<std::size_t> needed;
  for (const std::size_t step : slow) needed.push_back(step - steps.steady);
  const std::vector<std::size_t> places = places_to_draw(steps.steady_steps(), most_chart_points, needed);
  json rows = json::array(), ticks = json::array(), points = json::array();
  for (const std::size_t place : places) {
    const std::size_t step = steps.steady + place;
    const auto pace = static_cast<double>(steps.all[step].pace);
    const double value = std::max(pace / usual, 1e-6);
    points.push_back({{"row", points.size()},
                      {"value", value},
                      {"low", value},
                      {"high", value},
                      {"best", std::ranges::find(slow, step) != slow.end()},
                      {"title", fmt::format("Step {}", step + 1)},
                      {"text", fmt::format("{}", step + 1)},
                      {"hover", format::nanoseconds(pace)}});
    rows.push_back(fmt::format("{}", step + 1));
    ticks.push_back(step);
  }
  json chart = chart_view(
      "history", id,
      {"The pace of the steps",
       fmt::format("Each steady step's time over their median, {}.{} Larger, with its number: a "
                   "slow step.",
                   format::nanoseconds(usual), thinned_text(places.size(), steps.steady_steps(), "steps")),
       "Step"});
  chart["rows"] = rows;
  chart["series"] = json::array({{{"name", "Step"}, {"points", points}, {"gaps", json::array()}}});
  chart["axis"].update({{"ticks", ticks},
                        {"connected", true},
                        {"y", "Time over the median (×)"},
                        {"default", nullptr},
                        {"least", least_pace_span},
                        {"changes", json::array()}});
  chart["alt"] = fmt::format("Chart: the time of {} over their median, of which {} slow.",
                             format::plural(steps.steady_steps(), "step"),
                             slow.size() == 1 ? "1 is" : fmt::format("{} are", slow.size()));
  return chart;
}

}  // namespace

json pace_view(const ProgramPicture& picture, const PageContext& page) {
  if (!picture.steps) return false;
  const Steps& steps = *picture.steps;
  json slow = json::array();
  for (const SlowStep& one : picture.slow) slow.push_back(slow_step_text(one));
  const std::vector<std::size_t> all = steps.slow();
  return {
      {"chart", page.plan->place(pace_chart(steps, all, page.anchor("program pace")))},
      {"slow", slow},
      {"more", all.size() > slow.size() ? fmt::format("{} more slow steps.", all.size() - slow.size()) : ""}};
}

}  // namespace mprof
