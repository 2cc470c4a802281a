// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/analysis/program/drawn_step.hpp"
#include "report/analysis/program/gpu_load.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/program_parts.hpp"
#include "report/views/table.hpp"
#include "report/wording/gpu_load.hpp"

/// What a program's GPU was busy with over time, by its samples: bands of curves, and means.
namespace mprof {
namespace {

using nlohmann::json;

constexpr double load_width = 1000, load_labels = 190, band_height = 34, band_gap = 6, load_axis = 24;
constexpr std::size_t drawn_parts = 400;

bool is_a_share(trace::GpuMetric metric) {
  return metric != trace::GpuMetric::clock;
}

/// The area below a curve. Where nothing was measured, there is none.
std::string area(const std::vector<std::optional<double>>& curve, double top) {
  const double width = (load_width - load_labels) / static_cast<double>(curve.size());
  std::string path;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (!curve[i]) continue;
    const double x = load_labels + width * static_cast<double>(i);
    const double height = std::clamp(*curve[i], 0.0, 1.0) * band_height;
    if (height < 0.05) continue;
    path += fmt::format("M{:.2f} {:.2f}h{:.2f}V{:.2f}h-{:.2f}z", x, top + band_height - height, width,
                        top + band_height, width);
  }
  return path;
}

/// A band for each metric, from 0 at its foot to 100 % at its head.
std::string bands(const GpuLoad& load, const std::string& alt) {
  std::string drawn;
  double top = 0;
  for (const MetricLoad& one : load.metrics) {
    if (!is_a_share(one.metric)) continue;
    const std::string name = format::xml_text(metric_name(one.metric));
    drawn += fmt::format(
        "<text x=\"0\" y=\"{:.0f}\" fill=\"currentColor\" font-size=\"13\">{}</text><line x1=\"{:.0f}\" "
        "x2=\"{:.0f}\" y1=\"{:.0f}\" y2=\"{:.0f}\" stroke=\"currentColor\" stroke-opacity=\"0.35\"/><path "
        "fill=\"#2a7de1\" d=\"{}\"><title>{}: 0 to 100 %</title></path>",
        top + band_height - 10, name, load_labels, load_width, top + band_height, top + band_height,
        area(drawn_curve(load, one.metric, drawn_parts), top), name);
    top += band_height + band_gap;
  }
  const std::string length = format::quantity(static_cast<double>(load.drawn.length()) * 1e-9, Unit::second);
  drawn += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\" fill=\"currentColor\" font-size=\"13\">0</text><text x=\"{:.0f}\" "
      "y=\"{:.0f}\" fill=\"currentColor\" font-size=\"13\" text-anchor=\"end\">{}</text>",
      load_labels, top + load_axis - 8, load_width, top + load_axis - 8, format::xml_text(length));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">{}</svg>",
      load_width, top + load_axis, format::xml_text(alt), drawn);
}

Cell metric_cell(trace::GpuMetric metric, const std::optional<double>& value) {
  return value ? Cell::figure(metric_text(metric, *value)).valued(*value) : Cell::dash();
}

Table load_table(const GpuLoad& load, const std::string& of, const PageContext& page) {
  Table table(
      page.anchor(fmt::format("gpu load {}", load.samples->device)),
      fmt::format("GPU {} in the {}, by samples. Means are of the samples that lie wholly in a part. A "
                  "kernel has a row where five samples lie in one launch of it.",
                  load.samples->device, of));
  table.text("Part").numbers("Samples");
  for (const MetricLoad& one : load.metrics) table.numbers(metric_name(one.metric));
  const auto add = [&](const std::string& name, std::uint64_t samples, const auto& value_of) {
    std::vector<Cell> cells{Cell::words(name),
                            Cell::figure(format::count(samples)).valued(static_cast<double>(samples))};
    for (std::size_t i = 0; i < load.metrics.size(); ++i)
      cells.push_back(metric_cell(load.metrics[i].metric, value_of(i)));
    table.row(std::move(cells));
  };
  using Value = std::optional<double>;
  add("All of it, mean", load.count, [&](std::size_t i) { return Value(load.metrics[i].mean); });
  add("All of it, median", load.count, [&](std::size_t i) { return Value(load.metrics[i].median); });
  add("All of it, 95th percentile", load.count, [&](std::size_t i) { return Value(load.metrics[i].high); });
  for (const PartLoad& part : load.parts)
    add(part_name(part), part.samples, [&](std::size_t i) { return part.means[i]; });
  return table;
}

/// The step that is drawn elsewhere on the page, or the beginning of all without steps.
trace::Interval step_to_draw(const trace::Trace& trace, const ProgramPicture& picture) {
  if (picture.steps) {
    const auto drawn = drawn_step_of(trace, picture.index, *picture.steps,
                                     {.blocks = 1000, .parts = 100, .view_alone = true});
    if (drawn) return {drawn->window.start + drawn->own.start, drawn->window.start + drawn->own.end};
  }
  return picture.told;
}

}  // namespace

json load_view(const ProgramPicture& picture, const PageContext& page) {
  const trace::Trace& trace = *page.materials->evidence.profile;
  if (trace::of_case(trace.gpu_samples, picture.index).empty()) return false;
  const std::string of = picture.steps ? "steady steps" : "traced time";
  const auto loads = gpu_loads_of(trace, picture.index, picture.told, step_to_draw(trace, picture));
  if (loads.empty()) return false;
  json gpus = json::array();
  for (const GpuLoad& load : loads) {
    const std::string alt =
        fmt::format("GPU {} over {}{}: what share of its units was busy", load.samples->device,
                    format::quantity(static_cast<double>(load.drawn.length()) * 1e-9, Unit::second),
                    picture.steps ? ", from a step of median length on" : "");
    gpus.push_back({{"svg", bands(load, alt)},
                    {"caption", alt + "."},
                    {"remarks", load_remarks(load, of)},
                    {"table", load_table(load, of, page).view()}});
  }
  return {{"gpus", std::move(gpus)}};
}

}  // namespace mprof
