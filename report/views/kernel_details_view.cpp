// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/analysis/kernels/hot_lines.hpp"
#include "report/analysis/program/kernel_hints.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/program_parts.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/launch_lines.hpp"
#include "report/wording/program.hpp"

/// The kernels of a program one by one: what holds each back, and how it is launched.
namespace mprof {
namespace {

using nlohmann::json;

constexpr double detail_second_of_ns = 1e-9;

Cell tensor_cell(const KernelResult& kernel) {
  const auto pipe = std::ranges::find(kernel.pipes, tensor_pipe, &BusyPart::name);
  if (pipe == kernel.pipes.end()) return Cell::missing("it was not counted");
  return Cell::figure(format::fixed(pipe->percent, 1)).valued(pipe->percent);
}

Cell roof_cell(const KernelResult& kernel) {
  if (!kernel.roofline || !kernel.roofline->of_roof)
    return Cell::missing("it has no floating-point work, or no roof was measured for it");
  return Cell::figure(format::percent(*kernel.roofline->of_roof)).valued(*kernel.roofline->of_roof);
}

Cell waves_of(const KernelResult& kernel) {
  const Value waves = kernel.counters.value("launch__waves_per_multiprocessor");
  return waves ? Cell::figure(format::significant(waves->median, 3)).valued(waves->median)
               : Cell::missing(waves.absent);
}

Cell text_or_dash(const std::string& text) {
  return text.empty() ? Cell::dash() : Cell::words(text);
}

/// Of those that were counted; false without any.
json held_view(const ProgramPicture& picture, const std::vector<std::string>& names,
               const PageContext& page) {
  Table table(
      page.anchor("program kernels held"),
      "What holds them back, of each one's longest launch that was counted. Tensor: in how "
      "many cycles the tensor pipe was active. Of its roof: of the rate that measured peaks allow its FLOPs "
      "and DRAM bytes. Waves: how often its blocks fill the GPU. Warps wait for: cycles per issued "
      "instruction.");
  table.text("Kernel").numbers("Tensor", Unit::percent).numbers("Of its roof").numbers("Registers");
  table.text("Occupancy limited by").numbers("Waves").text("Warps wait for").text("To do first");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const KernelResult* const counted = picture.functions[i].counted;
    if (counted == nullptr) continue;
    const Value registers = counted->counters.value("launch__registers_per_thread");
    const std::optional<KernelHint> hint = hint_for(*counted);
    table.row({Cell::words(names[i]), tensor_cell(*counted), roof_cell(*counted),
               registers ? Cell::figure(format::fixed(registers->median, 0)).valued(registers->median)
                         : Cell::missing(registers.absent),
               text_or_dash(format::list(counted->limited_by)), waves_of(*counted),
               text_or_dash(waits_text(*counted)), text_or_dash(hint ? std::string(hint_text(*hint)) : "")});
  }
  return table.empty() ? json(false) : table.view();
}

/// "8 x 1 x 1".
Cell size_cell(const std::optional<trace::Size>& size) {
  if (!size) return Cell::missing("the trace does not say it");
  return Cell::words(fmt::format("{} × {} × {}", (*size)[0], (*size)[1], (*size)[2]));
}

/// The rest of many rows is one.
Table shapes_table(const ProgramPicture& picture, const FunctionTime& function, const std::string& kernel,
                   const PageContext& page) {
  constexpr std::size_t most = 10, longest_instance = 64;
  const double steps = picture.steps ? static_cast<double>(picture.steps->steady_steps()) : 1;
  const std::string a_step = picture.steps ? " a step" : "";
  const std::size_t all = function.shapes.size();
  Table table(page.anchor("program kernel launches"),
              all > most
                  ? fmt::format("{}: the {} longest of {} ways in which it is launched", kernel, most, all)
                  : fmt::format("{}: how it is launched", kernel));
  const bool differs = function.instances > 1;
  if (differs) table.text("Instance");
  table.text("Grid").text("Block").numbers("Registers").numbers("Launches" + a_step);
  table.numbers("Time" + a_step, Unit::second).numbers("A launch", Unit::second).numbers("Share of it");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, all); ++i)
    names.push_back(format::one_line(function.shapes[i].name));
  // An instance that is launched in several ways has one name.
  for (std::string& name : names) name = format::elide(name, longest_instance);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const LaunchShape& shape = function.shapes[i];
    const auto launches = static_cast<double>(shape.launches);
    const double time = static_cast<double>(shape.time) * detail_second_of_ns;
    const double share =
        function.time > 0 ? static_cast<double>(shape.time) / static_cast<double>(function.time) : 0;
    std::vector<Cell> cells;
    if (differs) cells.push_back(Cell::words(names[i]));
    cells.push_back(size_cell(shape.grid));
    cells.push_back(size_cell(shape.block));
    cells.push_back(shape.registers ? Cell::figure(format::count(*shape.registers)).valued(*shape.registers)
                                    : Cell::missing("the trace does not say it"));
    cells.push_back(Cell::figure(format::significant(launches / steps, 3)).valued(launches / steps));
    cells.push_back(Cell::bare(derived_value(time / steps)));
    cells.push_back(Cell::bare(derived_value(time / launches)));
    cells.push_back(Cell::figure(format::percent(share)).valued(share));
    table.row(std::move(cells));
  }
  return table;
}

