// SPDX-License-Identifier: MIT
#include "report/wording/launch_lines.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

constexpr std::size_t longest_function = 64;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Of PyTorch alone.
std::string gradients_text(const LaunchLines& lines) {
  if (lines.gradient_time == 0) return {};
  return fmt::format(
      " PyTorch computes gradients in such threads, {} of the time: these kernels stand at the operation "
      "whose gradient they compute, or at Engine for what lies between two operations.",
      format::percent(share_of(lines.gradient_time, lines.time)));
}

}  // namespace

std::string place_text(const CodePlace& place) {
  if (place.line != 0) return fmt::format("{}:{}", format::one_line(file_name(place.file)), place.line);
  if (!place.function.empty()) return format::elide(format::one_line(place.function), longest_function);
  return format::one_line(file_name(place.module.empty() ? place.file : place.module));
}

std::string around_place(const CodePlace& place) {
  if (place.is_gradient) return "autograd";
  if (place.line != 0) return format::elide(format::one_line(place.function), longest_function);
  return format::one_line(file_name(place.file.empty() ? place.module : place.file));
}

LedText launch_lines_line(const LaunchLines& lines) {
  constexpr std::size_t most = 3;
  constexpr double least = 0.05;
  std::vector<std::string> named;
  for (const LaunchLine& line : lines.lines) {
    const double share = share_of(line.time, lines.time);
    if (named.size() == most || (share < least && !named.empty())) break;
    // What a script does outside of its functions, Python calls so.
    const bool is_in_function = line.place.function != "<module>";
    named.push_back(fmt::format("{}{} {}", place_text(line.place),
                                is_in_function ? " in " + around_place(line.place) : "",
                                format::percent(share)));
  }
  return {"Launched from", fmt::format("{} of the time of kernels.", format::list(named))};
}

std::vector<std::string> launch_lines_remarks(const LaunchLines& lines) {
  std::vector<std::string> remarks;
  if (lines.outside_python_launches > 0)
    remarks.push_back(fmt::format("{} of the time is of kernels that threads without Python launched.{}",
                                  format::percent(share_of(lines.outside_python_time, lines.time)),
                                  gradients_text(lines)));
  if (lines.unknown_launches > 0)
    remarks.push_back(fmt::format("{} of {} launches have no call stack: {} of the time of kernels.",
                                  format::count(lines.unknown_launches), format::count(lines.launches),
                                  format::percent(share_of(lines.unknown_time, lines.time))));
  return remarks;
}

std::string lines_of_kernel(const LaunchLines& lines, const std::string& kernel) {
  constexpr std::size_t most = 3;
  std::vector<std::pair<std::string, std::int64_t>> places;
  std::int64_t all = 0;
  for (const LaunchLine& line : lines.lines) {
    const auto found = std::ranges::find(line.kernels, kernel, &std::pair<std::string, std::int64_t>::first);
    if (found == line.kernels.end()) continue;
    places.emplace_back(place_text(line.place), found->second);
    all += found->second;
  }
  std::ranges::stable_sort(places, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
  std::string text;
  for (std::size_t i = 0; i < std::min(most, places.size()); ++i) {
    if (!text.empty()) text += ", ";
    text += places[i].first;
    if (places.size() > 1) text += " " + format::percent(share_of(places[i].second, all));
  }
  if (places.size() > most) text += fmt::format(" and {} more", places.size() - most);
  return text;
}

}  // namespace mprof
