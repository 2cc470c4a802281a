// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/ranks_view.hpp"

namespace mprof {
namespace {

using nlohmann::json;

// --- The map

constexpr std::size_t most_map_rows = 64, most_map_columns = 160;
/// Shades are shares of a step: the first is what stands out most.
constexpr std::array map_shades{0.4, 0.25, 0.15, 0.08, 0.04, 0.01};

std::size_t map_shade_of(double share) {
  std::size_t shade = 0;
  while (shade < map_shades.size() && share < map_shades.at(shade)) ++shade;
  return shade;
}

std::string map_shade_name(std::size_t shade) {
  const auto percent = [](double share) { return format::whole_percent(100 * share); };
  if (shade == 0) return "above " + percent(map_shades.front());
  if (shade == map_shades.size()) return "below " + percent(map_shades.back());
  return fmt::format("{} to {}", percent(map_shades.at(shade)), percent(map_shades.at(shade - 1)));
}

/// Neighbours share a place where there are too many: `count` in at most `most` places.
struct Places {
  std::size_t count = 0;
  std::size_t each = 1;
  Places(std::size_t number, std::size_t most) : count(number), each((number + most - 1) / most) {}
  [[nodiscard]] std::size_t size() const { return (count + each - 1) / each; }
  [[nodiscard]] std::size_t begin(std::size_t place) const { return place * each; }
  [[nodiscard]] std::size_t end(std::size_t place) const { return std::min(count, (place + 1) * each); }
};

std::string span_text(const std::string& first, const std::string& last) {
  return first == last ? first : fmt::format("{} to {}", first, last);
}

struct MapCell {
  double share = -1;  ///< the largest of its ranks and steps; below 0: none has such a step
  std::size_t rank = 0;
  std::size_t step = 0;
};

MapCell largest_in(const World& world, const Places& rows, std::size_t row, const Places& columns,
                   std::size_t column) {
  MapCell largest;
  for (std::size_t r = rows.begin(row); r < rows.end(row); ++r) {
    for (std::size_t s = columns.begin(column); s < columns.end(column); ++s) {
      const RankCell& cell = world.cell(r, s);
      if (cell.length <= 0) continue;
      const double share = static_cast<double>(cell.exposed) / static_cast<double>(cell.length);
      if (share > largest.share) largest = {share, r, s};
    }
  }
  return largest;
}

// --- The slowest step

constexpr std::size_t most_lanes = 16;
constexpr double step_lane = 26, step_lane_gap = 6, step_label_width = 90, step_picture_width = 1000,
                 step_axis = 22;

/// The late ones, those that wait the least, and the one that waits the most; in their order.
std::vector<std::size_t> drawn_ranks(const World& world) {
  std::vector<std::size_t> order(world.ranks.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  if (order.size() <= most_lanes) return order;
  std::set<std::size_t> chosen;
  for (const LateRank& late : world.late) {
    if (chosen.size() < most_lanes / 2) chosen.insert(late.rank);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t r) { return world.cell(r, *world.slowest).waiting; });
  chosen.insert(order.back());
  for (const std::size_t rank : order) {
    if (chosen.size() == most_lanes) break;
    chosen.insert(rank);
  }
  return {chosen.begin(), chosen.end()};
}

class StepPicture {
 public:
  explicit StepPicture(const World& world) : world_(world), ranks_(drawn_ranks(world)) {
    bool is_first = true;
    for (const std::size_t r : ranks_) {
      const RankStep* step = world.step_of(r, *world.slowest);
      if (step == nullptr) continue;
      const double start = world.clocks.common(r, step->time.start),
                   end = world.clocks.common(r, step->time.end);
      begin_ = is_first ? start : std::min(begin_, start);
      end_ = is_first ? end : std::max(end_, end);
      is_first = false;
    }
  }

  std::string draw() {
    if (end_ <= begin_) return "";
    const double height = step_axis + static_cast<double>(ranks_.size()) * (step_lane + step_lane_gap) + 4;
    svg_ = fmt::format(
        "<svg class=\"ranks-step\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Step {}: what "
        "each rank does over {}. The tables have the sums.\">",
        step_label_width + step_picture_width, height, *world_.slowest, format::nanoseconds(end_ - begin_));
    draw_axis(height);
    for (std::size_t i = 0; i < ranks_.size(); ++i) draw_lane(i);
    draw_arrows();
    return svg_ + "</svg>";
  }

 private:
  [[nodiscard]] double x(double time) const {
    return step_label_width + step_picture_width * std::clamp((time - begin_) / (end_ - begin_), 0.0, 1.0);
  }
  [[nodiscard]] static double y(std::size_t place) {
    return step_axis + static_cast<double>(place) * (step_lane + step_lane_gap);
  }

  void draw_axis(double height) {
    constexpr int ticks = 5;
    for (int i = 0; i <= ticks; ++i) {
      const double time = (end_ - begin_) * i / ticks;
      svg_ += fmt::format(
          "<line class=\"tick\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2:.0f}\"/><text x=\"{0:.1f}\" "
          "y=\"14\" class=\"{3}\">{4}</text>",
          x(begin_ + time), step_axis - 4, height, i == ticks ? "last" : "tick",
          i == 0 ? "0" : format::nanoseconds(time));
    }
  }

  void block(std::size_t place, double start, double end, std::string_view what) {
    const double from = x(start), to = x(end);
    if (to - from < 0.05) return;
    svg_ += fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\"/>",
                        what, from, y(place), to - from, step_lane);
  }