/// Its place under the roofs, and its longest waits, in sentences.
std::vector<std::string> counted_lines(const KernelResult& kernel) {
  std::vector<std::string> lines;
  if (kernel.bottleneck) lines.push_back(fmt::format("Bottleneck: {}.", bound_text(*kernel.bottleneck)));
  if (kernel.roofline) {
    const RooflinePoint& point = *kernel.roofline;
    std::string text = fmt::format(
        "Roofline: a launch executes {} and moves {} through DRAM: {} FLOP per byte, {}",
        format::about(point.flops, Unit::flop), format::about(point.bytes, Unit::byte),
        format::significant(point.intensity, 3), format::about(point.rate, Unit::flop_per_second));
    if (point.of_roof)
      text += fmt::format(". That is {} of what its roof allows", format::percent(*point.of_roof));
    lines.push_back(text + ".");
  }
  if (const std::string waits = waits_text(kernel); !waits.empty())
    lines.push_back(
        fmt::format("Stalls: warps wait the longest for {} (cycles per issued instruction).", waits));
  if (const auto hint = hint_for(kernel)) lines.push_back(fmt::format("To do first: {}.", hint_text(*hint)));
  return lines;
}

/// What its warps were found doing, over all lines; empty where it was not sampled.
std::string sampled_line(const FunctionTime& function) {
  constexpr std::size_t most = 3;
  std::vector<std::string> parts;
  for (const Wait& wait : waits_of(function.sampled)) {
    if (parts.size() < most) parts.push_back(fmt::format("{} {}", wait.reason, format::percent(wait.share)));
  }
  if (parts.empty()) return "";
  const auto all = static_cast<std::uint64_t>(telling_samples(function.sampled));
  std::string text = fmt::format("Of {} samples of its warps: {}.", format::count(all), format::list(parts));
  if (std::ranges::all_of(function.sampled, &std::string::empty, &SourceLine::file))
    text += " Its code has no line table (-lineinfo), so its lines are not known.";
  return text;
}

}  // namespace

std::size_t kernels_worth_showing(const ProgramPicture& picture) {
  constexpr double enough = 0.9;
  constexpr std::size_t most = 15;
  std::size_t shown = 0;
  double covered = 0;
  while (shown < std::min(most, picture.functions.size()) && covered < enough)
    covered += picture.share_of_kernels(picture.functions[shown++].time);
  return shown;
}

std::vector<std::string> shown_kernel_names(const ProgramPicture& picture) {
  constexpr std::size_t longest_name = 48;
  const std::span<const FunctionTime> functions(picture.functions.data(), kernels_worth_showing(picture));
  std::vector<std::string> names;
  for (const FunctionTime& function : functions) {
    names.push_back(format::one_line(function.name));
    // A generic function of a library does several things, by its functor.
    if (std::ranges::count(functions, function.name, &FunctionTime::name) > 1)
      names.back() += fmt::format(" ({})", kind_name(function.kind));
  }
  return format::elide_apart(names, longest_name);
}

json kernel_details_view(const ProgramPicture& picture, const PageContext& page) {
  const std::vector<std::string> names = shown_kernel_names(picture);
  if (names.empty()) return false;
  json list = json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const FunctionTime& function = picture.functions[i];
    std::vector<std::string> lines;
    if (function.counted != nullptr) lines = counted_lines(*function.counted);
    if (picture.launched_from) {
      const std::string places = lines_of_kernel(*picture.launched_from, function.name);
      if (!places.empty()) lines.push_back(fmt::format("Launched from: {}.", places));
    }
    if (auto sampled = sampled_line(function); !sampled.empty()) lines.push_back(std::move(sampled));
    list.push_back({{"name", names[i]},
                    {"figure", fmt::format("{} of kernel time, launched in {}",
                                           format::percent(picture.share_of_kernels(function.time)),
                                           format::plural(function.shapes.size(), "way"))},
                    {"lines", std::move(lines)},
                    {"shapes", shapes_table(picture, function, names[i], page).view()},
                    {"hot", kernel_lines_view(function, names[i], page)}});
  }
  return {{"held", held_view(picture, names, page)}, {"list", std::move(list)}};
}

}  // namespace mprof
