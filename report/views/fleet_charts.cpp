// SPDX-License-Identifier: MIT
#include "report/views/fleet_charts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/chart_parts.hpp"

namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t most_map_times = 30;  // of a map: more of them have no room for a name
/// Shades are shares of the fleet's performance: the first is what stands out most. The limit of what is slow
/// is among them.
constexpr std::array fleet_shades{0.6, 0.7, 0.8, 0.9, 0.95, 1.05};

std::size_t fleet_shade_of(double performance) {
  return static_cast<std::size_t>(std::ranges::upper_bound(fleet_shades, performance) - fleet_shades.begin());
}

std::string fleet_shade_name(std::size_t shade) {
  const auto percent = [](double share) { return format::whole_percent(100 * share); };
  if (shade == 0) return "below " + percent(fleet_shades.front());
  if (shade == fleet_shades.size()) return "above " + percent(fleet_shades.back());
  return fmt::format("{} to {}", percent(fleet_shades[shade - 1]), percent(fleet_shades[shade]));
}

bool has_other_bits(const FleetVerdict& verdict, const std::string& time) {
  return std::ranges::find(verdict.other_outputs, time) != verdict.other_outputs.end();
}

/// Where one of the drawn GPUs has other bits, then those in which one is the slowest.
std::vector<std::string> drawn_times(const FleetOfModel& fleet, std::size_t gpus) {
  std::vector<std::pair<double, std::string>> times;
  for (const auto& [time, usual] : fleet.usual_times) {
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t g = 0; g < gpus; ++g) {
      const FleetVerdict& verdict = fleet.verdicts[g];
      if (has_other_bits(verdict, time)) lowest = 0;
      lowest = std::min(lowest, performance_in(fleet, *verdict.member, time).value_or(lowest));
    }
    times.emplace_back(lowest, time);
  }
  std::ranges::sort(times);
  if (times.size() > most_map_times) times.resize(most_map_times);
  std::vector<std::string> names;
  for (auto& [lowest, name] : times) names.push_back(std::move(name));
  std::ranges::sort(names);  // those of one case side by side
  return names;
}

json map_cell(const FleetOfModel& fleet, const MachineLabels& label, std::size_t row, std::size_t column,
              const std::string& time) {
  const FleetVerdict& verdict = fleet.verdicts[row];
  const auto performance = performance_in(fleet, *verdict.member, time);
  const bool crossed = has_other_bits(verdict, time);
  const std::string text = performance ? format::percent(*performance) : std::string("no verified time");
  return {{"row", row},
          {"column", column},
          {"text", text},
          {"crossed", crossed},
          {"title", fmt::format("{}: {}", label(*verdict.member), format::one_line(time))},
          {"hover", text + (crossed ? ", and other bits than the fleet's" : "")}};
}

json map_series(const FleetOfModel& fleet, std::size_t gpus, const std::vector<std::string>& times) {
  std::array<json, fleet_shades.size() + 1> shaded;
  json gaps = json::array();
  const MachineLabels label(fleet);
  for (std::size_t row = 0; row < gpus; ++row) {
    for (std::size_t column = 0; column < times.size(); ++column) {
      const auto performance = performance_in(fleet, *fleet.verdicts[row].member, times[column]);
      json& cells = performance ? shaded[fleet_shade_of(*performance)] : gaps;
      cells.push_back(map_cell(fleet, label, row, column, times[column]));
    }
  }
  json list = json::array();
  for (std::size_t i = 0; i < shaded.size(); ++i) {
    if (!shaded[i].empty())
      list.push_back({{"name", fleet_shade_name(i)}, {"shade", i}, {"points", shaded[i]}});
  }
  if (!gaps.empty()) list.push_back({{"name", "no verified time"}, {"shade", -1}, {"points", gaps}});
  return list;
}

std::string which_are_drawn(const FleetOfModel& fleet, std::size_t gpus, std::size_t times) {
  std::string text;
  if (gpus < fleet.verdicts.size())
    text += fmt::format(" Drawn are {} of {} machines, what is bad first and then the slowest.", gpus,
                        format::count(fleet.verdicts.size()));
  if (times < fleet.usual_times.size())
    text += fmt::format(" Of {} times drawn are the {} in which one of these is slowest or has other bits.",
                        format::count(fleet.usual_times.size()), times);
  return text;
}

}  // namespace

json fleet_chart(const FleetOfModel& fleet, Anchors& anchors) {
  const std::size_t gpus = std::min(fleet.verdicts.size(), most_chart_rows);
  const std::vector<std::string> times = drawn_times(fleet, gpus);
  const MachineLabels label(fleet);
  const ChartText text{
      fmt::format("{}: performance by machine and time", format::one_line(fleet.model)),
      fmt::format("The fleet's time over the machine's: the stronger the colour, the slower. A cross: its "
                  "output has other bits than the fleet's.{}",
                  which_are_drawn(fleet, gpus, times.size())),
      {}};
  json chart = chart_view("fleet_map", anchors.make("map of " + fleet.model), text);
  chart["axis"]["y"] = "";
  chart["rows"] = json::array();
  chart["columns"] = json::array();
  for (std::size_t g = 0; g < gpus; ++g)
    chart["rows"].push_back(format::elide(label(*fleet.verdicts[g].member), longest_chart_label));
  for (const std::string& time : times)
    chart["columns"].push_back(format::elide(format::one_line(time), longest_chart_label));
  chart["series"] = map_series(fleet, gpus, times);
  chart["alt"] = fmt::format("Heat map: {}. The tables name what is bad.", text.title);
  return chart;
}

MachineLabels::MachineLabels(const FleetOfModel& fleet) {
  const std::string& first = fleet.verdicts.front().member->name;
  std::size_t common = first.size();
  for (const FleetVerdict& verdict : fleet.verdicts) {
    const std::string& name = verdict.member->name;
    const auto ends = std::mismatch(first.begin(), first.end(), name.begin(), name.end());
    common = std::min(common, static_cast<std::size_t>(ends.first - first.begin()));
  }
  const std::size_t folder = common == 0 ? std::string::npos : first.rfind('/', common - 1);
  begin_ = folder == std::string::npos ? 0 : folder + 1;
}

std::string MachineLabels::operator()(const FleetMember& member) const {
  const std::string run = member.name.substr(begin_);
  return format::one_line(member.part.empty() ? run : fmt::format("{} {}", run, member.part));
}

}  // namespace mprof