  void draw_lane(std::size_t place) {
    const std::size_t rank = ranks_[place];
    svg_ += fmt::format(
        "<text x=\"0\" y=\"{:.0f}\">{}</text>", y(place) + step_lane / 2 + 5,
        format::xml_text(format::elide(fmt::format("Rank {}", format::one_line(world_.label(rank))), 13)));
    const RankStretches& stretches = world_.ranks[rank].stretches;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const RankStretch stretch = stretches[i];
      if (stretch.what == RankActivity::idle) continue;
      const double start = world_.clocks.common(rank, stretch.time.start);
      const double end = world_.clocks.common(rank, stretch.time.end);
      if (end > begin_ && start < end_) block(place, start, end, to_string(stretch.what));
    }
  }

  /// Where ranks waited for one: the part before it came is hatched, and an arrow goes from it to them.
  void draw_arrows() {
    struct Wait {
      double length = 0;
      const Meeting* meeting = nullptr;
      Arrival arrival{};
    };
    std::vector<Wait> waits;
    for (const Meeting& meeting : world_.meetings.all) {
      const Arrival arrival = last_arrival(world_, meeting);
      if (arrival.last <= begin_ || arrival.last >= end_) continue;
      double length = 0;
      for (const MeetingPart& part : meeting.parts)
        length = std::max(length, static_cast<double>(waiting_in(world_, part, arrival).length()));
      if (length > 0) waits.push_back({length, &meeting, arrival});
    }
    constexpr std::size_t most = 40, most_arrows = 12;
    std::ranges::stable_sort(waits, std::ranges::greater{}, &Wait::length);
    if (waits.size() > most) waits.resize(most);
    for (std::size_t i = 0; i < waits.size(); ++i)
      draw_wait(*waits[i].meeting, waits[i].arrival, i < most_arrows);
  }

  void draw_wait(const Meeting& meeting, const Arrival& arrival, bool has_arrow) {
    std::optional<std::size_t> top, bottom, last;
    for (std::size_t i = 0; i < meeting.parts.size(); ++i) {
      const MeetingPart& part = meeting.parts[i];
      const auto found = std::ranges::find(ranks_, std::size_t{part.rank});
      if (found == ranks_.end()) continue;
      const auto place = static_cast<std::size_t>(found - ranks_.begin());
      if (i == arrival.part) last = place;
      top = std::min(top.value_or(place), place);
      bottom = std::max(bottom.value_or(place), place);
      const trace::Interval waiting = waiting_in(world_, part, arrival);
      const RankSummary& rank = world_.ranks[part.rank];
      for (const trace::Interval& exposed : rank.exposed_of(rank.collectives[part.collective])) {
        const double start = world_.clocks.common(part.rank, exposed.start);
        const double end = world_.clocks.common(part.rank, std::min(exposed.end, waiting.end));
        if (end > start) block(place, start, end, "waiting");
      }
    }
    if (!has_arrow || !last) return;
    const double at = x(arrival.last);
    for (const auto& [to, is_up] : {std::pair(top, true), std::pair(bottom, false)}) {
      if (!to || *to == *last) continue;
      const double from = y(*last) + (is_up ? 0 : step_lane), until = y(*to) + (is_up ? step_lane : 0);
      const double tip = is_up ? until + 5 : until - 5;
      svg_ += fmt::format(
          "<path class=\"arrow\" d=\"M{0:.1f} {1:.0f}V{2:.0f}M{3:.1f} {4:.0f}L{0:.1f} {2:.0f}L{5:.1f} "
          "{4:.0f}\"/>",
          at, from, until, at - 3, tip, at + 3);
    }
  }

  const World& world_;
  std::vector<std::size_t> ranks_;
  double begin_ = 0, end_ = 0;  ///< ns of the common clock
  std::string svg_;
};

}  // namespace

json ranks_map(const World& world, Anchors& anchors) {
  const Places rows(world.ranks.size(), most_map_rows), columns(world.steps, most_map_columns);
  std::string caption = "Communication that nothing hides, as a share of the step.";
  if (rows.each > 1 || columns.each > 1)
    caption += fmt::format(" A place stands for {} and {}, and shows the largest of them.",
                           format::plural(rows.each, "rank"), format::plural(columns.each, "step"));
  json chart = chart_view("rank_map", anchors.make("map of ranks"),
                          {"Exposed communication by rank and step", caption, {}});
  chart["axis"]["y"] = "rank";
  chart["axis"]["x"] = "step";
  chart["rows"] = json::array();
  chart["columns"] = json::array();
  for (std::size_t row = 0; row < rows.size(); ++row)
    chart["rows"].push_back(format::elide(
        format::one_line(span_text(world.label(rows.begin(row)), world.label(rows.end(row) - 1))),
        longest_chart_label));
  for (std::size_t column = 0; column < columns.size(); ++column)
    chart["columns"].push_back(fmt::format("{}", columns.begin(column)));
  std::array<json, map_shades.size() + 1> shaded;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const MapCell cell = largest_in(world, rows, row, columns, column);
      if (cell.share < 0) continue;
      const std::string text = format::percent(cell.share);
      shaded.at(map_shade_of(cell.share))
          .push_back({{"row", row},
                      {"column", column},
                      {"text", text},
                      {"title",
                       fmt::format("rank {}, step {}", format::one_line(world.label(cell.rank)), cell.step)},
                      {"hover", text}});
    }
  }
  chart["series"] = json::array();
  for (std::size_t i = 0; i < shaded.size(); ++i) {
    if (!shaded.at(i).empty())
      chart["series"].push_back({{"name", map_shade_name(i)}, {"shade", i}, {"points", shaded.at(i)}});
  }
  chart["alt"] =
      "Heat map of exposed communication by rank and step. The tables have each rank's usual step.";
  return chart;
}

std::string slowest_step_svg(const World& world) {
  return world.slowest ? StepPicture(world).draw() : "";
}

}  // namespace mprof
