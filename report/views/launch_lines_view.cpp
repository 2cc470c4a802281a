// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/program_parts.hpp"
#include "report/views/table.hpp"
#include "report/wording/launch_lines.hpp"

/// Which lines launch a program's kernels: a table, and a flame graph over the GPU's time.
namespace mprof {
namespace {

using nlohmann::json;

constexpr double launched_second_of_ns = 1e-9;

/// Frames of a chart: narrower or deeper ones nobody can see.
class FlameRows {
 public:
  FlameRows(const Flame& root, double steps) : whole_(root.time), steps_(steps) { add_inner(root, 0, 0); }

  [[nodiscard]] const json& rows() const { return rows_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }

 private:
  void add_inner(const Flame& flame, std::int64_t begin, std::size_t depth) {
    constexpr std::size_t deepest = 48;
    constexpr double narrowest = 0.001;
    if (depth >= deepest) return;
    for (const Flame& inner : flame.inner) {
      const double share = static_cast<double>(inner.time) / static_cast<double>(whole_);
      if (share < narrowest) break;  // the longest come first
      depth_ = std::max(depth_, depth + 1);
      rows_.push_back({100 * static_cast<double>(begin) / static_cast<double>(whole_), 100 * share, depth,
                       inner.is_kernel ? 1 : 0, name_of(inner), words_of(inner, share)});
      add_inner(inner, begin, depth + 1);
      begin += inner.time;
    }
  }

  static std::string name_of(const Flame& flame) {
    if (flame.is_kernel) return format::one_line(flame.place.function);
    const std::string place = place_text(flame.place), around = around_place(flame.place);
    return flame.place.line != 0 ? fmt::format("{} ({})", around, place) : place;
  }

  [[nodiscard]] std::string words_of(const Flame& flame, double share) const {
    return fmt::format(
        "{} of GPU time{}, {}",
        format::quantity(static_cast<double>(flame.time) * launched_second_of_ns / steps_, Unit::second),
        steps_ > 1 ? " a step" : "", format::percent(share));
  }

  std::int64_t whole_;
  double steps_;
  json rows_ = json::array();
  std::size_t depth_ = 0;
};

json flame_chart(const LaunchLines& lines, double steps, const std::string& id) {
  const FlameRows flames(lines.flame, steps);
  json chart = chart_view("flame", id,
                          {"Where kernels come from",
                           "From the outermost function down to the kernels. The width is the time of the "
                           "kernels that were launched below it, one after the other.",
                           "Share of the time of kernels (%)"});
  chart["rows"] = json::array();
  chart["series"] = json::array({{{"name", "Frames"}, {"points", flames.rows()}}});
  chart["depth"] = flames.depth();
  const LaunchLine& first = lines.lines.front();
  chart["alt"] = fmt::format(
      "Flame graph: the functions that launch kernels, by the kernels' time. {} launches {} of it. The table "
      "has each line.",
      place_text(first.place),
      format::percent(static_cast<double>(first.time) / static_cast<double>(lines.time)));
  return chart;
}

Table lines_table(const LaunchLines& lines, double steps, const PageContext& page) {
  constexpr std::size_t most = 20, longest_kernel = 48;
  const std::string a_step = steps > 1 ? " a step" : "";
  const std::size_t shown = std::min(most, lines.lines.size());
  Table table(
      page.anchor("program lines"),
      fmt::format("{} that launch kernels, by the time of these.",
                  shown < lines.lines.size() ? fmt::format("The {} lines of {}", shown, lines.lines.size())
                                             : "The lines"));
  table.text("Line").text("In").numbers("Launches" + a_step).numbers("GPU time" + a_step, Unit::second);
  table.numbers("Share").text("Kernel that takes the longest");
  for (std::size_t i = 0; i < shown; ++i) {
    const LaunchLine& line = lines.lines[i];
    const double launches = static_cast<double>(line.launches) / steps;
    const double share = static_cast<double>(line.time) / static_cast<double>(lines.time);
    const auto& [kernel, time] = line.kernels.front();
    std::string longest = format::elide(format::one_line(kernel), longest_kernel);
    if (line.kernels.size() > 1)
      longest +=
          fmt::format(" ({})", format::percent(static_cast<double>(time) / static_cast<double>(line.time)));
    table.row({Cell::words(place_text(line.place)), Cell::words(around_place(line.place)),
               Cell::figure(format::significant(launches, 3)).valued(launches),
               Cell::bare(derived_value(static_cast<double>(line.time) * launched_second_of_ns / steps)),
               Cell::figure(format::percent(share)).valued(share), Cell::words(longest)});
  }
  return table;
}

}  // namespace

json launch_lines_view(const ProgramPicture& picture, const PageContext& page) {
  if (!picture.launched_from) return false;
  const LaunchLines& lines = *picture.launched_from;
  const double steps = picture.steps ? static_cast<double>(picture.steps->steady_steps()) : 1;
  return {{"table", lines_table(lines, steps, page).view()},
          {"remarks", launch_lines_remarks(lines)},
          {"chart", page.plan->place(flame_chart(lines, steps, page.anchor("program launches")))}};
}

}  // namespace mprof
