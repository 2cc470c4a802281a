// SPDX-License-Identifier: MIT
#include <algorithm>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/program_parts.hpp"
#include "report/views/table.hpp"
#include "report/wording/memory_use.hpp"

/// The GPU memory that a program held, over time, and who held it at the peak.
namespace mprof {
namespace {

using nlohmann::json;

constexpr double held_second_of_ns = 1e-9;

/// The points to draw: of each of many short times the highest and the last.
std::vector<MemoryPoint> drawn_memory(const std::vector<MemoryPoint>& points, const trace::Interval& whole) {
  constexpr std::int64_t buckets = 300;
  if (points.size() <= 2 * static_cast<std::size_t>(buckets)) return points;
  const std::int64_t width = std::max<std::int64_t>(1, whole.length() / buckets);
  std::vector<MemoryPoint> drawn;
  for (std::size_t i = 0; i < points.size();) {
    const std::int64_t bucket = (points[i].time - whole.start) / width;
    MemoryPoint highest = points[i], last = points[i];
    for (; i < points.size() && (points[i].time - whole.start) / width == bucket; ++i) {
      last = points[i];
      if (last.bytes > highest.bytes) highest = last;
    }
    drawn.push_back(highest);
    if (last.time != highest.time) drawn.push_back(last);
  }
  return drawn;
}

json memory_chart(const MemoryUse& use, const ProgramPicture& picture, const std::string& id) {
  const format::Scale scale = format::scale_for(Unit::byte, static_cast<double>(use.peak));
  const trace::Interval& whole = picture.whole;
  const auto seconds = [&](std::int64_t time) {
    return static_cast<double>(std::clamp(time, whole.start, whole.end) - whole.start) * held_second_of_ns;
  };
  const double length = seconds(whole.end);
  const format::Scale clock = format::scale_for(Unit::second, length);
  const auto x = [&](std::int64_t time) { return seconds(time) / clock.divisor; };
  const auto y = [&](std::uint64_t bytes) { return static_cast<double>(bytes) / scale.divisor; };
  json points = json::array();
  const auto add = [&](std::int64_t time, std::uint64_t bytes) {
    points.push_back({x(time), y(bytes),
                      fmt::format("{} held after {}", format::about(static_cast<double>(bytes), Unit::byte),
                                  format::quantity(seconds(time), Unit::second))});
  };
  add(whole.start, 0);
  for (const MemoryPoint& point : drawn_memory(use.points, whole)) add(point.time, point.bytes);
  add(whole.end, use.points.back().bytes);
  const std::string peak = format::about(static_cast<double>(use.peak), Unit::byte);
  json chart =
      chart_view("memory", id,
                 {"GPU memory over time",
                  "What the program had allocated and not freed, over the whole traced program. What CUDA "
                  "needs for itself is not in it.",
                  fmt::format("Time since the program's start ({})", clock.symbol)});
  chart["rows"] = json::array();
  chart["series"] = json::array({{{"name", "Held"}, {"points", std::move(points)}}});
  chart["axis"].update({{"y", scale.symbol}, {"end", x(whole.end)}});
  chart["peak"] = {x(use.peak_time), y(use.peak), "peak " + peak};
  if (picture.steps) chart["steady"] = {x(picture.told.start), x(picture.told.end)};
  chart["alt"] = fmt::format("Chart: the GPU memory that the program held over {}, with a peak of {}.",
                             format::quantity(length, Unit::second), peak);
  return chart;
}

/// Who holds what at the peak. What is small is one row.
Table holders_table(const MemoryUse& use, const ProgramPicture& picture, const PageContext& page) {
  constexpr std::size_t most = 12, longest_range = 72;
  const bool has_ranges =
      std::ranges::any_of(use.holders, [](const MemoryHolder& one) { return !one.range.empty(); });
  Table table(page.anchor("program memory"),
              "What is held at the peak, by where and how it was allocated. "
              "First and last: when, since the program's start.");
  if (has_ranges) table.text("NVTX range");
  table.text("Call").numbers("Allocations").numbers("Held", Unit::byte).numbers("Share");
  table.numbers("Largest", Unit::byte).numbers("First", Unit::second).numbers("Last", Unit::second);
  std::vector<MemoryHolder> rows(
      use.holders.begin(),
      use.holders.begin() + static_cast<std::ptrdiff_t>(std::min(most, use.holders.size())));
  for (std::size_t i = most; i < use.holders.size(); ++i) {
    const MemoryHolder& one = use.holders[i];
    if (i == most)
      rows.push_back({.range = {fmt::format("{} more", use.holders.size() - most)}, .made = one.made});
    MemoryHolder& rest = rows.back();
    rest.allocations += one.allocations;
    rest.bytes += one.bytes;
    rest.largest = std::max(rest.largest, one.largest);
    rest.made = {std::min(rest.made.start, one.made.start), std::max(rest.made.end, one.made.end)};
  }
  const auto since_start = [&](std::int64_t time) {
    return Cell::bare(derived_value(
        static_cast<double>(std::max<std::int64_t>(0, time - picture.whole.start)) * held_second_of_ns));
  };
  for (const MemoryHolder& row : rows) {
    const double share = static_cast<double>(row.bytes) / static_cast<double>(use.peak);
    std::vector<Cell> cells;
    if (has_ranges)
      cells.push_back(row.range.empty() ? Cell::words("in no range", Tone::quiet)
                                        : Cell::words(format::elide(holder_range(row), longest_range)));
    cells.push_back(row.call.empty() ? Cell::dash() : Cell::words(row.call));
    cells.push_back(
        Cell::figure(format::count(row.allocations)).valued(static_cast<double>(row.allocations)));
    cells.push_back(Cell::bare(derived_value(static_cast<double>(row.bytes))));
    cells.push_back(Cell::figure(format::percent(share)).valued(share));
    cells.push_back(Cell::bare(derived_value(static_cast<double>(row.largest))));
    cells.push_back(since_start(row.made.start));
    cells.push_back(since_start(row.made.end));
    table.row(std::move(cells));
  }
  return table;
}

}  // namespace

json memory_view(const ProgramPicture& picture, const PageContext& page) {
  if (!picture.memory.use) return false;
  const MemoryUse& use = *picture.memory.use;
  return {{"chart", page.plan->place(memory_chart(use, picture, page.anchor("program memory over time")))},
          {"remarks", memory_remarks(picture)},
          {"table", holders_table(use, picture, page).view()}};
}

}  // namespace mprof
